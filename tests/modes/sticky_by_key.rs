//! Sticky by key: all calls of one key go to one healthy backend.

use storage_mux::sim::Fault;
use storage_mux::{BackendStatus, MuxCode, MuxMode, Operation, StorageError};

use crate::perform::{FRESH, KEY, busy, perform, seeded};
use crate::support::{World, mode, ms};

fn world(count: usize) -> World {
    seeded(World::new(count, mode(MuxMode::StickyByKey)))
}

/// FNV-1a of 64 bits as its authors publish it, written down a second time.
fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// The place of `key` among `healthy`.
fn home(key: &str, healthy: &[usize]) -> usize {
    healthy[(fnv1a(key.as_bytes()) % healthy.len() as u64) as usize]
}

/// Who was asked, where exactly one was.
fn only(asked: &[usize]) -> usize {
    assert_eq!(asked.iter().sum::<usize>(), 1, "{asked:?}");
    asked.iter().position(|count| *count == 1).expect("one was asked")
}

fn asked_for(world: &World, key: &str) -> usize {
    let (result, asked) = world.calls_during(world.mux.has(key));
    result.expect("served");
    only(&asked)
}

fn keys() -> Vec<String> {
    (0..300).map(|n| format!("objects/{n}/päge")).collect()
}

/// Spec: ST-1
#[test]
fn the_model_of_the_hash_gives_the_published_values() {
    assert_eq!(fnv1a(b""), 0xcbf2_9ce4_8422_2325);
    assert_eq!(fnv1a(b"a"), 0xaf63_dc4c_8601_ec8c);
    assert_eq!(fnv1a(b"foobar"), 0x8594_4171_f739_67e8);
}

/// Spec: ST-1
#[test]
fn a_hundred_gets_of_one_key_reach_one_backend() {
    let world = world(3);
    let (_, asked) = world.calls_during(async {
        for _ in 0..100 {
            world.mux.get(KEY).await.expect("served");
        }
    });
    let mut expected = [0; 3];
    expected[home(KEY, &[0, 1, 2])] = 100;
    assert_eq!(asked, expected);
    world.assert_at_rest();
}

/// Spec: ST-1
#[test]
fn a_key_is_at_home_where_the_published_hash_points() {
    for count in 1..=5 {
        let world = world(count);
        let all: Vec<usize> = (0..count).collect();
        for key in keys() {
            assert_eq!(asked_for(&world, &key), home(&key, &all), "{key} of {count}");
        }
        assert!(world.calls().iter().all(|calls| *calls > 0), "all have keys");
    }
}

/// Spec: ST-1
#[test]
fn every_operation_on_a_key_goes_to_the_home_of_the_key() {
    for operation in Operation::ALL.into_iter().filter(|each| *each != Operation::List) {
        let world = world(3);
        let key = if operation == Operation::SetIf { FRESH } else { KEY };
        for _ in 0..3 {
            let (_, asked) = world.calls_during(perform(&world.mux, operation));
            assert_eq!(only(&asked), home(key, &[0, 1, 2]), "{operation}");
        }
    }
}

/// Spec: ST-2
#[test]
fn the_keys_of_one_that_goes_down_move_to_the_rest_and_stay_there() {
    for down in 0..3 {
        let world = world(3);
        world.take_down_any(down);
        let rest: Vec<usize> = (0..3).filter(|at| *at != down).collect();
        for _ in 0..3 {
            for key in keys() {
                assert_eq!(asked_for(&world, &key), home(&key, &rest), "{key} without {down}");
            }
        }
    }
}

/// Spec: ST-2, HE-4
#[test]
fn no_key_moves_before_the_health_of_a_backend_has_changed() {
    let world = world(3);
    world.take_down_any(1);
    world.clock.advance(ms(60_000));
    // The cooldown is over, but nothing has shown that b is back: only its own keys may look.
    let (own, others): (Vec<_>, Vec<_>) =
        keys().into_iter().partition(|key| home(key, &[0, 1, 2]) == 1);
    for key in &others {
        assert_eq!(asked_for(&world, key), home(key, &[0, 2]), "{key}");
    }
    assert_eq!(world.backend(1).status, BackendStatus::Down);
    world.stores[1].push(busy());
    let (result, asked) = world.calls_during(world.mux.has(&own[0]));
    result.expect("the one that it had moved to serves it");
    let mut expected = [0, 1, 0];
    expected[home(&own[0], &[0, 2])] = 1;
    assert_eq!(asked, expected, "one probe, then the place where the key was");
    for key in keys() {
        assert_eq!(asked_for(&world, &key), home(&key, &[0, 2]), "{key} after a failed probe");
    }
}

