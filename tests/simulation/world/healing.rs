//! All faults are gone: every backend must come back, and every call must succeed.

use std::sync::Arc;

use core::future::poll_fn;
use core::pin::Pin;

use bytes::Bytes;
use futures_core::Stream;
use storage_mux::sim::{Dice, Fault};
use storage_mux::{BackendStatus, Clock, MuxMode, Operation, PageRequest, Storage};

use super::caller::{check_page, must, must_read, plain};
use super::chaos::repopulate;
use super::plan::{MAX_COOLDOWN, ms};
use super::records::{EdgeId, MuxId};
use super::site::Site;
use super::values::KEYS;
use super::watched::Watched;

pub(crate) async fn heal(site: Arc<Site>, dice: Dice) {
    site.ledger.with(|book| book.note(&[16], "", || "~ all is well again".into()));
    site.all_faults().iter().for_each(|(_, faults)| faults.heal());
    // Those that are nested first: one that is not well itself cannot make its backend well.
    for at in (0..site.count()).rev() {
        finish_drains(&site, at).await;
        repopulate(&site, &dice, at);
    }
    // A clock that was set back makes a cooldown longer by as much.
    let back = site.ledger.with(|book| book.back);
    site.clock.sleep(MAX_COOLDOWN + core::time::Duration::from_nanos(back) + ms(1)).await;
    for at in (0..site.count()).rev() {
        let Some(door) = site.door(at) else { continue };
        revive(&site, at, &door).await;
        all_are_up(&site, at);
        round_trips(&site, at, &door).await;
    }
}

/// A drain that somebody gave up waiting for is over now.
async fn finish_drains(site: &Arc<Site>, at: MuxId) {
    let Some(mux) = site.mux(at) else { return };
    let left: Vec<String> = site.ledger.with(|book| {
        let draining = |edge: &&EdgeId| book.edges[**edge].draining.is_some();
        let members = book.muxes[at].members.iter().filter(draining);
        members.map(|edge| book.edges[*edge].name.clone()).collect()
    });
    for name in left {
        if let Err(error) = mux.drain(&name).await {
            site.ledger.with(|book| book.violation(format!("{name} does not drain: {error}")));
        }
    }
}

/// Makes calls that reach every backend of a mux.
async fn revive(site: &Arc<Site>, at: MuxId, door: &Watched) {
    let (mode, active) = site.ledger.with(|book| (book.muxes[at].mode, book.active(at)));
    match mode {
        MuxMode::Mirror | MuxMode::Shield => {
            let (_, bytes) = site.ledger.with(|book| book.new_write(KEYS[0], 1, None));
            must(&site.ledger, "a write", revived(door.set(KEYS[0], bytes, plain()))).await;
        }
        MuxMode::RoundRobin | MuxMode::StickyByKey | MuxMode::Weighted => {
            for _ in 0..4 * active.len() {
                must(
                    &site.ledger,
                    "a listing",
                    door.list("whole/", &PageRequest::default(), plain()),
                )
                .await;
            }
        }
        MuxMode::Failover => {
            // The last is only asked while all before it fail, so each is made to, in turn.
            for last in (0..active.len()).rev() {
                for edge in &active[..last] {
                    if let Some(faults) = site.fault(*edge) {
                        faults.set_always(Fault::http(503));
                    }
                }
                must(&site.ledger, "a look", door.has(KEYS[0], plain())).await;
                site.all_faults().iter().for_each(|(_, faults)| faults.heal());
                site.clock.sleep(MAX_COOLDOWN + ms(1)).await;
            }
        }
    }
}

/// A write that repairs is told as partial where the option asks for it; it stands all the same.
async fn revived<T: Default>(
    call: impl Future<Output = Result<T, storage_mux::StorageError>>,
) -> Result<T, storage_mux::StorageError> {
    match call.await {
        Err(error) if error.code() == "STORAGE_MUX.WRITE_FANOUT_PARTIAL" => Ok(T::default()),
        other => other,
    }
}

