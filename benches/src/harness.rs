//! Measuring on a machine that others use too.
//!
//! All cases of a group take turns in short samples, over and over; a ratio is taken within one
//! round, so that whatever slows a round slows both sides of it, and the median of all rounds
//! stands. A sample is far shorter than a time slice, so most are not interrupted at all.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::time::{Duration, Instant};

/// How long one sample takes.
const SAMPLE: Duration = Duration::from_micros(300);

/// Counts what the thread allocates.
pub struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

// SAFETY: everything is handed on as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        unsafe { System.dealloc(pointer, layout) }
    }
}

/// Something that is done a number of times.
type Work = Box<dyn FnMut(u32)>;

struct Case {
    name: String,
    work: Work,
    times: u32,
    /// Nanoseconds of one operation, a number per round.
    rounds: Vec<f64>,
    allocations: f64,
}

/// Cases that are measured against one another.
#[derive(Default)]
pub struct Group {
    cases: Vec<Case>,
}

/// What came out of a group.
pub struct Measured {
    cases: Vec<Case>,
}

impl Group {
    /// Adds a case. `work` does its operation as often as it is told.
    pub fn case(&mut self, name: impl Into<String>, work: impl FnMut(u32) + 'static) {
        let (name, work) = (name.into(), Box::new(work));
        self.cases.push(Case { name, work, times: 1, rounds: Vec::new(), allocations: 0.0 });
    }

    /// Measures all cases, in turns.
    #[must_use]
    pub fn measure(mut self, rounds: usize) -> Measured {
        for case in &mut self.cases {
            case.calibrate();
        }
        for _ in 0..rounds {
            for case in &mut self.cases {
                let spent = case.sample();
                case.rounds.push(spent);
            }
        }
        Measured { cases: self.cases }
    }
}

impl Case {
    /// Finds out how often fits into a sample, warms up on the way, and counts allocations.
    fn calibrate(&mut self) {
        // Until three in a row are long enough: one that was interrupted would end the search at a
        // length at which what a sample costs once is all that it shows.
        while self.times < 1 << 24 && (0..3).any(|_| self.spent() < SAMPLE) {
            self.times *= 2;
        }
        // Whatever grows only now and then does not count: the difference of two lengths does not
        // see what a sample costs once.
        let count = |work: &mut Work, times: u32| {
            let before = ALLOCATIONS.get();
            work(times);
            ALLOCATIONS.get() - before
        };
        let (few, many) = (count(&mut self.work, 100), count(&mut self.work, 1_100));
        self.allocations = many.saturating_sub(few) as f64 / 1_000.0;
    }

    /// The time of one sample.
    fn spent(&mut self) -> Duration {
        let begun = Instant::now();
        (self.work)(self.times);
        begun.elapsed()
    }

    fn sample(&mut self) -> f64 {
        self.spent().as_nanos() as f64 / f64::from(self.times)
    }
}

/// A cost: a case, or what one case adds to another.
#[derive(Clone, Copy)]
pub enum Cost<'a> {
    Of(&'a str),
    Added(&'a str, &'a str),
}

impl Measured {
    fn case(&self, name: &str) -> &Case {
        let found = self.cases.iter().find(|case| case.name == name);
        found.unwrap_or_else(|| panic!("no case {name}"))
    }

    fn rounds(&self, cost: Cost<'_>) -> Vec<f64> {
        match cost {
            Cost::Of(name) => self.case(name).rounds.clone(),
            Cost::Added(name, base) => {
                let pairs = self.case(name).rounds.iter().zip(&self.case(base).rounds);
                pairs.map(|(with, without)| with - without).collect()
            }
        }
    }

    /// Nanoseconds, the median of all rounds.
    #[must_use]
    pub fn nanos(&self, cost: Cost<'_>) -> f64 {
        median(self.rounds(cost))
    }

    /// The first over the second, the median of all rounds.
    #[must_use]
    pub fn ratio(&self, ours: Cost<'_>, theirs: Cost<'_>) -> f64 {
        let pairs = self.rounds(ours).into_iter().zip(self.rounds(theirs));
        median(pairs.map(|(ours, theirs)| ours / theirs).collect())
    }

    /// Allocations of one operation.
    #[must_use]
    pub fn allocations(&self, name: &str) -> f64 {
        self.case(name).allocations
    }

    /// A row that compares two costs.
    pub fn row(&self, ours: (&str, Cost<'_>), theirs: (&str, Cost<'_>), at_most: f64) -> Row {
        let ratio = self.ratio(ours.1, theirs.1);
        Row {
            what: ours.0.into(),
            ours: nanos(self.nanos(ours.1)),
            peer: theirs.0.into(),
            theirs: nanos(self.nanos(theirs.1)),
            ratio: format!("{ratio:.2}"),
            target: format!("≤ {at_most}"),
            met: Some(ratio <= at_most),
        }
    }

    /// The same without a target.
    pub fn remark(&self, ours: (&str, Cost<'_>), theirs: (&str, Cost<'_>)) -> Row {
        let row = self.row(ours, theirs, f64::INFINITY);
        Row { target: String::new(), met: None, ..row }
    }
}

/// A line of the table.
pub struct Row {
    pub what: String,
    pub ours: String,
    pub peer: String,
    pub theirs: String,
    pub ratio: String,
    pub target: String,
    pub met: Option<bool>,
}

impl Row {
    /// As a line of a table in Markdown.
    #[must_use]
    pub fn markdown(&self) -> String {
        let verdict = match self.met {
            Some(true) => "pass",
            Some(false) => "**short**",
            None => "",
        };
        let Self { what, ours, peer, theirs, ratio, target, .. } = self;
        format!("| {what} | {ours} | {peer} | {theirs} | {ratio} | {target} | {verdict} |")
    }
}

fn nanos(value: f64) -> String {
    match value {
        below if below < 20.0 => format!("{below:.1} ns"),
        below if below < 10_000.0 => format!("{below:.0} ns"),
        more => format!("{:.1} µs", more / 1_000.0),
    }
}

/// The middle of all.
#[must_use]
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    values[values.len() / 2]
}
