//! Mirror: symmetric peers, raced for reads. `mirror_writes` has the rest.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Waker};

use storage_mux::retry::{Backoff, Jitter, RetryOptions};
use storage_mux::sim::{Fault, RecordedMeasurement};
use storage_mux::{BackendStatus, MuxCode, MuxMode, Operation, StorageError};

use crate::perform::{KEY, OLD, answer, busy, perform, reads, seeded};
use crate::support::{World, mode, ms};

fn world(count: usize) -> World {
    seeded(World::new(count, mode(MuxMode::Mirror)))
}

fn fail(status: u16) -> Fault {
    Fault::Fail(StorageError::http(status))
}

fn late(millis: u64, status: u16) -> Fault {
    Fault::DelayThenFail(ms(millis), StorageError::http(status))
}

/// The errors of all backends by name, in their order.
#[track_caller]
fn all_down(error: &StorageError) -> Vec<(String, StorageError)> {
    let mux = error.as_mux().expect("a mux error");
    assert_eq!((mux.code(), mux.mode()), (MuxCode::AllBackendsDown, Some(MuxMode::Mirror)));
    let errors = mux.aggregate().expect("an aggregate");
    errors.iter().map(|(name, error)| (name.to_string(), error.clone())).collect()
}

fn named(errors: &[(&str, u16)]) -> Vec<(String, StorageError)> {
    errors.iter().map(|(name, status)| (name.to_string(), StorageError::http(*status))).collect()
}

/// Spec: MI-1
#[test]
fn the_caller_waits_for_the_fastest_of_all_whatever_the_read() {
    for operation in reads() {
        for fastest in 0..2 {
            let world = world(2);
            world.stores.iter().for_each(|store| store.keep_signals());
            world.stores[fastest].set_always(Fault::Delay(ms(5)));
            world.stores[1 - fastest].set_always(Fault::Delay(ms(30)));
            let (result, asked) = world.calls_during(perform(&world.mux, operation));
            assert_eq!(result.as_deref(), Ok(answer(operation)), "{operation}");
            assert_eq!((asked, world.now_ms()), (vec![1, 1], 5), "{operation}");
            let (winner, loser) = (world.backend(fastest), world.backend(1 - fastest));
            assert_eq!((winner.hits, winner.cancelled), (1, 0), "{operation}");
            assert_eq!((loser.hits, loser.cancelled, loser.errors), (0, 1, 0), "{operation}");
            assert_eq!(loser.status, BackendStatus::Up, "losing is no failure");
            assert!(world.stores[1 - fastest].signals()[0].is_aborted(), "{operation}");
            assert!(world.topics().is_empty());
            world.assert_at_rest();
        }
    }
}

/// Case FO-06. Spec: MI-1, AB-5
#[test]
fn losers_are_dropped_with_the_win_and_all_are_when_the_caller_goes() {
    for caller_leaves in [false, true] {
        let world = world(3);
        world.stores[0].set_always(Fault::Delay(ms(5)));
        world.stores[1].set_always(Fault::Delay(ms(10_000)));
        world.stores[2].set_always(Fault::Delay(ms(10_000)));
        if caller_leaves {
            let mut call = pin!(world.mux.get(KEY));
            let mut task = Context::from_waker(Waker::noop());
            assert!(call.as_mut().poll(&mut task).is_pending());
            world.clock.advance(ms(2));
            assert!(call.as_mut().poll(&mut task).is_pending());
            assert_eq!((0..3).map(|at| world.backend(at).in_flight).sum::<u64>(), 3);
        } else {
            assert_eq!(world.run(world.mux.get(KEY)).expect("a wins"), OLD);
        }
        world.assert_at_rest();
        let cancelled: Vec<u64> = (0..3).map(|at| world.backend(at).cancelled).collect();
        assert_eq!(cancelled, if caller_leaves { [1, 1, 1] } else { [0, 1, 1] });
    }
}

/// Case FO-05. Spec: MI-1
#[test]
fn the_fastest_error_does_not_win() {
    for operation in reads() {
        let world = world(3);
        world.stores[0].push(late(5, 503));
        world.stores[1].push(Fault::Delay(ms(50)));
        world.stores[2].push(Fault::Hang);
        let result = world.run(perform(&world.mux, operation));
        assert_eq!((result.as_deref(), world.now_ms()), (Ok(answer(operation)), 50));
        assert_eq!(world.backend(0).status, BackendStatus::Down, "its failure still counts");
        world.assert_at_rest();
    }
}

