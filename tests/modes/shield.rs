//! Shield: one origin, and mirrors that stand in for it.

use storage_mux::sim::{FakeClock, Fault, FaultStorage};
use storage_mux::{
    Backend, BackendStatus, Condition, Event, MemoryStorage, MuxCode, MuxMode, Operation,
    SeededRng, StorageError, StorageMux,
};

use crate::perform::{FRESH, KEY, NEW, OLD, after, answer, busy, perform, reads, seeded, writes};
use crate::support::{World, mode, ms};

fn world(count: usize) -> World {
    seeded(World::new(count, mode(MuxMode::Shield)))
}

fn throwing(count: usize) -> World {
    seeded(World::new(count, mode(MuxMode::Shield).with_throw_on_fanout_partial(true)))
}

fn fail(status: u16) -> Fault {
    Fault::Fail(StorageError::http(status))
}

/// The one event of a partial write: who lacks it, and why.
#[track_caller]
fn partial(world: &World) -> (Vec<String>, Vec<StorageError>) {
    let told = world.events_of("storage-mux.fanout-partial");
    let [Event::FanoutPartial { mode: MuxMode::Shield, failed, causes }] = &told[..] else {
        panic!("one partial write, not {told:?}")
    };
    (failed.iter().map(|name| name.as_str().to_string()).collect(), causes.clone())
}

/// Spec: SH-1
#[test]
fn one_backend_is_no_shield_and_two_are() {
    let clock = FakeClock::new();
    let build = |count: usize| {
        let stores = (0..count).map(|_| FaultStorage::new(MemoryStorage::new(), clock.clone()));
        StorageMux::builder(clock.clone(), SeededRng::new(1))
            .backends(["a", "b"].into_iter().zip(stores).map(|(n, s)| Backend::new(n, s)))
            .options(mode(MuxMode::Shield))
            .build()
    };
    let error = build(1).expect_err("no mirror");
    assert_eq!(error.code().as_str(), "STORAGE_MUX.MIRROR_ORIGIN_REQUIRED");
    build(2).expect("an origin and a mirror");
    assert_eq!(build(0).expect_err("nobody").code(), MuxCode::NoBackendsConfigured);
}

/// Spec: SH-2
#[test]
fn a_read_asks_the_origin_alone_while_it_answers() {
    for operation in reads() {
        let world = world(3);
        world.stores[0].set_always(Fault::Delay(ms(900)));
        let (result, asked) = world.calls_during(perform(&world.mux, operation));
        assert_eq!(result.as_deref(), Ok(answer(operation)), "{operation}");
        assert_eq!(asked, [1, 0, 0], "{operation}");
        world.assert_at_rest();
    }
}

/// Spec: SH-2
#[test]
fn a_read_moves_to_the_mirrors_in_order_on_transient_error_and_on_timeout() {
    for operation in reads() {
        for (first, second, took) in
            [(busy(), busy(), 0), (Fault::Hang, busy(), 1_000), (busy(), Fault::Hang, 1_000)]
        {
            let world = world(3);
            world.stores[0].push(first);
            world.stores[1].push(second);
            let (result, asked) = world.calls_during(perform(&world.mux, operation));
            assert_eq!(result.as_deref(), Ok(answer(operation)), "{operation}");
            assert_eq!((asked, world.now_ms()), (vec![1, 1, 1], took), "{operation}");
            let moves: Vec<(String, String)> = world
                .events_of("storage-mux.failover")
                .into_iter()
                .map(|event| match event {
                    Event::Failover { from, to, .. } => (from.to_string(), to.to_string()),
                    other => panic!("{other:?}"),
                })
                .collect();
            assert_eq!(moves, [("a", "b"), ("b", "c")].map(|(f, t)| (f.into(), t.into())));
            world.assert_at_rest();
        }
    }
}

/// Spec: SH-2, FO-2
#[test]
fn what_the_origin_does_not_have_is_not_looked_for_in_a_mirror() {
    let world = world(2);
    world.put(1, "only in b", "v");
    let missing = Err(StorageError::key_not_found());
    assert_eq!(world.run(world.mux.get("only in b")), missing);
    assert_eq!(world.run(world.mux.has("only in b")), Ok(false));
    assert_eq!(world.calls(), [2, 0]);
}

/// Spec: SH-2, FO-3
#[test]
fn when_origin_and_mirrors_have_failed_the_last_error_is_the_source() {
    for operation in reads() {
        let world = world(3);
        world.stores.iter().zip([500, 502, 504]).for_each(|(store, status)| {
            store.set_always(fail(status));
        });
        let error = world.run(perform(&world.mux, operation)).expect_err("all down");
        let mux = error.as_mux().expect("a mux error");
        assert_eq!((mux.code(), mux.attempt_count()), (MuxCode::AllBackendsDown, Some(3)));
        assert_eq!(mux.cause(), Some(&StorageError::http(504)));
    }
}

