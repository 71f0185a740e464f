//! Any list of operations, faults, changes and moves of the clock on a mux of any mode: every call
//! ends, nothing is left in flight, no value comes back that was never written, and the books balance.
#![no_main]

use std::collections::BTreeSet;
use std::time::Duration;

use arbitrary::Arbitrary;
use futures_util::{SinkExt, StreamExt};
use libfuzzer_sys::fuzz_target;
use storage_mux::retry::RetryOptions;
use storage_mux::sim::{FakeClock, Fault, FaultStorage, run};
use storage_mux::{
    Backend, Condition, MemoryStorage, MuxMode, MuxOptions, PageRequest, SeededRng, StorageError,
    StorageMux,
};

type Store = FaultStorage<MemoryStorage>;
type Mux = StorageMux<Store, FakeClock, SeededRng>;

#[derive(Arbitrary, Debug)]
struct Case {
    mode: u8,
    seed: u64,
    backends: u8,
    attempts: u8,
    timeout_ms: u16,
    cooldown_ms: (u16, u16),
    steps: Vec<Step>,
}

#[derive(Arbitrary, Debug)]
enum Step {
    Get(u8),
    Set(u8, u8),
    SetPartial(u8, u16, u8),
    Has(u8),
    Delete(u8),
    List(u8),
    Stat(u8),
    GetRange(u8, u64, u64),
    SetIf(u8, u8),
    Read(u8),
    Write(u8, u8, u8),
    Fault(u8, u8, u16),
    Advance(u32),
    Add(u8),
    Remove(u8),
    Drain(u8),
    Weight(u8, f64),
    /// The call after this one is dropped after so many polls.
    Impatient(u8),
}

const NAMES: [&str; 4] = ["a", "b", "c", "d"];
const KEYS: [&str; 6] = ["", "k", "k/l", "\u{1f980}", "k\0", "z"];

fuzz_target!(|case: Case| {
    let clock = FakeClock::new();
    let mode = MuxMode::ALL[usize::from(case.mode) % MuxMode::ALL.len()];
    let stores: Vec<Store> =
        NAMES.iter().map(|_| FaultStorage::new(MemoryStorage::new(), clock.clone())).collect();
    let (base, cap) = case.cooldown_ms;
    let options = MuxOptions::new()
        .with_mode(mode)
        .with_retry(RetryOptions::new().with_max_attempts(u32::from(case.attempts)))
        .with_backend_timeout(Duration::from_millis(case.timeout_ms.into()))
        .with_cooldown(Duration::from_millis(base.into()), Duration::from_millis(cap.into()));
    let count = usize::from(case.backends) % (NAMES.len() + 1);
    let backends = NAMES.iter().zip(&stores).take(count);
    let built = StorageMux::builder(clock.clone(), SeededRng::new(case.seed))
        .backends(backends.map(|(name, store)| Backend::new(*name, store.clone()).with_weight(1.0)))
        .options(options)
        .build();
    // Bad options and too few backends are refused; that is an answer too.
    let Ok(mux) = built else { return };
    let mut written = BTreeSet::from([Vec::new()]);
    for step in case.steps.iter().take(64) {
        perform(&mux, &clock, &stores, step, &mut written);
    }
    let stats = mux.stats();
    assert!(stats.backends.iter().all(|backend| backend.in_flight == 0), "{stats:?}");
    assert_eq!(clock.waiting(), 0, "a timer is left");
});

fn key(of: u8) -> &'static str {
    KEYS[usize::from(of) % KEYS.len()]
}