/// Case FO-05. Spec: MI-2, E-3
#[test]
fn when_all_have_failed_one_error_names_each_with_its_own_in_the_order_of_the_mux() {
    for operation in reads() {
        let world = world(3);
        world.stores[0].push(Fault::Hang);
        world.stores[1].push(late(50, 500));
        world.stores[2].push(late(5, 403));
        let error = world.run(perform(&world.mux, operation)).expect_err("all have failed");
        let errors = all_down(&error);
        assert_eq!(world.now_ms(), 1_000);
        assert_eq!(errors[0].0, "a");
        assert!(errors[0].1.is_mux(MuxCode::BackendTimeout), "{operation}");
        assert_eq!(errors[1..], named(&[("b", 500), ("c", 403)]), "{operation}");
        assert_eq!(error.as_mux().and_then(|mux| mux.attempt_count()), Some(3));
        world.assert_at_rest();
    }
}

/// Case FO-04. Spec: MI-1, MI-2
#[test]
fn a_fast_not_found_beats_no_slower_value_and_stands_only_when_all_say_so() {
    for operation in [Operation::Get, Operation::Stat, Operation::GetStream, Operation::GetRange] {
        let world = World::new(2, mode(MuxMode::Mirror));
        world.put(0, KEY, OLD);
        world.stores[0].push(Fault::Delay(ms(50)));
        world.stores[1].push(Fault::Delay(ms(5)));
        let result = world.run(perform(&world.mux, operation));
        assert_eq!((result.as_deref(), world.now_ms()), (Ok(answer(operation)), 50));
        assert_eq!((world.backend(0).hits, world.backend(1).misses), (1, 1));

        let world = World::new(2, mode(MuxMode::Mirror));
        world.stores[0].push(Fault::Delay(ms(50)));
        let result = world.run(perform(&world.mux, operation));
        assert_eq!(result, Err(StorageError::key_not_found()), "{operation}");
        assert_eq!(world.now_ms(), 50, "only after both have answered");

        let world = World::new(2, mode(MuxMode::Mirror));
        world.stores[0].push(late(50, 503));
        let error = world.run(perform(&world.mux, operation)).expect_err("a could have it");
        let expected = [("a", StorageError::http(503)), ("b", StorageError::key_not_found())];
        assert_eq!(all_down(&error), expected.map(|(name, error)| (name.into(), error)));
    }
}

/// Case FO-04. Spec: MI-1, MI-2
#[test]
fn a_fast_no_beats_no_slower_yes_and_stands_only_when_all_say_so() {
    let world = World::new(2, mode(MuxMode::Mirror));
    world.put(0, KEY, OLD);
    world.stores[0].push(Fault::Delay(ms(50)));
    world.stores[1].push(Fault::Delay(ms(5)));
    assert_eq!(world.run(world.mux.has(KEY)), Ok(true));
    assert_eq!(world.now_ms(), 50);
    assert_eq!((world.backend(0).hits, world.backend(1).hits), (1, 1), "a no is an answer too");
    assert_eq!(world.backend(1).last_latency, Some(ms(5)), "it took no longer than it took");

    let world = World::new(2, mode(MuxMode::Mirror));
    world.stores[0].push(Fault::Delay(ms(50)));
    assert_eq!((world.run(world.mux.has(KEY)), world.now_ms()), (Ok(false), 50));

    for (first, second) in [(late(50, 503), Fault::None), (Fault::None, late(50, 503))] {
        let world = World::new(2, mode(MuxMode::Mirror));
        world.stores[0].push(first);
        world.stores[1].push(second);
        let error = world.run(world.mux.has(KEY)).expect_err("the other could have it");
        assert_eq!(all_down(&error).len(), 1);
        assert_eq!(error.as_mux().and_then(|mux| mux.attempt_count()), Some(2), "both were tried");
        world.assert_at_rest();
    }
}

/// Spec: MI-2
#[test]
fn a_semantic_answer_stands_only_where_all_give_the_same() {
    for operation in reads() {
        let world = world(2);
        world.stores.iter().for_each(|store| store.push(fail(403)));
        let result = world.run(perform(&world.mux, operation));
        assert_eq!(result, Err(StorageError::http(403)), "{operation}");

        world.stores[0].push(fail(403));
        world.stores[1].push(fail(404));
        let error = world.run(perform(&world.mux, operation)).expect_err("they differ");
        assert_eq!(all_down(&error), named(&[("a", 403), ("b", 404)]), "{operation}");
        assert_eq!(world.backend(0).status, BackendStatus::Up);
        assert!(world.topics().is_empty());
    }
}