/// Case SEL-10. Spec: ST-2
#[test]
fn two_muxes_agree_and_a_recovery_brings_the_first_mapping_back() {
    let (one, two) = (world(3), world(3));
    let keys = (0..3_000).map(|n| format!("key-{n}")).collect::<Vec<_>>();
    let mapping = |world: &World| keys.iter().map(|key| asked_for(world, key)).collect::<Vec<_>>();
    let first = mapping(&one);
    assert_eq!(mapping(&two), first);
    [&one, &two].into_iter().for_each(|world| world.take_down_any(2));
    let without = mapping(&one);
    assert_eq!(mapping(&two), without);
    assert!(without.iter().all(|at| *at != 2), "only healthy ones are asked");
    for world in [&one, &two] {
        world.clock.advance(ms(1_000));
        let own = first.iter().position(|at| *at == 2).expect("c has keys");
        assert_eq!(asked_for(world, &keys[own]), 2, "its own key is the probe");
        assert_eq!(world.backend(2).status, BackendStatus::Up);
        assert_eq!(mapping(world), first);
    }
}

/// Spec: ST-3
#[test]
fn a_listing_has_no_key_and_goes_round() {
    let world = world(3);
    for call in 0..9 {
        // Calls with a key do not turn the circle.
        world.run(world.mux.has(KEY)).expect("served");
        let (result, asked) = world.calls_during(perform(&world.mux, Operation::List));
        result.expect("served");
        assert_eq!(only(&asked), call % 3);
    }
    world.take_down_any(1);
    let (_, asked) = world.calls_during(async {
        for _ in 0..4 {
            perform(&world.mux, Operation::List).await.expect("served");
        }
    });
    assert_eq!(asked, [2, 0, 2]);
}

/// Spec: ST-4
#[test]
fn a_transient_error_re_picks_by_the_same_formula_over_the_rest() {
    for key in keys() {
        let world = world(4);
        let first = home(&key, &[0, 1, 2, 3]);
        let rest: Vec<usize> = (0..4).filter(|at| *at != first).collect();
        let second = home(&key, &rest);
        let rest: Vec<usize> = rest.into_iter().filter(|at| *at != second).collect();
        let third = home(&key, &rest);
        world.stores[first].push(busy());
        world.stores[second].push(Fault::Hang);
        let (result, asked) = world.calls_during(world.mux.has(&key));
        assert_eq!(result, Ok(false));
        let mut expected = [0; 4];
        [first, second, third].into_iter().for_each(|at| expected[at] = 1);
        assert_eq!(asked, expected, "{key}");
        let order: Vec<String> = world.recorder.spans()[1..]
            .iter()
            .map(|span| span.attribute("mux.backend.name").expect("a name").to_string())
            .collect();
        assert_eq!(order, [first, second, third].map(|at| ["a", "b", "c", "d"][at]));
    }
}

/// Spec: ST-4
#[test]
fn when_all_have_failed_each_was_asked_once_whatever_the_operation() {
    for operation in Operation::ALL {
        let world = world(3);
        world.stores.iter().for_each(|store| store.set_always(busy()));
        let (result, asked) = world.calls_during(perform(&world.mux, operation));
        let error = result.expect_err("all fail");
        assert_eq!(asked, [1, 1, 1], "{operation}");
        let mux = error.as_mux().expect("a mux error");
        assert_eq!((mux.code(), mux.attempt_count()), (MuxCode::AllBackendsDown, Some(3)));
        assert_eq!(mux.cause(), Some(&StorageError::http(503)));
        world.assert_at_rest();
    }
}

/// Spec: ST-4, FO-2
#[test]
fn a_semantic_error_is_the_answer_although_another_backend_has_the_key() {
    let world = world(3);
    let at = home("elsewhere", &[0, 1, 2]);
    world.put((at + 1) % 3, "elsewhere", "v");
    let (result, asked) = world.calls_during(world.mux.get("elsewhere"));
    assert_eq!((result, only(&asked)), (Err(StorageError::key_not_found()), at));
}
