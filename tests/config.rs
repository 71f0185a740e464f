//! Options from a configuration file: what is read, and with which words a mistake is refused.

use std::time::Duration;

use storage_mux::retry::RetryOptions;
use storage_mux::sim::{FakeClock, Fault, FaultStorage, Recorder, run};
use storage_mux::{
    Backend, MemoryStorage, MuxMode, MuxOptions, SeededRng, StorageError, StorageMux,
};

const TOML: &str = r#"
mode = "mirror"
backend_timeout_ms = 2500
cooldown_base_ms = 500
cooldown_cap_ms = 8000
health_check_interval_ms = 15000
throw_on_fanout_partial = true

[retry]
max_attempts = 5
jitter = "equal"

[retry.backoff]
strategy = "exponential"
initial_ms = 50
factor = 3.0
max_ms = 4000
"#;

fn from_toml(text: &str) -> Result<MuxOptions, String> {
    toml::from_str(text).map_err(|error| error.to_string())
}

fn from_json(text: &str) -> Result<MuxOptions, String> {
    serde_json::from_str(text).map_err(|error| error.to_string())
}

/// Spec: MX-6
#[test]
fn a_toml_document_sets_every_option() {
    let options = from_toml(TOML).expect("a good document");
    assert_eq!(options.mode(), MuxMode::Mirror);
    assert_eq!(options.backend_timeout(), Duration::from_millis(2_500));
    assert_eq!(options.cooldown(), (Duration::from_millis(500), Duration::from_secs(8)));
    assert_eq!(options.health_check_interval(), Some(Duration::from_secs(15)));
    assert!(options.throw_on_fanout_partial());
    assert_eq!(options.retry().max_attempts(), 5);
}

/// Spec: MX-6
#[test]
fn the_same_document_in_json_means_the_same_and_both_survive_a_round_trip() {
    let options = from_toml(TOML).expect("a good document");
    let json = serde_json::to_string(&options).expect("options are data");
    assert_eq!(from_json(&json), Ok(options.clone()));
    let toml = toml::to_string(&options).expect("options are data");
    assert_eq!(from_toml(&toml), Ok(options));
}

/// Spec: MX-6
#[test]
fn an_empty_document_is_the_defaults() {
    assert_eq!(from_toml(""), Ok(MuxOptions::default()));
    assert_eq!(from_json("{}"), Ok(MuxOptions::default()));
    assert_eq!(from_json("{}").map(|options| options.retry().clone()), Ok(RetryOptions::default()));
}

/// Spec: MX-4, MX-6
#[test]
fn a_mode_that_is_none_is_refused_by_field_and_value() {
    let text = "the mode is unknown: \"magic\" is no mode; \
                use failover, round-robin, weighted, sticky-by-key, shield or mirror";
    let json = from_json(r#"{"mode": "magic"}"#).expect_err("no mode");
    assert!(json.starts_with(&format!("`mode`: {text} at line 1")), "{json}");
    let toml = from_toml("mode = \"magic\"").expect_err("no mode");
    assert!(toml.contains("`mode`: ") && toml.contains(text), "{toml}");
}

/// Spec: MX-6
#[test]
fn a_field_that_is_unknown_is_refused_by_name() {
    for error in [
        from_json(r#"{"backend_timeout": 5}"#).expect_err("unknown"),
        from_toml("backend_timeout = 5").expect_err("unknown"),
    ] {
        assert!(error.contains("unknown field `backend_timeout`"), "{error}");
    }
    let nested = from_json(r#"{"retry": {"tries": 5}}"#).expect_err("unknown");
    assert!(nested.contains("`retry`: unknown field `tries`"), "{nested}");
}

/// Spec: MX-6
#[test]
fn a_value_that_does_not_fit_is_refused_by_the_name_of_its_field() {
    let cases = [
        (r#"{"backend_timeout_ms": "soon"}"#, "`backend_timeout_ms`: invalid type"),
        (r#"{"backend_timeout_ms": -1}"#, "`backend_timeout_ms`: invalid value"),
        (r#"{"backend_timeout_ms": 0}"#, "`backend_timeout` must be above zero"),
        (r#"{"cooldown_base_ms": 0}"#, "`cooldown_base` must be above zero"),
        (r#"{"cooldown_base_ms": 9, "cooldown_cap_ms": 8}"#, "`cooldown_cap` must be at least"),
        (r#"{"health_check_interval_ms": 0}"#, "`health_check_interval` must be above zero"),
        (r#"{"throw_on_fanout_partial": 1}"#, "`throw_on_fanout_partial`: invalid type"),
        (r#"{"retry": {"max_attempts": 0}}"#, "max_attempts"),
        (r#"{"mode": 7}"#, "`mode`: invalid type"),
    ];
    for (document, expected) in cases {
        let error = from_json(document).expect_err(document);
        assert!(error.contains(expected), "{document}: {error}");
        assert!(!error.contains('\n'), "{error}");
    }
}

/// Spec: WT-3, MX-6
#[test]
fn a_weight_from_a_configuration_is_checked_when_the_mux_is_built() {
    let options = from_toml("mode = \"weighted\"").expect("a good document");
    let error = StorageMux::builder(FakeClock::new(), SeededRng::new(1))
        .backend(Backend::new("eu", MemoryStorage::new()).with_weight(-2.0))
        .options(options)
        .build()
        .expect_err("no weight");
    assert_eq!(
        error.to_string(),
        "the weight is not usable: backend \"eu\": -2 is no weight; \
         give a finite weight of zero or more, and at least one above zero"
    );
}

/// Spec: SA-1, EV-1
#[test]
fn statistics_and_events_are_data() {
    let clock = FakeClock::new();
    let store = FaultStorage::new(MemoryStorage::new(), clock.clone());
    store.push(Fault::Fail(StorageError::http(503)));
    let recorder = Recorder::new();
    let mux = StorageMux::builder(clock.clone(), SeededRng::new(1))
        .backend(Backend::new("a", store))
        .options(MuxOptions::new().with_retry(RetryOptions::none()))
        .event_sink(recorder.clone())
        .build()
        .expect("a mux");
    run(&clock, mux.has("k")).expect("runs").expect_err("down");
    let stats = serde_json::to_value(mux.stats()).expect("statistics are data");
    assert_eq!(stats["mode"], "failover");
    assert_eq!(stats["backends"][0]["status"], "down");
    assert_eq!(stats["backends"][0]["errors"], 1);
    let event = serde_json::to_value(&recorder.events()[0]).expect("events are data");
    assert_eq!(event["topic"], "storage-mux.backend.down");
    assert_eq!(event["name"], "a");
    assert_eq!(event["code"], "STORAGE.HTTP_STATUS");
    assert_eq!(event["cause"]["code"], "STORAGE.HTTP_STATUS");
}