fn perform(
    mux: &Mux,
    clock: &FakeClock,
    stores: &[Store],
    step: &Step,
    written: &mut BTreeSet<Vec<u8>>,
) {
    let name = |of: &u8| NAMES[usize::from(*of) % NAMES.len()];
    let store = |of: &u8| &stores[usize::from(*of) % stores.len()];
    // A call of a mux ends whatever its backends do: its timeouts see to that.
    macro_rules! ended {
        ($future:expr) => {
            run(clock, $future).expect("every call ends")
        };
    }
    match step {
        Step::Get(of) => {
            if let Ok(value) = ended!(mux.get(key(*of))) {
                // Partial writes make values of their own; their bytes are all of ours.
                assert!(value.iter().all(|byte| *byte < 64), "{value:?}");
            }
        }
        Step::Set(of, byte) => {
            let value = vec![byte % 64; usize::from(*byte) % 9];
            written.insert(value.clone());
            let _ = ended!(mux.set(key(*of), value));
        }
        Step::SetPartial(of, offset, byte) => {
            let offset = u64::from(*offset) % 512;
            let _ = ended!(mux.set_partial(key(*of), offset, vec![byte % 64; 3]));
        }
        Step::Has(of) => drop(ended!(mux.has(key(*of)))),
        Step::Delete(of) => drop(ended!(mux.delete(key(*of)))),
        Step::List(of) => {
            let page = PageRequest::first(usize::from(*of) % 5);
            if let Ok(page) = ended!(mux.list("k", &page)) {
                assert!(page.entries.iter().all(|entry| entry.key.starts_with('k')));
                assert!(page.entries.is_sorted_by(|left, right| left.key < right.key));
            }
        }
        Step::Stat(of) => drop(ended!(mux.stat(key(*of)))),
        Step::GetRange(of, start, end) => {
            if let Ok(value) = ended!(mux.get_range(key(*of), *start..*end)) {
                assert!(value.len() as u64 <= end.saturating_sub(*start));
            }
        }
        Step::SetIf(of, byte) => {
            drop(ended!(mux.set_if(key(*of), vec![byte % 64], Condition::Absent)));
        }
        Step::Read(of) => {
            let _ = ended!(async {
                let mut reader = mux.get_stream(key(*of)).await?;
                while let Some(chunk) = reader.next().await {
                    assert!(chunk?.iter().all(|byte| *byte < 64));
                }
                Ok::<_, StorageError>(())
            });
        }
        Step::Write(of, byte, chunks) => {
            let _ = ended!(async {
                let mut writer = mux.set_stream(key(*of)).await?;
                for _ in 0..chunks % 4 {
                    writer.send(vec![byte % 64; 2].into()).await?;
                }
                if chunks % 5 == 0 {
                    return Ok(());
                }
                writer.close().await
            });
        }
        Step::Fault(of, kind, wait) => {
            let wait = Duration::from_millis(u64::from(*wait));
            store(of).push(match kind % 7 {
                0 => Fault::Hang,
                1 => Fault::Delay(wait),
                2 => Fault::DelayThenFail(wait, StorageError::http(500)),
                3 => Fault::LoseAnswer(StorageError::http(503)),
                4 => Fault::Fail(StorageError::http(404)),
                5 => Fault::Fail(StorageError::http(429).with_retry_after(wait)),
                _ => Fault::Fail(StorageError::other("broken")),
            });
        }
        Step::Advance(wait) => clock.advance(Duration::from_millis((*wait).into())),
        Step::Add(of) => drop(mux.add_backend(
            Backend::new(name(of), store(of).clone()).with_weight(f64::from(*of)),
        )),
        Step::Remove(of) => drop(ended!(mux.remove_backend(name(of)))),
        Step::Drain(of) => drop(ended!(mux.drain(name(of)))),
        Step::Weight(of, weight) => drop(mux.set_weight(name(of), *weight)),
        Step::Impatient(polls) => {
            use std::future::Future;
            use std::pin::pin;
            use std::task::{Context, Waker};
            let mut call = pin!(mux.get("k"));
            let mut cx = Context::from_waker(Waker::noop());
            for _ in 0..polls % 4 {
                if call.as_mut().poll(&mut cx).is_ready() {
                    break;
                }
            }
        }
    }
}
