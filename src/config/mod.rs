//! A whole mux from a TOML document: its options, and its backends as URLs.
//!
//! ```toml
//! mode = "failover"
//! backend_timeout_ms = 800
//!
//! [[backend]]
//! name = "frankfurt"
//! url = "s3://photos-eu/originals"
//! region = "eu-central-1"
//! access_key_id_env = "EU_KEY_ID"
//! secret_access_key_env = "EU_SECRET"
//!
//! [[backend]]
//! name = "disk"
//! url = "file:///var/lib/photos"
//! ```
//!
//! What stands at the top are the options of [`MuxOptions`], in the words that they have in every
//! configuration file. Each `[[backend]]` has a `name`, a `url` and perhaps a `weight`, and what its
//! kind of store takes:
//!
//! | URL | store | further keys |
//! |---|---|---|
//! | `memory://` | [`MemoryStorage`](crate::MemoryStorage) | |
//! | `file:///folder` | files below a folder, which must be there | |
//! | `s3://bucket/prefix` | Amazon S3, and what speaks like it | `region` `endpoint` `allow_http` `virtual_hosted_style` `anonymous` `conditional_writes` `access_key_id_env` `secret_access_key_env` `session_token_env` |
//! | `redis://host:port/database` | Redis; `rediss://` for TLS | `root` `username` `password_env` |
//! | `https://host/path` | WebDAV, or `http://` with `allow_http` | `allow_http` `authorization_env` |
//!
//! # Secrets
//!
//! A secret stands in the environment, never in the document: a key that ends in `_env` names the
//! variable that holds it. A key such as `secret_access_key`, and a URL with a password or a query,
//! are refused. No error shows a secret, nor any other text of the document but names of backends
//! and a mode. An `s3` without keys asks the machine that it runs on for its role.
//!
//! # No retries below a mux
//!
//! The clients of the stores are told not to retry: retries multiply, and the mux has its own.

mod credentials;
mod document;
mod error;
mod fields;
mod place;
mod stores;

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use self::document::{BackendSection, Document};
pub use self::error::{ConfigError, ConfigErrorKind};
use crate::mux::{MuxBuilder, MuxOptions, StorageMux};
use crate::port::{Clock, SharedStorage};
use crate::rng::Rng;
use crate::roster::Backend;

/// A document that was read and found good. It holds no secret: the environment is read when the
/// mux is built.
///
/// ```
/// use storage_mux::config::MuxConfig;
/// use storage_mux::sim::{FakeClock, run};
/// use storage_mux::SeededRng;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let config = MuxConfig::parse(r#"
///     mode = "mirror"
///
///     [[backend]]
///     name = "left"
///     url = "memory://"
///
///     [[backend]]
///     name = "right"
///     url = "memory://"
/// "#)?;
///
/// let clock = FakeClock::new(); // on a server: runtime::tokio::TokioClock
/// let mux = config.builder(clock.clone(), SeededRng::new(1))?.build()?;
/// run(&clock, mux.set("greeting", "hello"))??;
/// assert_eq!(run(&clock, mux.get("greeting"))??, "hello");
///
/// let error = MuxConfig::parse("[[backend]]\nname = \"x\"\nurl = \"ftp://host\"").unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "line 3, backend `x`, `url`: no storage has this scheme; \
///      use one of s3, file, memory, redis, rediss, https, http"
/// );
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct MuxConfig {
    options: MuxOptions,
    backends: Vec<BackendSection>,
}

impl MuxConfig {
    /// Reads a document. Neither the environment nor a store is touched.
    ///
    /// # Errors
    ///
    /// The first mistake, with its line, its key and what would be right: no TOML, a key that is
    /// unknown, missing or of the wrong type, an option out of range, a URL that leads nowhere, a
    /// secret that stands in the document.
    pub fn parse(text: &str) -> Result<Self, ConfigError> {
        let Document { options, backends } = Document::parse(text)?;
        Ok(Self { options, backends })
    }

    /// A builder with the options and backends of the document, and the secrets of the process's
    /// environment. Add what watches, then [`build`](MuxBuilder::build).
    ///
    /// The stores of `s3`, `redis` and `https` do their work on the tokio runtime.
    ///
    /// # Errors
    ///
    /// As [`builder_with`](Self::builder_with).
    pub fn builder<C: Clock, R: Rng>(
        &self,
        clock: C,
        rng: R,
    ) -> Result<MuxBuilder<SharedStorage, C, R>, ConfigError> {
        self.builder_with(|name| std::env::var(name).ok(), clock, rng)
    }

    /// The same with another place to look secrets up in than the environment, such as a vault.
    ///
    /// # Errors
    ///
    /// A variable that is named and not there, and what the client of a store refuses, such as a
    /// folder that does not exist. What a mux refuses, such as two backends of one name, is told
    /// by [`build`](MuxBuilder::build).
    pub fn builder_with<C: Clock, R: Rng>(
        &self,
        variable: impl Fn(&str) -> Option<String>,
        clock: C,
        rng: R,
    ) -> Result<MuxBuilder<SharedStorage, C, R>, ConfigError> {
        // Before the generator goes into the mux: memory counts its versions from these.
        let draws: Vec<u64> = self.backends.iter().map(|_| rng.next_u64()).collect();
        let mut builder = StorageMux::builder(clock, rng).options(self.options.clone());
        for (section, draw) in self.backends.iter().zip(draws) {
            let store = stores::open(section, &variable, draw)?;
            let backend = Backend::new(section.name.as_str(), store);
            builder = builder.backend(match section.weight {
                Some(weight) => backend.with_weight(weight),
                None => backend,
            });
        }
        Ok(builder)
    }

    /// The options that the document sets, the others at their defaults.
    #[must_use]
    pub const fn options(&self) -> &MuxOptions {
        &self.options
    }

    /// The names of the backends, in the order of the document.
    #[must_use]
    pub fn backend_names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.backends.iter().map(|section| section.name.as_str())
    }
}

impl fmt::Debug for MuxConfig {
    /// Names and options. What else the document holds is not shown.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MuxConfig")
            .field("options", &self.options)
            .field("backends", &self.backends.iter().map(|each| &each.name).collect::<Vec<_>>())
            .finish()
    }
}
