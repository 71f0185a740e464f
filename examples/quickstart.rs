//! The main job on real files: three folders on disk act as one store, and the first one goes away
//! half-way.
//!
//! ```text
//! cargo run --release --example quickstart --features tokio,object-store -- [FOLDER] [--keep]
//! ```
//!
//! Stores every file of FOLDER (by default the sources of this crate), takes the primary away half-way
//! and brings it back, then reads everything back and compares it with the source. Ends with an exit code
//! other than zero if anything is lost. `--keep` leaves the three folders for you to look at.

use std::collections::BTreeSet;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use std::{env, fs};

use indicatif::{ProgressBar, ProgressStyle};
use object_store::local::LocalFileSystem;
use sha2::{Digest, Sha256};
use storage_mux::backend::ObjectStoreBackend;
use storage_mux::retry::{Backoff, RetryOptions};
use storage_mux::runtime::tokio::{TokioClock, entropy_seed};
use storage_mux::{
    Backend, Event, MuxOptions, OpContext, PageRequest, SeededRng, Storage, StorageMux,
};

type Folder = ObjectStoreBackend<LocalFileSystem>;
type Mux = StorageMux<Arc<Folder>, TokioClock, SeededRng>;
type Outcome<T> = Result<T, Box<dyn Error>>;

const NAMES: [&str; 3] = ["primary", "second", "third"];
const COOLDOWN: Duration = Duration::from_millis(200);

#[tokio::main]
async fn main() -> ExitCode {
    match demo().await {
        Ok(0) => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("quickstart: {error}");
            ExitCode::from(2)
        }
    }
}

/// Runs the demonstration and gives the number of files that were lost.
async fn demo() -> Outcome<usize> {
    let (source, keep) = arguments()?;
    let files = files_below(&source)?;
    if files.is_empty() {
        return Err(format!("{} holds no files; name another folder", source.display()).into());
    }
    let stage = Stage::new(keep)?;
    let events: Arc<Mutex<Vec<Event>>> = Arc::default();
    let mux = build(&stage, events.clone())?;

    println!("storing {} files of {} over three folders", files.len(), source.display());
    let half = files.len().div_ceil(2);
    let bytes = store(&mux, &source, &files[..half], "primary there").await?;
    stage.take_away(0)?;
    let bytes = bytes + store(&mux, &source, &files[half..], "primary away").await?;
    stage.bring_back(0)?;
    tokio::time::sleep(COOLDOWN * 2).await;

    let held = holdings(&stage).await?;
    let missed: Vec<&String> = files.iter().filter(|key| !held[0].contains(*key)).collect();
    for (name, keys) in NAMES.iter().zip(&held) {
        println!("{name:>8} holds {} files: {}", keys.len(), few(keys.iter()));
    }
    println!("(failover stores each file once, on the first folder that can take it)");
    println!("the primary is back and missed {}: {}", missed.len(), few(missed.iter().copied()));

    // The primary is asked first again, and answers for itself.
    let through = count_found(&mux, &files).await;
    println!(
        "read through the mux as it stands: {through} found, {} not. Failover writes to one\n\
         backend and keeps no list of what another missed: until somebody copies the difference,\n\
         the primary answers \"key not found\" for it. (Shield and mirror write to all.)",
        files.len() - through
    );
    catch_up(&stage, &held).await?;
    println!("the difference is copied to the primary");

    let lost = compare(&mux, &source, &files).await?;
    report(&mux, &events.lock().map_err(|_| "the event list is poisoned")?);
    let failovers = mux.stats().total_failovers;
    println!("{} files, {bytes} bytes, {failovers} failovers, {lost} lost", files.len());
    Ok(lost)
}

