//! Several backends at once: mirror mode against `join_all` and `select_ok`.

use std::hint::black_box;
use std::time::Duration;

use bytes::Bytes;
use futures::future::{join_all, select_ok};
use storage_mux::{MuxMode, Storage};

use crate::floor::Floor;
use crate::get::repeat;
use crate::harness::{Cost, Group, Row};
use crate::subject::{KEY, PLAIN, drive, keep, memory, mux, runtime};

const PEERS: [usize; 3] = [2, 3, 8];
const LIMIT: Duration = Duration::from_secs(30);

/// The rows of this part.
#[must_use]
pub fn rows(rounds: usize) -> Vec<Row> {
    PEERS.into_iter().flat_map(|peers| with(peers, rounds)).collect()
}

fn with(peers: usize, rounds: usize) -> Vec<Row> {
    let runtime = runtime();
    let stores: Vec<_> = (0..peers).map(|_| memory()).collect();
    let mirror = keep(mux(MuxMode::Mirror, stores.iter().cloned()));
    let stores = &**keep(stores);
    let value = keep(Bytes::from(vec![7; 1024]));

    let mut group = Group::default();
    group.case("set", repeat!(runtime, mirror.set(KEY, value.clone())));
    let floor = keep(Floor::new(peers));
    group.case("floor", |times| (0..times).for_each(|_| floor.call()));
    group.case("join_all", {
        let set = |store: &'static storage_mux::MemoryStorage| {
            Storage::set(store, KEY, value.clone(), &PLAIN)
        };
        repeat!(runtime, async { all(join_all(stores.iter().map(set)).await) })
    });
    group.case("join_all timeout", {
        let set = |store: &'static storage_mux::MemoryStorage| async {
            tokio::time::timeout(LIMIT, Storage::set(store, KEY, value.clone(), &PLAIN))
                .await
                .expect("in time")
        };
        repeat!(runtime, async { all(join_all(stores.iter().map(set)).await) })
    });
    group.case("get", repeat!(runtime, mirror.get(KEY)));
    group.case("select_ok", {
        let get =
            |store: &'static storage_mux::MemoryStorage| Box::pin(Storage::get(store, KEY, &PLAIN));
        repeat!(runtime, select_ok(stores.iter().map(get)))
    });
    group.case("select_ok timeout", {
        let get = |store: &'static storage_mux::MemoryStorage| {
            Box::pin(async {
                tokio::time::timeout(LIMIT, Storage::get(store, KEY, &PLAIN))
                    .await
                    .expect("in time")
            })
        };
        repeat!(runtime, select_ok(stores.iter().map(get)))
    });
    let measured = group.measure(rounds);
    let written = format!("mirror `set` on {peers}");
    let read = format!("mirror `get` from {peers}");
    vec![
        measured.row(
            (&written, Cost::Of("set")),
            ("`join_all` of the bare sets", Cost::Of("join_all")),
            1.3,
        ),
        measured.remark(
            (
                "of it: the clock read, the backends held, each counted in and out",
                Cost::Of("floor"),
            ),
            ("`join_all` of the bare sets", Cost::Of("join_all")),
        ),
        measured.remark(
            (&written, Cost::Of("set")),
            ("`join_all` of sets with a timeout each", Cost::Of("join_all timeout")),
        ),
        measured.remark(
            (&read, Cost::Of("get")),
            ("`select_ok` of the bare gets", Cost::Of("select_ok")),
        ),
        measured.remark(
            (&read, Cost::Of("get")),
            ("`select_ok` of gets with a timeout each", Cost::Of("select_ok timeout")),
        ),
    ]
}

/// As a mux answers: an error where one has failed.
fn all<T, E>(results: Vec<Result<T, E>>) -> Result<(), E> {
    for result in results {
        black_box(result?);
    }
    Ok(())
}
