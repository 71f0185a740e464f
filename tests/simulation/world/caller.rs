//! Callers: each works through a list of operations of its own, and not all of them have patience.

use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};
use core::time::Duration;
use std::collections::BTreeMap;
use std::sync::Arc;

use storage_mux::sim::{Dice, FakeClock, FakeSleep};
use storage_mux::{
    AbortController, Clock, Condition, OpContext, PageRequest, Storage, StorageError, Version,
    Written,
};

use super::ledger::Ledger;
use super::plan::ms;
use super::records::CallId;
use super::site::Site;
use super::values::{CELL, KEYS, is_whole};
use super::watched::Watched;
use super::{caller_streams, site::PLAIN};

/// How long a caller waits.
pub(crate) enum Patience {
    Endless,
    /// Drops the call at a time, or after a number of polls.
    DropAt(Duration),
    DropAfter(u32),
    AbortAt(Duration),
    Gone,
    Deadline(Duration),
}

impl Patience {
    pub(crate) fn draw(site: &Site, dice: &Dice) -> Self {
        let swarm = &site.swarm;
        let short = |most| dice.duration(Duration::ZERO, ms(most));
        match dice.below(24) {
            0 if swarm.drops => Self::DropAfter(dice.below(4) as u32 + 1),
            1 | 2 if swarm.drops => Self::DropAt(short(1_500)),
            3 | 4 if swarm.aborts => Self::AbortAt(short(1_500)),
            5 if swarm.aborts => Self::Gone,
            6 | 7 if swarm.deadlines => Self::Deadline(short(2_500)),
            _ => Self::Endless,
        }
    }

    /// The context of a call under it, and who can abort it.
    pub(crate) fn context(&self, clock: &FakeClock) -> (OpContext, AbortController) {
        let controller = AbortController::new();
        let cx = OpContext::new();
        let cx = match self {
            Self::AbortAt(_) => cx.with_signal(controller.signal()),
            Self::Gone => {
                controller.abort();
                cx.with_signal(controller.signal())
            }
            Self::Deadline(after) => cx.with_deadline(clock.now() + *after),
            _ => cx,
        };
        (cx, controller)
    }
}

/// A call, and the patience of who waits for it. `None` where it was dropped.
pub(crate) struct Impatient<F> {
    call: Option<Pin<Box<F>>>,
    ledger: Ledger,
    /// The number of the call in the book, known from its first poll on.
    id: Option<CallId>,
    timer: Option<FakeSleep>,
    polls_left: Option<u32>,
    aborts: Option<AbortController>,
}

impl<F> Impatient<F> {
    pub(crate) fn new(
        ledger: &Ledger,
        patience: &Patience,
        controller: AbortController,
        call: F,
    ) -> Self {
        let clock = &ledger.clock;
        let (timer, polls_left, aborts) = match patience {
            Patience::DropAt(after) => (Some(clock.sleep(*after)), None, None),
            Patience::AbortAt(after) => (Some(clock.sleep(*after)), None, Some(controller)),
            Patience::DropAfter(polls) => (None, Some(*polls), None),
            Patience::Endless | Patience::Gone | Patience::Deadline(_) => (None, None, None),
        };
        let call = Some(Box::pin(call));
        Self { call, ledger: ledger.clone(), id: None, timer, polls_left, aborts }
    }
}

impl<F: Future> Future for Impatient<F> {
    type Output = Option<F::Output>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.get_mut();
        let due = this.timer.as_mut().is_some_and(|timer| Pin::new(timer).poll(cx).is_ready());
        if due {
            this.timer = None;
            let Some(controller) = this.aborts.take() else {
                this.call = None;
                return Poll::Ready(None);
            };
            if let Some(id) = this.id {
                this.ledger.with(|book| give_up(book, id));
            }
            controller.abort();
        }
        let Some(call) = &mut this.call else { return Poll::Ready(None) };
        let ledger = &this.ledger;
        this.id.get_or_insert_with(|| ledger.with(|book| book.calls.len()));
        if let Poll::Ready(output) = call.as_mut().poll(cx) {
            this.call = None;
            return Poll::Ready(Some(output));
        }
        if let Some(left) = &mut this.polls_left {
            *left -= 1;
            if *left == 0 {
                this.call = None;
                return Poll::Ready(None);
            }
        }
        Poll::Pending
    }
}

/// A caller has aborted a call.
pub(crate) fn give_up(book: &mut super::ledger::Book, id: CallId) {
    book.note(&[12, id as u64], "", || format!("#{id} is aborted by its caller"));
    if let Some(call) = book.calls.get_mut(id) {
        call.gave_up = true;
    }
}

/// What one caller remembers between its calls.
pub(crate) struct Caller {
    pub(crate) site: Arc<Site>,
    pub(crate) dice: Dice,
    /// The latest version of each key that it has seen.
    versions: BTreeMap<&'static str, Version>,
}

impl Caller {
    pub(crate) fn new(site: Arc<Site>, dice: Dice) -> Self {
        Self { site, dice, versions: BTreeMap::new() }
    }

    pub(crate) async fn work(mut self, calls: u64) {
        for _ in 0..calls {
            let pause = [ms(0), ms(1), ms(40), ms(300), ms(900)];
            let pause = self.dice.pick(&pause).copied().unwrap_or_default();
            if !pause.is_zero() {
                self.site.clock.sleep(pause).await;
            }
            self.one_call().await;
        }
    }

