//! Options and errors: what is refused, and how it is said.

use core::error::Error;
use core::time::Duration;

use proptest::prelude::*;
use storage_mux::retry::{
    Backoff, CircuitBreaker, CircuitBreakerOptions, CircuitOpen, InvalidOption, Jitter, RetryError,
    RetryOptions,
};
use storage_mux::sim::FakeClock;

use crate::backoff::any_backoff;
use crate::support::{ms, secs};

/// Spec: RC-3
#[test]
fn the_default_is_three_attempts_exponential_with_full_jitter() {
    let options = RetryOptions::default();
    assert_eq!(options, RetryOptions::new());
    assert_eq!(options.max_attempts(), 3);
    assert_eq!(*options.backoff(), Backoff::exponential(ms(100), 2.0, secs(30)));
    assert_eq!(options.jitter(), Jitter::Full);
    assert!(options.validate().is_ok());
    assert_eq!(RetryOptions::none(), options.with_max_attempts(1));
    let breaker = CircuitBreakerOptions::default();
    assert_eq!(breaker.half_open_max(), 1);
    assert!(breaker.validate().is_ok());
}

fn field(result: Result<(), InvalidOption>) -> Option<&'static str> {
    result.err().map(|invalid| invalid.field())
}

/// Case BO-03: a factor that makes no sense is refused where it enters, not at the 300th retry.
///
/// Spec: RT-09
#[test]
fn a_factor_must_be_finite_and_at_least_one() {
    let with = |factor| {
        RetryOptions::new().with_backoff(Backoff::exponential(ms(1), factor, secs(1))).validate()
    };
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1.0, 0.0, 1.0 - f64::EPSILON] {
        assert_eq!(field(with(bad)), Some("backoff.factor"), "{bad}");
    }
    for good in [1.0, 1.0 + f64::EPSILON, 2.0, f64::MAX] {
        assert_eq!(field(with(good)), None, "{good}");
    }
}

/// Spec: RT-09
#[test]
fn each_count_must_be_at_least_one_and_the_error_names_it() {
    let attempts = |n| RetryOptions::new().with_max_attempts(n).validate();
    assert_eq!(field(attempts(0)), Some("max_attempts"));
    assert_eq!(field(attempts(1)), None);

    let breaker = CircuitBreakerOptions::new;
    let refused = |options| {
        CircuitBreaker::new(options, FakeClock::new()).err().map(|invalid| invalid.field())
    };
    assert_eq!(refused(breaker().with_failure_threshold(0)), Some("failure_threshold"));
    assert_eq!(refused(breaker().with_success_threshold(0)), Some("success_threshold"));
    assert_eq!(refused(breaker().with_half_open_max(0)), Some("half_open_max"));
    let least = breaker().with_failure_threshold(1).with_half_open_max(1).with_timeout(ms(0));
    assert_eq!(refused(least), None);
}

/// Spec: RT-08, RT-09
#[test]
fn an_option_out_of_range_has_a_code_a_name_and_a_rule() {
    let invalid = RetryOptions::new().with_max_attempts(0).validate().unwrap_err();
    assert_eq!(invalid.code(), "RETRY.INVALID_OPTION");
    assert_eq!((invalid.field(), invalid.rule()), ("max_attempts", "must be at least 1"));
}

/// A walk without an end would wait for ever, and one without room would not be a walk.
///
/// Spec: RT-09
#[test]
fn a_walk_needs_a_maximum_to_walk_up_to() {
    let walk = |backoff| {
        RetryOptions::new().with_backoff(backoff).with_jitter(Jitter::Decorrelated).validate()
    };
    assert_eq!(field(walk(Backoff::constant(ms(1)))), Some("jitter"));
    assert_eq!(field(walk(Backoff::linear(ms(1), ms(1)))), Some("jitter"));
    assert_eq!(field(walk(Backoff::linear(ms(1), ms(1)).with_max(secs(1)))), None);
    assert_eq!(field(walk(Backoff::new())), None);
}

fn every_error() -> [RetryError<CircuitOpen>; 6] {
    let last = CircuitBreaker::new(
        CircuitBreakerOptions::new().with_failure_threshold(1),
        FakeClock::new(),
    )
    .map(|breaker| {
        breaker.admit().unwrap().settle(storage_mux::retry::Verdict::Failure);
        breaker.admit().unwrap_err()
    })
    .unwrap();
    let invalid = RetryOptions::new().with_max_attempts(0).validate().unwrap_err();
    [
        RetryError::Exhausted { attempts: 3, last },
        RetryError::Aborted,
        RetryError::Timeout { attempt: 2, limit: ms(1_500) },
        RetryError::CircuitOpen { retry_after: secs(7) },
        RetryError::InvalidOption(invalid),
        RetryError::Failed(last),
    ]
}

