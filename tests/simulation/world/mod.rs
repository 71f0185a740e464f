//! A world of muxes, disks, callers and trouble, all of it drawn from one number.
//!
//! The modules name nothing but the library and `alloc`'s and `std`'s plain types, so the same
//! files also run on wasm32. A run has four parts: a [`site`] is built, [`caller`]s work on it
//! while [`chaos`] breaks it, all faults are taken back ([`healing`]), and what was counted is
//! compared ([`closing`]). The [`ledger`] keeps the tree of all calls; [`online`] and [`judge`]
//! hold it against the contract.

mod caller;
mod caller_streams;
mod chaos;
mod closing;
mod disk;
mod healing;
mod judge;
mod ledger;
mod online;
mod plan;
mod records;
mod site;
mod values;
mod watch;
mod watched;
mod watched_streams;

use core::time::Duration;
use std::sync::Arc;

use storage_mux::sim::{Dice, Executor, FakeClock, Stalled};
use storage_mux::{Clock, Instant};

use caller::Caller;
use ledger::Ledger;
use site::Site;

/// Polls after which a run counts as stuck.
const MAX_POLLS: u64 = 400_000;

/// What came of a run.
pub struct Report {
    /// FNV-1a-64 over every event, outcome and time.
    pub hash: u64,
    /// What did not hold. None is good.
    pub violations: Vec<String>,
    /// The end of the trace, where it was asked for.
    pub trace: Vec<String>,
    /// How many calls there were, at all levels.
    pub calls: usize,
    /// How many of the muxes' calls failed.
    pub failures: usize,
}

/// Makes one run out of one number.
pub fn simulate(seed: u64, verbose: bool) -> Report {
    let dice = Dice::new(seed);
    let clock = FakeClock::new();
    // So that a clock that is set back has somewhere to go.
    clock.jump(Instant::ZERO + Duration::from_secs(3_600));
    let ledger = Ledger::new(clock.clone(), verbose);
    let site = Site::new(&dice, &clock, &ledger);
    let executor =
        Executor::new(&clock).with_shuffle(dice.below(u64::MAX)).with_max_polls(MAX_POLLS);
    if let Err(stalled) = live(&site, &dice, &executor) {
        ledger.with(|book| {
            let open: Vec<usize> = (0..book.calls.len())
                .filter(|id| book.calls[*id].outcome == records::Outcome::Open)
                .collect();
            let open: Vec<String> = open.into_iter().map(|id| book.describe(id)).collect();
            book.violation(format!("{stalled}: never ends: {open:?}"));
        });
    }
    closing::figures(&site);
    closing::disks(&site);
    site.close();
    if executor.settle().is_err() || executor.tasks() > 0 {
        ledger.with(|book| book.violation("a closed mux goes on checking (HC-3)".into()));
    }
    drop(executor);
    closing::rest(&site);
    ledger.with(|book| {
        let failed = |call: &&records::Call| {
            matches!(call.target, records::Target::Mux(_)) && !call.outcome.is_ok()
        };
        Report {
            hash: book.hash,
            violations: core::mem::take(&mut book.violations),
            trace: book.lines.drain(..).collect(),
            calls: book.calls.len(),
            failures: book.calls.iter().filter(failed).count(),
        }
    })
}

fn live(site: &Arc<Site>, dice: &Dice, executor: &Executor<'_>) -> Result<(), Stalled> {
    if site.swarm.checks {
        for at in 0..site.count() {
            if let Some(mux) = site.mux(at) {
                executor.spawn(mux.health_checks());
            }
        }
    }
    let mut tasks = Vec::new();
    for _ in 0..2 + dice.below(4) {
        let caller = Caller::new(site.clone(), dice.fork());
        tasks.push(executor.spawn(caller.work(6 + dice.below(14))));
    }
    tasks.push(executor.spawn(chaos::break_things(site.clone(), dice.fork(), 4 + dice.below(20))));
    if site.swarm.membership || site.swarm.drains || site.swarm.weights {
        let task = chaos::change_things(site.clone(), dice.fork(), 2 + dice.below(6));
        tasks.push(executor.spawn(task));
    }
    if site.swarm.leaps || site.swarm.steps_back {
        tasks.push(executor.spawn(chaos::move_clock(site.clone(), dice.fork(), 4)));
    }
    // Somebody goes away in the middle of whatever it is doing.
    let quitter = (site.swarm.drops && dice.chance(30))
        .then(|| dice.duration(Duration::ZERO, plan::ms(6_000)));
    executor.run(async {
        if let Some(after) = quitter {
            site.clock.sleep(after).await;
            if let Some(task) = tasks.first() {
                task.cancel();
            }
        }
        for task in tasks {
            task.await;
        }
    })?;
    executor.run(healing::heal(site.clone(), dice.fork()))
}
