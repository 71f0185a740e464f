//! Streams in every mode: fixed to a backend at the first chunk, in flight until they end, broken
//! out loud. `fan_out_streams` has those that write to several backends.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Waker};

use futures_util::{SinkExt, StreamExt};
use storage_mux::sim::{Fault, StreamFault};
use storage_mux::{AbortController, BackendStatus, MuxCode, MuxMode, OpContext, StorageError};

use crate::perform::{KEY, OLD, read_all, seeded};
use crate::pipe::Pipes;
use crate::support::{Store, World, mode, ms};

/// The modes that write to one backend.
const SINGLE: [MuxMode; 4] =
    [MuxMode::Failover, MuxMode::RoundRobin, MuxMode::Weighted, MuxMode::StickyByKey];

fn world(of: MuxMode) -> World {
    seeded(World::new(3, mode(of)))
}

fn broken() -> Fault {
    Fault::Fail(StorageError::http(500))
}

/// A way in which a store lets a stream fail.
type Early = (&'static str, fn(&Store));

/// Those that come before the first chunk has passed.
const EARLY: [Early; 3] = [
    ("at the opening", |store| store.push(broken())),
    ("at the first chunk", |store| store.push_stream(StreamFault::new(0, broken()))),
    ("in silence", |store| store.push_stream(StreamFault::new(0, Fault::Hang))),
];

/// Spec: SM-1
#[test]
fn a_read_stream_falls_through_until_its_first_chunk_has_come_in_every_mode() {
    for of in MuxMode::ALL {
        for good in 0..3 {
            for (name, fail) in EARLY {
                let world = world(of);
                (0..3).filter(|at| *at != good).for_each(|at| fail(&world.stores[at]));
                let read = world.run(async { read_all(world.mux.get_stream(KEY).await?).await });
                assert_eq!(read.as_deref(), Ok(OLD), "{of}, {name}, {good} is good");
                assert_eq!(world.backend(good).hits, 1, "{of}, {name}, {good} is good");
                world.assert_at_rest();
            }
        }
    }
}

/// Case ST-01, ST-06. Spec: SM-1, SM-5
#[test]
fn after_its_first_chunk_a_read_stream_that_breaks_gives_one_error_and_asks_nobody_else() {
    for of in MuxMode::ALL {
        let world = world(of);
        world.stores.iter().for_each(|store| store.push_stream(StreamFault::new(1, broken())));
        let asked = world.run(async {
            let mut stream = world.mux.get_stream(KEY).await.expect("open");
            assert_eq!(stream.next().await, Some(Ok(OLD.into())), "{of}");
            let asked = world.calls();
            assert_eq!(stream.next().await, Some(Err(StorageError::http(500))), "{of}");
            for _ in 0..10 {
                assert_eq!(stream.next().await, None, "{of}");
            }
            asked
        });
        let raced = if of == MuxMode::Mirror { 3 } else { 1 };
        assert_eq!(asked.iter().sum::<usize>(), raced, "{of}");
        assert_eq!(world.calls(), asked, "{of}");
        let down = |at: &usize| world.backend(*at).status == BackendStatus::Down;
        assert_eq!((0..3).filter(down).count(), 1, "{of}: the one that broke");
        world.assert_at_rest();
    }
}

/// Spec: SM-1, MI-1
#[test]
fn a_race_of_streams_is_won_by_the_first_chunk_and_not_by_the_first_opening() {
    let world = world(MuxMode::Mirror);
    world.stores[0].push(Fault::Delay(ms(5)));
    world.stores[0].push_stream(StreamFault::new(0, Fault::Delay(ms(50))));
    world.stores[1].push(Fault::Delay(ms(20)));
    world.stores[2].push(Fault::Delay(ms(30)));
    world.run(async {
        let stream = world.mux.get_stream(KEY).await.expect("open");
        assert_eq!(world.now_ms(), 20);
        let in_flight: Vec<u64> = (0..3).map(|at| world.backend(at).in_flight).collect();
        assert_eq!(in_flight, [0, 1, 0], "the losers end with the win");
        assert_eq!(world.clock.waiting(), 0);
        assert_eq!(read_all(stream).await.as_deref(), Ok(OLD));
    });
    assert_eq!((world.backend(0).cancelled, world.backend(1).hits), (1, 1));
    assert_eq!(world.backend(1).last_latency, Some(ms(20)));
    world.assert_at_rest();
}

/// Spec: SM-1, SM-5
#[test]
fn a_raced_read_takes_one_chunk_of_each_loser_at_most_and_of_the_winner_no_more_than_is_read() {
    for paces in [[5, 5, 5], [20, 5, 60], [60, 20, 5]] {
        let pipes = Pipes::new(MuxMode::Mirror, 50, paces.map(ms));
        let fastest = *paces.iter().min().expect("three");
        pipes.run(async {
            let mut stream = pipes.mux.get_stream(KEY).await.expect("open");
            assert_eq!(pipes.now_ms(), fastest);
            assert!(pipes.pipes.iter().all(|pipe| pipe.tally.made() <= 1));
            let winner = pipes.in_flight().iter().position(|count| *count == 1).expect("one won");
            let tally = &pipes.pipes[winner].tally;
            for number in 0..50 {
                let chunk = stream.next().await.expect("a chunk").expect("whole");
                assert_eq!(chunk[..], [number], "each once, in order");
                assert_eq!(tally.made(), usize::from(number) + 1, "nothing is read ahead");
            }
            assert_eq!(stream.next().await, None);
            assert_eq!((tally.most(), tally.alive()), (1, 0));
        });
        assert_eq!(pipes.now_ms(), 50 * fastest);
        for pipe in &pipes.pipes {
            assert_eq!(pipe.tally.alive(), 0, "the chunk of a loser is dropped");
            assert!(pipe.tally.made() <= 1 || pipe.tally.made() == 50);
        }
        assert_eq!((pipes.in_flight(), pipes.clock.waiting()), (vec![0, 0, 0], 0));
    }
}

/// Case TC-04. Spec: SM-3
#[test]
fn the_timeout_of_a_read_stream_is_between_chunks_in_every_mode() {
    for of in MuxMode::ALL {
        let pipes = Pipes::new(of, 5, [ms(1_000); 3]);
        let read = pipes.run(async { read_all(pipes.mux.get_stream(KEY).await?).await });
        assert_eq!(read.as_deref(), Ok("\0\u{1}\u{2}\u{3}\u{4}"), "{of}");
        assert_eq!(pipes.now_ms(), 5_000, "{of}");

        let pipes = Pipes::new(of, 5, [ms(1_001); 3]);
        let error = pipes.run(pipes.mux.get_stream(KEY)).expect_err("the first chunk is late");
        assert!(error.is_mux(MuxCode::AllBackendsDown), "{of}: {error}");

        let world = world(of);
        world.stores.iter().for_each(|store| store.push_stream(StreamFault::new(1, Fault::Hang)));
        world.run(async {
            let mut stream = world.mux.get_stream(KEY).await.expect("open");
            stream.next().await.expect("a chunk").expect("whole");
            let error = stream.next().await.expect("an item").expect_err("nothing comes");
            assert!(error.is_mux(MuxCode::BackendTimeout), "{of}: {error}");
            assert_eq!(world.now_ms(), 1_000, "{of}");
            assert_eq!(stream.next().await, None);
        });
        assert_eq!((0..3).map(|at| world.backend(at).timeouts).sum::<u64>(), 1);
        world.assert_at_rest();
    }
}

/// Case ST-03. Spec: SM-4
#[test]
fn a_drain_waits_for_a_stream_until_it_is_dropped_in_every_mode() {
    for of in MuxMode::ALL {
        for write in [false, true] {
            let world = world(of);
            let mut task = Context::from_waker(Waker::noop());
            let stream: Box<dyn std::any::Any> = if write {
                Box::new(world.run(world.mux.set_stream(KEY)).expect("open"))
            } else {
                Box::new(world.run(world.mux.get_stream(KEY)).expect("open"))
            };
            let busy: Vec<usize> = (0..3).filter(|at| world.backend(*at).in_flight == 1).collect();
            let all = write && !SINGLE.contains(&of);
            assert_eq!(busy.len(), if all { 3 } else { 1 }, "{of}");
            let name = ["a", "b", "c"][busy[0]];
            let mut drain = pin!(world.mux.drain(name));
            assert!(drain.as_mut().poll(&mut task).is_pending(), "{of}");
            drop(stream);
            assert!(drain.as_mut().poll(&mut task).is_ready(), "{of}");
            world.assert_at_rest();
            (0..3).for_each(|at| assert_eq!(world.peek(at, KEY).as_deref(), Some(OLD), "{of}"));
        }
    }
}

/// Spec: AB-4, SM-4
#[test]
fn an_abort_ends_an_open_stream_in_every_mode_and_marks_nobody() {
    for of in MuxMode::ALL {
        let world = world(of);
        let controller = AbortController::new();
        let cx = OpContext::new().with_signal(controller.signal());
        world.run(async {
            let mux = world.mux.with(&cx);
            let mut stream = mux.get_stream(KEY).await.expect("open");
            let mut sink = mux.set_stream(KEY).await.expect("open");
            sink.send("new".into()).await.expect("taken");
            controller.abort();
            let error = stream.next().await.expect("an item").expect_err("aborted");
            assert!(error.is_mux(MuxCode::BackendAborted), "{of}: {error}");
            let error = sink.close().await.expect_err("aborted");
            assert!(error.is_mux(MuxCode::BackendAborted), "{of}: {error}");
            world.assert_at_rest();
        });
        for at in 0..3 {
            assert_eq!(world.backend(at).consecutive_failures, 0, "{of}");
            assert_eq!(world.peek(at, KEY).as_deref(), Some(OLD), "{of}: nothing is visible");
        }
        assert!(world.topics().is_empty(), "{of}: {:?}", world.topics());
        assert_eq!(controller.waiters(), 0);
    }
}

/// Spec: SM-2
#[test]
fn a_write_stream_to_one_backend_moves_on_before_its_first_chunk_is_taken() {
    for of in SINGLE {
        for good in 0..3 {
            for (name, fail) in EARLY {
                let world = world(of);
                (0..3).filter(|at| *at != good).for_each(|at| fail(&world.stores[at]));
                world.run(async {
                    let mut sink = world.mux.set_stream(KEY).await.expect("one opens");
                    sink.send("ne".into()).await.expect("it takes it");
                    sink.send("w".into()).await.expect("it takes it");
                    sink.close().await.expect("it stores it");
                });
                for at in 0..3 {
                    let expected = if at == good { "new" } else { OLD };
                    assert_eq!(world.peek(at, KEY).as_deref(), Some(expected), "{of}, {name}");
                }
                world.assert_at_rest();
            }
        }
    }
}

/// Case PW-05, RT-06. Spec: SM-2, SM-5, RC-3
#[test]
fn a_write_that_breaks_in_the_middle_or_at_its_close_is_an_error_and_leaves_nothing_visible() {
    const CHUNK: &str = "64 KiB, as it were; ";
    for of in MuxMode::ALL {
        for chunks_before in 1..=8 {
            let world = seeded(World::new(3, mode(of).with_retry(Default::default())));
            for store in &world.stores {
                store.push_stream(StreamFault::new(chunks_before, broken()));
            }
            let result = world.run(async {
                let mut sink = world.mux.set_stream(KEY).await.expect("open");
                for _ in 0..8 {
                    sink.feed(CHUNK.into()).await?;
                }
                sink.close().await
            });
            let error = result.expect_err("the disk is full");
            match of {
                MuxMode::Shield => {
                    let cause = error.as_mux().and_then(|mux| mux.cause());
                    assert_eq!(cause, Some(&StorageError::http(500)), "{of}: {error}");
                }
                MuxMode::Mirror => {
                    let errors = error.as_mux().and_then(|mux| mux.aggregate());
                    assert_eq!(errors.map(|errors| errors.iter().len()), Some(3), "{of}: {error}");
                }
                _ => assert_eq!(error, StorageError::http(500), "{of}"),
            }
            let asked: usize = world.calls().iter().sum();
            assert_eq!(asked, if SINGLE.contains(&of) { 1 } else { 3 }, "{of}: no second try");
            for at in 0..3 {
                assert_eq!(world.peek(at, KEY).as_deref(), Some(OLD), "{of}, {chunks_before}");
            }
            world.assert_at_rest();
        }
    }
}
