//! What the meter is told: names and attributes are wire contracts.

use core::future::{pending, ready};

use futures_util::future::join;
use storage_mux::retry::{
    Backoff, CircuitBreaker, CircuitBreakerOptions, Jitter, RetryOptions, Verdict, retry,
};
use storage_mux::sim::{FakeClock, RecordedMeasurement, Recorder};
use storage_mux::{AbortController, Clock};

use crate::support::{NoDraw, constant, ms, run, secs};

/// A measurement in short: name, value, and its attributes.
fn short(measured: &RecordedMeasurement) -> (String, f64) {
    let attributes: Vec<_> =
        measured.attributes.iter().map(|(key, value)| format!("{key}={value}")).collect();
    (format!("{}{{{}}}", measured.name, attributes.join(",")), measured.value)
}

fn all(meter: &Recorder) -> Vec<(String, f64)> {
    meter.measurements().iter().map(short).collect()
}

fn attempt(outcome: &str) -> (String, f64) {
    (format!("retry.attempt.total{{outcome={outcome}}}"), 1.0)
}

fn delay(strategy: &str, millis: f64) -> (String, f64) {
    (format!("retry.attempt.delay_ms{{strategy={strategy}}}"), millis)
}

fn options(backoff: Backoff) -> RetryOptions {
    RetryOptions::new().with_backoff(backoff).with_jitter(Jitter::None)
}

/// Spec: RT-10
#[test]
fn each_attempt_is_counted_by_its_outcome_and_each_delay_by_its_strategy() {
    let (clock, meter) = (FakeClock::new(), Recorder::new());
    let options = options(Backoff::exponential(ms(100), 2.0, secs(1)));
    let third_time_lucky = retry(&options, &clock, &NoDraw)
        .with_meter(&meter)
        .run(|n| async move { if n.number() < 3 { Err("down") } else { Ok(()) } });
    run(&clock, third_time_lucky).unwrap();
    assert_eq!(
        all(&meter),
        [
            attempt("failure"),
            delay("exponential", 100.0),
            attempt("failure"),
            delay("exponential", 200.0),
            attempt("success"),
        ]
    );
}

/// Spec: RT-10
#[test]
fn the_last_failure_is_counted_as_exhausted() {
    let (clock, meter) = (FakeClock::new(), Recorder::new());
    let options = options(Backoff::linear(ms(10), ms(5)));
    let fails =
        retry(&options, &clock, &NoDraw).with_meter(&meter).run(|_| async { Err::<(), _>("down") });
    assert!(run(&clock, fails).is_err());
    assert_eq!(
        all(&meter),
        [
            attempt("failure"),
            delay("linear", 10.0),
            attempt("failure"),
            delay("linear", 15.0),
            attempt("exhausted"),
        ]
    );
}

/// Spec: RT-10
#[test]
fn an_abort_is_counted_once_wherever_it_strikes() {
    let (clock, options) = (FakeClock::new(), constant(3, ms(1_500)));
    let (before, during, between) = (Recorder::new(), Recorder::new(), Recorder::new());

    let controller = AbortController::new();
    controller.abort();
    let signal = controller.signal();
    let never = retry(&options, &clock, &NoDraw)
        .with_signal(&signal)
        .with_meter(&before)
        .run(|_| async { Ok::<_, &str>(()) });
    assert!(run(&clock, never).is_err());
    assert_eq!(all(&before), [attempt("aborted")]);

    let controller = AbortController::new();
    let signal = controller.signal();
    let cut_off =
        retry(&options, &clock, &NoDraw).with_signal(&signal).with_meter(&during).run(|_| async {
            controller.abort();
            Err::<(), _>("cut off")
        });
    assert!(run(&clock, cut_off).is_err());
    assert_eq!(all(&during), [attempt("aborted")]);

    let controller = AbortController::new();
    let signal = controller.signal();
    let waits = retry(&options, &clock, &NoDraw)
        .with_signal(&signal)
        .with_meter(&between)
        .run(|_| async { Err::<(), _>("down") });
    let (result, ()) = run(&clock, join(waits, async { controller.abort() }));
    assert!(result.is_err());
    assert_eq!(all(&between), [attempt("failure"), delay("constant", 1_500.0), attempt("aborted")]);
}

/// Spec: RT-10
#[test]
fn the_breaker_counts_its_changes_by_both_states() {
    let (clock, meter) = (FakeClock::new(), Recorder::new());
    let options = CircuitBreakerOptions::new().with_failure_threshold(1).with_timeout(secs(1));
    let breaker = CircuitBreaker::new(options, clock.clone()).unwrap().with_meter(meter.clone());
    breaker.admit().unwrap().settle(Verdict::Failure);
    clock.advance(secs(1));
    breaker.admit().unwrap().settle(Verdict::Success);
    let change = |from: &str, to: &str| {
        (format!("circuit_breaker.state_change.total{{from={from},to={to}}}"), 1.0)
    };
    assert_eq!(
        all(&meter),
        [change("closed", "open"), change("open", "half-open"), change("half-open", "closed")]
    );
}

/// Spec: RT-10
#[test]
fn the_breaker_measures_calls_that_ran_to_their_end_and_no_others() {
    let (clock, meter) = (FakeClock::new(), Recorder::new());
    let options = CircuitBreakerOptions::new().with_failure_threshold(2);
    let breaker = CircuitBreaker::new(options, clock.clone()).unwrap().with_meter(meter.clone());
    let takes = |time, result: Result<(), &'static str>| {
        let clock = clock.clone();
        async move {
            clock.sleep(time).await;
            result
        }
    };
    run(&clock, breaker.call(|| takes(ms(30), Ok(())))).unwrap();
    run(&clock, breaker.call(|| takes(ms(4), Err("down")))).unwrap_err();
    drop(breaker.call(pending::<Result<(), &str>>));
    let duration = |millis| ("circuit_breaker.call.duration_ms{}".to_string(), millis);
    assert_eq!(all(&meter), [duration(30.0), duration(4.0)]);

    breaker.admit().unwrap().settle(Verdict::Failure);
    let told = meter.measurements().len();
    assert!(run(&clock, breaker.call(|| ready(Ok::<_, &str>(())))).is_err());
    assert_eq!(meter.measurements().len(), told, "a refusal has no duration");
}

/// Spec: RT-10, RT-11
#[test]
fn without_a_meter_the_clock_is_read_for_the_total_time_alone() {
    let (clock, options) = (FakeClock::new(), constant(3, ms(1)));
    let fails_twice = retry(&options, &clock, &NoDraw)
        .run(|n| async move { if n.number() < 3 { Err("down") } else { Ok(()) } });
    run(&clock, fails_twice).unwrap();
    assert_eq!(clock.reads(), 2);
}
