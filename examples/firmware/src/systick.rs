//! The time of embassy from SysTick, the timer that most Cortex-M processors have.
//!
//! One interrupt a millisecond. A product would program the next alarm instead and sleep longer;
//! here the driver is to be short.

use core::cell::{Cell, RefCell};
use core::sync::atomic::{AtomicBool, Ordering};
use core::task::Waker;

use cortex_m::peripheral::syst::SystClkSource;
use cortex_m::peripheral::{SCB, SYST};
use critical_section::Mutex;
use embassy_time_driver::{Driver, TICK_HZ};
use embassy_time_queue_utils::Queue;

struct SysTickDriver {
    ticks: Mutex<Cell<u64>>,
    queue: Mutex<RefCell<Queue>>,
}

embassy_time_driver::time_driver_impl!(static DRIVER: SysTickDriver = SysTickDriver {
    ticks: Mutex::new(Cell::new(0)),
    queue: Mutex::new(RefCell::new(Queue::new())),
});

impl Driver for SysTickDriver {
    fn now(&self) -> u64 {
        critical_section::with(|section| self.ticks.borrow(section).get())
    }

    fn schedule_wake(&self, at: u64, waker: &Waker) {
        critical_section::with(|section| {
            self.queue.borrow_ref_mut(section).schedule_wake(at, waker);
        });
    }
}

/// Starts the time, on a processor of `hertz`.
pub fn start(mut syst: SYST, hertz: u32) {
    let per_tick = u64::from(hertz) / TICK_HZ;
    syst.set_reload(u32::try_from(per_tick).unwrap_or(u32::MAX).saturating_sub(1));
    syst.clear_current();
    syst.set_clock_source(SystClkSource::Core);
    syst.enable_counter();
    syst.enable_interrupt();
}

/// Whether every tick is followed by a second interrupt.
static PENDS: AtomicBool = AtomicBool::new(false);

/// From now on every tick is followed by the interrupt `PendSV`, or no longer.
pub fn pend_at_ticks(pends: bool) {
    PENDS.store(pends, Ordering::Relaxed);
}

#[cortex_m_rt::exception]
fn SysTick() {
    if PENDS.load(Ordering::Relaxed) {
        SCB::set_pendsv();
    }
    critical_section::with(|section| {
        let ticks = DRIVER.ticks.borrow(section);
        ticks.set(ticks.get() + 1);
        // A timer that was set for a moment already past is found here as well, a tick late.
        DRIVER.queue.borrow_ref_mut(section).next_expiration(ticks.get());
    });
}
