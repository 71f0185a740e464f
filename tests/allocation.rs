//! What a call costs over a ready backend: no allocation, two clock readings, no timer.
//!
//! Counted per thread: the harness allocates on its own.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use storage_mux::sim::{FakeClock, run};
use storage_mux::{Backend, MemoryStorage, SeededRng, StorageError, StorageMux};

struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

fn allocations() -> u64 {
    ALLOCATIONS.get()
}

unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

const CALLS: u64 = 1_000;

/// Spec: P-1, P-4, OT-2
#[test]
fn a_get_over_a_ready_concrete_backend_allocates_nothing_and_reads_the_clock_twice() {
    let clock = FakeClock::new();
    let mux = StorageMux::builder(clock.clone(), SeededRng::new(1))
        .backend(Backend::new("a", MemoryStorage::new()))
        .backend(Backend::new("b", MemoryStorage::new()))
        .backend(Backend::new("c", MemoryStorage::new()))
        .build()
        .expect("a mux");
    run(&clock, mux.set("k", "value")).expect("runs").expect("stored");

    let (readings, timers) = (clock.reads(), clock.timers_made());
    let spent = run(&clock, async {
        let before = allocations();
        for _ in 0..CALLS {
            assert_eq!(mux.get("k").await.expect("found"), "value");
        }
        allocations() - before
    });
    assert_eq!(spent.expect("runs"), 0, "allocations in {CALLS} hits");
    assert_eq!(clock.reads() - readings, 2 * CALLS);
    assert_eq!(clock.timers_made(), timers);

    // A miss is an everyday answer, and as cheap.
    let spent = run(&clock, async {
        let before = allocations();
        for _ in 0..CALLS {
            assert_eq!(mux.get("missing").await, Err(StorageError::key_not_found()));
        }
        allocations() - before
    });
    assert_eq!(spent.expect("runs"), 0, "allocations in {CALLS} misses");

    // The counter counts: what must allocate is seen to.
    let before = allocations();
    drop(std::hint::black_box(Box::new(1)));
    assert_eq!(allocations() - before, 1);
}
