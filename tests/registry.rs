//! The registries of codes: complete, to the letter, and each reached from a real call.

use std::collections::BTreeMap;
use std::time::Duration;

use futures_util::future::join;
use storage_mux::retry::{Backoff, Jitter, RetryOptions};
use storage_mux::sim::{FakeClock, Fault, FaultStorage, run};
use storage_mux::{
    AbortController, Backend, Clock, HealthCheck, MemoryStorage, MuxCode, MuxError, MuxMode,
    MuxOptions, OpContext, SeededRng, SharedStorage, StorageError, StorageMux,
};

type Store = FaultStorage<MemoryStorage>;
type Mux = StorageMux<Store, FakeClock, SeededRng>;

fn options(mode: MuxMode) -> MuxOptions {
    let timeout = Duration::from_secs(1);
    MuxOptions::new().with_mode(mode).with_retry(RetryOptions::none()).with_backend_timeout(timeout)
}

fn build(
    names: &[&str],
    weights: &[f64],
    options: MuxOptions,
) -> Result<(Mux, Vec<Store>), MuxError> {
    let clock = FakeClock::new();
    let stores: Vec<Store> =
        names.iter().map(|_| FaultStorage::new(MemoryStorage::new(), clock.clone())).collect();
    let mut weights = weights.iter().copied();
    let mux = StorageMux::builder(clock, SeededRng::new(1))
        .backends(names.iter().zip(&stores).map(|(name, store)| {
            let backend = Backend::new(*name, store.clone());
            weights.next().map_or(backend.clone(), |weight| backend.with_weight(weight))
        }))
        .options(options)
        .build()?;
    Ok((mux, stores))
}

fn pair(mode: MuxMode) -> (Mux, Vec<Store>) {
    build(&["a", "b"], &[1.0, 1.0], options(mode)).expect("two good backends")
}

fn refused(names: &[&str], weights: &[f64], mode: MuxMode) -> MuxError {
    build(names, weights, options(mode)).expect_err("it must be refused")
}

fn get(mux: &Mux) -> MuxError {
    let error = run(mux.clock(), mux.get("k")).expect("runs").expect_err("it must fail");
    error.as_mux().expect("an error of the mux").clone()
}

fn source(error: &MuxError) -> MuxError {
    error.cause().and_then(StorageError::as_mux).expect("a source of the mux").clone()
}

fn all_down() -> MuxError {
    let (mux, stores) = pair(MuxMode::Failover);
    stores.iter().for_each(|store| store.set_always(Fault::Fail(StorageError::http(500))));
    get(&mux)
}

fn timeout() -> MuxError {
    let (mux, stores) = pair(MuxMode::Failover);
    stores.iter().for_each(|store| store.set_always(Fault::Hang));
    source(&get(&mux))
}

fn aborted() -> MuxError {
    let (mux, _) = pair(MuxMode::Failover);
    let controller = AbortController::new();
    controller.abort();
    let cx = OpContext::new().with_signal(controller.signal());
    let error = run(mux.clock(), mux.with(&cx).get("k")).expect("runs").expect_err("aborted");
    error.as_mux().expect("an error of the mux").clone()
}

fn check_failed() -> MuxError {
    let clock = FakeClock::new();
    let store = FaultStorage::new(MemoryStorage::new(), clock.clone());
    store.set_always(Fault::Fail(StorageError::http(500)));
    let mux = StorageMux::builder(clock.clone(), SeededRng::new(1))
        .backend(Backend::new("a", store).with_health_check(HealthCheck::has("canary")))
        .options(options(MuxMode::Failover).with_health_check_interval(Duration::from_secs(1)))
        .build()
        .expect("a mux");
    let stop = async {
        clock.sleep(Duration::from_millis(1_500)).await;
        mux.close();
    };
    run(&clock, join(mux.health_checks(), stop)).expect("runs");
    let last = mux.stats().backends[0].last_error.clone().expect("a failed check");
    last.as_mux().expect("an error of the mux").clone()
}

fn draining() -> MuxError {
    let backoff = Backoff::constant(Duration::from_millis(10));
    let retry = RetryOptions::new().with_backoff(backoff).with_jitter(Jitter::None);
    let (mux, stores) =
        build(&["a"], &[], options(MuxMode::Failover).with_retry(retry)).expect("one backend");
    stores[0].push(Fault::Fail(StorageError::http(500)));
    // The drain begins while the call waits for its second try, which is then not made.
    let drain = async {
        mux.clock().sleep(Duration::from_millis(5)).await;
        mux.drain("a").await.expect("drained");
    };
    let (call, ()) = run(mux.clock(), join(mux.get("k"), drain)).expect("runs");
    source(call.expect_err("nobody is left").as_mux().expect("an error of the mux"))
}

