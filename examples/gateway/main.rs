//! An HTTP service over a configured mux: objects by key, with ranges, conditions and listings, its
//! health and its figures.
//!
//! ```text
//! cargo run --release --example gateway --features config,tokio -- CONFIG [--listen ADDRESS]
//! ```
//!
//! `CONFIG` is a TOML document as `storage_mux::config` describes it. The service listens on
//! 127.0.0.1:8080; elsewhere than on loopback it wants a bearer token in `GATEWAY_TOKEN`. It ends on
//! Ctrl-C or SIGTERM: takes no new request, lets the running ones finish, and drains its backends.
//!
//! ```text
//! curl -T photo.jpg    http://127.0.0.1:8080/objects/2026/photo.jpg
//! curl -r 0-1023       http://127.0.0.1:8080/objects/2026/photo.jpg
//! curl                'http://127.0.0.1:8080/objects?prefix=2026/'
//! curl -X DELETE       http://127.0.0.1:8080/objects/2026/photo.jpg
//! curl                 http://127.0.0.1:8080/health
//! curl                 http://127.0.0.1:8080/stats
//! curl                 http://127.0.0.1:8080/metrics
//! ```

mod arguments;
mod service;

use std::io::Write;
use std::process::ExitCode;
use std::time::Duration;
use std::{env, fs, io};

use storage_mux::SeededRng;
use storage_mux::config::MuxConfig;
use storage_mux::runtime::tokio::{TokioClock, entropy_seed, spawn_health_checks};
use tokio::net::TcpListener;
use tokio::time::timeout;

use arguments::Arguments;
use service::{Gateway, Limits, Mux};

/// Tells the operator. Whoever has closed the other end must not end the service.
macro_rules! say {
    ($($text:tt)*) => {{
        let _ = writeln!(io::stdout(), $($text)*);
    }};
}

/// How long running requests have to finish once the service is told to end.
const GRACE: Duration = Duration::from_secs(20);

#[tokio::main]
async fn main() -> ExitCode {
    match serve().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("gateway: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn serve() -> Result<(), Box<dyn std::error::Error>> {
    let arguments = Arguments::parse(env::args().skip(1), env::var("GATEWAY_TOKEN").ok())?;
    let path = &arguments.config;
    let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let config = MuxConfig::parse(&text)?;
    let mux = config.builder(TokioClock::new(), SeededRng::new(entropy_seed()))?.build()?;
    let checks = spawn_health_checks(&mux);

    let limits = Limits { body_bytes: arguments.max_body_bytes, ..Limits::default() };
    let router = service::router(Gateway::new(mux.clone(), limits, arguments.token));
    let address = arguments.listen;
    let listener =
        TcpListener::bind(address).await.map_err(|error| format!("{address}: {error}"))?;
    say!("listening on http://{}", listener.local_addr()?);

    let (begin, begun) = tokio::sync::oneshot::channel();
    let served = axum::serve(listener, router).with_graceful_shutdown(async move {
        told_to_end().await;
        say!("ending: no new requests, {} s for the running ones", GRACE.as_secs());
        let _ = begin.send(());
    });
    // A client that never reads its answer must not keep the service for ever.
    let out_of_patience = async {
        if begun.await.is_ok() {
            tokio::time::sleep(GRACE).await;
        }
    };
    tokio::select! {
        ended = served => ended?,
        () = out_of_patience => say!("some requests did not finish in time"),
    }
    drop(checks);
    drain(&mux).await;
    Ok(())
}

/// Lets every backend finish what it is at.
async fn drain(mux: &Mux) {
    for backend in mux.stats().backends {
        let name = backend.name.as_str();
        match timeout(GRACE, mux.drain(name)).await {
            Ok(Ok(())) => say!("{name}: drained"),
            Ok(Err(error)) => say!("{name}: {error}"),
            Err(_) => say!("{name}: still busy after {} s", GRACE.as_secs()),
        }
    }
}

async fn told_to_end() {
    let interrupt = tokio::signal::ctrl_c();
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        match signal(SignalKind::terminate()) {
            Ok(mut terminate) => {
                tokio::select! {
                    _ = interrupt => {}
                    _ = terminate.recv() => {}
                }
            }
            Err(_) => drop(interrupt.await),
        }
    }
    #[cfg(not(unix))]
    drop(interrupt.await);
}
