//! What can be logged on an embedded target. That it compiles is the claim: a host has no logger.

use storage_mux::retry::{CircuitOpen, InvalidOption, RetryError};
use storage_mux::{
    AggregateError, BackendName, BackendStats, BackendStatus, ErrorClass, Event, Instant, MuxCode,
    MuxError, MuxMode, MuxStats, NetworkFault, Operation, StorageError, StorageErrorKind,
};

const fn formats<T: defmt::Format>() {}

/// Spec: E-6
#[cfg(feature = "flash")]
#[test]
fn so_has_the_error_of_a_flash_chip() {
    formats::<storage_mux::backend::FlashError>();
}

/// Spec: E-6, PU-1
#[test]
fn every_public_error_event_and_statistic_has_a_defmt_format() {
    formats::<StorageError>();
    formats::<StorageErrorKind>();
    formats::<NetworkFault>();
    formats::<ErrorClass>();
    formats::<MuxError>();
    formats::<MuxCode>();
    formats::<AggregateError>();
    formats::<RetryError<StorageError>>();
    formats::<InvalidOption>();
    formats::<CircuitOpen>();
    formats::<Event>();
    formats::<MuxStats>();
    formats::<BackendStats>();
    formats::<BackendStatus>();
    formats::<BackendName>();
    formats::<MuxMode>();
    formats::<Operation>();
    formats::<Instant>();
}
