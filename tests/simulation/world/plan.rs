//! What a run is made of, drawn from its seed. Each run has some kinds of trouble and of work
//! turned off, so that rare kinds meet others of their like more often than all of them at once
//! would let them ("swarm testing": A. Groce et al., 2012).

use core::time::Duration;

use storage_mux::retry::{Backoff, Jitter, RetryOptions};
use storage_mux::sim::Dice;
use storage_mux::{MuxMode, MuxOptions};

/// Which kinds are on in this run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Swarm {
    pub(crate) nesting: bool,
    pub(crate) shared_disks: bool,
    pub(crate) streams: bool,
    pub(crate) parts: bool,
    pub(crate) conditions: bool,
    pub(crate) deletes: bool,
    pub(crate) drops: bool,
    pub(crate) aborts: bool,
    pub(crate) deadlines: bool,
    pub(crate) failures: bool,
    pub(crate) hangs: bool,
    pub(crate) delays: bool,
    pub(crate) lost_answers: bool,
    pub(crate) outages: bool,
    pub(crate) wrong_answers: bool,
    pub(crate) torn_streams: bool,
    pub(crate) latency: bool,
    pub(crate) membership: bool,
    pub(crate) drains: bool,
    pub(crate) weights: bool,
    pub(crate) leaps: bool,
    pub(crate) steps_back: bool,
    pub(crate) checks: bool,
    pub(crate) inner_callers: bool,
}

impl Swarm {
    pub(crate) fn draw(dice: &Dice) -> Self {
        let calm = dice.chance(8);
        let on = || dice.chance(60);
        let mut swarm = Self {
            nesting: on(),
            shared_disks: on(),
            streams: on(),
            parts: on(),
            conditions: on(),
            deletes: on(),
            drops: on(),
            aborts: on(),
            deadlines: on(),
            failures: on(),
            hangs: on(),
            delays: on(),
            lost_answers: on(),
            outages: on(),
            wrong_answers: on(),
            torn_streams: on(),
            latency: on(),
            membership: on(),
            drains: on(),
            weights: on(),
            leaps: dice.chance(30),
            steps_back: dice.chance(30),
            checks: dice.chance(40),
            inner_callers: dice.chance(40),
        };
        if calm {
            // Nothing goes wrong: then nothing may fail either.
            swarm = Self { failures: false, hangs: false, outages: false, ..swarm };
        }
        swarm
    }
}

pub(crate) const MODES: [MuxMode; 6] = [
    MuxMode::Failover,
    MuxMode::RoundRobin,
    MuxMode::Weighted,
    MuxMode::StickyByKey,
    MuxMode::Shield,
    MuxMode::Mirror,
];

pub(crate) const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn one<T: Copy>(dice: &Dice, from: &[T]) -> T {
    from[dice.index(from.len()).unwrap_or(0)]
}

/// The longest cooldown of any run, and the longest wait that a backend asks for.
pub(crate) const MAX_COOLDOWN: Duration = Duration::from_secs(20);
pub(crate) const RETRY_AFTER: Duration = Duration::from_secs(3);

/// Options, and the longest that one attempt may take under them: every try its timeout, every
/// wait as long as the backoff says before chance makes it shorter.
pub(crate) fn options(dice: &Dice, swarm: &Swarm) -> (MuxOptions, u64) {
    let mode = one(dice, &MODES);
    let timeout = one(dice, &[ms(200), ms(1_000), ms(1_000), ms(3_000)]);
    let tries = one(dice, &[1, 1, 2, 3]);
    let backoff = one(
        dice,
        &[
            Backoff::exponential(ms(50), 2.0, ms(120)),
            Backoff::exponential(ms(100), 3.0, ms(2_000)),
            Backoff::constant(ms(70)),
            Backoff::constant(Duration::ZERO),
        ],
    );
    let mut jitters = vec![Jitter::None, Jitter::Full, Jitter::Equal];
    if matches!(backoff, Backoff::Exponential { .. }) {
        jitters.push(Jitter::Decorrelated);
    }
    let jitter = one(dice, &jitters);
    let retry =
        RetryOptions::new().with_max_attempts(tries).with_backoff(backoff).with_jitter(jitter);
    let base = one(dice, &[ms(300), ms(1_000), ms(2_000)]);
    let mut options = MuxOptions::new()
        .with_mode(mode)
        .with_backend_timeout(timeout)
        .with_retry(retry)
        .with_cooldown(base, one(dice, &[base, 4 * base, MAX_COOLDOWN]))
        .with_throw_on_fanout_partial(dice.chance(30));
    if swarm.checks {
        options = options.with_health_check_interval(one(dice, &[ms(2_500), ms(7_000)]));
    }
    // A walk may take any step up to the maximum.
    let longest = |retry: u32| match jitter {
        Jitter::Decorrelated => backoff.max().unwrap_or_default(),
        _ => backoff.delay(retry),
    };
    let waits: Duration = (1..tries).map(longest).sum();
    let bound = timeout * tries + waits;
    (options, u64::try_from(bound.as_nanos()).unwrap_or(u64::MAX))
}