fn partial() -> MuxError {
    let options = options(MuxMode::Mirror).with_throw_on_fanout_partial(true);
    let (mux, stores) = build(&["a", "b"], &[], options).expect("two backends");
    stores[1].push(Fault::Fail(StorageError::http(500)));
    let error = run(mux.clock(), mux.set("k", "v")).expect("runs").expect_err("partial");
    error.as_mux().expect("an error of the mux").clone()
}

fn too_deep() -> MuxError {
    let mut storage = SharedStorage::new(MemoryStorage::new());
    loop {
        let built = StorageMux::builder(FakeClock::new(), SeededRng::new(1))
            .backend(Backend::new("inner", storage))
            .build();
        match built {
            Ok(mux) => storage = mux.into(),
            Err(error) => return error,
        }
    }
}

fn not_found() -> MuxError {
    pair(MuxMode::Failover).0.set_weight("z", 1.0).expect_err("nobody has the name")
}

fn full() -> MuxError {
    let names: Vec<String> = (0..65).map(|n| n.to_string()).collect();
    refused(&names.iter().map(String::as_str).collect::<Vec<_>>(), &[], MuxMode::Failover)
}

fn bad_option() -> MuxError {
    let bad = MuxOptions::new().with_backend_timeout(Duration::ZERO);
    build(&["a"], &[], bad).expect_err("it must be refused")
}

/// Every code with a call site that gives it.
fn reached() -> Vec<(MuxCode, MuxError)> {
    use MuxCode as C;
    vec![
        (C::AllBackendsDown, all_down()),
        (C::NoBackendsConfigured, refused(&[], &[], MuxMode::Failover)),
        (C::HealthcheckFailed, check_failed()),
        (C::BackendTimeout, timeout()),
        (C::InvalidMode, "magic".parse::<MuxMode>().expect_err("no mode")),
        (C::InvalidWeight, refused(&["a"], &[-1.0], MuxMode::Weighted)),
        (C::WriteFanoutPartial, partial()),
        (C::BackendAborted, aborted()),
        (C::BackendNotFound, not_found()),
        (C::BackendNameConflict, refused(&["a", "a"], &[], MuxMode::Failover)),
        (C::BackendDraining, draining()),
        (C::WeightedRequiresWeights, refused(&["a", "b"], &[1.0], MuxMode::Weighted)),
        (C::MirrorOriginRequired, refused(&["a"], &[], MuxMode::Shield)),
        (C::RecursionDepthExceeded, too_deep()),
        (C::CapacityExceeded, full()),
        (C::InvalidOption, bad_option()),
    ]
}

/// Spec: E-4
#[test]
fn the_registry_holds_exactly_the_fourteen_codes_of_the_contract() {
    let expected = [
        "ALL_BACKENDS_DOWN",
        "NO_BACKENDS_CONFIGURED",
        "HEALTHCHECK_FAILED",
        "BACKEND_TIMEOUT",
        "INVALID_MODE",
        "INVALID_WEIGHT",
        "WRITE_FANOUT_PARTIAL",
        "BACKEND_ABORTED",
        "BACKEND_NOT_FOUND",
        "BACKEND_NAME_CONFLICT",
        "BACKEND_DRAINING",
        "WEIGHTED_REQUIRES_WEIGHTS",
        "MIRROR_ORIGIN_REQUIRED",
        "RECURSION_DEPTH_EXCEEDED",
    ]
    .map(|code| format!("STORAGE_MUX.{code}"));
    assert_eq!(MuxCode::CONTRACT.map(|code| code.as_str().to_owned()), expected);
    let added = MuxCode::EXTENSIONS.map(MuxCode::as_str);
    assert_eq!(added, ["STORAGE_MUX.CAPACITY_EXCEEDED", "STORAGE_MUX.INVALID_OPTION"]);
}

/// Spec: E-4, E-3, DR-4, WT-2, WT-3, SH-1, SH-5, MX-2, MX-4
#[test]
fn every_code_of_both_registries_is_reached_from_a_real_call() {
    let mut missing: BTreeMap<&str, ()> = MuxCode::CONTRACT
        .into_iter()
        .chain(MuxCode::EXTENSIONS)
        .map(|code| (code.as_str(), ()))
        .collect();
    for (code, error) in reached() {
        assert_eq!(error.code(), code, "{error}");
        missing.remove(code.as_str());
    }
    assert!(missing.is_empty(), "no call reaches {missing:?}");
}

/// Spec: E-5
#[test]
fn every_message_is_one_line_that_ends_in_what_to_do() {
    for (code, error) in reached() {
        let text = error.to_string();
        assert!(!text.contains(char::is_control), "{text}");
        assert!(text.starts_with(code.what()), "{text}");
        assert!(text.ends_with(code.advice()), "{text}");
        assert!(text.len() < 240, "{text}");
    }
}
