//! Weighted: each call draws a healthy backend by weight.

use storage_mux::sim::{FakeClock, Fault, FaultStorage};
use storage_mux::{
    Backend, MemoryStorage, MuxCode, MuxError, MuxMode, Operation, SeededRng, StorageError,
    StorageMux,
};

use crate::perform::{KEY, busy, perform, seeded};
use crate::support::{NAMES, Store, TestMux, World, mode, ms};

fn world(weights: &[f64], seed: u64) -> World {
    seeded(World::weighted(weights, seed))
}

fn store(clock: &FakeClock) -> Store {
    FaultStorage::new(MemoryStorage::new(), clock.clone())
}

/// Builds a mux of backends that may lack a weight.
fn build(weights: &[Option<f64>]) -> Result<TestMux, MuxError> {
    let clock = FakeClock::new();
    let backends = NAMES.into_iter().zip(weights).map(|(name, weight)| {
        let backend = Backend::new(name, store(&clock));
        weight.map_or(backend.clone(), |weight| backend.with_weight(weight))
    });
    StorageMux::builder(clock.clone(), SeededRng::new(1))
        .backends(backends)
        .options(mode(MuxMode::Weighted))
        .build()
}

/// How often each store is asked by `count` calls.
fn draw(world: &World, count: usize) -> Vec<usize> {
    let (_, asked) = world.calls_during(async {
        for _ in 0..count {
            world.mux.has(KEY).await.expect("served");
        }
    });
    asked
}

#[track_caller]
fn assert_shares(asked: &[usize], expected: &[usize], bound: usize) {
    for (asked_one, expected_one) in asked.iter().zip(expected) {
        assert!(asked_one.abs_diff(*expected_one) <= bound, "{asked:?} is not {expected:?}");
    }
}

/// Spec: WT-1
#[test]
fn one_three_six_over_a_thousand_calls_is_within_fifty_of_each_share_for_any_seed() {
    for seed in 0..10 {
        let world = world(&[1.0, 3.0, 6.0], seed);
        assert_shares(&draw(&world, 1_000), &[100, 300, 600], 50);
        world.assert_at_rest();
    }
}

/// Spec: WT-1
#[test]
fn every_operation_is_drawn_by_the_same_weights() {
    for operation in Operation::ALL {
        let world = world(&[1.0, 3.0, 6.0], 5);
        let (_, asked) = world.calls_during(async {
            for _ in 0..1_000 {
                let _ = perform(&world.mux, operation).await;
            }
        });
        assert_eq!(asked.iter().sum::<usize>(), 1_000, "{operation}");
        assert_shares(&asked, &[100, 300, 600], 50);
    }
}

/// Spec: WT-1
#[test]
fn one_seed_gives_one_sequence_and_another_seed_another() {
    let sequence = |seed| {
        let world = world(&[1.0, 1.0], seed);
        (0..64).map(|_| draw(&world, 1)[0]).collect::<Vec<_>>()
    };
    assert_eq!(sequence(1), sequence(1));
    assert_ne!(sequence(1), sequence(2));
}

/// Case SEL-05. Spec: WT-1
#[test]
fn seventeen_thousand_calls_follow_nine_seven_and_one() {
    let world = world(&[9.0, 7.0, 1.0], 11);
    let asked = draw(&world, 17_000);
    // Five standard deviations of a binomial of 17 000 at each share.
    for ((count, share), bound) in asked.iter().zip([9_000, 7_000, 1_000]).zip([326, 321, 154]) {
        assert!(count.abs_diff(share) <= bound, "{asked:?}");
    }
}

/// Case SEL-13. Spec: WT-1
#[test]
fn very_large_and_very_small_weights_keep_their_proportions() {
    for weights in [[f64::MAX; 2], [1e-300; 2], [f64::MIN_POSITIVE; 2]] {
        // Five standard deviations of 1000 fair draws.
        assert_shares(&draw(&world(&weights, 3), 1_000), &[500, 500], 79);
    }
    assert_eq!(draw(&world(&[1.0, 1e15], 3), 1_000), [0, 1_000]);
}

/// Spec: WT-1, HE-4
#[test]
fn the_shares_follow_every_change_of_health() {
    let world = world(&[1.0, 3.0, 6.0], 2);
    world.take_down_any(2);
    assert_shares(&draw(&world, 1_000), &[250, 750, 0], 50);
    assert_eq!(draw(&world, 1_000)[2], 0, "one that is down gets nothing");
    world.clock.advance(ms(1_000));
    assert_eq!(draw(&world, 1), [0, 0, 1], "the next call is its probe");
    assert_shares(&draw(&world, 1_000), &[100, 300, 600], 50);
    world.take_down_any(0);
    assert_shares(&draw(&world, 999), &[0, 333, 666], 50);
}