/// Spec: RT-07, RT-08
#[test]
fn every_error_of_the_family_has_its_code() {
    let codes = every_error().map(|error| error.code());
    assert_eq!(
        codes,
        [
            "RETRY.EXHAUSTED",
            "RETRY.ABORTED",
            "RETRY.TIMEOUT",
            "RETRY.CIRCUIT_OPEN",
            "RETRY.INVALID_OPTION",
            "RETRY.FAILED",
        ]
    );
}

/// Spec: RT-07, RT-08, E-5
#[test]
fn every_error_says_on_one_line_what_happened_and_what_to_do() {
    let texts = every_error().map(|error| error.to_string());
    assert_eq!(
        texts,
        [
            "gave up after attempt 3; see the source for what the last one met",
            "the caller gave up; call again if the result is still wanted",
            "attempt 2 did not end within 1.5s; see why it hangs, or raise the limit",
            "the circuit breaker refused the call; come back in 7s",
            "option max_attempts is out of range: it must be at least 1",
            "the call itself failed; see the source",
        ]
    );
    assert!(texts.iter().all(|text| !text.contains('\n')));
}

/// Spec: RT-08
#[test]
fn what_the_function_returned_is_the_source_and_nothing_else_has_one() {
    let sources = every_error().map(|error| error.source().is_some());
    assert_eq!(sources, [true, false, false, false, false, true]);
}

/// Spec: RT-08
#[test]
fn flattening_keeps_what_the_inner_level_has_to_say_itself() {
    let timeout = RetryError::Timeout { attempt: 3, limit: ms(5) };
    let open = RetryError::CircuitOpen { retry_after: ms(5) };
    let cases: [(RetryError<RetryError<&str>>, RetryError<&str>); 7] = [
        (
            RetryError::Exhausted { attempts: 3, last: RetryError::Failed("down") },
            RetryError::Exhausted { attempts: 3, last: "down" },
        ),
        (RetryError::Exhausted { attempts: 3, last: timeout }, timeout),
        (RetryError::Exhausted { attempts: 1, last: open }, open),
        (RetryError::Failed(RetryError::Failed("down")), RetryError::Failed("down")),
        (RetryError::Failed(RetryError::Aborted), RetryError::Aborted),
        (RetryError::Aborted, RetryError::Aborted),
        (RetryError::CircuitOpen { retry_after: ms(5) }, open),
    ];
    for (nested, flat) in cases {
        assert_eq!(nested.flatten(), flat);
    }
}

/// Spec: RT-08
#[test]
fn a_failed_call_and_a_late_one_may_be_tried_again_and_nothing_else() {
    let retryable = every_error().map(|error| error.is_retryable());
    assert_eq!(retryable, [false, false, true, false, false, true]);
}

proptest! {
    /// Spec: RT-09
    #[test]
    fn whatever_passes_validation_can_be_used(backoff in any_backoff(), attempts in any::<u32>()) {
        let options = RetryOptions::new().with_backoff(backoff).with_max_attempts(attempts);
        if options.validate().is_ok() {
            prop_assert!(options.max_attempts() > 0);
            if let Backoff::Exponential { factor, .. } = *options.backoff() {
                prop_assert!(factor.is_finite() && factor >= 1.0);
            }
            prop_assert!(options.backoff().delay(1) <= backoff.max().unwrap_or(Duration::MAX));
        }
    }
}

#[cfg(feature = "serde")]
mod configuration {
    use serde_json::{Value, from_value, json, to_value};

    use super::*;

    fn read(value: Value) -> Result<RetryOptions, String> {
        from_value(value).map_err(|error| error.to_string())
    }

    /// Spec: RT-09, MX-6
    #[test]
    fn every_option_can_be_read_from_a_configuration() {
        assert_eq!(read(json!({})), Ok(RetryOptions::default()));
        assert_eq!(read(json!({"backoff": {"strategy": "exponential"}})), Ok(RetryOptions::new()));
        assert_eq!(
            read(json!({
                "max_attempts": 5,
                "backoff":
                    {"strategy": "exponential", "initial_ms": 50, "factor": 3, "max_ms": 900},
                "jitter": "equal",
            })),
            Ok(RetryOptions::new()
                .with_max_attempts(5)
                .with_backoff(Backoff::exponential(ms(50), 3.0, ms(900)))
                .with_jitter(Jitter::Equal))
        );
        assert_eq!(
            read(json!({"backoff": {"strategy": "linear", "initial_ms": 1, "increment_ms": 2}})),
            Ok(RetryOptions::new().with_backoff(Backoff::linear(ms(1), ms(2))))
        );
        assert_eq!(
            read(json!({"backoff": {"strategy": "constant", "delay_ms": 7}, "jitter": "none"})),
            Ok(RetryOptions::new()
                .with_backoff(Backoff::constant(ms(7)))
                .with_jitter(Jitter::None))
        );
        let breaker: CircuitBreakerOptions = from_value(json!({
            "failure_threshold": 2, "success_threshold": 3, "timeout_ms": 4, "half_open_max": 5,
        }))
        .unwrap();
        let expected = CircuitBreakerOptions::new()
            .with_failure_threshold(2)
            .with_success_threshold(3)
            .with_timeout(ms(4))
            .with_half_open_max(5);
        assert_eq!(breaker, expected);
        assert_eq!(from_value(json!({})).ok(), Some(CircuitBreakerOptions::new()));
    }

