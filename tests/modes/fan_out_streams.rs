//! Write streams to several backends: chunk by chunk, at the pace of the slowest, and without those
//! that fail.

use std::sync::Arc;

use futures_util::SinkExt;
use storage_mux::sim::{Fault, StreamFault};
use storage_mux::{BackendStatus, Event, MuxCode, MuxMode, StorageError};

use crate::perform::{KEY, OLD, seeded};
use crate::pipe::{Pipes, Tally};
use crate::support::{World, mode, ms};

const FAN_OUT: [MuxMode; 2] = [MuxMode::Shield, MuxMode::Mirror];

fn world(of: MuxMode) -> World {
    seeded(World::new(3, mode(of)))
}

fn broken(status: u16) -> Fault {
    Fault::Fail(StorageError::http(status))
}

fn held(world: &World) -> Vec<Option<String>> {
    (0..world.stores.len()).map(|at| world.peek(at, KEY)).collect()
}

fn values<const N: usize>(values: [&str; N]) -> Vec<Option<String>> {
    values.iter().map(|value| Some(value.to_string())).collect()
}

fn in_flight(world: &World) -> Vec<u64> {
    (0..world.stores.len()).map(|at| world.backend(at).in_flight).collect()
}

/// Who the one partial write has left out.
fn lacking(world: &World) -> Vec<String> {
    let told = world.events_of("storage-mux.fanout-partial");
    let [Event::FanoutPartial { failed, .. }] = &told[..] else {
        panic!("one partial write, not {told:?}")
    };
    failed.iter().map(|name| name.to_string()).collect()
}

/// Spec: SM-2
#[test]
fn the_slowest_sets_the_pace_and_no_more_than_one_chunk_waits_for_it() {
    for of in FAN_OUT {
        for paces in [[1, 5, 20], [20, 1, 5], [5, 20, 1]] {
            let pipes = Pipes::new(of, 0, paces.map(ms));
            let tally = Arc::new(Tally::default());
            pipes.run(async {
                let mut sink = pipes.mux.set_stream(KEY).await.expect("open");
                for number in 0..50 {
                    sink.feed(tally.chunk(number)).await.expect("taken");
                }
                assert_eq!(pipes.in_flight(), [1, 1, 1]);
                sink.close().await.expect("stored");
            });
            // The one in the slowest sink, and the one in the caller's hand.
            assert_eq!((tally.most(), tally.alive()), (2, 0), "{of} {paces:?}");
            assert_eq!(pipes.now_ms(), 50 * 20, "{of} {paces:?}");
            for pipe in &pipes.pipes {
                assert_eq!(pipe.taken(), (0..50).collect::<Vec<u8>>(), "each once, in order");
            }
            assert_eq!((pipes.in_flight(), pipes.clock.waiting()), (vec![0, 0, 0], 0));
        }
    }
}

/// Case TC-04. Spec: SM-3, SM-2
#[test]
fn the_timeout_of_a_write_stream_is_between_chunks_and_one_that_misses_it_is_left_behind() {
    for of in FAN_OUT {
        let write = |pipes: &Pipes| {
            pipes.run(async {
                let mut sink = pipes.mux.set_stream(KEY).await?;
                for number in [0, 1, 2, 3, 4] {
                    sink.feed(vec![number].into()).await?;
                }
                sink.close().await
            })
        };
        let pipes = Pipes::new(of, 0, [5, 1_000, 5].map(ms));
        write(&pipes).expect("each wait is within the timeout");
        assert_eq!((pipes.pipes[1].taken().len(), pipes.now_ms()), (5, 5_000), "{of}");
        assert_eq!(pipes.mux.stats().total_fanout_partials, 0);

        let pipes = Pipes::new(of, 0, [5, 1_001, 5].map(ms));
        write(&pipes).expect("the others go on");
        assert_eq!(pipes.now_ms(), 1_000 + 4 * 5, "{of}: one timeout in all");
        let stats = pipes.mux.stats();
        assert_eq!((stats.total_fanout_partials, stats.backends[1].timeouts), (1, 1));
        assert_eq!(
            pipes.pipes.iter().map(|pipe| pipe.taken().len()).collect::<Vec<_>>(),
            [5, 0, 5]
        );
        assert_eq!((pipes.in_flight(), pipes.clock.waiting()), (vec![0, 0, 0], 0));
    }
}