/// Spec: WT-4
#[test]
fn a_transient_error_re_rolls_until_all_were_asked_and_then_the_last_error_is_the_source() {
    for operation in Operation::ALL {
        let world = world(&[1.0, 3.0, 6.0], 4);
        world.stores.iter().for_each(|store| store.set_always(busy()));
        let (result, asked) = world.calls_during(perform(&world.mux, operation));
        let error = result.expect_err("all fail");
        assert_eq!(asked, [1, 1, 1], "{operation}");
        let mux = error.as_mux().expect("a mux error");
        assert_eq!((mux.code(), mux.attempt_count()), (MuxCode::AllBackendsDown, Some(3)));
        assert_eq!(mux.cause(), Some(&StorageError::http(503)));
        assert_eq!(world.mux.stats().total_failovers, 2);
        world.assert_at_rest();
    }
}

/// Spec: WT-4
#[test]
fn there_are_as_many_rolls_as_there_were_healthy_backends() {
    let world = world(&[1.0, 1.0, 1.0, 1.0], 4);
    world.take_down_any(1);
    world.stores.iter().for_each(|store| store.set_always(busy()));
    let (result, asked) = world.calls_during(world.mux.get(KEY));
    let error = result.expect_err("all fail");
    assert_eq!(asked, [1, 0, 1, 1]);
    assert_eq!(error.as_mux().and_then(|mux| mux.attempt_count()), Some(3));
}

/// Spec: WT-4
#[test]
fn a_re_roll_is_by_weight_among_the_rest() {
    let mut second = [0; 3];
    let mut moved = 0;
    for seed in 0..400 {
        let world = world(&[1.0, 3.0, 1_000.0], seed);
        world.stores[2].push(busy());
        let (_, asked) = world.calls_during(world.mux.has(KEY));
        if asked[2] == 1 {
            moved += 1;
            (0..3).for_each(|at| second[at] += asked[at]);
        }
    }
    // Five standard deviations of 400 draws at one in four; a few of the first draws were not c's.
    assert!(moved > 380 && second[2] == moved, "{second:?}");
    assert!(second[0].abs_diff(moved / 4) < 44, "{second:?}");
    assert_eq!(second[0] + second[1], moved);
}

/// Spec: WT-4, BH-1
#[test]
fn a_timeout_re_rolls_as_an_error_does() {
    let world = world(&[1.0, 1e15], 1);
    world.stores[1].push(Fault::Hang);
    let (result, asked) = world.calls_during(world.mux.has(KEY));
    assert_eq!((result, asked), (Ok(true), vec![1, 1]));
    assert_eq!(world.now_ms(), 1_000);
}

/// Spec: WT-4, FO-2
#[test]
fn a_semantic_error_is_the_answer_and_nobody_else_is_asked() {
    let world = world(&[1.0, 1.0], 1);
    let error = StorageError::http(403);
    world.stores.iter().for_each(|store| store.set_always(Fault::Fail(error.clone())));
    let (result, asked) = world.calls_during(world.mux.get(KEY));
    assert_eq!((result, asked.iter().sum::<usize>()), (Err(error), 1));
}

/// Case SEL-01. Spec: WT-5
#[test]
fn a_zero_weight_gets_no_call_in_twenty_thousand() {
    let world = world(&[0.0, 1.0, 0.0, 3.0, -0.0], 9);
    let asked = draw(&world, 20_000);
    assert_eq!((asked[0], asked[2], asked[4]), (0, 0, 0));
    // Five standard deviations of a binomial of 20 000 at one in four.
    assert!(asked[1].abs_diff(5_000) <= 307, "{asked:?}");
}

/// Spec: WT-5
#[test]
fn a_zero_weight_gets_no_call_either_when_all_others_have_failed() {
    for operation in Operation::ALL {
        let world = world(&[0.0, 1.0, 1.0], 9);
        world.stores[1].set_always(busy());
        world.stores[2].set_always(busy());
        let (result, asked) = world.calls_during(async {
            let first = perform(&world.mux, operation).await;
            let again = perform(&world.mux, operation).await;
            (first, again)
        });
        for (error, tried) in [(result.0, 2), (result.1, 0)] {
            let error = error.expect_err("no backend of weight is left");
            assert!(error.is_mux(MuxCode::AllBackendsDown), "{operation}: {error}");
            assert_eq!(error.as_mux().and_then(|mux| mux.attempt_count()), Some(tried));
        }
        assert_eq!(asked, [0, 1, 1], "{operation}");
    }
}

