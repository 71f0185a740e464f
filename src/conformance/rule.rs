//! One rule of the suite, and how a group of rules is written down.

use core::fmt;

use crate::port::Operation;

/// One rule that a storage must hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    id: &'static str,
    text: &'static str,
    needs: &'static [Operation],
}

impl Rule {
    pub(super) const fn new(
        id: &'static str,
        text: &'static str,
        needs: &'static [Operation],
    ) -> Self {
        Self { id, text, needs }
    }

    /// A short name that stays the same.
    #[must_use]
    pub const fn id(&self) -> &'static str {
        self.id
    }

    /// The rule in words.
    #[must_use]
    pub const fn text(&self) -> &'static str {
        self.text
    }

    /// The operations without which it cannot be checked.
    #[must_use]
    pub const fn needs(&self) -> &'static [Operation] {
        self.needs
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.id, self.text)
    }
}

#[cfg(feature = "defmt")]
impl defmt::Format for Rule {
    fn format(&self, f: defmt::Formatter<'_>) {
        defmt::write!(f, "{=str}", self.id);
    }
}

/// Writes a group of rules: the table of them, and the run that goes through that table in order.
macro_rules! rules {
    ($($id:literal, $text:literal, [$($need:ident)*], $check:ident;)*) => {
        pub(super) const RULES: &[$crate::conformance::Rule] = &[
            $($crate::conformance::Rule::new(
                $id,
                $text,
                &[$($crate::port::Operation::$need),*],
            ),)*
        ];

        pub(super) async fn run<S: $crate::port::LocalStorage>(
            session: &mut $crate::conformance::Session<'_, S>,
        ) {
            let mut rules = RULES.iter();
            $(
                if let Some(rule) = rules.next()
                    && session.begin(rule)
                {
                    let verdict = $check(&mut session.subject).await;
                    session.end(rule, verdict).await;
                }
            )*
        }
    };
}
pub(super) use rules;
