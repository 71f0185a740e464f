//! Everything is over: what was counted adds up, and nothing is held any more.

use storage_mux::sim::run;
use storage_mux::{BackendStats, BackendStatus, MuxMode, MuxStats, Storage};

use super::caller::plain;
use super::ledger::Book;
use super::records::{MuxId, Outcome};
use super::site::Site;

/// Compares every mux's own figures with the book's.
pub(crate) fn figures(site: &Site) {
    for at in 0..site.count() {
        let Some(stats) = site.mux(at).map(|mux| mux.stats()) else { continue };
        site.ledger.with(|book| compare(book, at, &stats));
    }
}

fn compare(book: &mut Book, at: MuxId, stats: &MuxStats) {
    let record = &book.muxes[at];
    let expected = [record.calls, record.failovers, record.partials];
    let found = [stats.total_calls, stats.total_failovers, stats.total_fanout_partials];
    if found != expected {
        book.violation(format!(
            "mux {at} counts {found:?} calls, failovers and partial writes, not {expected:?} (SA-1)"
        ));
    }
    let record = &book.muxes[at];
    let in_turn = !matches!(record.mode, MuxMode::Shield | MuxMode::Mirror);
    let (attempts, served, moved) = (record.attempts, record.served, record.failovers);
    if in_turn && attempts != served + moved {
        book.violation(format!(
            "mux {at}: {attempts} attempts by {served} calls and {moved} failovers (IS-2)"
        ));
    }
    for backend in &stats.backends {
        compare_backend(book, at, backend);
    }
}

fn compare_backend(book: &mut Book, at: MuxId, stats: &BackendStats) {
    let Some(edge) = book.member(at, &stats.name) else {
        return book.violation(format!("mux {at} has {}, and nobody added it", stats.name));
    };
    let name = book.edge_name(edge);
    let record = &book.edges[edge];
    let [ok, semantic, transient, timeout, abort] = record.spans;
    let expected = [ok, semantic + transient + timeout, timeout, abort];
    let found = [stats.hits, stats.misses + stats.errors, stats.timeouts, stats.cancelled];
    let begun = record.spans_begun;
    let ended = record.spans.iter().sum::<u64>();
    let down = record.down.is_some();
    if found != expected || begun != ended {
        book.violation(format!(
            "{name}: counts {found:?}, its {begun} attempts ended as {expected:?} (SA-1, IS-2)"
        ));
    }
    if stats.in_flight != 0 || book.edges[edge].open != 0 {
        book.violation(format!("{name}: {} calls are still in flight (AB-5)", stats.in_flight));
    }
    if (stats.status == BackendStatus::Down) != down {
        book.violation(format!("{name}: is {:?}, and events said otherwise", stats.status));
    }
}

/// The disks hold what the writes that reached them have left.
pub(crate) fn disks(site: &Site) {
    let disks = site.disks.lock().map(|disks| disks.clone()).unwrap_or_default();
    for disk in disks {
        let expected = site.ledger.with(|book| book.disks[disk.at].clone());
        let mut found = std::collections::BTreeMap::new();
        for key in disk.store.keys() {
            if let Ok(Ok(value)) = run(&site.clock, disk.store.get(&key, plain())) {
                found.insert(key, value.to_vec());
            }
        }
        if found != expected {
            let at = disk.at;
            site.ledger.with(|book| book.violation(format!("disk {at} holds something else")));
        }
    }
}

/// Called last, when the muxes are closed: nobody waits for anything.
pub(crate) fn rest(site: &Site) {
    let timers = site.clock.waiting();
    site.ledger.with(|book| {
        if timers > 0 {
            book.violation(format!("{timers} timers are left (BH-1)"));
        }
        if book.open_spans > 0 {
            book.violation(format!("{} spans are not ended (OT-1)", book.open_spans));
        }
        let open = |call: &&super::records::Call| call.outcome == Outcome::Open || call.stream_open;
        let open = book.calls.iter().filter(open).count();
        if open > 0 || !book.stack.is_empty() {
            book.violation(format!("{open} calls began and have not ended"));
        }
    });
}
