//! The command line.

use std::net::SocketAddr;
use std::path::PathBuf;

const USAGE: &str = "usage: gateway CONFIG [--listen ADDRESS] [--max-body-bytes N]";

/// What the command line and the environment ask for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Arguments {
    pub(crate) config: PathBuf,
    pub(crate) listen: SocketAddr,
    pub(crate) max_body_bytes: u64,
    pub(crate) token: Option<String>,
}

impl Arguments {
    /// Reads the arguments behind the program's name.
    ///
    /// # Errors
    ///
    /// An argument that is unknown, missing or malformed, and a service that strangers could reach
    /// without a token.
    pub(crate) fn parse(
        arguments: impl IntoIterator<Item = String>,
        token: Option<String>,
    ) -> Result<Self, String> {
        let mut config = None;
        let mut listen = SocketAddr::from(([127, 0, 0, 1], 8_080));
        let mut max_body_bytes = super::service::Limits::default().body_bytes;
        let mut arguments = arguments.into_iter();
        while let Some(argument) = arguments.next() {
            let mut value =
                || arguments.next().ok_or_else(|| format!("{argument} wants a value; {USAGE}"));
            match argument.as_str() {
                "--listen" => {
                    listen = value()?.parse().map_err(|_| {
                        "--listen wants an IP address and a port, such as 127.0.0.1:8080".to_owned()
                    })?;
                }
                "--max-body-bytes" => {
                    max_body_bytes = value()?
                        .parse()
                        .map_err(|_| "--max-body-bytes wants a whole number".to_owned())?;
                }
                "--help" | "-h" => return Err(USAGE.to_owned()),
                option if option.starts_with('-') => {
                    return Err(format!("{option} is unknown; {USAGE}"));
                }
                path if config.is_none() => config = Some(PathBuf::from(path)),
                extra => return Err(format!("{extra} is one argument too many; {USAGE}")),
            }
        }
        let token = token.filter(|token| !token.is_empty());
        if token.is_none() && !listen.ip().is_loopback() {
            return Err(format!(
                "{listen} can be reached from elsewhere: put a bearer token into GATEWAY_TOKEN"
            ));
        }
        let config = config.ok_or_else(|| USAGE.to_owned())?;
        Ok(Self { config, listen, max_body_bytes, token })
    }
}
