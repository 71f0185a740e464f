//! What goes wrong while callers work: backends fail, muxes change, the clock jumps.

use core::time::Duration;
use std::sync::Arc;

use storage_mux::sim::{Dice, Fault, Latency, StreamFault};
use storage_mux::{Clock, Instant, MuxMode, NetworkFault, OpContext, StorageError};

use super::plan::{RETRY_AFTER, ms};
use super::site::{Faults, Site};

fn trouble(dice: &Dice) -> StorageError {
    match dice.below(6) {
        0 => StorageError::http(503),
        1 => StorageError::http(500),
        2 => StorageError::http(429).with_retry_after(RETRY_AFTER),
        3 => StorageError::network(NetworkFault::Reset),
        4 => StorageError::network(NetworkFault::Refused),
        _ => StorageError::other("the disk is on fire"),
    }
}

/// Breaks backends, one after the other.
pub(crate) async fn break_things(site: Arc<Site>, dice: Dice, times: u64) {
    for _ in 0..times {
        site.clock.sleep(dice.duration(Duration::ZERO, ms(700))).await;
        let faults = site.all_faults();
        let Some((edge, faults)) = dice.pick(&faults) else { continue };
        let what = break_one(&site, &dice, faults);
        site.ledger.with(|book| {
            book.note(&[13, *edge as u64], what, || format!("~ edge {edge}: {what}"));
        });
    }
}

fn break_one(site: &Site, dice: &Dice, faults: &Faults) -> &'static str {
    let swarm = &site.swarm;
    let wait = dice.duration(Duration::ZERO, ms(1_200));
    match dice.below(14) {
        0 | 1 if swarm.failures => {
            faults.push_times(1 + dice.below(3) as usize, Fault::Fail(trouble(dice)));
            "fails"
        }
        2 if swarm.failures => {
            faults.push(Fault::DelayThenFail(wait, trouble(dice)));
            "fails late"
        }
        3 if swarm.hangs => {
            faults.push(Fault::Hang);
            "hangs"
        }
        4 if swarm.delays => {
            faults.push(Fault::Delay(wait));
            "is slow once"
        }
        5 if swarm.lost_answers => {
            faults.push(Fault::LoseAnswer(trouble(dice)));
            "loses an answer"
        }
        6 if swarm.outages => {
            let hang = swarm.hangs && dice.chance(30);
            faults.set_always(if hang { Fault::Hang } else { Fault::Fail(trouble(dice)) });
            "is down"
        }
        7 if swarm.wrong_answers => {
            let status = [403, 404, 409, 418][dice.index(4).unwrap_or(0)];
            faults.push(if dice.chance(30) {
                Fault::Fail(StorageError::key_not_found())
            } else {
                Fault::http(status)
            });
            "gives a wrong answer"
        }
        8 | 9 if swarm.torn_streams => {
            let after = dice.below(4) as usize;
            faults.push_stream(match dice.below(5) {
                0 => StreamFault::torn(after),
                1 => StreamFault::trickle(wait / 4),
                2 => StreamFault::new(after, Fault::Hang),
                3 => StreamFault::new(after, Fault::LoseAnswer(trouble(dice))),
                _ => StreamFault::new(after, Fault::DelayThenFail(wait, trouble(dice))),
            });
            "has a bad stream"
        }
        10 if swarm.latency => {
            let latency = if dice.chance(50) {
                Latency::Uniform(ms(1), ms(120))
            } else {
                Latency::LongTail { median: ms(10), most: ms(4_000) }
            };
            faults.set_latency(Some(latency), dice.below(u64::MAX));
            "takes its time"
        }
        11 | 12 => {
            faults.heal();
            "is well again"
        }
        _ => "is spared",
    }
}