fn arguments() -> Outcome<(PathBuf, bool)> {
    let (mut folder, mut keep) = (None, false);
    for argument in env::args_os().skip(1) {
        match argument.to_str() {
            Some("--keep") => keep = true,
            Some(flag) if flag.starts_with('-') => {
                return Err(format!("unknown option {flag}; use [FOLDER] [--keep]").into());
            }
            _ if folder.is_some() => return Err("one folder at a time".into()),
            _ => folder = Some(PathBuf::from(argument)),
        }
    }
    let folder = folder.unwrap_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("src"));
    let folder = folder
        .canonicalize()
        .map_err(|error| format!("{} cannot be read: {error}", folder.display()))?;
    Ok((folder, keep))
}

/// The keys of all regular files: their paths below `folder`, with `/` between parts.
fn files_below(folder: &Path) -> Outcome<Vec<String>> {
    if !folder.is_dir() {
        return Err(format!("{} is no folder", folder.display()).into());
    }
    let (mut keys, mut open) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(next) = open.pop() {
        for entry in fs::read_dir(&next)? {
            let entry = entry?;
            let (path, kind) = (entry.path(), entry.file_type()?);
            if kind.is_dir() && entry.file_name() != ".git" && entry.file_name() != "target" {
                open.push(path);
            } else if kind.is_file() {
                let parts = path.strip_prefix(folder)?.iter();
                let parts: Option<Vec<&str>> = parts.map(|part| part.to_str()).collect();
                let parts = parts.ok_or_else(|| format!("{} is not UTF-8", path.display()))?;
                keys.push(parts.join("/"));
            }
        }
    }
    keys.sort();
    Ok(keys)
}

/// Three folders in the temporary directory, removed at the end.
struct Stage {
    root: PathBuf,
    folders: Vec<Arc<Folder>>,
    keep: bool,
}

impl Stage {
    fn new(keep: bool) -> Outcome<Self> {
        let root = env::temp_dir().join(format!("storage-mux-quickstart-{}", std::process::id()));
        let mut folders = Vec::new();
        for name in NAMES {
            let folder = root.join(name);
            fs::create_dir_all(&folder)?;
            let store = LocalFileSystem::new_with_prefix(&folder)?;
            folders.push(Arc::new(ObjectStoreBackend::on_folder(store, folder)));
        }
        Ok(Self { root, folders, keep })
    }

    fn take_away(&self, at: usize) -> Outcome<()> {
        Ok(fs::rename(self.root.join(NAMES[at]), self.root.join("away"))?)
    }

    fn bring_back(&self, at: usize) -> Outcome<()> {
        Ok(fs::rename(self.root.join("away"), self.root.join(NAMES[at]))?)
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        if self.keep {
            println!("the folders are kept in {}", self.root.display());
        } else if let Err(error) = fs::remove_dir_all(&self.root) {
            eprintln!("{} could not be removed: {error}", self.root.display());
        }
    }
}

fn build(stage: &Stage, events: Arc<Mutex<Vec<Event>>>) -> Outcome<Mux> {
    let retry = RetryOptions::new()
        .with_max_attempts(2)
        .with_backoff(Backoff::constant(Duration::from_millis(5)));
    let options = MuxOptions::new()
        .with_backend_timeout(Duration::from_secs(5))
        .with_cooldown(COOLDOWN, COOLDOWN * 2)
        .with_retry(retry);
    let backends = NAMES.iter().zip(&stage.folders);
    Ok(StorageMux::builder(TokioClock::new(), SeededRng::new(entropy_seed()))
        .backends(backends.map(|(name, folder)| Backend::new(*name, folder.clone())))
        .options(options)
        .event_sink(move |event: &Event| {
            if let Ok(mut events) = events.lock() {
                events.push(event.clone());
            }
        })
        .build()?)
}

/// Stores files through the mux and gives their size in all.
async fn store(mux: &Mux, source: &Path, keys: &[String], phase: &str) -> Outcome<usize> {
    let bar = progress(keys.len(), phase);
    let mut bytes = 0;
    for key in keys {
        let content = fs::read(source.join(key))?;
        bytes += content.len();
        mux.set(key, content).await.map_err(|error| format!("{key:?} was not stored: {error}"))?;
        bar.inc(1);
    }
    bar.finish();
    Ok(bytes)
}

