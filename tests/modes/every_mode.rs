//! What every mode owes its callers, and the one thing in which they differ by design: what happens
//! when nobody is healthy.

use futures_util::future::join_all;
use futures_util::{SinkExt, StreamExt};
use storage_mux::sim::Fault;
use storage_mux::{BackendStatus, Event, MuxCode, MuxMode, Operation, PageRequest, StorageError};

use crate::perform::{KEY, NEW, OLD, answer, busy, perform, reads, seeded};
use crate::support::{World, mode, ms};

fn world(of: MuxMode, count: usize) -> World {
    seeded(World::new(count, mode(of)))
}

/// Takes all backends down. Only reads that move on, or all at once, reach every one.
fn down(of: MuxMode, count: usize) -> World {
    let world = world(of, count);
    world.stores.iter().for_each(|store| store.set_always(busy()));
    world.run(world.mux.has(KEY)).expect_err("all fail");
    world.stores.iter().for_each(|store| store.set_always(Fault::None));
    for at in 0..count {
        assert_eq!(world.backend(at).status, BackendStatus::Down, "{of}");
    }
    world
}

/// How many backends answer an operation while all of them are in cooldown: failover and shield
/// fail open and ask in order, a write of shield asks its origin alone, and the others fail fast.
fn asked_when_all_are_down(of: MuxMode, operation: Operation) -> usize {
    match of {
        MuxMode::Failover | MuxMode::Shield => 1,
        MuxMode::Mirror if operation == Operation::SetIf => 0,
        MuxMode::RoundRobin | MuxMode::Weighted | MuxMode::StickyByKey | MuxMode::Mirror => 0,
    }
}

/// Case HC-01, SEL-09. Spec: FO-4, RR-3, WT-4, ST-4, SH-2, SH-3, MI-2, MI-4
#[test]
fn with_all_in_cooldown_each_mode_follows_its_one_rule_for_one_backend_as_for_three() {
    for of in MuxMode::ALL {
        for count in [2, 3, 1] {
            if of == MuxMode::Shield && count == 1 {
                continue;
            }
            for operation in Operation::ALL {
                let world = down(of, count);
                let (result, asked) = world.calls_during(perform(&world.mux, operation));
                let expected = asked_when_all_are_down(of, operation);
                assert_eq!(asked.iter().sum::<usize>(), expected, "{of} {operation}");
                assert_eq!(world.now_ms(), 0, "{of} {operation}: at once");
                match result {
                    Ok(_) => assert_eq!((expected, asked[0]), (1, 1), "{of} {operation}"),
                    Err(error) if of == MuxMode::Mirror && operation == Operation::SetIf => {
                        assert_eq!(error, StorageError::unsupported());
                    }
                    Err(error) => {
                        assert_eq!(expected, 0, "{of} {operation}: {error}");
                        assert!(error.is_mux(MuxCode::AllBackendsDown), "{of} {operation}");
                        let tried = error.as_mux().and_then(|mux| mux.attempt_count());
                        assert_eq!(tried, Some(0), "{of} {operation}");
                    }
                }
                world.assert_at_rest();
            }
        }
    }
}

/// Case HC-01, HC-13. Spec: HE-4
#[test]
fn when_a_cooldown_ends_every_mode_recovers_by_itself() {
    for of in MuxMode::ALL {
        for count in [1, 3] {
            if of == MuxMode::Shield && count == 1 {
                continue;
            }
            let world = down(of, count);
            world.clock.advance(ms(999));
            let early = world.run(world.mux.has(KEY));
            let open = matches!(of, MuxMode::Failover | MuxMode::Shield);
            assert_eq!(early.is_ok(), open, "{of}: a millisecond too early");
            world.clock.advance(ms(1));
            assert_eq!(world.run(world.mux.has(KEY)), Ok(true), "{of}");
            assert!((0..count).any(|at| world.backend(at).status == BackendStatus::Up), "{of}");
            world.assert_at_rest();
        }
    }
}

