//! What a board gives every program: a heap, an end for panics, and its own measure.

use core::alloc::{GlobalAlloc, Layout};
use core::cell::Cell;
use core::panic::PanicInfo;
use core::ptr;

use cortex_m_semihosting::{debug, heprintln};
use critical_section::Mutex;
// The critical sections that locks and wide atomics of the library are made of.
use cortex_m as _;
// The global logger of defmt.
use defmt_semihosting as _;
use embedded_alloc::LlffHeap;

/// The heap with its high-water mark, from the end of the statics up.
struct Heap {
    inner: LlffHeap,
    peak: Mutex<Cell<usize>>,
}

#[global_allocator]
static HEAP: Heap = Heap { inner: LlffHeap::empty(), peak: Mutex::new(Cell::new(0)) };

// SAFETY: every request goes to the inner allocator as it is.
unsafe impl GlobalAlloc for Heap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let pointer = unsafe { self.inner.alloc(layout) };
        let used = self.inner.used();
        critical_section::with(|section| {
            let peak = self.peak.borrow(section);
            peak.set(peak.get().max(used));
        });
        pointer
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        unsafe { self.inner.dealloc(pointer, layout) }
    }
}

/// Sets the heap up with this many bytes. To be called once, before anything is allocated.
pub fn start_heap(bytes: usize) {
    // SAFETY: the memory from the end of the statics up belongs to nobody; the stack comes down
    // from the other end, and `stack_peak` tells whether they ever met.
    unsafe { HEAP.inner.init(cortex_m_rt::heap_start() as usize, bytes) }
}

/// Bytes of the heap that are in use.
pub fn heap_used() -> usize {
    HEAP.inner.used()
}

/// The most bytes of the heap that ever were in use.
pub fn heap_peak() -> usize {
    critical_section::with(|section| HEAP.peak.borrow(section).get())
}

/// The most bytes of the stack that ever were in use, above a heap of `heap_bytes`; none if the two
/// met.
pub fn stack_peak(heap_bytes: usize) -> Option<usize> {
    unsafe extern "C" {
        static _stack_start: u32;
    }
    let top = &raw const _stack_start as usize;
    let bottom = (cortex_m_rt::heap_start() as usize + heap_bytes).next_multiple_of(4);
    let untouched = (bottom..top).step_by(4).take_while(|address| {
        // SAFETY: the addresses lie in memory, between the heap and the top of the stack.
        unsafe { ptr::read_volatile(*address as *const u32) == cortex_m_rt::STACK_PAINT_VALUE }
    });
    let untouched = untouched.count() * 4;
    (untouched > 0).then(|| top - bottom - untouched)
}

/// Ends the program and tells the emulator how.
pub fn exit(good: bool) -> ! {
    debug::exit(if good { debug::EXIT_SUCCESS } else { debug::EXIT_FAILURE });
    loop {
        cortex_m::asm::nop();
    }
}

#[panic_handler]
fn panicked(info: &PanicInfo<'_>) -> ! {
    heprintln!("{}", info);
    exit(false)
}

#[cortex_m_rt::exception]
unsafe fn HardFault(frame: &cortex_m_rt::ExceptionFrame) -> ! {
    heprintln!("hard fault at {:#010x}", frame.pc());
    exit(false)
}
