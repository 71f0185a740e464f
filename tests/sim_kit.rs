//! The simulation kit: what it promises to those who test their own code with it.

use std::cell::RefCell;
use std::future::{pending, poll_fn};
use std::pin::Pin;
use std::rc::Rc;
use std::task::Poll;
use std::time::Duration;

use bytes::Bytes;
use futures_util::{SinkExt, StreamExt};
use storage_mux::sim::{
    Executor, FakeClock, Fault, FaultStorage, Latency, Recorder, Stalled, StreamFault, run,
};
use storage_mux::{
    Clock, Instant, MemoryStorage, Meter, NetworkFault, OpContext, Storage, StorageError, Tracer,
};

const MS: Duration = Duration::from_millis(1);

fn store(clock: &FakeClock) -> FaultStorage<MemoryStorage> {
    FaultStorage::new(MemoryStorage::new(), clock.clone())
}

fn at(millis: u64) -> Instant {
    Instant::from_nanos(millis * 1_000_000)
}

/// Names of tasks in the order in which they were polled.
type Order = Rc<RefCell<Vec<usize>>>;

fn order_of(seed: Option<u64>) -> Vec<usize> {
    let clock = FakeClock::new();
    let mut executor = Executor::new(&clock);
    if let Some(seed) = seed {
        executor = executor.with_shuffle(seed);
    }
    let order = Order::default();
    for name in 0..4 {
        let (order, clock) = (order.clone(), clock.clone());
        executor.spawn(async move {
            for _ in 0..3 {
                order.borrow_mut().push(name);
                clock.sleep(MS).await;
            }
        });
    }
    executor.run_all().expect("all tasks end");
    assert_eq!(clock.now(), at(3));
    order.take()
}

#[test]
fn tasks_take_turns_and_a_seed_gives_an_order_of_its_own_every_time() {
    assert_eq!(order_of(None), [0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3]);
    let orders: Vec<_> = (0..20).map(|seed| order_of(Some(seed))).collect();
    let again: Vec<_> = (0..20).map(|seed| order_of(Some(seed))).collect();
    assert_eq!(orders, again);
    let mut different = orders.clone();
    different.sort();
    different.dedup();
    assert!(different.len() > 15, "only {} orders from 20 seeds", different.len());
}

#[test]
fn an_executor_runs_for_as_long_as_it_is_told_and_stops_at_each_timer_on_the_way() {
    let clock = FakeClock::new();
    let executor = Executor::new(&clock);
    let seen = Rc::new(RefCell::new(Vec::new()));
    let ticker = executor.spawn({
        let (clock, seen) = (clock.clone(), seen.clone());
        async move {
            for _ in 0..10 {
                clock.sleep(3 * MS).await;
                seen.borrow_mut().push(clock.now());
            }
        }
    });
    executor.run_for(6 * MS).expect("no stall");
    assert_eq!(*seen.borrow(), [at(3), at(6)], "a timer at the very end is among them");
    executor.run_for(2 * MS).expect("no stall");
    assert_eq!((seen.borrow().len(), clock.now()), (2, at(8)));
    assert_eq!((executor.tasks(), ticker.is_over()), (1, false));
    executor.run_all().expect("no stall");
    assert_eq!((executor.tasks(), ticker.take()), (0, Some(())));
    assert_eq!(ticker.take(), None, "the output is given once");
}

#[test]
fn what_can_never_end_is_an_error_and_no_hang() {
    let clock = FakeClock::new();
    let executor = Executor::new(&clock);
    let hung = executor.spawn(pending::<()>());
    assert_eq!(executor.run_all(), Err(Stalled { polls: 1 }));
    assert!(executor.run(pending::<()>()).is_err());
    hung.cancel();
    assert_eq!(executor.run_all(), Ok(()));
    assert_eq!(executor.run(hung), Ok(None));

    let busy = Executor::new(&clock).with_max_polls(100);
    busy.spawn(poll_fn(|cx| {
        cx.waker().wake_by_ref();
        Poll::<()>::Pending
    }));
    assert_eq!(busy.settle(), Err(Stalled { polls: 101 }));
}