/// Spec: WT-2
#[test]
fn every_backend_needs_a_weight_to_be_built_with_and_to_be_added() {
    for (weights, lacking) in
        [(&[None][..], "a"), (&[Some(1.0), None], "b"), (&[None, Some(1.0)], "a")]
    {
        let error = build(weights).expect_err("a weight is missing");
        assert_eq!(error.code().as_str(), "STORAGE_MUX.WEIGHTED_REQUIRES_WEIGHTS");
        assert_eq!(error.backend().map(|name| name.as_str()), Some(lacking));
    }
    let world = world(&[1.0, 1.0], 1);
    let error = world.mux.add_backend(Backend::new("c", store(&world.clock)));
    let error = error.expect_err("a weight is missing");
    assert_eq!(error.code(), MuxCode::WeightedRequiresWeights);
    assert_eq!(world.mux.stats().backends.len(), 2);
}

/// Case SEL-03. Spec: WT-3
#[test]
fn a_weight_that_is_none_is_refused_at_build_at_add_and_at_set_and_changes_nothing() {
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1.0, -f64::MIN_POSITIVE] {
        let error = build(&[Some(1.0), Some(bad)]).expect_err("no weight");
        assert_eq!(error.code().as_str(), "STORAGE_MUX.INVALID_WEIGHT", "{bad}");
        assert_eq!(error.backend().map(|name| name.as_str()), Some("b"), "{bad}");

        let world = world(&[1.0, 1.0], 1);
        let newcomer = Backend::new("c", store(&world.clock)).with_weight(bad);
        let error = world.mux.add_backend(newcomer).expect_err("no weight");
        assert_eq!(error.code(), MuxCode::InvalidWeight, "{bad}");
        let error = world.mux.set_weight("b", bad).expect_err("no weight");
        assert_eq!(error.code(), MuxCode::InvalidWeight, "{bad}");
        assert!(world.topics().is_empty());
        assert_shares(&draw(&world, 1_000), &[500, 500], 79);
    }
}

/// Case SEL-03. Spec: WT-3, WT-5
#[test]
fn minus_zero_is_zero() {
    build(&[Some(-0.0), Some(1.0)]).expect("zero is a weight");
    let world = world(&[1.0, 1.0], 1);
    world.mux.set_weight("a", -0.0).expect("zero is a weight");
    assert_eq!(draw(&world, 1_000), [0, 1_000]);
}

/// Case SEL-02. Spec: WT-3
#[test]
fn weights_that_add_up_to_zero_are_refused_at_build_and_at_set() {
    for zeros in [&[Some(0.0)][..], &[Some(0.0), Some(-0.0)]] {
        let error = build(zeros).expect_err("nobody would get traffic");
        assert_eq!(error.code(), MuxCode::InvalidWeight);
    }
    let world = world(&[1.0, 1.0], 1);
    world.mux.set_weight("a", 0.0).expect("b still has a weight");
    let error = world.mux.set_weight("b", 0.0).expect_err("nobody would get traffic");
    assert_eq!(error.code(), MuxCode::InvalidWeight);
    assert_eq!(draw(&world, 1_000), [0, 1_000], "the old weights stay in force");
}

/// Spec: WT-1, WT-5
#[test]
fn the_shares_follow_every_change_of_membership_and_of_weight() {
    let world = world(&[1.0, 3.0], 6);
    assert_shares(&draw(&world, 1_000), &[250, 750], 50);
    let newcomer = store(&world.clock);
    world.mux.add_backend(Backend::new("c", newcomer.clone()).with_weight(6.0)).expect("joins");
    assert_shares(&draw(&world, 1_000), &[100, 300], 50);
    assert_eq!(world.calls().iter().sum::<usize>() + newcomer.calls(), 2_000);
    world.run(world.mux.remove_backend("c")).expect("leaves");
    assert_shares(&draw(&world, 1_000), &[250, 750], 50);
    world.mux.set_weight("a", 9.0).expect("a weight");
    assert_shares(&draw(&world, 1_000), &[750, 250], 50);
    world.mux.set_weight("b", 0.0).expect("a weight");
    assert_eq!(draw(&world, 1_000), [1_000, 0]);
}
