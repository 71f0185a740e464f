//! An S3 server over a folder, as a process that can be killed, stopped and started again.
//!
//! `s3-server PORT FOLDER` serves the buckets in FOLDER on loopback to whoever has the credentials
//! `key` and `secret`.

use std::error::Error;
use std::net::Ipv4Addr;

use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use s3s::auth::SimpleAuth;
use s3s::service::S3ServiceBuilder;
use s3s_fs::FileSystem;
use tokio::net::TcpListener;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(port), Some(folder)) = (arguments.next(), arguments.next()) else {
        return Err("usage: s3-server PORT FOLDER".into());
    };
    let files = FileSystem::new(folder).map_err(|error| format!("{error:?}"))?;
    let mut service = S3ServiceBuilder::new(files);
    service.set_auth(SimpleAuth::from_single("key", "secret"));
    let service = service.build();
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port.parse::<u16>()?)).await?;
    loop {
        let (socket, _) = listener.accept().await?;
        // Without it each answer waits for the client's delayed acknowledgement: 40 ms.
        socket.set_nodelay(true)?;
        let service = service.clone();
        tokio::spawn(async move {
            let connections = Builder::new(TokioExecutor::new());
            // A client that breaks off is its own affair.
            let _ = connections.serve_connection(TokioIo::new(socket), service).await;
        });
    }
}
