//! What a run of the suite found.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::error::Error;
use core::fmt;

use super::Rule;

/// What a run has looked at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    pub(super) checked: Vec<&'static Rule>,
    pub(super) skipped: Vec<&'static Rule>,
    pub(super) excepted: Vec<&'static Rule>,
}

impl Report {
    /// The rules that were checked.
    #[must_use]
    pub fn checked(&self) -> &[&'static Rule] {
        &self.checked
    }

    /// The rules that were not, since the storage does not declare an operation they need.
    #[must_use]
    pub fn skipped(&self) -> &[&'static Rule] {
        &self.skipped
    }

    /// The rules that were left out by [`Suite::without`](super::Suite::without).
    #[must_use]
    pub fn excepted(&self) -> &[&'static Rule] {
        &self.excepted
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { checked, skipped, excepted } = self;
        write!(f, "{} rules checked", checked.len())?;
        write!(f, ", {} skipped for lack of an operation", skipped.len())?;
        write!(f, ", {} excepted", excepted.len())
    }
}

/// One rule that does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    rule: &'static Rule,
    deviation: Deviation,
}

impl Failure {
    pub(super) const fn new(rule: &'static Rule, deviation: Deviation) -> Self {
        Self { rule, deviation }
    }

    /// The rule.
    #[must_use]
    pub const fn rule(&self) -> &'static Rule {
        self.rule
    }

    /// What was done.
    #[must_use]
    pub fn step(&self) -> &str {
        &self.deviation.step
    }

    /// What should have come of it.
    #[must_use]
    pub fn expected(&self) -> &str {
        &self.deviation.expected
    }

    /// What came.
    #[must_use]
    pub fn found(&self) -> &str {
        &self.deviation.found
    }
}

impl Error for Failure {}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Deviation { step, expected, found } = &self.deviation;
        write!(f, "rule {}: {step}: expected {expected}, found {found}", self.rule)
    }
}

/// The rules that do not hold: one at least.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failures {
    failures: Vec<Failure>,
    report: Report,
}

impl Failures {
    /// The report where nothing failed.
    pub(super) fn or(failures: Vec<Failure>, report: Report) -> Result<Report, Self> {
        if failures.is_empty() { Ok(report) } else { Err(Self { failures, report }) }
    }

    /// The failures, one for each broken rule, in the order of the rules.
    #[must_use]
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Failure> {
        self.failures.iter()
    }

    /// What the run has looked at.
    #[must_use]
    pub const fn report(&self) -> &Report {
        &self.report
    }
}

impl Error for Failures {}

impl fmt::Display for Failures {
    /// One line: the failures, one after the other.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {} rules broken", self.failures.len(), self.report.checked.len())?;
        self.failures.iter().try_for_each(|failure| write!(f, "; {failure}"))
    }
}

#[cfg(feature = "defmt")]
mod formats {
    use super::{Failure, Failures, Report};

    impl defmt::Format for Report {
        fn format(&self, f: defmt::Formatter<'_>) {
            defmt::write!(f, "{}", defmt::Display2Format(self));
        }
    }

    impl defmt::Format for Failure {
        fn format(&self, f: defmt::Formatter<'_>) {
            defmt::write!(f, "{}", defmt::Display2Format(self));
        }
    }

    impl defmt::Format for Failures {
        fn format(&self, f: defmt::Formatter<'_>) {
            defmt::write!(f, "{}", defmt::Display2Format(self));
        }
    }
}

/// Where a storage left the path of a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Deviation {
    step: String,
    expected: String,
    found: String,
}

impl Deviation {
    pub(super) fn new(
        step: impl Into<String>,
        expected: impl Into<String>,
        found: impl Into<String>,
    ) -> Self {
        Self {
            step: abridged(step.into()),
            expected: abridged(expected.into()),
            found: abridged(found.into()),
        }
    }
}

/// Each part of a failure is cut to this many characters: a key at its limit would fill the screen.
const PART_CHARS: usize = 250;

/// A text without its middle, where it is too long.
fn abridged(text: String) -> String {
    let count = text.chars().count();
    if count <= PART_CHARS {
        return text;
    }
    let half = PART_CHARS / 2;
    let start: String = text.chars().take(half).collect();
    let end: String = text.chars().skip(count - half).collect();
    format!("{start} [...] {end}")
}

/// How a rule, or a step of it, went.
pub(super) type Verdict<T = ()> = Result<T, Deviation>;
