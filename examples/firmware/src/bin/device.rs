//! A device that keeps its settings on a flash chip, with a copy in RAM and one on a server.
//!
//! The mux is in shield mode: the flash chip is the origin, the others mirror it. The network
//! hangs, fails and comes back on schedule, the chip stops answering for a while, and at last the
//! server is let go in the middle of a write. Each step is checked.
#![no_std]
#![no_main]

extern crate alloc;

use alloc::rc::Rc;
use alloc::vec::Vec;
use core::cell::RefCell;
use core::time::Duration;

use critical_section::Mutex;
use embassy_executor::Spawner;
use embassy_futures::join::join;
use embassy_futures::select::{Either, select};
use embassy_time::{Instant, Timer};
use firmware::flash::Chip;
use firmware::network::{Network, Weather};
use firmware::report::Report;
use firmware::{board, start_time};
use storage_mux::backend::FlashStorage;
use storage_mux::retry::{Backoff, Jitter, RetryOptions};
use storage_mux::runtime::embassy::EmbassyClock;
use storage_mux::{
    Backend, BackendStatus, Clock, Event, HealthCheck, LocalHandle, LocalStorage, MemoryStorage,
    MuxCode, MuxMode, MuxOptions, OpContext, SeededRng, StorageError, StorageMux,
};

type Mux = StorageMux<LocalHandle, EmbassyClock, SeededRng>;

const HEAP_BYTES: usize = 24 * 1024;

/// Of the processor. The emulated board runs at 25 MHz.
const HERTZ: u32 = 25_000_000;

const TIMEOUT: Duration = Duration::from_millis(40);

const FORECAST: &[(u64, Weather)] = &[
    (310, Weather::Fine(5)),
    (610, Weather::Hangs),
    (910, Weather::Fails(503)),
    (u64::MAX, Weather::Fine(5)),
];

/// The topics of all events so far.
static TOPICS: Mutex<RefCell<Vec<&'static str>>> = Mutex::new(RefCell::new(Vec::new()));

fn hear(event: &Event) {
    defmt::info!("{}", event);
    critical_section::with(|section| TOPICS.borrow_ref_mut(section).push(event.topic()));
}

/// The topics since the last time that somebody asked.
fn heard() -> Vec<&'static str> {
    critical_section::with(|section| core::mem::take(&mut *TOPICS.borrow_ref_mut(section)))
}

#[embassy_executor::task]
async fn health_checks(mux: Mux) {
    let checks = mux.health_checks();
    // The schedule ends with the last handle, so this task must not be the one that keeps it.
    drop(mux);
    checks.await;
}

#[embassy_executor::main]
async fn main(spawner: Spawner) {
    board::start_heap(HEAP_BYTES);
    let report = Report::new();
    let Some(peripherals) = cortex_m::Peripherals::take() else { board::exit(false) };
    start_time(peripherals.SYST, HERTZ);
    print_sizes(&report);

    let Some(device) = Device::new() else { board::exit(false) };
    let Ok(mux) = device.mux() else { board::exit(false) };
    let Ok(task) = health_checks(mux.clone()) else { board::exit(false) };
    spawner.spawn(task);
    report.size("get future", size_of_val(&mux.get("settings")));

    device.all_is_well(&report, &mux).await;
    device.the_network_hangs(&report, &mux).await;
    device.the_chip_stops_answering(&report, &mux).await;
    device.the_network_is_back(&report, &mux).await;
    device.the_server_is_let_go(&report, &mux).await;
    device.the_chip_is_written_over_and_over(&report, &mux).await;
    device.the_power_goes_and_comes_back(&report).await;
    defmt::info!("{}", mux.stats());
    report.end(HEAP_BYTES, 36)
}

/// What a mux costs in RAM, by building it with one, two and three backends.
fn print_sizes(report: &Report) {
    let store = MemoryStorage::new();
    let cost = |backends: usize| {
        let before = board::heap_used();
        let all = ["a", "b", "c"].into_iter().take(backends);
        let mux = StorageMux::builder(EmbassyClock, SeededRng::new(1))
            .backends(all.map(|name| Backend::new(name, store.clone())))
            .build();
        let used = board::heap_used() - before;
        drop(mux);
        used
    };
    report.size("mux of one backend", cost(1));
    report.size("each further backend", cost(3) - cost(2));
}

