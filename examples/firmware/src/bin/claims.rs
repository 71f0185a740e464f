//! The library's own test body on embassy's executor, and its conformance suite on two stores.
#![no_std]
#![no_main]

#[path = "../../../../tests/runtimes/body.rs"]
mod body;

use core::cell::RefCell;
use core::sync::atomic::{AtomicU32, Ordering};
use core::time::Duration;

use cortex_m_semihosting::heprintln;
use critical_section::Mutex;
use embassy_executor::Spawner;
use embassy_futures::{block_on, poll_once};
use firmware::flash::Chip;
use firmware::report::Report;
use firmware::{board, pend_at_ticks, start_time};
use storage_mux::conformance::Suite;
use storage_mux::runtime::embassy::EmbassyClock;
use storage_mux::{AbortController, Backend, LocalStorage, MemoryStorage, SeededRng, StorageMux};

const HEAP_BYTES: usize = 32 * 1024;

/// The suite asks for values of a thousand bytes.
const LARGE_VALUE_BYTES: usize = 1_200;

/// Of the processor. The emulated board runs at 25 MHz.
const HERTZ: u32 = 25_000_000;

struct OnBoard;

impl body::Runtime for OnBoard {
    type Clock = EmbassyClock;

    const UNIT: Duration = Duration::from_millis(20);

    fn clock(&self) -> EmbassyClock {
        EmbassyClock
    }
}

#[embassy_executor::main]
async fn main(_spawner: Spawner) {
    board::start_heap(HEAP_BYTES);
    let report = Report::new();
    let Some(peripherals) = cortex_m::Peripherals::take() else { board::exit(false) };
    start_time(peripherals.SYST, HERTZ);

    // A claim that does not hold panics.
    macro_rules! claim {
        ($name:ident) => {
            body::$name(OnBoard).await;
            report.check(stringify!($name), true);
        };
    }
    body::for_each_claim!(claim);

    report.check("an interrupt may use what it interrupts", interrupted().await);
    report.check("memory conforms", conforms(&MemoryStorage::new()).await);
    let flash = Chip::<2_048>::new(6).storage(LARGE_VALUE_BYTES);
    let Ok(flash) = flash else { board::exit(false) };
    report.check("a flash chip conforms", conforms(&flash).await);
    report.end(HEAP_BYTES, 13)
}

type Mux = StorageMux<MemoryStorage, EmbassyClock, SeededRng>;

/// What the interrupt uses: a mux, and a call to give up.
static SHARED: Mutex<RefCell<Option<(Mux, AbortController)>>> = Mutex::new(RefCell::new(None));

/// How often the interrupt came.
static INTERRUPTS: AtomicU32 = AtomicU32::new(0);

#[cortex_m_rt::exception]
fn PendSV() {
    let shared = critical_section::with(|section| SHARED.borrow_ref(section).clone());
    if let Some((mux, controller)) = shared {
        INTERRUPTS.fetch_add(1, Ordering::Relaxed);
        let _ = block_on(mux.get("k"));
        let _ = mux.stats();
        controller.abort();
    }
}

/// Calls a mux and waits for aborts while an interrupt calls the same mux and aborts, wherever it
/// happens to come. A lock that spins would spin for ever once it came at the wrong moment.
async fn interrupted() -> bool {
    let mux = StorageMux::builder(EmbassyClock, SeededRng::new(1))
        .backend(Backend::new("a", MemoryStorage::new()))
        .build();
    let Ok(mux) = mux else { return false };
    let mut good = mux.set("k", "v").await.is_ok();
    pend_at_ticks(true);
    for _ in 0..200 {
        let controller = AbortController::new();
        critical_section::with(|section| {
            SHARED.borrow_ref_mut(section).replace((mux.clone(), controller.clone()));
        });
        let signal = controller.signal();
        while !signal.is_aborted() {
            good &= mux.get("k").await.is_ok_and(|value| value == "v");
            let _ = poll_once(signal.aborted());
        }
    }
    pend_at_ticks(false);
    let backend = mux.backend_stats("a");
    good && backend.is_some_and(|stats| stats.in_flight == 0)
        && INTERRUPTS.load(Ordering::Relaxed) >= 200
}

async fn conforms(storage: &impl LocalStorage) -> bool {
    let suite = Suite::new().with_prefix("c/").with_large_value(LARGE_VALUE_BYTES);
    match suite.run(storage).await {
        Ok(report) => !report.checked().is_empty(),
        Err(failures) => {
            heprintln!("{failures}");
            false
        }
    }
}