/// Spec: HE-4, RR-2, WT-1, ST-3, SH-2, MI-1
#[test]
fn of_many_concurrent_calls_exactly_one_probes_in_every_mode() {
    for of in MuxMode::ALL {
        let world = world(of, 3);
        world.take_down_any(0);
        world.stores.iter().for_each(|store| store.set_always(Fault::Delay(ms(10))));
        world.clock.advance(ms(60_000));
        let page = PageRequest::default();
        // Listings have no key, so under sticky-by-key any of them may be the probe.
        let calls = join_all((0..10).map(|_| world.mux.list("", &page)));
        let (pages, asked) = world.calls_during(calls);
        assert!(pages.into_iter().all(|page| page.is_ok()), "{of}");
        assert_eq!(asked[0], 1, "{of}");
        assert_eq!(world.backend(0).status, BackendStatus::Up, "{of}");
        world.assert_at_rest();
    }
}

/// Case ST-07. Spec: SM-2, SM-5, P-7
#[test]
fn an_empty_value_is_a_value_in_every_mode_however_it_was_written() {
    for of in MuxMode::ALL {
        for written in ["set", "a stream of nothing", "a stream of empty chunks"] {
            let world = World::new(3, mode(of));
            // Each store is written, so that it does not matter who is asked in the end.
            world.put_all(KEY, "something");
            let keys = |world: &World| {
                world.run(async {
                    for _ in 0..12 {
                        match written {
                            "set" => drop(world.mux.set(KEY, "").await?),
                            _ => {
                                let mut sink = world.mux.set_stream(KEY).await?;
                                if written == "a stream of empty chunks" {
                                    sink.send("".into()).await?;
                                    sink.send("".into()).await?;
                                }
                                sink.close().await?;
                            }
                        }
                    }
                    Ok::<(), StorageError>(())
                })
            };
            keys(&world).unwrap_or_else(|error| panic!("{of}, {written}: {error}"));
            let empty = (0..3).filter(|at| world.peek(*at, KEY).as_deref() == Some("")).count();
            let reached = match of {
                MuxMode::Failover | MuxMode::StickyByKey => 1,
                _ => 3,
            };
            assert_eq!(empty, reached, "{of}, {written}");
            world.run(async {
                assert_eq!(world.mux.get(KEY).await.expect("a value"), "", "{of}, {written}");
                assert_eq!(world.mux.stat(KEY).await.expect("a value").size, 0);
                assert_eq!(world.mux.has(KEY).await, Ok(true));
                let mut stream = world.mux.get_stream(KEY).await.expect("a value");
                assert_eq!(stream.next().await, None, "{of}, {written}");
                let page = world.mux.list("", &PageRequest::default()).await.expect("a page");
                assert_eq!(page.entries.len(), 1, "{of}, {written}");
            });
            world.assert_at_rest();
        }
    }
}

/// A world whose stores all hold the same five keys.
fn listed(of: MuxMode) -> World {
    let world = World::new(3, mode(of));
    for key in ["a", "b", "c", "d", "e"] {
        world.put_all(key, "v");
    }
    world
}

/// Lists all in pages of two. `before_page` is told the number of each page that is to come.
fn list_all(
    world: &World,
    mut before_page: impl FnMut(usize),
) -> Result<Vec<String>, StorageError> {
    let (mut keys, mut request, mut number) = (Vec::new(), PageRequest::first(2), 0);
    loop {
        before_page(number);
        let page = world.run(world.mux.list("", &request))?;
        keys.extend(page.entries.into_iter().map(|entry| entry.key));
        let Some(next) = page.next else { return Ok(keys) };
        request = PageRequest::after(next, 2);
        number += 1;
    }
}