fn all_are_up(site: &Arc<Site>, at: MuxId) {
    let Some(mux) = site.mux(at) else { return };
    for backend in mux.stats().backends {
        site.ledger.with(|book| {
            let edge = book.member(at, &backend.name);
            let weightless = book.muxes[at].mode == MuxMode::Weighted
                && edge.is_some_and(|edge| book.edges[edge].weight == 0.0);
            if backend.status != BackendStatus::Up && !weightless {
                let (name, status) = (&backend.name, backend.status);
                book.violation(format!("after healing {name} of mux {at} is {status:?} (HE-4)"));
            }
        });
    }
}

/// Calls of every kind succeed, and where all ways lead to the same data a read gives what was
/// written last.
async fn round_trips(site: &Arc<Site>, at: MuxId, door: &Watched) {
    let ledger = &site.ledger;
    let cx = plain();
    let coherent = site.is_coherent(at);
    for key in [KEYS[0], KEYS[1], KEYS[4]] {
        let (_, bytes) = ledger.with(|book| book.new_write(key, 3, None));
        must(ledger, "a write", door.set(key, bytes.clone(), cx)).await;
        let read = must_read(ledger, "a read", door.get(key, cx)).await;
        expect(site, at, coherent, "get", read, Some(bytes.clone()));
        let read = must_read(ledger, "a range", door.get_range(key, 8..16, cx)).await;
        expect(site, at, coherent, "get_range", read, Some(bytes.slice(8..16)));
        let stat = must_read(ledger, "a stat", door.stat(key, cx)).await;
        expect(site, at, coherent, "stat", stat.map(|stat| stat.size), Some(24));
        let found = must(ledger, "a look", door.has(key, cx)).await;
        expect(site, at, coherent, "has", found, Some(true));
        let streamed = read_stream(site, door, key).await;
        expect(site, at, coherent, "get_stream", streamed, Some(bytes));
    }
    let (_, part) = ledger.with(|book| book.new_write(KEYS[4], 1, Some(1)));
    must(ledger, "a partial write", door.set_partial(KEYS[4], 8, part.clone(), cx)).await;
    let read = must_read(ledger, "a range", door.get_range(KEYS[4], 8..16, cx)).await;
    expect(site, at, coherent, "a partial write", read, Some(part));
    if door.capabilities().contains(Operation::SetIf) {
        let version = must_read(ledger, "a stat", door.stat(KEYS[1], cx)).await;
        if let Some(version) = version.and_then(|metadata| metadata.version).filter(|_| coherent) {
            let (_, bytes) = ledger.with(|book| book.new_write(KEYS[1], 2, None));
            let condition = storage_mux::Condition::VersionMatches(version);
            must(ledger, "a conditional write", door.set_if(KEYS[1], bytes.clone(), condition, cx))
                .await;
            let read = must_read(ledger, "a read", door.get(KEYS[1], cx)).await;
            expect(site, at, coherent, "set_if", read, Some(bytes));
        }
    }
    must(ledger, "a deletion", door.delete(KEYS[0], cx)).await;
    let gone = must_read(ledger, "a read", door.get(KEYS[0], cx)).await;
    expect(site, at, coherent, "delete", gone, None);
    let page = must(ledger, "a listing", door.list("whole/", &PageRequest::default(), cx)).await;
    if let Some(page) = page {
        check_page(ledger, &page);
    }
}

fn expect<T: PartialEq + core::fmt::Debug>(
    site: &Site,
    at: MuxId,
    coherent: bool,
    what: &str,
    found: Option<T>,
    expected: Option<T>,
) {
    if coherent && found != expected {
        site.ledger.with(|book| {
            let mode = book.muxes[at].mode;
            book.violation(format!(
                "after healing {what} of mux {at} ({mode}) gives {found:?}, not {expected:?}"
            ));
        });
    }
}

async fn read_stream(site: &Site, door: &Watched, key: &str) -> Option<Bytes> {
    let opening = door.get_stream(key, plain());
    let mut reader = must_read(&site.ledger, "a read stream", opening).await?;
    let mut seen = Vec::new();
    while let Some(chunk) = poll_fn(|task| Pin::new(&mut reader).poll_next(task)).await {
        seen.extend(must(&site.ledger, "a chunk", core::future::ready(chunk)).await?);
    }
    Some(seen.into())
}