#[test]
fn a_cancelled_task_is_dropped_and_a_task_may_spawn_and_await_others() {
    struct Told(Rc<RefCell<bool>>);
    impl Drop for Told {
        fn drop(&mut self) {
            *self.0.borrow_mut() = true;
        }
    }

    let clock = FakeClock::new();
    let dropped = Rc::new(RefCell::new(false));
    let executor = Executor::new(&clock);
    let told = Told(dropped.clone());
    let task = executor.spawn(async move {
        let _told = told;
        pending::<()>().await;
    });
    executor.settle().expect("no stall");
    task.cancel();
    assert!(!*dropped.borrow() && task.is_over(), "at the executor's next step");
    executor.settle().expect("no stall");
    assert!(*dropped.borrow());

    let sum = executor.run(async {
        let tasks: Vec<_> = (1..=3_u32)
            .map(|n| {
                let clock = clock.clone();
                executor.spawn(async move {
                    clock.sleep(n * MS).await;
                    n
                })
            })
            .collect();
        let mut sum = 0;
        for task in tasks {
            sum += task.await.unwrap_or(0);
        }
        sum
    });
    assert_eq!((sum, clock.now()), (Ok(6), at(3)));
}

#[test]
fn a_clock_tells_its_next_timer_and_a_timer_that_never_comes_is_none() {
    let clock = FakeClock::new();
    let mut timers = [5, 2].map(|n| Box::pin(clock.sleep(n * MS)));
    let mut never = Box::pin(clock.sleep(Duration::MAX));
    assert_eq!(clock.next_timer(), None, "nobody waits yet");
    let executor = Executor::new(&clock);
    let polled = executor.spawn(poll_fn(|cx| {
        for timer in &mut timers {
            assert!(Future::poll(timer.as_mut(), cx).is_pending() || clock.now() > Instant::ZERO);
        }
        Future::poll(never.as_mut(), cx)
    }));
    executor.settle().expect("no stall");
    assert_eq!((clock.next_timer(), clock.waiting()), (Some(at(2)), 3));
    assert!(clock.advance_to_next() && clock.advance_to_next());
    assert_eq!((clock.next_timer(), clock.now()), (None, at(5)));
    assert!(!clock.advance_to_next() && !polled.is_over());
}

#[test]
fn it_fails_twice_and_then_succeeds() {
    let (clock, cx) = (FakeClock::new(), OpContext::new());
    let store = store(&clock);
    store.push_times(2, Fault::http(503));
    let answers: Vec<_> = (0..3).map(|_| run(&clock, store.has("k", &cx)).unwrap()).collect();
    let failed = Err(StorageError::http(503));
    assert_eq!(answers, [failed.clone(), failed, Ok(false)]);
}

#[test]
fn latency_is_drawn_from_its_seed_and_comes_on_top_of_the_fault() {
    let (clock, cx) = (FakeClock::new(), OpContext::new());
    let times = |seed| {
        let store = store(&clock);
        store.set_latency(Some(Latency::Uniform(MS, 9 * MS)), seed);
        let time = || {
            let before = clock.now();
            run(&clock, store.has("k", &cx)).unwrap().unwrap();
            clock.now() - before
        };
        [(); 8].map(|()| time())
    };
    assert_eq!(times(1), times(1));
    assert_ne!(times(1), times(2));

    let store = store(&clock);
    store.set_latency(Some(Latency::Fixed(4 * MS)), 0);
    store.push(Fault::DelayThenFail(2 * MS, StorageError::http(500)));
    let before = clock.now();
    assert_eq!(run(&clock, store.has("k", &cx)).unwrap(), Err(StorageError::http(500)));
    assert_eq!(clock.now() - before, 6 * MS);
    store.heal();
    run(&clock, store.has("k", &cx)).unwrap().unwrap();
    assert_eq!((clock.now() - before, store.calls()), (6 * MS, 2));
}

