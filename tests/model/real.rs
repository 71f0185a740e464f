//! The mux under test, with scripted stores, a clock that the test moves, and an executor that
//! polls what was woken and nothing else.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use bytes::Bytes;
use futures_util::{FutureExt, SinkExt, StreamExt};
use storage_mux::retry::{Backoff, Jitter, RetryOptions};
use storage_mux::sim::{FakeClock, Fault, FaultStorage, StreamFault};
use storage_mux::{
    AbortController, Backend, Clock, Condition, HealthCheck, Instant, MemoryStorage, Metadata,
    MuxOptions, MuxReader, MuxWriter, OpContext, PageRequest, SeededRng, Storage, StorageError,
    StorageMux, Version,
};

use crate::action::{Action, CHECKED, If, KEYS, Name, Patience, Request, SLOTS, Setup, Trouble};
use crate::action::{Value, ms};
use crate::fail::{Answer, Blob, Fail};
use crate::watch::Watch;

type Store = FaultStorage<MemoryStorage>;
type Mux = StorageMux<Store, FakeClock, SeededRng>;
type Reader = MuxReader<Store, FakeClock, SeededRng>;
type Writer = MuxWriter<Store, FakeClock, SeededRng>;

/// What a future leaves in its slot when it ends.
enum Kept {
    Nothing,
    Reader(Box<Reader>),
    Writer(Box<Writer>),
}

type Outcome = (Result<Answer, Fail>, Kept);

#[derive(Default)]
struct Flag(AtomicBool);

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// A future, and whether it was woken since its last poll.
struct Task<T> {
    future: Pin<Box<dyn Future<Output = T>>>,
    woken: Arc<Flag>,
}

impl<T> Task<T> {
    fn new(future: impl Future<Output = T> + 'static) -> Self {
        Self { future: Box::pin(future), woken: Arc::new(Flag(AtomicBool::new(true))) }
    }

    /// Polls it if it was woken. `None` where it was not.
    fn poll_if_woken(&mut self) -> Option<Poll<T>> {
        self.woken.0.swap(false, Ordering::SeqCst).then(|| {
            let waker = Waker::from(self.woken.clone());
            self.future.as_mut().poll(&mut Context::from_waker(&waker))
        })
    }
}

enum Slot {
    Free,
    Busy(Task<Outcome>),
    Idle(Kept),
}

pub(crate) struct Real {
    pub(crate) clock: FakeClock,
    pub(crate) watch: Watch,
    /// Gone at the end of a case.
    pub(crate) mux: Option<Mux>,
    /// All that ever joined.
    pub(crate) stores: Vec<Store>,
    slots: [(Slot, AbortController); SLOTS],
    checks: Option<Task<()>>,
    pub(crate) ended: Vec<(usize, Result<Answer, Fail>)>,
    /// Timers that the test itself has made.
    marks: u64,
    keep_signals: bool,
}

fn store(clock: &FakeClock, keep_signals: bool) -> Store {
    let store = FaultStorage::new(MemoryStorage::new(), clock.clone());
    if keep_signals {
        store.keep_signals();
    }
    store
}

fn backend(name: Name, store: &Store, weight: Option<f64>, checked: bool) -> Backend<Store> {
    let mut backend = Backend::new(name, store.clone());
    if let Some(weight) = weight {
        backend = backend.with_weight(weight);
    }
    if checked { backend.with_health_check(HealthCheck::has(CHECKED)) } else { backend }
}

fn fault(trouble: &Trouble) -> Fault {
    match trouble {
        Trouble::None => Fault::None,
        Trouble::Fail(wrong) => Fault::Fail(wrong.error()),
        Trouble::Delay(wait) => Fault::Delay(ms(*wait)),
        Trouble::DelayThenFail(wait, wrong) => Fault::DelayThenFail(ms(*wait), wrong.error()),
        Trouble::LoseAnswer(wrong) => Fault::LoseAnswer(wrong.error()),
        Trouble::Hang => Fault::Hang,
    }
}

