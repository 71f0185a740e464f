//! For work on the hot path: in a few seconds, what a healthy `get` adds over what a timeout adds.

use storage_mux::{MuxMode, Storage};
use storage_mux_benches::harness::{Cost, Counting, Group};
use storage_mux_benches::subject::{KEY, PLAIN, concrete, drive, keep, memory, mixed, runtime};

#[global_allocator]
static COUNTING: Counting = Counting;

fn main() {
    let limit = std::time::Duration::from_secs(30);
    let (runtime, store) = (runtime(), keep(memory()));
    let one_type = concrete(MuxMode::Failover, store, 3);
    let any_type = mixed(MuxMode::Failover, store, 3);
    let mut group = Group::default();
    group.case("bare", move |times| {
        drive(runtime, async {
            for _ in 0..times {
                std::hint::black_box(Storage::get(store, KEY, &PLAIN).await).ok();
            }
        });
    });
    group.case("timeout", move |times| {
        drive(runtime, async {
            for _ in 0..times {
                let get = Storage::get(store, KEY, &PLAIN);
                std::hint::black_box(tokio::time::timeout(limit, get).await).ok();
            }
        });
    });
    group.case("mux", move |times| {
        drive(runtime, async {
            for _ in 0..times {
                std::hint::black_box(one_type.get(KEY).await).ok();
            }
        });
    });
    group.case("mixed", move |times| {
        drive(runtime, async {
            for _ in 0..times {
                std::hint::black_box(any_type.get(KEY).await).ok();
            }
        });
    });
    let measured = group.measure(1_001);
    let added = |name| Cost::Added(name, "bare");
    for name in ["timeout", "mux", "mixed"] {
        let ratio = measured.ratio(added(name), added("timeout"));
        println!("{name}: adds {:.0} ns, {ratio:.2} of a timeout", measured.nanos(added(name)));
    }
}
