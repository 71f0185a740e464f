//! The gateway of the examples, as a process, under load from another, while a backend of it hangs
//! and dies.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::server::{BUCKET, Kind, Server, folder};

/// What one attempt may take. Were more than one request in a hundred to wait for a backend that
/// hangs, the 99th percentile would be at least this.
const TIMEOUT_MS: u64 = 600;

const CALLERS: &str = "32";

/// A gateway as a process, ended with the test.
struct Gateway {
    process: Child,
    url: String,
}

impl Gateway {
    fn start(config: &Path) -> Self {
        let binary =
            std::env::var("STORAGE_MUX_GATEWAY").expect("ci/services.sh names the gateway");
        let mut process = Command::new(binary)
            .arg(config)
            .args(["--listen", "127.0.0.1:0"])
            .env("TEST_ID", "key")
            .env("TEST_SECRET", "secret")
            .stdout(Stdio::piped())
            .spawn()
            .expect("the gateway was built");
        let mut line = String::new();
        let stdout = process.stdout.take().expect("it is piped");
        BufReader::new(stdout).read_line(&mut line).expect("it speaks");
        let url = line.trim().strip_prefix("listening on ").expect("it listens").to_owned();
        Self { process, url }
    }

    /// Ends it as a supervisor would.
    fn terminate(mut self) {
        let sent = Command::new("kill").arg(self.process.id().to_string()).status();
        assert!(sent.is_ok_and(|status| status.success()));
        assert!(self.process.wait().expect("it is ours").success(), "the gateway ends badly");
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// What a run of the load generator saw. Times are in microseconds.
#[derive(Debug)]
struct Seen {
    requests: u64,
    failures: u64,
    p50: u64,
    p99: u64,
}

fn load(url: &str, seconds: &str) -> Child {
    Command::new(env!("CARGO_BIN_EXE_load"))
        .args([url, seconds, CALLERS])
        .stdout(Stdio::piped())
        .spawn()
        .expect("the load generator was built")
}

async fn seen(load: Child) -> Seen {
    let output = tokio::task::spawn_blocking(|| load.wait_with_output());
    let output = output.await.expect("no panic").expect("it is ours");
    assert!(output.status.success(), "the load generator fails");
    let text = String::from_utf8(output.stdout).expect("numbers");
    let numbers: Vec<u64> =
        text.split_whitespace().map(|number| number.parse().expect("a number")).collect();
    Seen { requests: numbers[0], failures: numbers[1], p50: numbers[2], p99: numbers[3] }
}

fn config(s3: &Server, disk: &Path) -> PathBuf {
    let text = format!(
        r#"
        mode = "mirror"
        backend_timeout_ms = {TIMEOUT_MS}
        cooldown_base_ms = 10000
        retry = {{ max_attempts = 1 }}

        [[backend]]
        name = "s3"
        url = "s3://{BUCKET}"
        region = "us-east-1"
        endpoint = "{}"
        allow_http = true
        access_key_id_env = "TEST_ID"
        secret_access_key_env = "TEST_SECRET"

        [[backend]]
        name = "disk"
        url = "file://{}"
        "#,
        s3.url(),
        disk.display()
    );
    let path = folder().join("mux.toml");
    fs::write(&path, text).expect("a folder of ours");
    path
}

/// Spec: MI-1, MI-3, BH-1, HE-1
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_gateway_keeps_its_p99_while_a_backend_hangs_and_dies() {
    let mut s3 = Server::start(Kind::S3).await;
    let disk = folder();
    let gateway = Gateway::start(&config(&s3, &disk));
    let client = reqwest::Client::builder().no_proxy().build().expect("a client without TLS");
    for key in 0..64 {
        let put = client.put(format!("{}/objects/key-{key}", gateway.url)).body(vec![42; 4_096]);
        assert!(put.send().await.is_ok_and(|answer| answer.status().is_success()), "{key}");
    }
    assert_eq!(fs::read_dir(&disk).expect("a folder of ours").count(), 64, "a mirror has all");
    let calm = seen(load(&gateway.url, "3")).await;
    println!("calm: {calm:?}");
    assert_eq!(calm.failures, 0);

    let running = load(&gateway.url, "6");
    tokio::time::sleep(Duration::from_secs(1)).await;
    s3.hang();
    tokio::time::sleep(Duration::from_secs(2)).await;
    s3.kill();
    let storm = seen(running).await;
    println!("with one backend hung, then killed: {storm:?}");
    assert_eq!(storm.failures, 0, "the other backend serves");
    assert!(storm.requests > 1_000, "{storm:?}");
    let half_a_timeout = TIMEOUT_MS * 1_000 / 2;
    assert!(storm.p99 < half_a_timeout, "calm {calm:?}, storm {storm:?}");
    assert!(calm.p50 <= calm.p99 && storm.p50 <= storm.p99);
    gateway.terminate();
}
