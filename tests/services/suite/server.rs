//! Servers as processes of their own.

use std::env::var;
use std::fs;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// How long a server may take to answer, on a machine that is busy.
const PATIENCE: Duration = Duration::from_secs(20);

/// How often another port is tried when somebody else was faster.
const PORTS: u32 = 5;

/// The bucket that every S3 server here has.
pub(crate) const BUCKET: &str = "bucket";

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// s3s-fs: S3 over a folder.
    S3,
    /// moto: S3 in memory.
    Moto,
    Redis,
    /// nginx with WebDAV over a folder.
    WebDav,
}

/// A server that ends with the test, whatever state it is in.
pub(crate) struct Server {
    kind: Kind,
    port: u16,
    folder: PathBuf,
    process: Option<Child>,
}

impl Server {
    /// Starts a server on a free port and waits until it answers.
    pub(crate) async fn start(kind: Kind) -> Self {
        let mut server = Self { kind, port: 0, folder: folder(), process: None };
        for _ in 0..PORTS {
            server.port = free_port();
            if server.launch().await {
                return server;
            }
        }
        panic!("a server does not start; see {}", server.folder.join("log").display());
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Where it keeps its values.
    pub(crate) fn values(&self) -> PathBuf {
        match self.kind {
            Kind::S3 => self.folder.join("s3").join(BUCKET),
            _ => self.folder.join("values"),
        }
    }

    /// The process is gone at once, in the middle of whatever it does.
    pub(crate) fn kill(&mut self) {
        if let Some(mut process) = self.process.take() {
            process.kill().expect("the process is ours");
            process.wait().expect("the process is ours");
        }
    }

    /// The process stays and does nothing: connections are taken by the system and never served.
    pub(crate) fn hang(&self) {
        self.signal("-STOP");
    }

    /// The process goes on where it was stopped.
    pub(crate) fn go_on(&self) {
        self.signal("-CONT");
    }

    /// Starts it again after a kill, on the same port and over the same values.
    pub(crate) async fn restart(&mut self) {
        assert!(self.launch().await, "the server does not start again");
    }

    fn signal(&self, signal: &str) {
        let process = self.process.as_ref().expect("the server runs");
        let sent = Command::new("kill").arg(signal).arg(process.id().to_string()).status();
        assert!(sent.is_ok_and(|status| status.success()), "kill {signal}");
    }

    /// Whether the server runs and answers.
    async fn launch(&mut self) -> bool {
        let log = fs::File::create(self.folder.join("log")).expect("a folder of ours");
        let mut command = self.command();
        command.stdin(Stdio::null()).stdout(log.try_clone().expect("a file of ours")).stderr(log);
        let mut process = command.spawn().unwrap_or_else(|error| panic!("{command:?}: {error}"));
        let end = Instant::now() + PATIENCE;
        let answers = loop {
            if process.try_wait().expect("the process is ours").is_some() || Instant::now() > end {
                break false;
            }
            if self.answers() {
                break true;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        };
        self.process = Some(process);
        if !answers {
            self.kill();
        }
        answers
    }

    fn command(&self) -> Command {
        let (port, folder) = (self.port.to_string(), &self.folder);
        match self.kind {
            Kind::S3 => {
                fs::create_dir_all(self.values()).expect("a folder of ours");
                let mut command = Command::new(env!("CARGO_BIN_EXE_s3-server"));
                command.arg(port).arg(folder.join("s3"));
                command
            }
            Kind::Moto => {
                let mut command = Command::new(program("MOTO_SERVER", "moto_server"));
                command.args(["-H", "127.0.0.1", "-p", &port]);
                command
            }
            Kind::Redis => {
                let mut command = Command::new(program("REDIS_SERVER", "redis-server"));
                command.args(["--port", &port, "--bind", "127.0.0.1", "--save", "", "--dir"]);
                command.arg(folder).args(["--appendonly", "yes"]);
                command
            }
            Kind::WebDav => {
                fs::create_dir_all(self.values()).expect("a folder of ours");
                let file = folder.join("nginx.conf");
                fs::write(&file, nginx(folder, self.port)).expect("a folder of ours");
                let mut command = Command::new(program("NGINX", "nginx"));
                command.arg("-p").arg(folder).arg("-c").arg(file).args(["-e", "stderr"]);
                command
            }
        }
    }

    fn answers(&self) -> bool {
        let request = match self.kind {
            Kind::Redis => "PING\r\n".to_owned(),
            // A server in memory begins without the bucket.
            Kind::Moto => head(&format!("PUT /{BUCKET}")),
            Kind::S3 | Kind::WebDav => head("GET /"),
        };
        ask(self.port, &request).is_ok_and(|read| read > 0)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
        if !std::thread::panicking() {
            let _ = fs::remove_dir_all(&self.folder);
        }
    }
}

fn head(line: &str) -> String {
    format!("{line} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
}

fn ask(port: u16, request: &str) -> std::io::Result<usize> {
    let mut socket = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
    socket.set_read_timeout(Some(Duration::from_secs(2)))?;
    socket.write_all(request.as_bytes())?;
    socket.read(&mut [0; 64])
}

fn free_port() -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("loopback has free ports");
    listener.local_addr().expect("it is bound").port()
}

/// A folder of its own, below the one that the script removes.
pub(crate) fn folder() -> PathBuf {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let root = var("STORAGE_MUX_SERVICES").map_or_else(|_| std::env::temp_dir(), PathBuf::from);
    let folder = root.join(format!("storage-mux-services-{}-{count}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder for the server");
    folder
}

fn program(variable: &str, name: &str) -> String {
    var(format!("STORAGE_MUX_{variable}")).unwrap_or_else(|_| name.into())
}

/// One process that serves a folder, and never leaves it.
fn nginx(folder: &Path, port: u16) -> String {
    let (folder, modules) = (folder.display(), program("NGINX_MODULES", "/usr/lib/nginx/modules"));
    format!(
        "load_module {modules}/ngx_http_dav_ext_module.so;
daemon off;
master_process off;
pid {folder}/nginx.pid;
events {{}}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    client_max_body_size 64m;
    server {{
        listen 127.0.0.1:{port};
        root {folder}/values;
        dav_methods PUT DELETE MKCOL COPY MOVE;
        dav_ext_methods PROPFIND OPTIONS;
        create_full_put_path on;
    }}
}}
"
    )
}
