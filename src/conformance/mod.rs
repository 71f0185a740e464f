//! The rules of a storage as a suite that runs on any of them.
//!
//! Whoever writes a backend runs this suite on it: [`run`] asks the storage everything that the
//! contract promises and its [`capabilities`](crate::LocalStorage::capabilities) declare. It needs
//! no runtime, no clock and no std, so it runs on the target itself.
//!
//! - [`run`] and [`Suite`]: the whole suite, or the suite with a prefix and limits of your own.
//! - [`Rule`]: one rule, as data; [`rules`] lists them all.
//! - [`Report`]: what was checked and what was not. [`Failures`]: which rules were broken and how.
//!
//! ```
//! use storage_mux::sim::{FakeClock, run};
//! use storage_mux::{MemoryStorage, conformance};
//!
//! let report = run(&FakeClock::new(), conformance::run(&MemoryStorage::new()))??;
//! assert!(report.skipped().is_empty());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What it does to the storage
//!
//! It writes under a prefix of its own, `conformance/` unless told otherwise, and removes what it
//! wrote, rule by rule, whether the rule holds or not. Other keys are neither changed nor in the
//! way. A run whose future is dropped leaves the keys of the rule it was at; the next run removes
//! them. Two runs at once on one storage need two prefixes.
//!
//! Rules that write are skipped where the storage cannot delete: it would be left littered.

mod abort;
mod chunks;
mod conditions;
mod honesty;
mod keys;
mod listing;
mod missing;
mod pages;
mod partial;
mod ranges;
mod read_streams;
mod report;
mod rule;
mod subject;
mod values;
mod write_streams;

use alloc::borrow::Cow;
use alloc::format;
use alloc::vec::Vec;

use self::report::{Deviation, Verdict};
use self::subject::Subject;
use crate::port::LocalStorage;

pub use self::report::{Failure, Failures, Report};
pub use self::rule::Rule;

/// Runs the whole suite on a storage, as [`Suite::run`] does with all defaults.
///
/// # Errors
///
/// [`Failures`], where a rule does not hold.
pub async fn run<S: LocalStorage>(storage: &S) -> Result<Report, Failures> {
    Suite::new().run(storage).await
}

/// Every rule of the suite, in the order in which they are checked.
pub fn rules() -> impl Iterator<Item = &'static Rule> {
    core::iter::once(&ROOM).chain(GROUPS.iter().flat_map(|group| group.iter()))
}

/// The bytes that a key of the suite takes beyond the prefix, the keys at the limit apart.
const ROOM_BYTES: usize = 24;

/// Without it no other rule can be asked.
const ROOM: Rule =
    Rule::new("key-room", "a key may be 24 bytes longer than the suite's prefix", &[]);

/// Names the groups of rules once, for the list and for the run.
macro_rules! groups {
    ($($group:ident),* $(,)?) => {
        const GROUPS: &[&[Rule]] = &[$($group::RULES),*];

        async fn run_groups<S: LocalStorage>(session: &mut Session<'_, S>) {
            $($group::run(session).await;)*
        }
    };
}

groups![
    honesty,
    missing,
    values,
    partial,
    keys,
    listing,
    pages,
    ranges,
    conditions,
    write_streams,
    read_streams,
    abort,
];

/// The suite with settings of your own.
///
/// | setting | default |
/// |---|---|
/// | prefix | `conformance/` |
/// | large value | 200 000 bytes |
/// | exceptions | none |
///
/// ```
/// use storage_mux::MemoryStorage;
/// use storage_mux::conformance::Suite;
/// use storage_mux::sim::{FakeClock, run};
///
/// let suite = Suite::new().with_prefix("t/").with_large_value(4_096).without("abort");
/// let report = run(&FakeClock::new(), suite.run(&MemoryStorage::new()))??;
/// assert_eq!(report.excepted().len(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Suite {
    prefix: Cow<'static, str>,
    large_value_bytes: usize,
    exceptions: Vec<Cow<'static, str>>,
}

impl Default for Suite {
    fn default() -> Self {
        Self {
            prefix: Cow::Borrowed("conformance/"),
            large_value_bytes: 200_000,
            exceptions: Vec::new(),
        }
    }
}

impl Suite {
    /// The suite with all defaults.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Works under another prefix. All keys that start with it belong to the suite.
    #[must_use]
    pub fn with_prefix(mut self, prefix: impl Into<Cow<'static, str>>) -> Self {
        self.prefix = prefix.into();
        self
    }

    /// Sets the size in bytes of the largest value that is written. Make it larger than the chunks
    /// of the storage's read streams, and small enough for the storage to hold it twice.
    #[must_use]
    pub const fn with_large_value(mut self, bytes: usize) -> Self {
        self.large_value_bytes = bytes;
        self
    }

    /// Leaves one rule out, by its id: for a storage that cannot hold it and whose documentation
    /// says so. The report lists it.
    #[must_use]
    pub fn without(mut self, id: impl Into<Cow<'static, str>>) -> Self {
        self.exceptions.push(id.into());
        self
    }

    /// Checks every rule that the storage's capabilities allow, the broken ones notwithstanding.
    ///
    /// The future waits for the storage and for nothing else; where an operation hangs, so does
    /// the suite. It is `Send` where the storage's futures are.
    ///
    /// # Errors
    ///
    /// [`Failures`], where a rule does not hold: each broken rule with what was done, what was
    /// expected and what came.
    pub async fn run<S: LocalStorage>(&self, storage: &S) -> Result<Report, Failures> {
        let mut session = Session {
            suite: self,
            subject: Subject::new(storage, self.large_value_bytes),
            report: Report::default(),
            failures: Vec::new(),
        };
        if session.begin(&ROOM) {
            let verdict = self.room(&session.subject);
            session.end(&ROOM, verdict).await;
        }
        if session.failures.is_empty() {
            run_groups(&mut session).await;
        }
        Failures::or(session.failures, session.report)
    }

    fn room<S: LocalStorage>(&self, subject: &Subject<'_, S>) -> Verdict {
        let (limit, wanted) = (subject.key_limit(), self.prefix.len().saturating_add(ROOM_BYTES));
        if limit >= wanted {
            return Ok(());
        }
        Err(Deviation::new(
            "capabilities()",
            format!("a key limit of {wanted} bytes or more, or a suite with a shorter prefix"),
            format!("a key limit of {limit} bytes"),
        ))
    }
}

/// One run of the suite.
struct Session<'a, S> {
    suite: &'a Suite,
    subject: Subject<'a, S>,
    report: Report,
    failures: Vec<Failure>,
}

impl<S: LocalStorage> Session<'_, S> {
    /// Whether the rule is to be checked. If so, the subject has an empty area for it.
    fn begin(&mut self, rule: &'static Rule) -> bool {
        if self.suite.exceptions.iter().any(|id| id == rule.id()) {
            self.report.excepted.push(rule);
            return false;
        }
        if !rule.needs().iter().all(|operation| self.subject.can(*operation)) {
            self.report.skipped.push(rule);
            return false;
        }
        // An area for each rule: what a broken storage leaves behind must not confuse the next.
        let area = self.report.checked.len();
        self.subject.enter(format!("{}{area:02}/", self.suite.prefix));
        true
    }

    async fn end(&mut self, rule: &'static Rule, verdict: Verdict) {
        self.subject.clean().await;
        self.report.checked.push(rule);
        if let Err(deviation) = verdict {
            self.failures.push(Failure::new(rule, deviation));
        }
    }
}
