//! The events of a mux on a tokio broadcast channel.

use std::time::Duration;

use futures_util::FutureExt;
use storage_mux::retry::RetryOptions;
use storage_mux::runtime::tokio::{TokioBroadcast, TokioClock};
use storage_mux::sim::{FakeClock, Fault, FaultStorage};
use storage_mux::{
    Backend, BackendName, Event, EventSink, MemoryStorage, MuxOptions, SeededRng, StorageError,
    StorageMux,
};
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::{RecvError, TryRecvError};

fn removed(n: usize) -> Event {
    Event::BackendRemoved { name: BackendName::from(n.to_string().as_str()) }
}

/// What a reader finds: how many events it missed, and those that it did not.
fn drain(reader: &mut Receiver<Event>) -> (u64, Vec<Event>) {
    let (mut missed, mut events) = (0, Vec::new());
    loop {
        match reader.try_recv() {
            Ok(event) => events.push(event),
            Err(TryRecvError::Lagged(count)) => missed += count,
            Err(TryRecvError::Empty | TryRecvError::Closed) => return (missed, events),
        }
    }
}

/// A mux whose first backend always fails, and whose cooldown is over after each call: it raises
/// one event a call, and one more at the first.
struct FailingOver {
    clock: FakeClock,
    mux: StorageMux<FaultStorage<MemoryStorage>, FakeClock, SeededRng>,
}

const COOLDOWN: Duration = Duration::from_millis(1);

impl FailingOver {
    fn new(sink: TokioBroadcast) -> Self {
        let clock = FakeClock::new();
        let store = || FaultStorage::new(MemoryStorage::new(), clock.clone());
        let (sick, well) = (store(), store());
        sick.set_always(Fault::Fail(StorageError::http(503)));
        let options =
            MuxOptions::new().with_retry(RetryOptions::none()).with_cooldown(COOLDOWN, COOLDOWN);
        let mux = StorageMux::builder(clock.clone(), SeededRng::new(1))
            .backend(Backend::new("sick", sick))
            .backend(Backend::new("well", well))
            .options(options)
            .event_sink(sink)
            .build()
            .expect("a mux");
        Self { clock, mux }
    }

    /// Done at the first poll: there is nothing that it could have waited for.
    fn call(&self) {
        let answer = self.mux.has("k").now_or_never().expect("a call that does not wait");
        assert_eq!(answer, Ok(false));
        self.clock.advance(COOLDOWN);
    }
}

/// Case EV-03. Spec: EV-1
#[test]
fn a_reader_that_sleeps_holds_nobody_up_and_learns_how_much_it_missed() {
    const CALLS: usize = 100_000;
    const CAPACITY: usize = 64;
    let sink = TokioBroadcast::new(CAPACITY);
    let (mut sleeper, mut reader) = (sink.subscribe(), sink.subscribe());
    let scene = FailingOver::new(sink);
    let mut topics = [0, 0];
    for _ in 0..CALLS {
        scene.call();
        let (missed, events) = drain(&mut reader);
        assert_eq!(missed, 0);
        for event in events {
            topics[usize::from(event.topic() == "storage-mux.failover")] += 1;
        }
    }
    assert_eq!(topics, [1, CALLS], "one is down once, and every call fails over");
    let (missed, events) = drain(&mut sleeper);
    assert_eq!((missed as usize, events.len()), (CALLS + 1 - CAPACITY, CAPACITY));
}

/// Case EV-03. Spec: EV-1
#[tokio::test]
async fn a_reader_in_a_task_of_its_own_gets_everything_or_a_count() {
    const CALLS: u64 = 1_000;
    let sink = TokioBroadcast::new(16);
    let mut events = sink.subscribe();
    let reader = tokio::spawn(async move {
        let (mut received, mut missed) = (0, 0);
        loop {
            match events.recv().await {
                Ok(_) => received += 1,
                Err(RecvError::Lagged(count)) => missed += count,
                Err(RecvError::Closed) => return (received, missed),
            }
        }
    });
    let scene = FailingOver::new(sink);
    for call in 0..CALLS {
        scene.call();
        // Now and then the reader has its turn, and most often too late.
        if call % 50 == 0 {
            tokio::task::yield_now().await;
        }
    }
    drop(scene);
    let (received, missed) = reader.await.expect("ends once the mux is gone");
    assert_eq!(received + missed, CALLS + 1);
    assert!(received >= 16 && missed > 0, "{received} received, {missed} missed");
}

/// Spec: EV-1, EV-2
#[tokio::test(start_paused = true)]
async fn events_arrive_as_they_are_and_in_their_order() {
    let sink = TokioBroadcast::new(8);
    let mux = StorageMux::builder(TokioClock::new(), SeededRng::new(1))
        .backend(Backend::new("a", MemoryStorage::new()))
        .event_sink(sink.clone())
        .build()
        .expect("a mux");
    // Nobody reads: nothing fails, and nothing is kept for who comes later.
    mux.add_backend(Backend::new("unseen", MemoryStorage::new())).expect("added");
    let mut reader = sink.subscribe();
    mux.add_backend(Backend::new("b", MemoryStorage::new()).with_weight(2.0)).expect("added");
    mux.set_weight("b", 3.0).expect("weighed");
    let b = || BackendName::from("b");
    let expected = [
        Event::BackendAdded { name: b(), weight: Some(2.0) },
        Event::WeightChanged { name: b(), from: Some(2.0), to: 3.0 },
    ];
    assert_eq!(drain(&mut reader), (0, expected.to_vec()));
}

/// Spec: EV-1
#[test]
fn a_capacity_is_rounded_up_and_brought_within_its_bounds() {
    for (capacity, kept) in [(0, 1), (1, 1), (3, 4), (4, 4), (5, 8), (usize::MAX, 65_536)] {
        let sink = TokioBroadcast::new(capacity);
        let mut reader = sink.subscribe();
        (0..kept + 1).for_each(|n| sink.emit(&removed(n)));
        let (missed, events) = drain(&mut reader);
        assert_eq!((missed, events.len()), (1, kept), "capacity {capacity}");
        assert_eq!((&events[0], &events[kept - 1]), (&removed(1), &removed(kept)));
    }
}

/// Spec: EV-1
#[test]
fn a_channel_that_exists_already_can_be_used() {
    let (sender, mut reader) = tokio::sync::broadcast::channel(2);
    TokioBroadcast::from(sender).emit(&removed(7));
    assert_eq!(drain(&mut reader), (0, vec![removed(7)]));
}