/// Spec: SM-2, SH-4, MI-3
#[test]
fn a_peer_or_mirror_that_breaks_is_left_behind_at_once_and_named_at_the_close() {
    for of in FAN_OUT {
        for chunks_before in 1..=2 {
            let world = world(of);
            world.stores[1].push_stream(StreamFault::new(chunks_before, broken(500)));
            world.run(async {
                let mut sink = world.mux.set_stream(KEY).await.expect("all open");
                sink.send("n".into()).await.expect("all take it");
                sink.feed("ew".into()).await.expect("two take it");
                let left = if chunks_before == 1 { [1, 0, 1] } else { [1, 1, 1] };
                assert_eq!(in_flight(&world), left, "{of}");
                assert!(world.events_of("storage-mux.fanout-partial").is_empty(), "not yet");
                sink.close().await.expect("two store it");
            });
            assert_eq!(held(&world), values(["new", OLD, "new"]), "{of}");
            assert_eq!(lacking(&world), ["b"], "{of}");
            let backend = world.backend(1);
            assert_eq!((backend.status, backend.errors), (BackendStatus::Down, 1));
            assert_eq!((world.backend(0).hits, world.backend(2).hits), (1, 1));
            world.assert_at_rest();
        }
    }
}

/// Spec: SM-2, SM-5, SH-3
#[test]
fn an_origin_that_breaks_ends_the_stream_and_no_mirror_shows_a_part_of_it() {
    for status in [500, 403] {
        let world = world(MuxMode::Shield);
        world.stores[0].push_stream(StreamFault::new(1, broken(status)));
        world.run(async {
            let mut sink = world.mux.set_stream(KEY).await.expect("all open");
            sink.send("ne".into()).await.expect("all take it");
            let error = sink.feed("w".into()).await.expect_err("the origin is lost");
            if status == 403 {
                assert_eq!(error, StorageError::http(403));
            } else {
                let mux = error.as_mux().expect("a mux error");
                assert_eq!(mux.code(), MuxCode::AllBackendsDown);
                assert_eq!(mux.cause(), Some(&StorageError::http(500)));
                assert_eq!(mux.attempt_count(), Some(3));
            }
            world.assert_at_rest();
            // From here on it says the same, whatever is asked of it.
            assert_eq!(sink.feed("w".into()).await, Err(error.clone()));
            assert_eq!(sink.flush().await, Err(error.clone()));
            assert_eq!(sink.close().await, Err(error));
        });
        assert_eq!(held(&world), values([OLD, OLD, OLD]));
        let cancelled: Vec<u64> = (0..3).map(|at| world.backend(at).cancelled).collect();
        assert_eq!(cancelled, [0, 1, 1], "the mirrors are not to blame");
        assert_eq!(world.backend(1).status, BackendStatus::Up);
    }
}

/// Spec: SM-2, SM-5, MI-4
#[test]
fn the_stream_of_a_mirror_lives_as_long_as_one_peer_does() {
    let world = world(MuxMode::Mirror);
    for (store, chunks_before) in world.stores.iter().zip([1, 2, 3]) {
        store.push_stream(StreamFault::new(chunks_before, broken(500)));
    }
    world.run(async {
        let mut sink = world.mux.set_stream(KEY).await.expect("all open");
        for left in [[1, 1, 1], [0, 1, 1], [0, 0, 1]] {
            sink.feed("new".into()).await.expect("someone takes it");
            assert_eq!(in_flight(&world), left);
        }
        let error = sink.close().await.expect_err("nobody is left");
        assert!(error.is_mux(MuxCode::AllBackendsDown), "{error}");
        let errors = error.as_mux().and_then(|mux| mux.aggregate()).expect("an aggregate");
        assert_eq!(
            errors.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(),
            ["a", "b", "c"]
        );
    });
    assert_eq!(held(&world), values([OLD, OLD, OLD]));
    assert!(world.events_of("storage-mux.fanout-partial").is_empty());
    world.assert_at_rest();
}