/// Spec: SH-3
#[test]
fn a_write_goes_to_all_at_once_and_ends_when_the_slowest_has() {
    for operation in writes() {
        for slowest in 0..3 {
            let world = world(3);
            for (at, store) in world.stores.iter().enumerate() {
                store.push(Fault::Delay(if at == slowest { ms(30) } else { ms(20) }));
            }
            let (result, asked) = world.calls_during(perform(&world.mux, operation));
            result.expect("all store it");
            assert_eq!((asked, world.now_ms()), (vec![1, 1, 1], 30), "{operation}");
            for at in 0..3 {
                assert_eq!(world.peek(at, KEY).as_deref(), after(operation), "{operation}");
            }
            assert!(world.topics().is_empty());
            world.assert_at_rest();
        }
    }
}

/// Spec: SH-3
#[test]
fn the_version_of_a_write_is_the_origins_whoever_is_first() {
    for slowest in 0..3 {
        let world = world(3);
        // Each store has seen another number of writes, so that their versions differ.
        for (at, store) in world.stores.iter().enumerate() {
            (0..at).for_each(|_| world.put(at, "other", "v"));
            store.push(Fault::Delay(if at == slowest { ms(30) } else { ms(5) }));
        }
        let written = world.run(world.mux.set(KEY, NEW)).expect("stored");
        let stat = world.run(world.mux.stat(KEY)).expect("the origin's");
        assert!(written.version.is_some());
        assert_eq!(written.version, stat.version, "{slowest} is the slowest");
    }
}

/// Spec: SH-3
#[test]
fn an_origin_that_fails_fails_the_write_with_its_error_whatever_the_mirrors_did() {
    for operation in writes() {
        for mirror in [Fault::Delay(ms(20)), fail(502), fail(403), Fault::Hang] {
            let world = world(3);
            world.stores[0].push(fail(500));
            world.stores[1].push(mirror.clone());
            let error = world.run(perform(&world.mux, operation)).expect_err("no origin");
            let mux = error.as_mux().expect("a mux error");
            assert_eq!(mux.code(), MuxCode::AllBackendsDown, "{operation} {mirror:?}");
            assert_eq!(mux.cause(), Some(&StorageError::http(500)), "{operation} {mirror:?}");
            assert_eq!((mux.attempt_count(), mux.mode()), (Some(3), Some(MuxMode::Shield)));
            // All have settled: the mirror's own fate took its time.
            let took =
                [(20, matches!(mirror, Fault::Delay(_))), (1_000, matches!(mirror, Fault::Hang))];
            let took = took.iter().find(|(_, when)| *when).map_or(0, |(took, _)| *took);
            assert_eq!(world.now_ms(), took, "{operation} {mirror:?}");
            world.assert_at_rest();
        }
    }
}

/// Spec: SH-3, BH-1
#[test]
fn an_origin_that_hangs_is_a_timeout_as_the_source() {
    for operation in writes() {
        let world = world(2);
        world.stores[0].push(Fault::Hang);
        let error = world.run(perform(&world.mux, operation)).expect_err("no origin");
        let cause = error.as_mux().and_then(|mux| mux.cause()).expect("a source").clone();
        assert!(cause.is_mux(MuxCode::BackendTimeout), "{operation}: {cause}");
        assert_eq!(world.now_ms(), 1_000);
    }
}

/// Spec: SH-3, FO-2
#[test]
fn a_semantic_refusal_of_the_origin_is_returned_as_it_is() {
    for operation in writes() {
        let world = world(2);
        world.stores[0].push(fail(403));
        let result = world.run(perform(&world.mux, operation));
        assert_eq!(result, Err(StorageError::http(403)), "{operation}");
    }
}

/// Spec: SH-4, SA-1
#[test]
fn a_mirror_that_fails_makes_no_error_but_every_one_that_lacks_the_write_is_named() {
    for operation in writes() {
        let world = world(4);
        world.take_down_any(3);
        let topics = world.topics().len();
        let partials = world.mux.stats().total_fanout_partials;
        world.stores[1].push(Fault::Hang);
        world.stores[2].push(fail(403));
        let (result, asked) = world.calls_during(perform(&world.mux, operation));
        result.expect("the origin has it");
        assert_eq!(asked, [1, 1, 1, 0], "{operation}: one that is down is not waited for");
        assert_eq!(world.peek(0, KEY).as_deref(), after(operation));
        let told = world.recorder.events().split_off(topics);
        let told = told.iter().find_map(|event| match event {
            Event::FanoutPartial { mode: MuxMode::Shield, failed, causes } => {
                Some((failed.clone(), causes.clone()))
            }
            _ => None,
        });
        let (failed, causes) = told.expect("an event");
        assert_eq!(failed, ["b", "c", "d"], "{operation}");
        assert!(causes[0].is_mux(MuxCode::BackendTimeout), "{operation}");
        assert_eq!(causes[1..], [StorageError::http(403), StorageError::http(503)]);
        assert_eq!(world.mux.stats().total_fanout_partials, partials + 1);
        world.assert_at_rest();
    }
}

