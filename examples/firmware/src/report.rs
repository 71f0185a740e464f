//! Checks that are counted, and the end that follows from them.

use core::cell::Cell;
use core::fmt::Arguments;

use cortex_m_semihosting::heprintln;

use crate::board;

/// What a program has checked so far.
///
/// It prints to the standard error of the emulator: the standard output is the log's, in frames.
#[derive(Default)]
pub struct Report {
    held: Cell<u32>,
    broken: Cell<u32>,
}

impl Report {
    /// Nothing checked yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Counts one check and prints it.
    pub fn check(&self, claim: &str, holds: bool) {
        let (word, count) = if holds { ("ok  ", &self.held) } else { ("FAIL", &self.broken) };
        count.set(count.get() + 1);
        heprintln!("{word} {claim}");
    }

    /// Counts two values that must be the same.
    pub fn equal<T: PartialEq + core::fmt::Debug>(&self, claim: &str, is: T, should: T) {
        if is != should {
            heprintln!("     it is {is:?} and should be {should:?}");
        }
        self.check(claim, is == should);
    }

    /// Prints one figure, for the table of sizes.
    pub fn size(&self, what: &str, bytes: usize) {
        line(format_args!("size {what}: {bytes}"));
    }

    /// Prints how deep heap and stack ever were, and ends the program: well if every check held
    /// and there were `checks` of them.
    pub fn end(&self, heap_bytes: usize, checks: u32) -> ! {
        self.size("heap peak", board::heap_peak());
        let stack = board::stack_peak(heap_bytes);
        match stack {
            Some(bytes) => self.size("stack peak", bytes),
            // What came after means nothing: the one may have written over the other.
            None => line(format_args!("FAIL heap and stack have met")),
        }
        let good = self.broken.get() == 0 && self.held.get() == checks && stack.is_some();
        line(format_args!(
            "{} of {checks} checks hold, {} broken",
            self.held.get(),
            self.broken.get()
        ));
        board::exit(good)
    }
}

fn line(text: Arguments<'_>) {
    heprintln!("{text}");
}