/// What a read stream gives up to its end, and when it ends.
fn read(
    store: &FaultStorage<MemoryStorage>,
    clock: &FakeClock,
) -> (Vec<Result<Bytes, StorageError>>, Duration) {
    let (before, cx) = (clock.now(), OpContext::new());
    let items = run(clock, async {
        let reader = store.get_stream("k", &cx).await.unwrap();
        reader.collect::<Vec<_>>().await
    });
    (items.unwrap(), clock.now() - before)
}

#[test]
fn a_stream_can_be_cut_small_torn_and_slow() {
    let (clock, cx) = (FakeClock::new(), OpContext::new());
    let store = store(&clock);
    run(&clock, store.set("k", "abcdefg".into(), &cx)).unwrap().unwrap();
    store.set_chunk_bytes(3);
    let chunks = ["abc", "def", "g"].map(|chunk| Ok(Bytes::from(chunk)));
    assert_eq!(read(&store, &clock), (chunks.to_vec(), Duration::ZERO));

    store.push_stream(StreamFault::torn(2));
    let reset = Err(StorageError::network(NetworkFault::Reset));
    let torn = [chunks[0].clone(), chunks[1].clone(), reset];
    assert_eq!(read(&store, &clock), (torn.to_vec(), Duration::ZERO));

    store.push_stream(StreamFault::trickle(5 * MS));
    // Three chunks and the end, each of which is waited for.
    assert_eq!(read(&store, &clock), (chunks.to_vec(), 20 * MS));
    store.set_every_stream(Some(StreamFault::new(1, Fault::Delay(7 * MS))));
    assert_eq!(read(&store, &clock).1, 7 * MS);
    assert_eq!(read(&store, &clock).1, 7 * MS);
    store.set_every_stream(None);
    assert_eq!(read(&store, &clock).1, Duration::ZERO);
}

#[test]
fn a_trickle_makes_a_writer_wait_once_for_each_chunk_however_often_it_is_asked() {
    let (clock, cx) = (FakeClock::new(), OpContext::new());
    let store = store(&clock);
    store.push_stream(StreamFault::trickle(5 * MS));
    run(&clock, async {
        let mut writer = store.set_stream("k", &cx).await.unwrap();
        for chunk in ["a", "b"] {
            for _ in 0..3 {
                poll_fn(|task| futures_util::Sink::poll_ready(Pin::new(&mut writer), task))
                    .await
                    .unwrap();
            }
            writer.send(chunk.into()).await.unwrap();
        }
        writer.close().await.unwrap();
    })
    .unwrap();
    assert_eq!(clock.now(), at(15), "two chunks and the close");
    assert_eq!(run(&clock, store.get("k", &cx)).unwrap().unwrap(), "ab");
}

#[test]
fn a_lost_answer_of_a_close_leaves_the_value_behind() {
    let (clock, cx) = (FakeClock::new(), OpContext::new());
    let store = store(&clock);
    store.push_stream(StreamFault::new(1, Fault::LoseAnswer(StorageError::http(504))));
    let closed = run(&clock, async {
        let mut writer = store.set_stream("k", &cx).await.unwrap();
        writer.send("v".into()).await.unwrap();
        writer.close().await
    });
    assert_eq!(closed.unwrap(), Err(StorageError::http(504)));
    assert_eq!(run(&clock, store.get("k", &cx)).unwrap().unwrap(), "v");
}

#[test]
fn a_recorder_sums_up_finds_open_spans_and_forgets() {
    let recorder = Recorder::new();
    recorder.count("calls", 2, &[]);
    recorder.count("calls", 3, &[]);
    recorder.record("latency", 0.5, &[]);
    assert_eq!((recorder.total("calls"), recorder.total("latency")), (5.0, 0.5));
    let span = recorder.start("s", None, &[]).expect("a span");
    assert_eq!(recorder.unbalanced_spans(), 1);
    span.end(&[]);
    assert_eq!(recorder.unbalanced_spans(), 0);
    span.end(&[]);
    assert_eq!(recorder.unbalanced_spans(), 1, "twice is as wrong as never");
    recorder.clear();
    assert_eq!((recorder.unbalanced_spans(), recorder.total("calls")), (0, 0.0));
}