/// Spec: SH-5, E-3
#[test]
fn on_request_a_partial_write_is_also_an_error_and_the_write_stands() {
    for operation in writes() {
        let world = throwing(3);
        world.stores[2].push(busy());
        let error = world.run(perform(&world.mux, operation)).expect_err("partial");
        let mux = error.as_mux().expect("a mux error");
        assert_eq!(mux.code().as_str(), "STORAGE_MUX.WRITE_FANOUT_PARTIAL", "{operation}");
        let errors = mux.aggregate().expect("one error for each that lacks it");
        assert_eq!(errors.iter().len(), 1);
        assert_eq!(errors.of("c"), Some(&StorageError::http(503)));
        assert_eq!(partial(&world), (vec!["c".into()], vec![StorageError::http(503)]));
        for at in 0..2 {
            assert_eq!(world.peek(at, KEY).as_deref(), after(operation), "{operation}");
        }
        world.stores.iter().for_each(|store| assert_eq!(store.calls(), 1));
    }
}

/// Spec: SH-5
#[test]
fn a_whole_write_is_no_error_and_no_event_even_where_partial_ones_throw() {
    for operation in writes() {
        let world = throwing(3);
        world.run(perform(&world.mux, operation)).expect("all have it");
        assert!(world.topics().is_empty());
        assert_eq!(world.mux.stats().total_fanout_partials, 0);
    }
}

/// Case FO-02. Spec: SH-4, BH-1
#[test]
fn a_mirror_that_hangs_costs_one_timeout_and_reads_are_served_all_along() {
    let world = world(2);
    world.stores[1].set_always(Fault::Hang);
    for write in 0..10 {
        world.run(world.mux.set(KEY, NEW)).expect("the origin has it");
        assert_eq!(world.now_ms(), 1_000, "write {write}");
        assert_eq!(world.run(world.mux.get(KEY)).expect("served"), NEW);
    }
    assert_eq!(world.mux.stats().total_fanout_partials, 10, "it lacks each of them");
    assert_eq!(world.stores[1].calls(), 1);
}

/// Spec: SH-3, HE-4
#[test]
fn an_origin_in_cooldown_is_asked_for_a_write_all_the_same_and_recovers_by_it() {
    for operation in writes() {
        let world = world(2);
        world.take_down(0);
        let (result, asked) = world.calls_during(perform(&world.mux, operation));
        result.expect("the origin is well again");
        assert_eq!(asked, [1, 1], "{operation}");
        assert_eq!(world.backend(0).status, BackendStatus::Up);
        world.assert_at_rest();
    }
}

/// Spec: MX-1
#[test]
fn a_conditional_write_is_the_origins_alone() {
    let world = world(3);
    world.run(world.mux.set_if(FRESH, NEW, Condition::Absent)).expect("absent");
    let again = world.run(world.mux.set_if(FRESH, OLD, Condition::Absent));
    assert_eq!(again, Err(StorageError::precondition_failed()));
    assert_eq!(world.calls(), [2, 0, 0]);
    let held: Vec<_> = (0..3).map(|at| world.peek(at, FRESH)).collect();
    assert_eq!(held, [Some(NEW.to_string()), None, None]);
}

/// Spec: MX-1
#[test]
fn a_conditional_write_that_the_origin_cannot_decide_is_decided_by_nobody() {
    for (fault, took) in [(busy(), 0), (Fault::Hang, 1_000)] {
        let world = world(3);
        world.stores[0].set_always(fault);
        for _ in 0..2 {
            let (result, asked) = world.calls_during(perform(&world.mux, Operation::SetIf));
            let error = result.expect_err("no origin");
            assert!(error.is_mux(MuxCode::AllBackendsDown), "{error}");
            assert_eq!(error.as_mux().and_then(|mux| mux.attempt_count()), Some(1));
            assert_eq!(asked, [1, 0, 0], "also while the origin is down");
        }
        assert_eq!(world.now_ms(), 2 * took);
        world.assert_at_rest();
    }
}