/// The chip: sectors so small and so few that moving what is alive in one takes less than the
/// timeout. A write that moves is dropped by it and would begin anew for ever.
type Flash = Chip<256>;

const SECTORS: usize = 4;

/// The longest value of a setting, in bytes.
const MAX_VALUE_BYTES: usize = 128;

struct Device {
    chip: Flash,
    flash: FlashStorage<Flash>,
    ram: MemoryStorage,
    network: Rc<Network>,
    start: Instant,
}

impl Device {
    fn new() -> Option<Self> {
        let chip = Flash::new(SECTORS);
        let flash = chip.storage(MAX_VALUE_BYTES).ok()?;
        let (ram, network) = (MemoryStorage::new(), Rc::new(Network::new(FORECAST)));
        Some(Self { chip, flash, ram, network, start: Instant::now() })
    }

    fn mux(&self) -> Result<Mux, storage_mux::MuxError> {
        let retry = RetryOptions::new()
            .with_max_attempts(2)
            .with_backoff(Backoff::constant(Duration::from_millis(3)))
            .with_jitter(Jitter::None);
        let options = MuxOptions::new()
            .with_mode(MuxMode::Shield)
            .with_backend_timeout(TIMEOUT)
            .with_retry(retry)
            .with_cooldown(Duration::from_millis(100), Duration::from_millis(400))
            .with_health_check_interval(Duration::from_millis(50));
        // A real device takes the seed from its random number generator.
        StorageMux::builder(EmbassyClock, SeededRng::new(1))
            .backend(Backend::new("flash", LocalHandle::new(self.flash.clone())))
            .backend(Backend::new("ram", LocalHandle::new(self.ram.clone())))
            .backend(self.server())
            .options(options)
            .event_sink(hear)
            .build()
    }

    fn server(&self) -> Backend<LocalHandle> {
        let storage = LocalHandle::new(self.network.clone());
        Backend::new("server", storage).with_health_check(HealthCheck::has("canary"))
    }

    /// Waits until so many milliseconds after the start.
    async fn until(&self, millis: u64) {
        Timer::at(self.start + embassy_time::Duration::from_millis(millis)).await;
    }

    /// Which of flash, RAM and server hold this value, past the mux.
    async fn holders(&self, key: &str, value: &str) -> [bool; 3] {
        let cx = OpContext::new();
        [
            self.flash.get(key, &cx).await.is_ok_and(|held| held == value),
            self.ram.get(key, &cx).await.is_ok_and(|held| held == value),
            self.network.server().get(key, &cx).await.is_ok_and(|held| held == value),
        ]
    }

    async fn all_is_well(&self, report: &Report, mux: &Mux) {
        report.check("a write succeeds", mux.set("settings", "v1").await.is_ok());
        report.equal("all hold it", self.holders("settings", "v1").await, [true; 3]);
        report.check("a read finds it", mux.get("settings").await.is_ok_and(|v| v == "v1"));
        report.equal("the origin served it", hits(mux), [2, 1, 1]);

        self.network.refuse(1);
        report.check("a write past a refusal succeeds", mux.set("settings", "v2").await.is_ok());
        report.equal("it was retried in place", self.holders("settings", "v2").await, [true; 3]);
        report.equal("nobody needed to know", heard(), Vec::new());
    }

    async fn the_network_hangs(&self, report: &Report, mux: &Mux) {
        self.until(312).await;
        let before = EmbassyClock.now();
        report.check("a write succeeds all the same", mux.set("settings", "v3").await.is_ok());
        let waited = EmbassyClock.now() - before;
        report.check("it took the timeout", (TIMEOUT..TIMEOUT * 2).contains(&waited));
        report.equal(
            "flash and RAM hold it",
            self.holders("settings", "v3").await,
            [true, true, false],
        );
        report.equal(
            "the server's lack is told",
            heard(),
            ["storage-mux.backend.down", "storage-mux.fanout-partial"].into(),
        );
        report.equal("the server is down", status(mux, "server"), Some(BackendStatus::Down));

        let (before, asked) = (EmbassyClock.now(), self.network.asked());
        report.check("the next write succeeds", mux.set("settings", "v4").await.is_ok());
        report.check("it does not wait", EmbassyClock.now() - before < TIMEOUT / 2);
        report.equal("the server was left alone", self.network.asked(), asked);
        report.equal("its lack is told again", heard(), ["storage-mux.fanout-partial"].into());
    }