/// Adds, drains, removes and weighs backends.
pub(crate) async fn change_things(site: Arc<Site>, dice: Dice, times: u64) {
    for _ in 0..times {
        site.clock.sleep(dice.duration(ms(10), ms(1_500))).await;
        let at = dice.index(site.count()).unwrap_or(0);
        let name = site.name(&dice);
        match dice.below(8) {
            0..3 if site.swarm.membership => add(&site, &dice, at, name),
            3 if site.swarm.membership => leave(&site, &dice, at, name, true).await,
            4 | 5 if site.swarm.drains => leave(&site, &dice, at, name, false).await,
            6 | 7 if site.swarm.weights => {
                let Some(mux) = site.mux(at) else { continue };
                // Refused where the name is unknown or no weight would be left.
                let _ = mux.set_weight(name, site.weight(&dice));
            }
            _ => {}
        }
    }
}

pub(crate) fn add(site: &Site, dice: &Dice, at: usize, name: &str) {
    let Some(mux) = site.mux(at) else { return };
    let taken = site.ledger.with(|book| book.member(at, name).is_some());
    let weight = site.weight(dice).max(if taken { 0.0 } else { 0.5 });
    let below = site.some_disk(dice);
    let (_, backend) = site.new_backend(at, name, weight, below, dice);
    let added = mux.add_backend(backend);
    let told = site.ledger.with(|book| book.edges.last().is_some_and(|edge| edge.joined));
    if added.is_ok() == taken || told != added.is_ok() {
        let what =
            format!("mux {at}: adding {name}, taken: {taken}: {added:?}, told: {told} (MU-1)");
        site.ledger.with(|book| book.violation(what));
    }
}

async fn leave(site: &Arc<Site>, dice: &Dice, at: usize, name: &str, remove: bool) {
    let Some(mux) = site.mux(at) else { return };
    let edge = site.ledger.with(|book| book.member(at, name));
    let cx = OpContext::new();
    let patience = dice.duration(Duration::ZERO, ms(4_000));
    let cx = if dice.chance(30) { cx.with_deadline(site.clock.now() + patience) } else { cx };
    let with = mux.with(&cx);
    let result = if remove { with.remove_backend(name).await } else { with.drain(name).await };
    site.ledger.with(|book| {
        let code = result.as_ref().err().map_or("", |error| error.code().as_str());
        book.note(&[14, at as u64], code, || format!("~ mux {at}: {name} leaves: {code}"));
        match (edge, result.is_ok()) {
            (None, true) => book.violation(format!("mux {at}: {name} was drained by no name")),
            (Some(edge), true) if !book.edges[edge].removed => {
                book.violation(format!("mux {at}: {name} was drained and is there (DR-1)"));
            }
            (Some(edge), false) if book.edges[edge].draining.is_none() => {
                book.violation(format!(
                    "mux {at}: {name} gave up its drain and takes calls (DR-2)"
                ));
            }
            _ => {}
        }
    });
}

/// Moves the clock by hand: it leaps forward, or is set back a little.
pub(crate) async fn move_clock(site: Arc<Site>, dice: Dice, times: u64) {
    for _ in 0..times {
        site.clock.sleep(dice.duration(ms(100), ms(3_000))).await;
        let now = site.clock.now();
        let to = match dice.below(4) {
            0 if site.swarm.steps_back => {
                let by = dice.duration(ms(1), ms(1_500));
                Instant::from_nanos(now.as_nanos().saturating_sub(by.as_nanos() as u64))
            }
            1 if site.swarm.leaps => now + Duration::from_secs(3_600),
            2 if site.swarm.leaps => now + dice.duration(ms(1), ms(5_000)),
            _ => continue,
        };
        site.ledger.with(|book| {
            let by = to.as_nanos().abs_diff(book.now);
            book.back += book.now.saturating_sub(to.as_nanos());
            book.drift += by;
            book.note(&[15, to.as_nanos()], "", || format!("~ the clock goes to {to}"));
        });
        site.clock.jump(to);
    }
}

/// A backend for a mux that has lost all of them, or all that carry weight.
pub(crate) fn repopulate(site: &Site, dice: &Dice, at: usize) {
    let alive = site.ledger.with(|book| {
        let mode = book.muxes[at].mode;
        let weighs = |edge: &usize| mode != MuxMode::Weighted || book.edges[*edge].weight > 0.0;
        book.active(at).iter().filter(|edge| weighs(edge)).count()
    });
    if alive == 0 {
        add(site, dice, at, "hen");
    }
}