    /// Spec: RT-09, MX-6
    #[test]
    fn every_complaint_about_a_configuration_names_the_field() {
        let exponential = |field: &str, value: Value| {
            let mut backoff = json!({"strategy": "exponential"});
            backoff[field] = value;
            json!({ "backoff": backoff })
        };
        for (value, field) in [
            (json!({"max_attempts": 0}), "max_attempts"),
            (json!({"max_attempts": -1}), "max_attempts"),
            (json!({"max_attempts": "3"}), "max_attempts"),
            (json!({"attempts": 3}), "attempts"),
            (json!({"jitter": "some"}), "jitter"),
            (json!({"backoff": "exponential"}), "backoff"),
            (json!({"backoff": {}}), "strategy"),
            (json!({"backoff": {"strategy": "fibonacci"}}), "fibonacci"),
            (exponential("factor", json!(0.5)), "factor"),
            (exponential("factor", json!("two")), "factor"),
            (exponential("initial_ms", json!(-5)), "initial_ms"),
            (exponential("max_ms", json!(1.5)), "max_ms"),
            (exponential("base", json!(2)), "base"),
            (json!({"backoff": {"strategy": "constant"}}), "delay_ms"),
            (json!({"backoff": {"strategy": "constant", "delay_ms": 1, "max_ms": 1}}), "max_ms"),
            (json!({"backoff": {"strategy": "linear", "initial_ms": 1}}), "increment_ms"),
            (
                json!({"backoff":
                    {"strategy": "linear", "initial_ms": 1, "increment_ms": 1, "max_ms": "x"}}),
                "max_ms",
            ),
            (
                json!({"jitter": "decorrelated",
                    "backoff": {"strategy": "constant", "delay_ms": 1}}),
                "jitter",
            ),
        ] {
            let error = read(value.clone()).unwrap_err();
            assert!(error.contains(field), "{value}: {error}");
            assert!(!error.contains('\n'));
        }
        for (value, field) in [
            (json!({"failure_threshold": 0}), "failure_threshold"),
            (json!({"success_threshold": 1.5}), "success_threshold"),
            (json!({"half_open_max": 0}), "half_open_max"),
            (json!({"timeout_ms": -1}), "timeout_ms"),
            (json!({"timeout": 1}), "timeout"),
        ] {
            let error = from_value::<CircuitBreakerOptions>(value).unwrap_err().to_string();
            assert!(error.contains(field), "{error}");
        }
    }

    /// Spec: RT-09
    #[test]
    fn a_time_that_is_no_whole_number_of_milliseconds_is_written_rounded_up() {
        let write = |delay| to_value(Backoff::constant(delay)).unwrap();
        let written = |millis: u64| json!({"strategy": "constant", "delay_ms": millis});
        assert_eq!(write(Duration::ZERO), written(0));
        assert_eq!(write(Duration::from_nanos(1)), written(1));
        assert_eq!(write(ms(7)), written(7));
        assert_eq!(write(Duration::MAX), written(u64::MAX));
    }

    proptest! {
        /// Spec: RT-09
        #[test]
        fn what_is_written_is_read_back_the_same(
            attempts in 1..=u32::MAX,
            times in (any::<u32>(), any::<u32>(), any::<u32>()),
            factor in 1.0..100.0_f64,
            jitter in prop::sample::select(&[Jitter::None, Jitter::Full, Jitter::Equal][..]),
        ) {
            let (a, b, c) = (ms(times.0.into()), ms(times.1.into()), ms(times.2.into()));
            for backoff in [
                Backoff::constant(a),
                Backoff::linear(a, b),
                Backoff::linear(a, b).with_max(c),
                Backoff::exponential(a, factor, c),
            ] {
                let options = RetryOptions::new()
                    .with_max_attempts(attempts)
                    .with_backoff(backoff)
                    .with_jitter(jitter);
                let written = serde_json::to_string(&options).unwrap();
                prop_assert_eq!(serde_json::from_str::<RetryOptions>(&written).unwrap(), options);
            }
            let breaker = CircuitBreakerOptions::new()
                .with_timeout(a)
                .with_failure_threshold(attempts);
            let written = to_value(&breaker).unwrap();
            prop_assert_eq!(from_value::<CircuitBreakerOptions>(written).unwrap(), breaker);
        }
    }
}
