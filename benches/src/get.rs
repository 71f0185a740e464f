//! A healthy `get`: what the mux adds to its backend, against what others add to the same one.

use std::hint::black_box;
use std::time::Duration;

use futures::future::poll_fn;
use opendal::Operator;
use storage_mux::backend::OpendalBackend;
use storage_mux::{MuxMode, Storage, StorageError};
use tower::{Service, ServiceExt};

use crate::floor::Floor;
use crate::harness::{Cost, Group, Measured, Row};
use crate::subject::{KEY, PLAIN, concrete, drive, keep, memory, mixed, mux, runtime};

const LIMIT: Duration = Duration::from_secs(30);

/// Does an operation over and over: `$call` is awaited each time.
macro_rules! repeat {
    ($runtime:expr, $call:expr) => {{
        let runtime = $runtime;
        move |times: u32| {
            drive(runtime, async {
                for _ in 0..times {
                    black_box($call.await).expect("an answer");
                }
            });
        }
    }};
}
pub(crate) use repeat;

/// Retries what failed, three tries in all.
#[derive(Clone)]
struct Thrice(u32);

impl<Q: Clone, A, E> tower::retry::Policy<Q, A, E> for Thrice {
    type Future = std::future::Ready<()>;

    fn retry(&mut self, _: &mut Q, result: &mut Result<A, E>) -> Option<Self::Future> {
        if result.is_ok() || self.0 == 0 {
            return None;
        }
        self.0 -= 1;
        Some(std::future::ready(()))
    }

    fn clone_request(&mut self, request: &Q) -> Option<Q> {
        Some(request.clone())
    }
}

/// The rows of this part.
#[must_use]
pub fn rows(rounds: usize) -> Vec<Row> {
    let mut rows = over_memory(rounds);
    rows.extend(over_opendal(rounds));
    rows
}

fn memory_cases() -> Group {
    let runtime = runtime();
    let mut group = Group::default();
    let store = keep(memory());
    group.case("bare", repeat!(runtime, Storage::get(store, KEY, &PLAIN)));

    let one_type = concrete(MuxMode::Failover, store, 3);
    group.case("mux", repeat!(runtime, one_type.get(KEY)));
    let any_type = mixed(MuxMode::Failover, store, 3);
    group.case("mixed", repeat!(runtime, any_type.get(KEY)));

    let floor = keep(Floor::new(1));
    group.case("floor", |times| (0..times).for_each(|_| floor.call()));

    group.case(
        "timeout",
        repeat!(runtime, async {
            tokio::time::timeout(LIMIT, Storage::get(store, KEY, &PLAIN)).await.expect("in time")
        }),
    );

    let service = move |key: &'static str| async move { Storage::get(store, key, &PLAIN).await };
    let stack = || {
        let timed = tower::timeout::Timeout::new(tower::service_fn(service), LIMIT);
        tower::retry::Retry::new(Thrice(2), timed)
    };
    let retried = keep(std::cell::RefCell::new(stack()));
    group.case("tower", {
        repeat!(runtime, {
            let mut service = retried.borrow_mut();
            async move {
                poll_fn(|cx| service.poll_ready(cx)).await?;
                service.call(KEY).await
            }
        })
    });

    let each = |_| tower::load::Constant::new(stack(), 1_u32);
    let list = tower::discover::ServiceList::new((0..3).map(each).collect::<Vec<_>>());
    let balanced = keep(std::cell::RefCell::new(tower::balance::p2c::Balance::new(list)));
    group.case("tower balance", {
        repeat!(runtime, {
            let mut service = balanced.borrow_mut();
            async move {
                poll_fn(|cx| service.poll_ready(cx)).await?;
                service.call(KEY).await
            }
        })
    });

    let resilient = keep(std::cell::RefCell::new(resilience(service)));
    group.case("tower-resilience", {
        repeat!(runtime, {
            let mut service = resilient.borrow_mut();
            async move {
                service.ready().await.map_err(drop)?;
                service.call(KEY).await.map_err(drop)
            }
        })
    });

    let recloser = keep(recloser::AsyncRecloser::from(recloser::Recloser::custom().build()));
    group.case("by hand", {
        use backon::Retryable;
        let tried = move || async move {
            match tokio::time::timeout(LIMIT, Storage::get(store, KEY, &PLAIN)).await {
                Ok(result) => result,
                Err(_) => Err(StorageError::http(504)),
            }
        };
        let delays = || backon::ExponentialBuilder::default().with_max_times(2);
        repeat!(runtime, recloser.call(tried.retry(delays())))
    });
    group
}