/// Spec: SM-2, SA-1
#[test]
fn all_backends_are_opened_at_once_and_each_is_timed_by_itself() {
    for of in FAN_OUT {
        let world = world(of);
        for (store, wait) in world.stores.iter().zip([20, 300, 5]) {
            store.push(Fault::Delay(ms(wait)));
        }
        let sink = world.run(world.mux.set_stream(KEY)).expect("all open");
        assert_eq!(world.now_ms(), 300);
        drop(sink);
        // Latencies are booked with outcomes, and those of a dropped stream are none.
        for (store, wait) in world.stores.iter().zip([20, 300, 5]) {
            store.push(Fault::Delay(ms(wait)));
        }
        world.run(async {
            let mut sink = world.mux.set_stream(KEY).await.expect("all open");
            sink.close().await.expect("stored");
        });
        let latencies: Vec<_> = (0..3).map(|at| world.backend(at).last_latency).collect();
        assert_eq!(latencies, [20, 300, 5].map(|wait| Some(ms(wait))), "{of}");
        world.assert_at_rest();
    }
}

/// Spec: SM-2
#[test]
fn a_close_ends_when_the_slowest_has_closed_and_closes_none_twice() {
    for of in FAN_OUT {
        let world = world(of);
        world.stores[1].push_stream(StreamFault::new(1, Fault::Delay(ms(30))));
        world.stores[2].push_stream(StreamFault::new(1, Fault::Delay(ms(70))));
        world.run(async {
            let mut sink = world.mux.set_stream(KEY).await.expect("all open");
            sink.feed("new".into()).await.expect("all take it");
            sink.close().await.expect("all store it");
            assert_eq!(world.now_ms(), 70, "{of}");
            sink.close().await.expect("closing twice is closing once");
            assert!(sink.feed("late".into()).await.is_err());
        });
        assert_eq!(held(&world), values(["new", "new", "new"]));
        assert_eq!((0..3).map(|at| world.backend(at).hits).sum::<u64>(), 3);
        world.assert_at_rest();
    }
}

/// Spec: SM-4, SM-5
#[test]
fn a_sink_that_is_dropped_stores_nothing_anywhere() {
    for of in FAN_OUT {
        for chunks in 0..3 {
            let world = world(of);
            world.run(async {
                let mut sink = world.mux.set_stream(KEY).await.expect("all open");
                for _ in 0..chunks {
                    sink.send("new".into()).await.expect("all take it");
                }
                assert_eq!(in_flight(&world), [1, 1, 1]);
            });
            assert_eq!(held(&world), values([OLD, OLD, OLD]), "{of}");
            assert_eq!((0..3).map(|at| world.backend(at).cancelled).sum::<u64>(), 3);
            assert!(world.topics().is_empty());
            world.assert_at_rest();
        }
    }
}

/// Spec: SM-2, SH-5
#[test]
fn on_request_a_partial_stream_is_an_error_at_its_close_and_the_value_stands() {
    for of in FAN_OUT {
        let world = seeded(World::new(3, mode(of).with_throw_on_fanout_partial(true)));
        world.stores[2].push_stream(StreamFault::new(1, broken(500)));
        world.run(async {
            let mut sink = world.mux.set_stream(KEY).await.expect("all open");
            sink.feed("new".into()).await.expect("all take it");
            let error = sink.close().await.expect_err("partial");
            assert!(error.is_mux(MuxCode::WriteFanoutPartial), "{error}");
            assert_eq!(sink.close().await, Err(error));
        });
        assert_eq!(held(&world), values(["new", "new", OLD]), "{of}");
        assert_eq!(lacking(&world), ["c"], "{of}");
        world.assert_at_rest();
    }
}
