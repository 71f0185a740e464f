//! The muxes of a run, their backends and their disks.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use storage_mux::sim::{Dice, FakeClock, FaultStorage};
use storage_mux::{
    Backend, HealthCheck, MuxMode, OpContext, Rng, SeededRng, SharedStorage, StorageMux,
    WeakStorageMux,
};

use super::disk::Disk;
use super::ledger::Ledger;
use super::plan::{Swarm, options};
use super::records::{Edge, EdgeId, Mux as MuxRecord, MuxId, Target};
use super::values::CELL;
use super::watch::Watch;
use super::watched::Watched;

pub(crate) type Mux = StorageMux<SharedStorage, FakeClock, SeededRng>;
pub(crate) type Weak = WeakStorageMux<SharedStorage, FakeClock, SeededRng>;
pub(crate) type Faults = FaultStorage<SharedStorage>;

/// What stands behind a backend.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Below {
    Disk(usize),
    Mux(MuxId),
}

/// Everything that a run works on. The callers share it.
pub(crate) struct Site {
    pub(crate) clock: FakeClock,
    pub(crate) ledger: Ledger,
    pub(crate) swarm: Swarm,
    /// A mux that holds another has the smaller number; the first holds them all.
    pub(crate) muxes: Mutex<Vec<Option<Mux>>>,
    /// The same muxes as callers reach them.
    pub(crate) doors: Mutex<Vec<Option<Watched>>>,
    pub(crate) faults: Mutex<BTreeMap<EdgeId, Faults>>,
    pub(crate) below: Mutex<Vec<Below>>,
    pub(crate) disks: Mutex<Vec<Disk>>,
}

/// How deep muxes are nested at most, here.
const DEPTH: usize = 3;
const NAMES: [&str; 7] = ["ant", "bee", "cat", "dog", "eel", "fox", "gnu"];

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

impl Site {
    pub(crate) fn new(dice: &Dice, clock: &FakeClock, ledger: &Ledger) -> Arc<Self> {
        let site = Arc::new(Self {
            clock: clock.clone(),
            ledger: ledger.clone(),
            swarm: Swarm::draw(dice),
            muxes: Mutex::default(),
            doors: Mutex::default(),
            faults: Mutex::default(),
            below: Mutex::default(),
            disks: Mutex::default(),
        });
        site.new_mux(dice, 1);
        site
    }

    pub(crate) fn mux(&self, at: MuxId) -> Option<Mux> {
        locked(&self.muxes).get(at).cloned().flatten()
    }

    pub(crate) fn door(&self, at: MuxId) -> Option<Watched> {
        locked(&self.doors).get(at).cloned().flatten()
    }

    pub(crate) fn count(&self) -> usize {
        locked(&self.muxes).len()
    }

    pub(crate) fn fault(&self, edge: EdgeId) -> Option<Faults> {
        locked(&self.faults).get(&edge).cloned()
    }

    pub(crate) fn all_faults(&self) -> Vec<(EdgeId, Faults)> {
        locked(&self.faults).iter().map(|(edge, faults)| (*edge, faults.clone())).collect()
    }

    fn new_mux(&self, dice: &Dice, depth: usize) -> MuxId {
        let (options, attempt_bound) = options(dice, &self.swarm);
        let mode = options.mode();
        let at = self.count();
        locked(&self.muxes).push(None);
        locked(&self.doors).push(None);
        self.ledger.with(|book| {
            book.muxes.push(MuxRecord {
                mode,
                timeout: options.backend_timeout().as_nanos() as u64,
                tries: options.retry().max_attempts(),
                attempt_bound,
                throw: options.throw_on_fanout_partial(),
                members: Vec::new(),
                handle: None,
                calls: 0,
                served: 0,
                attempts: 0,
                failovers: 0,
                partials: 0,
            });
        });
        let least = if mode == MuxMode::Shield { 2 } else { 1 };
        let count = least + dice.below(4 - least);
        let mut backends = Vec::new();
        for name in NAMES.iter().take(count as usize) {
            let nested = self.swarm.nesting && depth < DEPTH && dice.chance(30);
            let below = if nested && self.count() < 6 {
                Below::Mux(self.new_mux(dice, depth + 1))
            } else {
                self.some_disk(dice)
            };
            // At least one has a weight, or the mux would be refused.
            let weight = if backends.is_empty() { 1.0 } else { self.weight(dice) };
            let (edge, backend) = self.new_backend(at, name, weight, below, dice);
            self.ledger.with(|book| {
                book.edges[edge].joined = true;
                book.muxes[at].members.push(edge);
            });
            backends.push(backend);
        }
        let watch = Watch { ledger: self.ledger.clone(), mux: at };
        let built = StorageMux::builder(self.clock.clone(), SeededRng::new(dice.next_u64()))
            .backends(backends)
            .options(options)
            .event_sink(watch.clone())
            .tracer(watch)
            .build();
        match built {
            Ok(mux) => {
                let door = Watched {
                    ledger: self.ledger.clone(),
                    target: Target::Mux(at),
                    inner: mux.clone().into(),
                };
                self.ledger.with(|book| book.muxes[at].handle = Some(mux.downgrade()));
                locked(&self.muxes)[at] = Some(mux);
                locked(&self.doors)[at] = Some(door);
            }
            Err(error) => {
                self.ledger.with(|book| book.violation(format!("mux {at} is refused: {error}")));
            }
        }
        at
    }