/// Retry over timeout over breaker, each with what it comes with.
fn resilience<F, Fut>(
    service: F,
) -> impl Service<&'static str, Response = bytes::Bytes, Error: Send, Future: Send>
where
    F: Fn(&'static str) -> Fut + Clone + Send + 'static,
    Fut: Future<Output = Result<bytes::Bytes, StorageError>> + Send + 'static,
{
    use tower::Layer;
    use tower_resilience::{circuitbreaker, retry, timelimiter};

    let service = tower::service_fn(service);
    let breaker = circuitbreaker::CircuitBreakerLayer::builder().build().expect("a breaker");
    let limit = timelimiter::TimeLimiterLayer::builder().timeout_duration(LIMIT).build();
    let retry = retry::RetryLayer::builder().max_attempts(3).build();
    retry.layer(limit.layer(breaker.layer(service)))
}

fn over_memory(rounds: usize) -> Vec<Row> {
    let measured = memory_cases().measure(rounds);
    let added = |name| Cost::Added(name, "bare");
    let ours = ("failover `get` of 3, concrete type, added", added("mux"));
    vec![
        measured.row(
            ours,
            ("tower balance of 3 + retry + timeout, added", added("tower balance")),
            0.5,
        ),
        measured.row(
            ours,
            ("tower-resilience retry + timeout + breaker, added", added("tower-resilience")),
            1.0,
        ),
        measured.row(ours, ("`tokio::time::timeout` alone, added", added("timeout")), 2.0),
        measured.remark(
            (
                "of it: the clock read twice, the backends held, counted in and out",
                Cost::Of("floor"),
            ),
            ("`tokio::time::timeout` alone, added", added("timeout")),
        ),
        measured.remark(ours, ("tower retry + timeout over one service, added", added("tower"))),
        measured
            .remark(ours, ("recloser + backon + `tokio::time::timeout`, added", added("by hand"))),
        measured.remark(
            ("the same, mixed handles, added", added("mixed")),
            ("concrete type, added", added("mux")),
        ),
        measured.remark(
            ("failover `get` of 3, whole", Cost::Of("mux")),
            ("bare `MemoryStorage`, whole", Cost::Of("bare")),
        ),
        allocations(&measured, "failover `get`, concrete type", "mux", 0.0),
        allocations(&measured, "failover `get`, mixed handles", "mixed", 1.0),
    ]
}

fn allocations(measured: &Measured, what: &str, name: &str, at_most: f64) -> Row {
    let ours = measured.allocations(name);
    Row {
        what: format!("allocations of a {what}"),
        ours: format!("{ours}"),
        peer: "bare `MemoryStorage`".into(),
        theirs: format!("{}", measured.allocations("bare")),
        ratio: String::new(),
        target: format!("≤ {at_most}"),
        met: Some(ours <= at_most),
    }
}

/// The same store for both sides here: OpenDAL's memory.
fn over_opendal(rounds: usize) -> Vec<Row> {
    let runtime = runtime();
    let bare = Operator::new(opendal::services::Memory::default()).expect("an operator");
    drive(runtime, bare.write(KEY, vec![7; 1024])).expect("written");
    let layered = bare
        .clone()
        .layer(opendal::layers::TimeoutLayer::new().with_timeout(LIMIT))
        .layer(opendal::layers::RetryLayer::new().with_max_times(2));
    let backend = || OpendalBackend::new(bare.clone());
    let alone = keep(backend());
    let muxed = keep(mux(MuxMode::Failover, (0..3).map(|_| backend())));
    let (bare, layered) = (keep(bare.clone()), keep(layered));

    let mut group = Group::default();
    group.case("bare", repeat!(runtime, bare.read(KEY)));
    group.case("layers", repeat!(runtime, layered.read(KEY)));
    group.case("backend", repeat!(runtime, Storage::get(alone, KEY, &PLAIN)));
    group.case("mux", repeat!(runtime, muxed.get(KEY)));
    let measured = group.measure(rounds);
    vec![measured.row(
        ("failover `get` of 3 OpenDAL operators, added", Cost::Added("mux", "backend")),
        ("OpenDAL's timeout + retry layers, added", Cost::Added("layers", "bare")),
        1.0,
    )]
}