impl Real {
    pub(crate) fn new(setup: &Setup, names: &[Name]) -> Self {
        let clock = FakeClock::new();
        let watch = Watch::new(setup.mode);
        let keep = setup.keep_signals;
        let stores: Vec<Store> = setup.weights.iter().map(|_| store(&clock, keep)).collect();
        if setup.seeded {
            for store in &stores {
                let cx = OpContext::new();
                let set = store.inner().set(KEYS[0], Value::Text(0).bytes(), &cx);
                set.now_or_never().expect("memory never waits").expect("memory takes it");
            }
        }
        let backends = stores.iter().zip(names).zip(&setup.weights).zip(&setup.checked);
        let retry = RetryOptions::new()
            .with_max_attempts(setup.tries)
            .with_backoff(Backoff::constant(ms(setup.wait_ms)))
            .with_jitter(Jitter::None);
        let mut options = MuxOptions::new()
            .with_mode(setup.mode)
            .with_backend_timeout(ms(setup.timeout_ms))
            .with_retry(retry)
            .with_cooldown(ms(setup.cooldown_ms.0), ms(setup.cooldown_ms.1))
            .with_throw_on_fanout_partial(setup.throw);
        if let Some(interval) = setup.interval_ms {
            options = options.with_health_check_interval(ms(interval));
        }
        let mux =
            StorageMux::builder(clock.clone(), SeededRng::new(setup.seed))
                .backends(backends.map(|(((store, name), weight), checked)| {
                    backend(name, store, *weight, *checked)
                }))
                .options(options)
                .event_sink(watch.clone())
                .tracer(watch.clone())
                .meter(watch.clone())
                .build()
                .expect("a mux that can be built");
        let slots = std::array::from_fn(|_| (Slot::Free, AbortController::new()));
        let checks = Some(Task::new(mux.health_checks()));
        let (ended, mux) = (Vec::new(), Some(mux));
        Self { clock, watch, mux, stores, slots, checks, ended, marks: 0, keep_signals: keep }
    }

    pub(crate) fn now(&self) -> u64 {
        self.clock.now().as_nanos()
    }

    /// Timers that were made since the beginning, the test's own apart.
    pub(crate) fn timers(&self) -> u64 {
        self.clock.timers_made() - self.marks
    }

    pub(crate) fn checks_are_over(&self) -> bool {
        self.checks.is_none()
    }

    /// Whether somebody still listens for the abort of a slot in which nothing is left.
    pub(crate) fn forgotten_listener(&self) -> Option<usize> {
        let listened = |(slot, control): &(Slot, AbortController)| {
            matches!(slot, Slot::Free) && control.waiters() > 0
        };
        self.slots.iter().position(listened)
    }

    /// Moves on to the next timer, or to `target` if that comes first.
    pub(crate) fn advance_towards(&mut self, target: u64) {
        let left = Duration::from_nanos(target.saturating_sub(self.now()));
        let mut mark = pin!(self.clock.sleep(left));
        self.marks += 1;
        let waits = mark.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending();
        if waits && !self.clock.advance_to_next() {
            self.clock.jump(Instant::from_nanos(target));
        }
    }

    /// Takes a step that takes no time. What it leads to is found by [`run`](Self::run).
    pub(crate) fn act(
        &mut self,
        id: impl Fn(Name) -> Option<usize>,
        action: &Action,
    ) -> Result<(), Fail> {
        let of = |name: &Name| id(name).map(|id| &self.stores[id]);
        match action {
            Action::Start { slot, request, patience } => {
                let cx = self.caller(*slot, *patience);
                let call = call(self.mux().clone(), *request, cx);
                self.slots[*slot].0 = Slot::Busy(Task::new(call));
            }
            Action::Leave { slot, name, remove, patience } => {
                let cx = self.caller(*slot, *patience);
                let (mux, name, remove) = (self.mux().clone(), *name, *remove);
                self.slots[*slot].0 = Slot::Busy(Task::new(async move {
                    let with = mux.with(&cx);
                    let left = if remove {
                        with.remove_backend(name).await
                    } else {
                        with.drain(name).await
                    };
                    (
                        left.map(|()| Answer::Done).map_err(|error| Fail::seen_mux(&error)),
                        Kept::Nothing,
                    )
                }));
            }
            Action::Next { slot } => self.resume(*slot, |kept| async move {
                let Kept::Reader(mut reader) = kept else { panic!("no reader is here") };
                let chunk = reader.next().await.transpose();
                let chunk = chunk.map(|chunk| Answer::Chunk(chunk.map(Blob)));
                (chunk.map_err(|error| Fail::seen(&error)), Kept::Reader(reader))
            }),
            Action::Feed { slot, chunk } => {
                let chunk = chunk.bytes();
                self.resume(*slot, |kept| write(kept, Some(chunk)));
            }
            Action::Close { slot } => self.resume(*slot, |kept| write(kept, None)),
            Action::Abort { slot, .. } => self.slots[*slot].1.abort(),
            Action::Drop { slot } => self.slots[*slot].0 = Slot::Free,
            Action::Once { name, trouble } => {
                of(name).expect("it belongs to the mux").push(fault(trouble));
            }
            Action::Always { name, trouble } => {
                of(name).expect("it belongs to the mux").set_always(fault(trouble));
            }
            Action::Stream { name, after, trouble } => {
                let fault = StreamFault::new(*after, fault(trouble));
                of(name).expect("it belongs to the mux").push_stream(fault);
            }
            Action::Add { name, weight, checked } => {
                let store = store(&self.clock, self.keep_signals);
                let added = self.mux().add_backend(backend(name, &store, *weight, *checked));
                added.map_err(|error| Fail::seen_mux(&error))?;
                self.stores.push(store);
            }
            Action::Weigh { name, weight } => {
                let weighed = self.mux().set_weight(name, *weight);
                weighed.map_err(|error| Fail::seen_mux(&error))?;
            }
            Action::CloseMux => self.mux().close(),
            _ => {}
        }
        Ok(())
    }