/// Spec: MI-1, P-7
#[test]
fn a_range_past_the_end_of_one_copy_may_lie_inside_another() {
    let world = World::new(2, mode(MuxMode::Mirror));
    world.put(0, KEY, "short");
    world.put(1, KEY, "long enough");
    world.stores[1].push(Fault::Delay(ms(50)));
    assert_eq!(world.run(world.mux.get_range(KEY, 5..20)).expect("b has it"), "enough");
    let past = world.run(world.mux.get_range(KEY, 11..20));
    assert_eq!(past, Err(StorageError::range_not_satisfiable()));
}

/// Spec: MI-1, HE-4
#[test]
fn only_healthy_peers_race_and_one_call_probes_a_peer_whose_cooldown_is_over() {
    let world = world(3);
    world.take_down_any(0);
    let (_, asked) = world.calls_during(world.mux.get(KEY));
    assert_eq!(asked, [0, 1, 1]);
    world.clock.advance(ms(1_000));
    world.stores.iter().for_each(|store| store.set_always(Fault::Delay(ms(10))));
    let calls = futures_util::future::join_all((0..10).map(|_| world.mux.get(KEY)));
    let (_, asked) = world.calls_during(calls);
    assert_eq!(asked, [1, 10, 10]);
    assert_eq!(world.backend(0).status, BackendStatus::Up);
    world.assert_at_rest();
}

/// Case HC-01, SEL-09. Spec: MI-2
#[test]
fn with_no_peer_healthy_a_read_ends_at_once_and_nobody_is_asked() {
    for operation in reads() {
        for count in [1, 3] {
            let world = world(count);
            (0..count).for_each(|at| world.take_down_any(at));
            let (result, asked) = world.calls_during(perform(&world.mux, operation));
            let error = result.expect_err("none is healthy");
            assert!(error.is_mux(MuxCode::AllBackendsDown), "{operation}: {error}");
            assert_eq!((asked, world.now_ms()), (vec![0; count], 0), "{operation}");
            world.assert_at_rest();
        }
    }
}

/// Spec: MI-5
#[test]
fn one_backend_is_a_mirror_too() {
    for operation in reads() {
        let world = world(1);
        let result = world.run(perform(&world.mux, operation));
        assert_eq!(result.as_deref(), Ok(answer(operation)));
        world.stores[0].push(busy());
        let error = world.run(perform(&world.mux, operation)).expect_err("the only one");
        assert_eq!(all_down(&error), named(&[("a", 503)]), "{operation}");
    }
}

/// Case SM-06. Spec: MI-1, MI-2, SA-1, RC-3
#[test]
fn of_a_hundred_races_every_attempt_is_a_win_a_failure_or_a_cancellation() {
    let slow_retries =
        RetryOptions::new().with_backoff(Backoff::constant(ms(100))).with_jitter(Jitter::None);
    let world = seeded(World::new(2, mode(MuxMode::Mirror).with_retry(slow_retries)));
    let [a, b] = [&world.stores[0], &world.stores[1]];
    for call in 0..90 {
        let (slow, fast) = if call < 60 { (b, a) } else { (a, b) };
        fast.push(Fault::Delay(ms(5)));
        // In twenty of the sixty wins of a, b has failed once and waits to be asked again.
        slow.push(if call < 20 { fail(503) } else { Fault::Delay(ms(30)) });
        assert_eq!(world.run(world.mux.get(KEY)).expect("one wins"), OLD);
    }
    world.stores.iter().for_each(|store| store.set_always(fail(503)));
    for _ in 0..10 {
        let error = world.run(world.mux.get(KEY)).expect_err("both fail");
        assert_eq!(all_down(&error), named(&[("a", 503), ("b", 503)]));
        // Past any cooldown, so that both are asked again.
        world.clock.advance(ms(60_000));
    }
    let stats = world.mux.stats();
    let counted = stats.backends.iter().map(|each| (each.hits, each.errors, each.cancelled));
    assert_eq!(counted.collect::<Vec<_>>(), [(60, 10, 30), (30, 10, 60)]);
    assert_eq!((stats.total_calls, stats.total_failovers), (100, 0));
    // The failed tries of the losers are not lost: 20 of theirs, and two before each last one.
    let tries = |outcome: &str| {
        let of_tries = |each: &&RecordedMeasurement| each.name == "retry.attempt.total";
        let measured = world.recorder.measurements();
        let with = |each: &&RecordedMeasurement| each.attributes == [("outcome", outcome.into())];
        measured.iter().filter(of_tries).filter(with).count()
    };
    assert_eq!((tries("success"), tries("failure"), tries("exhausted")), (90, 20 + 40, 20));
    world.assert_at_rest();
}
