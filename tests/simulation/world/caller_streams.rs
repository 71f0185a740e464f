//! Callers of streams: some read to the end, some stop, some drop the sink half-way.

use core::future::poll_fn;
use core::pin::Pin;
use core::task::Poll;

use bytes::Bytes;
use futures_core::Stream;
use futures_sink::Sink;
use storage_mux::{AbortController, Clock, Storage, StorageError};

use super::caller::{Caller, Impatient, Patience, give_up};
use super::ledger::Ledger;
use super::plan::ms;
use super::records::{CallId, Target};
use super::values::CELL;
use super::watched::Watched;

/// Waits for one step of a stream, no longer than the timeout between chunks.
async fn step<T>(
    ledger: &Ledger,
    id: CallId,
    mut poll: impl FnMut(&mut core::task::Context<'_>) -> Poll<T>,
) -> T {
    let (since, drift, timeout) = ledger.with(|book| {
        let mux = book.mux_of(id).unwrap_or(0);
        (book.time(), book.drift, book.muxes[mux].timeout)
    });
    let output = poll_fn(|task| poll(task)).await;
    ledger.with(|book| {
        let what = book.describe(id);
        book.check_bound(since, drift, timeout, &format!("{what}: a step of the stream (SM-3)"));
    });
    output
}

/// The latest call of a door: the one that the stream was opened with.
fn opened(ledger: &Ledger, target: Target) -> CallId {
    let last = |book: &mut super::ledger::Book| {
        (0..book.calls.len()).rev().find(|id| {
            let call = &book.calls[*id];
            call.target == target && call.parent.is_none() && call.stream_open
        })
    };
    ledger.with(last).unwrap_or(0)
}

/// A caller that was patient so far aborts with some chance.
fn lose_patience(caller: &Caller, id: CallId, controller: &AbortController) -> bool {
    let aborts = caller.site.swarm.aborts && caller.dice.chance(5);
    if aborts {
        caller.site.ledger.with(|book| give_up(book, id));
        controller.abort();
    }
    aborts
}

fn open_patience(caller: &Caller, patience: Patience) -> Patience {
    // So that the signal is there when the stream is open.
    match patience {
        Patience::Endless if caller.site.swarm.aborts => {
            Patience::AbortAt(core::time::Duration::from_secs(3_600))
        }
        other => other,
    }
}

pub(crate) async fn read(caller: &mut Caller, door: &Watched, key: &str, patience: Patience) {
    let ledger = caller.site.ledger.clone();
    let patience = open_patience(caller, patience);
    let (cx, controller) = patience.context(&ledger.clock);
    let opening = door.get_stream(key, &cx);
    let reader = Impatient::new(&ledger, &patience, controller.clone(), opening).await;
    let Some(Ok(mut reader)) = reader else { return };
    let id = opened(&ledger, door.target);
    let stop_after = caller.dice.chance(25).then(|| caller.dice.below(4));
    let mut seen: Vec<u8> = Vec::new();
    let mut chunks = 0;
    loop {
        if stop_after == Some(chunks) {
            return;
        }
        match step(&ledger, id, |task| Pin::new(&mut reader).poll_next(task)).await {
            Some(Ok(chunk)) => seen.extend_from_slice(&chunk),
            end => {
                let complete = end.is_none();
                let cells = seen.len() - seen.len() % CELL;
                let bytes = if complete { &seen[..] } else { &seen[..cells] };
                return ledger.with(|book| book.check_value(key, 0, bytes, complete));
            }
        }
        chunks += 1;
        if caller.dice.chance(30) {
            let pause = caller.dice.duration(ms(1), ms(700));
            ledger.clock.sleep(pause).await;
        }
        lose_patience(caller, id, &controller);
    }
}

pub(crate) async fn write(caller: &mut Caller, door: &Watched, key: &str, patience: Patience) {
    let ledger = caller.site.ledger.clone();
    let patience = open_patience(caller, patience);
    let (cx, controller) = patience.context(&ledger.clock);
    let (_, value) = caller.new_value(key);
    let opening = door.set_stream(key, &cx);
    let writer = Impatient::new(&ledger, &patience, controller.clone(), opening).await;
    let Some(Ok(mut writer)) = writer else { return };
    let id = opened(&ledger, door.target);
    let mut rest = value;
    let drop_after = caller.dice.chance(20).then(|| caller.dice.below(4));
    let mut chunks = 0;
    while !rest.is_empty() {
        if drop_after == Some(chunks) {
            return;
        }
        let cells = 1 + caller.dice.below(3) as usize;
        let chunk = rest.split_to((cells * CELL).min(rest.len()));
        if send(&ledger, id, &mut writer, chunk).await.is_err() {
            return;
        }
        chunks += 1;
        if caller.dice.chance(30) {
            let pause = caller.dice.duration(ms(1), ms(700));
            ledger.clock.sleep(pause).await;
        }
        if lose_patience(caller, id, &controller) && caller.dice.chance(50) {
            return;
        }
        if caller.dice.chance(20) {
            let flushed = step(&ledger, id, |task| Pin::new(&mut writer).poll_flush(task)).await;
            if flushed.is_err() {
                return;
            }
        }
    }
    if drop_after.is_some_and(|after| after >= chunks && caller.dice.chance(50)) {
        return;
    }
    let closed = step(&ledger, id, |task| Pin::new(&mut writer).poll_close(task)).await;
    if closed.is_ok() {
        // Closing again must change nothing.
        let again = step(&ledger, id, |task| Pin::new(&mut writer).poll_close(task)).await;
        if again.is_err() {
            ledger.with(|book| book.violation(format!("#{id}: a second close fails")));
        }
    }
}

async fn send<W: Sink<Bytes, Error = StorageError> + Unpin>(
    ledger: &Ledger,
    id: CallId,
    writer: &mut W,
    chunk: Bytes,
) -> Result<(), StorageError> {
    step(ledger, id, |task| Pin::new(&mut *writer).poll_ready(task)).await?;
    Pin::new(writer).start_send(chunk)
}