/// Case LS-11. Spec: FO-1, RR-4, WT-4, ST-4, SH-2, MI-1, P-7
#[test]
fn the_pages_of_a_listing_survive_a_failover_between_them_in_every_mode() {
    for of in MuxMode::ALL {
        for failing_page in 0..3 {
            for fault in [busy(), Fault::Hang, Fault::LoseAnswer(StorageError::http(503))] {
                for good in 0..3 {
                    let world = listed(of);
                    let keys = list_all(&world, |page| {
                        for (at, store) in world.stores.iter().enumerate() {
                            let fails = page == failing_page && at != good;
                            store.set_always(if fails { fault.clone() } else { Fault::None });
                        }
                    });
                    let keys = keys.unwrap_or_else(|error| panic!("{of} {fault:?}: {error}"));
                    assert_eq!(keys, ["a", "b", "c", "d", "e"], "{of}: each once, none missing");
                    world.assert_at_rest();
                }
            }
        }
    }
}

/// Case LS-11. Spec: FO-3, RR-3, WT-4, ST-4, SH-2, MI-2
#[test]
fn a_page_that_nobody_can_give_is_an_error_and_never_the_end_of_the_listing() {
    for of in MuxMode::ALL {
        for failing_page in 0..3 {
            let world = listed(of);
            let result = list_all(&world, |page| {
                let fault = if page == failing_page { busy() } else { Fault::None };
                world.stores.iter().for_each(|store| store.set_always(fault.clone()));
            });
            let error = result.expect_err("a page is missing");
            assert!(error.is_mux(MuxCode::AllBackendsDown), "{of}: {error}");
            world.assert_at_rest();
        }
    }
}

/// Spec: FO-1, RR-4, WT-4, ST-4, SH-2, MI-1
#[test]
fn every_read_of_every_mode_is_served_by_the_one_backend_that_is_left() {
    for of in MuxMode::ALL {
        for operation in reads() {
            for good in 0..3 {
                let world = world(of, 3);
                for at in (0..3).filter(|at| *at != good) {
                    world.stores[at].set_always(busy());
                }
                let result = world.run(perform(&world.mux, operation));
                assert_eq!(result.as_deref(), Ok(answer(operation)), "{of} {operation}");
                assert_eq!(world.backend(good).hits, 1, "{of} {operation}");
                world.assert_at_rest();
            }
        }
    }
}

/// Spec: RC-1, RR-4, WT-4, ST-4, SH-2, SH-3, MI-1, MI-3
#[test]
fn in_every_mode_a_backend_is_asked_again_in_place_before_anyone_else_is() {
    for of in MuxMode::ALL {
        for operation in Operation::ALL {
            if of == MuxMode::Mirror && operation == Operation::SetIf {
                continue;
            }
            let world = seeded(World::new(3, mode(of).with_retry(Default::default())));
            for store in &world.stores {
                (0..2).for_each(|_| store.push(busy()));
            }
            let result = world.run(perform(&world.mux, operation));
            assert!(result.is_ok(), "{of} {operation}: {result:?}");
            let stats = world.mux.stats();
            assert_eq!((stats.total_failovers, stats.total_fanout_partials), (0, 0), "{of}");
            assert!(stats.backends.iter().all(|each| each.errors == 0), "{of} {operation}");
            assert!(world.topics().is_empty(), "{of} {operation}");
            world.assert_at_rest();
        }
    }
}

/// Spec: SA-1, E-3, OT-1
#[test]
fn statistics_errors_and_spans_name_the_mode() {
    for of in MuxMode::ALL {
        let world = down(of, 2);
        assert_eq!(world.mux.stats().mode, of);
        world.stores.iter().for_each(|store| store.set_always(busy()));
        world.clock.advance(ms(60_000));
        let error = world.run(world.mux.set(KEY, NEW)).expect_err("all fail");
        assert_eq!(error.as_mux().and_then(|mux| mux.mode()), Some(of), "{of}: {error}");
        let spans = world.recorder.spans();
        assert!(spans.iter().all(|span| span.attribute("mux.mode") == Some(of.as_str())), "{of}");
        assert_eq!(world.peek(0, KEY).as_deref(), Some(OLD));
        let named = |event: &Event| match event {
            Event::FanoutPartial { mode, .. } => *mode == of,
            _ => true,
        };
        assert!(world.recorder.events().iter().all(named));
    }
}