    /// A weight of any kind, as far as the swarm allows.
    pub(crate) fn weight(&self, dice: &Dice) -> f64 {
        if !self.swarm.weights {
            return 1.0;
        }
        [0.0, 0.5, 1.0, 3.0, 9.0][dice.index(5).unwrap_or(0)]
    }

    /// A new disk, or now and then one that others use as well.
    pub(crate) fn some_disk(&self, dice: &Dice) -> Below {
        let known = locked(&self.disks).len();
        if self.swarm.shared_disks && known > 0 && dice.chance(60) {
            return Below::Disk(dice.index(known).unwrap_or(0));
        }
        let disk = Disk::new(&self.ledger);
        let at = disk.at;
        locked(&self.disks).push(disk);
        Below::Disk(at)
    }

    /// A backend for a mux, with a place in the book, faults of its own, and a watch around it.
    pub(crate) fn new_backend(
        &self,
        mux: MuxId,
        name: &str,
        weight: f64,
        below: Below,
        dice: &Dice,
    ) -> (EdgeId, Backend<SharedStorage>) {
        let inner = match below {
            Below::Disk(at) => SharedStorage::new(locked(&self.disks)[at].clone()),
            Below::Mux(at) => match self.door(at) {
                Some(door) => SharedStorage::new(door),
                None => SharedStorage::new(Disk::new(&self.ledger)),
            },
        };
        let faults = FaultStorage::new(inner, self.clock.clone());
        faults.set_chunk_bytes(CELL);
        let edge = self.ledger.with(|book| {
            book.edges.push(Edge {
                mux,
                name: name.into(),
                below: if let Below::Mux(at) = below { Some(at) } else { None },
                joined: false,
                weightless: (weight == 0.0).then_some(0),
                weight,
                draining: None,
                removed: false,
                open: 0,
                probes: 0,
                probers: Vec::new(),
                down: None,
                trouble: None,
                answered: None,
                spans: [0; 5],
                spans_begun: 0,
            });
            book.edges.len() - 1
        });
        locked(&self.below).push(below);
        locked(&self.faults).insert(edge, faults.clone());
        let watched = Watched {
            ledger: self.ledger.clone(),
            target: Target::Edge(edge),
            inner: SharedStorage::new(faults),
        };
        let mut backend = Backend::new(name, SharedStorage::new(watched)).with_weight(weight);
        if self.swarm.checks && dice.chance(60) {
            backend = backend.with_health_check(HealthCheck::has("whole/a"));
        }
        (edge, backend)
    }

    /// A name of a mux, taken or free.
    pub(crate) fn name(&self, dice: &Dice) -> &'static str {
        NAMES[dice.index(NAMES.len()).unwrap_or(0)]
    }

    /// Whether what is written through a mux is what is read through it, once all is well: all
    /// ways lead to the same data, or the mode sends each key the same way and keeps copies alike.
    pub(crate) fn is_coherent(&self, mux: MuxId) -> bool {
        let (mode, members) = self.ledger.with(|book| (book.muxes[mux].mode, book.active(mux)));
        let below: Vec<Below> = members.iter().map(|edge| locked(&self.below)[*edge]).collect();
        let parts = below.iter().all(|below| match below {
            Below::Disk(_) => true,
            Below::Mux(inner) => self.is_coherent(*inner),
        });
        let spreads = matches!(mode, MuxMode::RoundRobin | MuxMode::Weighted);
        let mut disks = Vec::new();
        self.disks_below(mux, &mut disks);
        parts && (!spreads || disks.len() == 1)
    }

    fn disks_below(&self, mux: MuxId, found: &mut Vec<usize>) {
        for edge in self.ledger.with(|book| book.active(mux)) {
            let below = locked(&self.below)[edge];
            match below {
                Below::Disk(disk) if !found.contains(&disk) => found.push(disk),
                Below::Disk(_) => {}
                Below::Mux(inner) => self.disks_below(inner, found),
            }
        }
    }

    /// Lets go of the muxes, so that nothing refers to itself any more.
    pub(crate) fn close(&self) {
        let muxes = core::mem::take(&mut *locked(&self.muxes));
        muxes.iter().flatten().for_each(Mux::close);
        locked(&self.doors).clear();
        locked(&self.faults).clear();
    }
}

/// A context with nothing in it.
pub(crate) static PLAIN: OpContext = OpContext::new();
