//! The registries of codes. Code, text and advice of each come from this one table.

use core::fmt;

macro_rules! codes {
    ($($variant:ident, $code:literal, $what:literal, $advice:literal;)*) => {
        /// A code of the `STORAGE_MUX.` namespace.
        ///
        /// [`MuxCode::CONTRACT`] lists the fourteen that every port of the library shares;
        /// [`MuxCode::EXTENSIONS`] lists what this one adds.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[cfg_attr(feature = "defmt", derive(defmt::Format))]
        #[non_exhaustive]
        pub enum MuxCode {
            $(#[doc = concat!("`", $code, "`: ", $what, ". To do: ", $advice, ".")] $variant,)*
        }

        impl MuxCode {
            /// The code as it travels: a wire contract.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $code,)* }
            }

            /// What happened, in a few words.
            #[must_use]
            pub const fn what(self) -> &'static str {
                match self { $(Self::$variant => $what,)* }
            }

            /// What to do about it, in a few words.
            #[must_use]
            pub const fn advice(self) -> &'static str {
                match self { $(Self::$variant => $advice,)* }
            }
        }
    };
}

codes! {
    AllBackendsDown, "STORAGE_MUX.ALL_BACKENDS_DOWN", "no backend could serve the call",
        "read the source for the last failure and see that one backend is reachable";
    NoBackendsConfigured, "STORAGE_MUX.NO_BACKENDS_CONFIGURED", "the mux has no backends",
        "add at least one before building it";
    HealthcheckFailed, "STORAGE_MUX.HEALTHCHECK_FAILED", "a health check failed",
        "read the source and repair the backend; it returns by itself once a check passes";
    BackendTimeout, "STORAGE_MUX.BACKEND_TIMEOUT", "the backend did not answer in time",
        "see why it hangs, or raise the backend timeout";
    InvalidMode, "STORAGE_MUX.INVALID_MODE", "the mode is unknown",
        "use failover, round-robin, weighted, sticky-by-key, shield or mirror";
    InvalidWeight, "STORAGE_MUX.INVALID_WEIGHT", "the weight is not usable",
        "give a finite weight of zero or more, and at least one above zero";
    WriteFanoutPartial, "STORAGE_MUX.WRITE_FANOUT_PARTIAL", "the write did not reach every backend",
        "repair the backends that the source names; the write stands on the others";
    BackendAborted, "STORAGE_MUX.BACKEND_ABORTED", "the caller gave the call up",
        "call again if the result is still wanted";
    BackendNotFound, "STORAGE_MUX.BACKEND_NOT_FOUND", "no backend has this name",
        "see the names in the statistics";
    BackendNameConflict, "STORAGE_MUX.BACKEND_NAME_CONFLICT", "the name is taken",
        "choose another, or remove the backend that has it";
    BackendDraining, "STORAGE_MUX.BACKEND_DRAINING", "the backend takes no new calls",
        "use another backend";
    WeightedRequiresWeights, "STORAGE_MUX.WEIGHTED_REQUIRES_WEIGHTS", "a backend has no weight",
        "give every backend of a weighted mux a weight";
    MirrorOriginRequired, "STORAGE_MUX.MIRROR_ORIGIN_REQUIRED", "shield mode needs an origin and a mirror",
        "add a second backend";
    RecursionDepthExceeded, "STORAGE_MUX.RECURSION_DEPTH_EXCEEDED", "muxes are nested too deeply",
        "keep to eight levels";
    CapacityExceeded, "STORAGE_MUX.CAPACITY_EXCEEDED", "a fixed capacity is full",
        "remove a backend, or nest a second mux";
    InvalidOption, "STORAGE_MUX.INVALID_OPTION", "an option is out of range",
        "correct the option that the message names";
}

impl MuxCode {
    /// The fourteen codes of the contract.
    pub const CONTRACT: [Self; 14] = [
        Self::AllBackendsDown,
        Self::NoBackendsConfigured,
        Self::HealthcheckFailed,
        Self::BackendTimeout,
        Self::InvalidMode,
        Self::InvalidWeight,
        Self::WriteFanoutPartial,
        Self::BackendAborted,
        Self::BackendNotFound,
        Self::BackendNameConflict,
        Self::BackendDraining,
        Self::WeightedRequiresWeights,
        Self::MirrorOriginRequired,
        Self::RecursionDepthExceeded,
    ];

    /// What this implementation adds: fixed capacities and options that can be out of range.
    pub const EXTENSIONS: [Self; 2] = [Self::CapacityExceeded, Self::InvalidOption];
}

impl fmt::Display for MuxCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for MuxCode {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}
