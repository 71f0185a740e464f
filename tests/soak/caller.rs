//! One caller: any operation, any key, and now and then no patience.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::Bytes;
use futures_util::{SinkExt, StreamExt};
use storage_mux::{
    AbortController, Condition, MuxCode, OpContext, PageRequest, Rng, SeededRng, StorageError,
};

use crate::Mux;
use crate::figures::Figures;

/// Few keys and short values, so that what is stored does not grow.
const KEYS: u64 = 200;
const VALUE: &[u8] = &[7; 2_048];

pub(crate) async fn run(
    mux: Mux,
    caller: usize,
    seed: u64,
    figures: Arc<Figures>,
    over: Arc<AtomicBool>,
) {
    let chance = SeededRng::new(seed ^ (caller as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    while !over.load(Ordering::SeqCst) {
        let draw = chance.next_u64();
        figures.begins(caller);
        let call = perform(&mux, draw);
        let patience = Duration::from_millis((draw >> 40) % 8);
        let ended = if draw >> 60 == 0 {
            // Sixteen calls each, one is dropped half-way.
            tokio::time::timeout(patience, call).await.ok()
        } else {
            Some(call.await)
        };
        figures.ends(caller, ended.as_ref().map(Result::is_ok));
        if let Some(Err(error)) = ended {
            assert!(is_legal(&error), "{}: {error}", mux.stats().mode);
        }
        tokio::task::yield_now().await;
    }
}

/// What a call may come back with, in such weather.
fn is_legal(error: &StorageError) -> bool {
    let mux = [MuxCode::AllBackendsDown, MuxCode::BackendAborted, MuxCode::BackendTimeout];
    mux.into_iter().any(|code| error.is_mux(code))
        || error.is_key_not_found()
        || error.is_precondition_failed()
        || *error == StorageError::range_not_satisfiable()
        || *error == StorageError::unsupported()
        || *error == StorageError::http(500)
        || *error == StorageError::http(503)
}

async fn perform(mux: &Mux, draw: u64) -> Result<(), StorageError> {
    let key = format!("key-{}", (draw >> 8) % KEYS);
    let value = Bytes::from_static(VALUE);
    match draw % 13 {
        0..3 => mux.get(&key).await.map(drop),
        3 => mux.set(&key, value).await.map(drop),
        4 => mux.set_partial(&key, (draw >> 16) % 1_024, value.slice(..64)).await,
        5 => mux.has(&key).await.map(drop),
        6 => mux.delete(&key).await,
        7 => mux.list("key-1", &PageRequest::first(20)).await.map(drop),
        8 => mux.stat(&key).await.map(drop),
        9 => mux.get_range(&key, 5..50).await.map(drop),
        10 => mux.set_if(&key, value, Condition::Absent).await.map(drop),
        11 => {
            let mut reader = mux.get_stream(&key).await?;
            while let Some(chunk) = reader.next().await {
                drop(chunk?);
                if draw >> 62 == 0 {
                    break;
                }
            }
            Ok(())
        }
        _ => {
            let controller = AbortController::new();
            let cx = OpContext::new().with_signal(controller.signal());
            let mut writer = mux.with(&cx).set_stream(&key).await?;
            writer.send(value.slice(..512)).await?;
            match draw >> 62 {
                0 => Ok(()),
                1 => {
                    controller.abort();
                    writer.close().await
                }
                _ => writer.close().await,
            }
        }
    }
}
