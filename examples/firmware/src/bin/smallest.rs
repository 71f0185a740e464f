//! The least that a mux takes: two backends in RAM, one write and one read.
#![no_std]
#![no_main]

use core::time::Duration;

use embassy_futures::block_on;
use firmware::board;
use firmware::report::Report;
use storage_mux::{Backend, Clock, Instant, MemoryStorage, SeededRng, StorageMux};

const HEAP_BYTES: usize = 8 * 1024;

/// Time that stands still: nothing here waits.
struct Still;

impl Clock for Still {
    type Sleep = core::future::Pending<()>;

    fn now(&self) -> Instant {
        Instant::ZERO
    }

    fn sleep(&self, _: Duration) -> Self::Sleep {
        core::future::pending()
    }
}

#[cortex_m_rt::entry]
fn main() -> ! {
    board::start_heap(HEAP_BYTES);
    let report = Report::new();
    let mux = StorageMux::builder(Still, SeededRng::new(1))
        .backend(Backend::new("a", MemoryStorage::new()))
        .backend(Backend::new("b", MemoryStorage::new()))
        .build();
    let Ok(mux) = mux else { board::exit(false) };
    report.check("a write succeeds", block_on(mux.set("k", "v")).is_ok());
    report.check("a read finds it", block_on(mux.get("k")).is_ok_and(|value| value == "v"));
    report.end(HEAP_BYTES, 2)
}