    async fn the_chip_stops_answering(&self, report: &Report, mux: &Mux) {
        self.until(620).await;
        self.chip.set_broken(true);
        report.check("a read finds the value", mux.get("settings").await.is_ok_and(|v| v == "v4"));
        report.equal(
            "the RAM stood in",
            heard(),
            ["storage-mux.backend.down", "storage-mux.failover"].into(),
        );
        let refused = mux.set("settings", "v5").await;
        let refused = refused.err().is_some_and(|error| {
            defmt::warn!("{}", error);
            error.is_mux(MuxCode::AllBackendsDown)
        });
        report.check("a write without its origin fails", refused);

        self.chip.set_broken(false);
        Timer::after_millis(500).await;
        report.check("the chip counts again", mux.get("settings").await.is_ok_and(|v| v == "v4"));
        report.equal("and is up", status(mux, "flash"), Some(BackendStatus::Up));
        report.check("as was told", heard().contains(&"storage-mux.backend.recovered"));
    }

    async fn the_network_is_back(&self, report: &Report, mux: &Mux) {
        self.until(1_300).await;
        report.equal("a check found the server", status(mux, "server"), Some(BackendStatus::Up));
        heard();
        report.check("a write succeeds", mux.set("settings", "v6").await.is_ok());
        report.equal("all hold it", self.holders("settings", "v6").await, [true; 3]);
        report.equal("none lacks it", heard(), Vec::new());
    }

    async fn the_server_is_let_go(&self, report: &Report, mux: &Mux) {
        let drain = async {
            Timer::after_millis(2).await;
            mux.drain("server").await
        };
        let (written, drained) = join(mux.set("settings", "v7"), drain).await;
        report.check("the write under way succeeds", written.is_ok());
        report.check("the drain ends", drained.is_ok());
        report.equal("the server still got it", self.holders("settings", "v7").await, [true; 3]);
        report.check("the server is gone", status(mux, "server").is_none());
        report.check("its name is free", mux.add_backend(self.server()).is_ok());
        mux.close();
    }

    async fn the_chip_is_written_over_and_over(&self, report: &Report, mux: &Mux) {
        for number in 0_u32..300 {
            if mux.set("counter", number.to_be_bytes().to_vec()).await.is_err() {
                report.check("every write succeeds", false);
            }
        }
        let last = mux.get("counter").await.is_ok_and(|v| *v == 299_u32.to_be_bytes());
        report.check("the last write counts", last && self.chip.erases() > 0);
    }

    /// Cuts writes off wherever they are, and starts anew from what the chip holds by then.
    async fn the_power_goes_and_comes_back(&self, report: &Report) {
        let cx = OpContext::new();
        let (mut whole, mut cut, mut kept) = (true, 0, true);
        for number in 0_u32..60 {
            let Ok(flash) = self.chip.storage(MAX_VALUE_BYTES) else { break };
            let before = flash.get("counter", &cx).await.ok();
            let value = number.to_be_bytes().to_vec();
            let write = flash.set("counter", value.clone().into(), &cx);
            let power = Timer::after_millis(u64::from(number % 6));
            if matches!(select(write, power).await, Either::Second(())) {
                cut += 1;
            }
            let Ok(again) = self.chip.storage(MAX_VALUE_BYTES) else { break };
            let after = again.get("counter", &cx).await.ok();
            whole &= after == before || after.is_some_and(|after| after == value);
            kept &= again.get("settings", &cx).await.is_ok_and(|value| value == "v7");
        }
        report.check("writes were cut off", (10..60).contains(&cut));
        report.check("each has happened or has not", whole);
        report.check("and no other value is lost", kept);
        let full = self.flash.set("x", alloc::vec![0; MAX_VALUE_BYTES + 1].into(), &cx).await;
        report.check("a value too long is refused", full == Err(StorageError::http(413)));
    }
}

/// How many attempts each backend answered.
fn hits(mux: &Mux) -> [u64; 3] {
    ["flash", "ram", "server"].map(|name| mux.backend_stats(name).map_or(0, |stats| stats.hits))
}

fn status(mux: &Mux, name: &str) -> Option<BackendStatus> {
    mux.backend_stats(name).map(|stats| stats.status)
}