    pub(crate) fn key(&self) -> &'static str {
        let keys = if self.site.swarm.parts { &KEYS[..] } else { &KEYS[..4] };
        // Most work is on one key, where callers meet.
        if self.dice.chance(40) {
            KEYS[0]
        } else {
            self.dice.pick(keys).copied().unwrap_or(KEYS[0])
        }
    }

    async fn one_call(&mut self) {
        let at = if self.site.swarm.inner_callers && self.dice.chance(30) {
            self.dice.index(self.site.count()).unwrap_or(0)
        } else {
            0
        };
        let Some(door) = self.site.door(at) else { return };
        let patience = Patience::draw(&self.site, &self.dice);
        let swarm = self.site.swarm;
        let key = self.key();
        match self.dice.below(20) {
            0..2 if swarm.streams => caller_streams::read(self, &door, key, patience).await,
            2..4 if swarm.streams => caller_streams::write(self, &door, key, patience).await,
            other => self.plain(&door, key, &patience, other).await,
        }
    }

    async fn plain(&mut self, door: &Watched, key: &'static str, patience: &Patience, what: u64) {
        let (cx, controller) = patience.context(&self.site.clock);
        let ledger = self.site.ledger.clone();
        let swarm = self.site.swarm;
        macro_rules! wait {
            ($call:expr) => {
                Impatient::new(&ledger, patience, controller, $call).await.and_then(Result::ok)
            };
        }
        match what {
            4 if swarm.deletes => {
                wait!(door.delete(key, &cx));
            }
            5 => {
                wait!(door.has(key, &cx));
            }
            6 => {
                let page = PageRequest::first(1 + self.dice.below(4) as usize);
                if let Some(page) = wait!(door.list("whole/", &page, &cx)) {
                    check_page(&ledger, &page);
                }
            }
            7 => {
                if let Some(metadata) = wait!(door.stat(key, &cx)) {
                    self.versions.extend(metadata.version.map(|version| (key, version)));
                }
            }
            8 => {
                let from = self.dice.below(3) * CELL as u64;
                let to = from + (1 + self.dice.below(3)) * CELL as u64;
                if let Some(bytes) = wait!(door.get_range(key, from..to, &cx)) {
                    ledger.with(|book| book.check_value(key, from, &bytes, false));
                }
            }
            9 if swarm.conditions => {
                let (_, bytes) = self.new_value(key);
                let known = self.versions.get(key).filter(|_| self.dice.chance(70));
                let condition = known.cloned().map_or(Condition::Absent, Condition::VersionMatches);
                let written = wait!(door.set_if(key, bytes, condition, &cx));
                self.remember(key, written);
            }
            10 | 11 if swarm.parts && !is_whole(key) => {
                let first = self.dice.below(4) as u16;
                let cells = 1 + self.dice.below(2) as u16;
                let (_, bytes) = ledger.with(|book| book.new_write(key, cells, Some(first)));
                let offset = u64::from(first) * CELL as u64;
                wait!(door.set_partial(key, offset, bytes, &cx));
            }
            9..15 => {
                let (_, bytes) = self.new_value(key);
                let written = wait!(door.set(key, bytes, &cx));
                self.remember(key, written);
            }
            _ => {
                if let Some(bytes) = wait!(door.get(key, &cx)) {
                    ledger.with(|book| book.check_value(key, 0, &bytes, true));
                }
            }
        }
    }

    pub(crate) fn new_value(&self, key: &str) -> (u32, bytes::Bytes) {
        let cells = 1 + self.dice.below(5) as u16;
        self.site.ledger.with(|book| book.new_write(key, cells, None))
    }

    fn remember(&mut self, key: &'static str, written: Option<Written>) {
        self.versions.extend(written.and_then(|written| written.version).map(|v| (key, v)));
    }
}

pub(crate) fn check_page(ledger: &Ledger, page: &storage_mux::Page) {
    let keys: Vec<&str> = page.entries.iter().map(|entry| &*entry.key).collect();
    let known = keys.iter().all(|key| KEYS.contains(key) && is_whole(key));
    if !known || !keys.is_sorted() {
        ledger.with(|book| book.violation(format!("a listing gives {keys:?} (P-7)")));
    }
}

/// A call that must succeed, without patience or context.
pub(crate) async fn must<T>(
    ledger: &Ledger,
    what: &str,
    call: impl Future<Output = Result<T, StorageError>>,
) -> Option<T> {
    match call.await {
        Ok(value) => Some(value),
        Err(error) => {
            ledger.with(|book| book.violation(format!("after healing {what} fails: {error}")));
            None
        }
    }
}

/// The same for a read: that there is nothing to read, or not as much, is an answer.
pub(crate) async fn must_read<T>(
    ledger: &Ledger,
    what: &str,
    call: impl Future<Output = Result<T, StorageError>>,
) -> Option<T> {
    match call.await {
        Err(error) if error.is_key_not_found() => None,
        Err(error) if error == StorageError::range_not_satisfiable() => None,
        other => must(ledger, what, core::future::ready(other)).await,
    }
}

/// The plain context, for those who have no patience to spell out.
pub(crate) fn plain() -> &'static OpContext {
    &PLAIN
}