/// What each folder holds, read past the mux.
async fn holdings(stage: &Stage) -> Outcome<Vec<BTreeSet<String>>> {
    let (mut all, cx) = (Vec::new(), OpContext::new());
    for folder in &stage.folders {
        let (mut keys, mut page) = (BTreeSet::new(), PageRequest::default());
        loop {
            let got = folder.list("", &page, &cx).await?;
            keys.extend(got.entries.into_iter().map(|entry| entry.key));
            let Some(next) = got.next else { break };
            page = PageRequest::after(next, 1_000);
        }
        all.push(keys);
    }
    Ok(all)
}

async fn count_found(mux: &Mux, keys: &[String]) -> usize {
    let mut found = 0;
    for key in keys {
        found += usize::from(mux.get(key).await.is_ok());
    }
    found
}

/// Copies to the primary what only another folder holds.
async fn catch_up(stage: &Stage, held: &[BTreeSet<String>]) -> Outcome<()> {
    let cx = OpContext::new();
    for (folder, keys) in stage.folders.iter().zip(held).skip(1) {
        for key in keys.difference(&held[0]) {
            stage.folders[0].set(key, folder.get(key, &cx).await?, &cx).await?;
        }
    }
    Ok(())
}

/// Reads everything back through the mux and compares checksums. Gives the number of files lost.
async fn compare(mux: &Mux, source: &Path, keys: &[String]) -> Outcome<usize> {
    let bar = progress(keys.len(), "comparing");
    let mut lost = 0;
    for key in keys {
        let expected = Sha256::digest(fs::read(source.join(key))?);
        let same = match mux.get(key).await {
            Ok(value) => Sha256::digest(&value) == expected,
            Err(error) => {
                eprintln!("{key:?}: {error}");
                false
            }
        };
        lost += usize::from(!same);
        bar.inc(1);
    }
    bar.finish();
    Ok(lost)
}

fn report(mux: &Mux, events: &[Event]) {
    println!(
        "\n{:>8}  {:>8} {:>6} {:>6} {:>6}  {:>9} {:>9}",
        "backend", "status", "hits", "misses", "errors", "p50", "p99"
    );
    let shown =
        |latency: Option<Duration>| latency.map_or("-".into(), |each| format!("{each:.0?}"));
    for each in mux.stats().backends {
        let status = format!("{:?}", each.status).to_lowercase();
        let (p50, p99) = (shown(each.p50_latency), shown(each.p99_latency));
        let (hits, misses, errors) = (each.hits, each.misses, each.errors);
        println!(
            "{:>8}  {status:>8} {hits:>6} {misses:>6} {errors:>6}  {p50:>9} {p99:>9}",
            each.name
        );
    }
    println!("\nevents:");
    for event in events {
        match event {
            Event::BackendDown { name, code, .. } => {
                println!("  {} {name} ({code})", event.topic())
            }
            Event::BackendRecovered { name, down_for } => {
                println!("  {} {name} after {down_for:.0?}", event.topic())
            }
            Event::Failover { from, to, .. } => println!("  {} {from} -> {to}", event.topic()),
            _ => println!("  {}", event.topic()),
        }
    }
    println!();
}

fn few<'a>(keys: impl Iterator<Item = &'a String>) -> String {
    let all: Vec<&str> = keys.map(String::as_str).collect();
    match all.as_slice() {
        [] => "none".into(),
        [first, .., last] if all.len() > 3 => format!("{first} ... {last}"),
        _ => all.join(", "),
    }
}

fn progress(length: usize, phase: &str) -> ProgressBar {
    let style = ProgressStyle::with_template("{msg:>14} {wide_bar} {pos}/{len}");
    let bar = ProgressBar::new(length as u64).with_message(phase.to_owned());
    bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}