    fn mux(&self) -> &Mux {
        self.mux.as_ref().expect("a case keeps its mux to the end")
    }

    fn caller(&mut self, slot: usize, patience: Patience) -> OpContext {
        let controller = AbortController::new();
        let cx = OpContext::new();
        let cx = match patience {
            Patience::Endless => cx,
            Patience::Until(wait) => cx.with_deadline(self.clock.now() + ms(wait)),
            Patience::Signal => cx.with_signal(controller.signal()),
            Patience::Gone => {
                controller.abort();
                cx.with_signal(controller.signal())
            }
        };
        self.slots[slot].1 = controller;
        cx
    }

    fn resume<F: Future<Output = Outcome> + 'static>(
        &mut self,
        slot: usize,
        step: impl FnOnce(Kept) -> F,
    ) {
        let slot = &mut self.slots[slot].0;
        if let Slot::Idle(kept) = std::mem::replace(slot, Slot::Free) {
            *slot = Slot::Busy(Task::new(step(kept)));
        }
    }

    /// Polls everything that was woken, in the order of the slots, until nothing is.
    pub(crate) fn run(&mut self) {
        for _ in 0..1_000 {
            let mut polled = false;
            for (at, (slot, _)) in self.slots.iter_mut().enumerate() {
                let Slot::Busy(task) = slot else { continue };
                let Some(poll) = task.poll_if_woken() else { continue };
                polled = true;
                if let Poll::Ready((result, kept)) = poll {
                    *slot = match kept {
                        Kept::Nothing => Slot::Free,
                        kept => Slot::Idle(kept),
                    };
                    self.ended.push((at, result));
                }
            }
            match self.checks.as_mut().and_then(Task::poll_if_woken) {
                Some(Poll::Ready(())) => self.checks = None,
                Some(Poll::Pending) => {}
                None if !polled => return,
                None => {}
            }
        }
        panic!("futures wake one another for ever");
    }
}

async fn write(kept: Kept, chunk: Option<Bytes>) -> Outcome {
    let Kept::Writer(mut writer) = kept else { panic!("no writer is here") };
    let done = match chunk {
        Some(chunk) => writer.feed(chunk).await,
        None => poll_fn(|task| writer.poll_close_unpin(task)).await,
    };
    (done.map(|()| Answer::Done).map_err(|error| Fail::seen(&error)), Kept::Writer(writer))
}

async fn call(mux: Mux, request: Request, cx: OpContext) -> Outcome {
    let mut kept = Kept::Nothing;
    let answer = answer(mux, request, cx, &mut kept).await;
    (answer.map_err(|error| Fail::seen(&error)), kept)
}

fn version(version: Option<Version>) -> Option<String> {
    version.map(|version| version.as_str().to_owned())
}

fn meta(metadata: Metadata) -> (u64, Option<String>) {
    (metadata.size, version(metadata.version))
}

async fn answer(
    mux: Mux,
    request: Request,
    cx: OpContext,
    kept: &mut Kept,
) -> Result<Answer, StorageError> {
    let mux = mux.with(&cx);
    Ok(match request {
        Request::Get(key) => Answer::Bytes(Blob(mux.get(key).await?)),
        Request::Set(key, value) => {
            Answer::Written(version(mux.set(key, value.bytes()).await?.version))
        }
        Request::SetPartial(key, offset, value) => {
            mux.set_partial(key, offset, value.bytes()).await?;
            Answer::Done
        }
        Request::Has(key) => Answer::Found(mux.has(key).await?),
        Request::Delete(key) => {
            mux.delete(key).await?;
            Answer::Done
        }
        Request::List(prefix, after, limit) => {
            let page = match after {
                None => PageRequest::first(limit),
                Some(after) => PageRequest::after(after, limit),
            };
            let page = mux.list(prefix, &page).await?;
            let lines = page.entries.into_iter().map(|entry| {
                let (size, version) = meta(entry.metadata);
                (entry.key, size, version)
            });
            Answer::Page(lines.collect(), page.next)
        }
        Request::Stat(key) => {
            let (size, version) = meta(mux.stat(key).await?);
            Answer::Meta(size, version)
        }
        Request::GetStream(key) => {
            *kept = Kept::Reader(Box::new(mux.get_stream(key).await?));
            Answer::Opened
        }
        Request::SetStream(key) => {
            *kept = Kept::Writer(Box::new(mux.set_stream(key).await?));
            Answer::Opened
        }
        Request::GetRange(key, start, end) => {
            Answer::Bytes(Blob(mux.get_range(key, start..end).await?))
        }
        Request::SetIf(key, value, condition) => {
            let condition = match condition {
                If::Absent => Condition::Absent,
                If::Version(number) => Condition::VersionMatches(Version::new(number.to_string())),
            };
            Answer::Written(version(mux.set_if(key, value.bytes(), condition).await?.version))
        }
    })
}
