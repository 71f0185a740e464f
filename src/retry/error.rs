//! The one family of errors of this module, with their codes.

use core::time::Duration;

/// What a retry, a timeout or a circuit breaker returns when there is no value.
///
/// `E` is the error of the function that was called. The texts say nothing of it: it is the
/// [source](core::error::Error::source).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum RetryError<E> {
    /// `RETRY.EXHAUSTED`: the last attempt failed, or its error was not worth another one.
    #[error("gave up after attempt {attempts}; see the source for what the last one met")]
    Exhausted {
        /// How often the function was called.
        attempts: u32,
        /// What the last call returned.
        #[source]
        last: E,
    },
    /// `RETRY.ABORTED`: the caller gave up.
    #[error("the caller gave up; call again if the result is still wanted")]
    Aborted,
    /// `RETRY.TIMEOUT`: the function did not complete in time and was dropped.
    #[error("attempt {attempt} did not end within {limit:?}; see why it hangs, or raise the limit")]
    Timeout {
        /// Which attempt it was, counted from one.
        attempt: u32,
        /// The time that it had.
        limit: Duration,
    },
    /// `RETRY.CIRCUIT_OPEN`: a circuit breaker refused the call. The function was not called.
    #[error("the circuit breaker refused the call; come back in {retry_after:?}")]
    CircuitOpen {
        /// The shortest time after which a call can be let through. Zero while as many trial
        /// calls as are allowed are under way: their outcome decides, and it may come any moment.
        retry_after: Duration,
    },
    /// `RETRY.INVALID_OPTION`: the options cannot be used. The function was not called.
    #[error(transparent)]
    InvalidOption(#[from] InvalidOption),
    /// `RETRY.FAILED`: the function was called and failed. Nothing was refused and no time ran out.
    #[error("the call itself failed; see the source")]
    Failed(#[source] E),
}

impl<E> RetryError<E> {
    /// The code: a wire contract.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Exhausted { .. } => "RETRY.EXHAUSTED",
            Self::Aborted => "RETRY.ABORTED",
            Self::Timeout { .. } => "RETRY.TIMEOUT",
            Self::CircuitOpen { .. } => CircuitOpen::CODE,
            Self::InvalidOption(_) => InvalidOption::CODE,
            Self::Failed(_) => "RETRY.FAILED",
        }
    }

    /// Whether another attempt, later, may fare better: true of a failed call and of a timeout.
    ///
    /// A refusal is not worth one: a breaker that is open stays so for a while.
    #[must_use]
    pub const fn is_retryable(&self) -> bool {
        matches!(self, Self::Failed(_) | Self::Timeout { .. })
    }

    /// The error of the function that was called, where it was called and failed.
    #[must_use]
    pub fn into_inner(self) -> Option<E> {
        match self {
            Self::Exhausted { last, .. } | Self::Failed(last) => Some(last),
            _ => None,
        }
    }
}

impl<E> RetryError<RetryError<E>> {
    /// One error out of two levels, as a retry around a timeout or a breaker returns them.
    ///
    /// What the inner level has to say itself wins: a refusal stays a refusal and a timeout a
    /// timeout, whichever attempt met it. The function's own failure keeps the outer shape.
    ///
    /// ```
    /// use storage_mux::retry::RetryError;
    ///
    /// let nested = RetryError::Exhausted { attempts: 3, last: RetryError::Failed("reset") };
    /// assert_eq!(nested.flatten(), RetryError::Exhausted { attempts: 3, last: "reset" });
    /// ```
    #[must_use]
    pub fn flatten(self) -> RetryError<E> {
        match self {
            Self::Exhausted { attempts, last: RetryError::Failed(last) } => {
                RetryError::Exhausted { attempts, last }
            }
            Self::Exhausted { last: inner, .. } | Self::Failed(inner) => inner,
            Self::Aborted => RetryError::Aborted,
            Self::Timeout { attempt, limit } => RetryError::Timeout { attempt, limit },
            Self::CircuitOpen { retry_after } => RetryError::CircuitOpen { retry_after },
            Self::InvalidOption(invalid) => RetryError::InvalidOption(invalid),
        }
    }
}

impl<E> From<CircuitOpen> for RetryError<E> {
    fn from(CircuitOpen { retry_after }: CircuitOpen) -> Self {
        Self::CircuitOpen { retry_after }
    }
}

/// `RETRY.CIRCUIT_OPEN` by itself: what a breaker says to whom it does not let through.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[error("the circuit breaker refused the call; come back in {retry_after:?}")]
#[non_exhaustive]
pub struct CircuitOpen {
    /// The shortest time after which a call can be let through, as in
    /// [`RetryError::CircuitOpen`].
    pub retry_after: Duration,
}

impl CircuitOpen {
    const CODE: &'static str = "RETRY.CIRCUIT_OPEN";

    /// The code: a wire contract.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        Self::CODE
    }
}

/// An option that is out of range: which one, and what it must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[error("option {field} is out of range: it {rule}")]
pub struct InvalidOption {
    field: &'static str,
    rule: &'static str,
}

impl InvalidOption {
    const CODE: &'static str = "RETRY.INVALID_OPTION";

    pub(crate) const fn new(field: &'static str, rule: &'static str) -> Self {
        Self { field, rule }
    }

    /// The code: a wire contract.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        Self::CODE
    }

    /// The option, as a configuration spells it.
    #[must_use]
    pub const fn field(&self) -> &'static str {
        self.field
    }

    /// What it must be, as the end of a sentence: "must be at least 1".
    #[must_use]
    pub const fn rule(&self) -> &'static str {
        self.rule
    }
}
