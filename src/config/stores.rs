//! The kinds of stores that a URL can name.

use alloc::borrow::ToOwned;
use alloc::string::{String, ToString};
use core::fmt::Display;
use std::path::PathBuf;

use object_store::aws::AmazonS3Builder;
use object_store::http::HttpBuilder;
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use object_store::prefix::PrefixStore;
use object_store::{ClientOptions, HeaderMap, HeaderValue, RetryConfig};
use opendal::Operator;
use opendal::services::Redis;
use url::Url;

use super::credentials::{Variable, value_of};
use super::document::BackendSection;
use super::error::{ConfigError, ConfigErrorKind};
use super::fields::Fields;
use crate::backend::{ObjectStoreBackend, OpendalBackend};
use crate::memory::MemoryStorage;
use crate::port::SharedStorage;

/// What a URL and the keys beside it say, without secrets.
#[derive(Clone)]
pub(super) enum StoreSpec {
    Memory,
    File { root: PathBuf },
    S3(S3),
    Redis(RedisServer),
    Http(WebDav),
}

#[derive(Clone)]
pub(super) struct S3 {
    bucket: String,
    prefix: String,
    region: Option<String>,
    endpoint: Option<String>,
    allow_http: bool,
    virtual_hosted_style: bool,
    anonymous: bool,
    conditional_writes: bool,
    access_key_id: Option<Variable>,
    secret_access_key: Option<Variable>,
    session_token: Option<Variable>,
}

#[derive(Clone)]
pub(super) struct RedisServer {
    endpoint: String,
    database: Option<i64>,
    root: Option<String>,
    username: Option<String>,
    password: Option<Variable>,
}

#[derive(Clone)]
pub(super) struct WebDav {
    url: Url,
    allow_http: bool,
    authorization: Option<Variable>,
}

impl StoreSpec {
    /// What the URL on line `at` and the keys beside it say.
    pub(super) fn read(
        text: &str,
        at: usize,
        fields: &mut Fields<'_, '_>,
    ) -> Result<Self, ConfigError> {
        let wrong =
            |fields: &Fields<'_, '_>, why| Err(fields.error(at, "url", ConfigErrorKind::Url(why)));
        let Ok(url) = Url::parse(text) else {
            return wrong(fields, "is no URL; write scheme://place, such as file:///var/lib/data");
        };
        let may_name_user = ["redis", "rediss"].contains(&url.scheme());
        if url.password().is_some() || (!url.username().is_empty() && !may_name_user) {
            return Err(fields.error(
                at,
                "url",
                ConfigErrorKind::Secret("a key that ends in _env"),
            ));
        }
        if url.query().is_some() || url.fragment().is_some() {
            return wrong(fields, "must end before any ? or #; what follows has keys of its own");
        }
        let host = url.host_str().filter(|host| !host.is_empty());
        match url.scheme() {
            "memory" if host.is_none() && ["", "/"].contains(&url.path()) => Ok(Self::Memory),
            "memory" => wrong(fields, "names no place; write memory://"),
            "file" => match url.to_file_path() {
                Ok(root) if host.is_none() => Ok(Self::File { root }),
                _ => wrong(fields, "must name a folder from the root on: file:///var/lib/data"),
            },
            "s3" => match host {
                Some(bucket) => S3::read(bucket.to_owned(), prefix(&url), fields).map(Self::S3),
                None => wrong(fields, "names no bucket; write s3://bucket or s3://bucket/prefix"),
            },
            "redis" | "rediss" => match (host, database(&url)) {
                (Some(_), Some(database)) => RedisServer::read(&url, database, fields),
                _ => wrong(
                    fields,
                    "names no server, or no database by number; write redis://host:6379/0",
                ),
            },
            "https" | "http" => {
                let allow_http = fields.flag("allow_http")?.unwrap_or(false);
                if url.scheme() == "http" && !allow_http {
                    return wrong(fields, "is not encrypted; write https, or allow_http = true");
                }
                let authorization = Variable::read("authorization_env", fields)?;
                Ok(Self::Http(WebDav { url, allow_http, authorization }))
            }
            _ => Err(fields.error(at, "url", ConfigErrorKind::UnknownScheme)),
        }
    }

    /// The keys that a backend of this kind takes.
    pub(super) const fn keys(&self) -> &'static str {
        match self {
            Self::Memory | Self::File { .. } => "name, url, weight",
            Self::S3(_) => {
                "name, url, weight, region, endpoint, allow_http, virtual_hosted_style, anonymous, \
                 conditional_writes, access_key_id_env, secret_access_key_env, session_token_env"
            }
            Self::Redis(_) => "name, url, weight, root, username, password_env",
            Self::Http(_) => "name, url, weight, allow_http, authorization_env",
        }
    }
}

impl S3 {
    fn read(
        bucket: String,
        prefix: String,
        fields: &mut Fields<'_, '_>,
    ) -> Result<Self, ConfigError> {
        for (key, other) in [
            ("access_key_id_env", "secret_access_key_env"),
            ("secret_access_key_env", "access_key_id_env"),
            ("session_token_env", "access_key_id_env"),
        ] {
            if fields.has(key) && !fields.has(other) {
                return Err(fields.error(fields.line_of(key), other, ConfigErrorKind::Missing));
            }
        }
        let at = fields.line_of("endpoint");
        let endpoint = fields.text("endpoint")?;
        let names_user = |url: Url| url.password().is_some() || !url.username().is_empty();
        if endpoint.as_deref().and_then(|text| Url::parse(text).ok()).is_some_and(names_user) {
            let instead = ConfigErrorKind::Secret("a key that ends in _env");
            return Err(fields.error(at, "endpoint", instead));
        }
        Ok(Self {
            bucket,
            prefix,
            region: fields.text("region")?,
            endpoint,
            allow_http: fields.flag("allow_http")?.unwrap_or(false),
            virtual_hosted_style: fields.flag("virtual_hosted_style")?.unwrap_or(false),
            anonymous: fields.flag("anonymous")?.unwrap_or(false),
            conditional_writes: fields.flag("conditional_writes")?.unwrap_or(true),
            access_key_id: Variable::read("access_key_id_env", fields)?,
            secret_access_key: Variable::read("secret_access_key_env", fields)?,
            session_token: Variable::read("session_token_env", fields)?,
        })
    }

    fn open(
        &self,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Result<SharedStorage, String>, ConfigError> {
        let mut builder = AmazonS3Builder::new()
            .with_bucket_name(&self.bucket)
            .with_allow_http(self.allow_http)
            .with_virtual_hosted_style_request(self.virtual_hosted_style)
            .with_skip_signature(self.anonymous)
            .with_retry(no_retries());
        if let Some(region) = &self.region {
            builder = builder.with_region(region);
        }
        if let Some(endpoint) = &self.endpoint {
            builder = builder.with_endpoint(endpoint);
        }
        if let Some(id) = value_of(self.access_key_id.as_ref(), variable)? {
            builder = builder.with_access_key_id(id);
        }
        if let Some(secret) = value_of(self.secret_access_key.as_ref(), variable)? {
            builder = builder.with_secret_access_key(secret);
        }
        if let Some(token) = value_of(self.session_token.as_ref(), variable)? {
            builder = builder.with_token(token);
        }
        Ok(builder.build().map_err(one_line).and_then(|store| {
            let store =
                PrefixStore::new(store, Path::from_url_path(&self.prefix).map_err(one_line)?);
            let backend = ObjectStoreBackend::new(store)
                .with_conditional_writes(self.conditional_writes)
                .with_sorted_listing(true);
            Ok(SharedStorage::new(backend))
        }))
    }
}

impl RedisServer {
    fn read(
        url: &Url,
        database: Option<i64>,
        fields: &mut Fields<'_, '_>,
    ) -> Result<StoreSpec, ConfigError> {
        let host = url.host_str().unwrap_or_default();
        let endpoint = alloc::format!("{}://{host}:{}", url.scheme(), url.port().unwrap_or(6_379));
        let in_url = Some(url.username()).filter(|name| !name.is_empty()).map(ToOwned::to_owned);
        Ok(StoreSpec::Redis(Self {
            endpoint,
            database,
            root: fields.text("root")?,
            username: fields.text("username")?.or(in_url),
            password: Variable::read("password_env", fields)?,
        }))
    }

    fn open(
        &self,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Result<SharedStorage, String>, ConfigError> {
        let mut service = Redis::default().endpoint(&self.endpoint);
        if let Some(database) = self.database {
            service = service.db(database);
        }
        if let Some(root) = &self.root {
            service = service.root(root);
        }
        if let Some(username) = &self.username {
            service = service.username(username);
        }
        if let Some(password) = value_of(self.password.as_ref(), variable)? {
            service = service.password(&password);
        }
        let operator = Operator::new(service).map_err(|error| error.kind().to_string());
        Ok(operator.map(|operator| SharedStorage::new(OpendalBackend::new(operator))))
    }
}

impl WebDav {
    fn open(
        &self,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Result<SharedStorage, String>, ConfigError> {
        let mut client = ClientOptions::new().with_allow_http(self.allow_http);
        if let Some(authorization) = &self.authorization {
            let Ok(mut value) = HeaderValue::try_from(authorization.value(variable)?) else {
                return Err(authorization.unfit("the variable's value is no HTTP header"));
            };
            value.set_sensitive(true);
            let mut headers = HeaderMap::new();
            headers.insert("authorization", value);
            client = client.with_default_headers(headers);
        }
        let builder = HttpBuilder::new().with_url(self.url.as_str()).with_retry(no_retries());
        let store = builder.with_client_options(client).build().map_err(one_line);
        Ok(store.map(|store| SharedStorage::new(ObjectStoreBackend::new(store))))
    }
}

/// Opens the store of a backend. No request is made.
pub(super) fn open(
    section: &BackendSection,
    variable: &dyn Fn(&str) -> Option<String>,
    draw: u64,
) -> Result<SharedStorage, ConfigError> {
    let opened = match &section.store {
        StoreSpec::Memory => {
            Ok(Ok(SharedStorage::new(MemoryStorage::new().with_versions_after(draw))))
        }
        StoreSpec::File { root } => Ok(folder(root)),
        StoreSpec::S3(s3) => s3.open(variable),
        StoreSpec::Redis(redis) => redis.open(variable),
        StoreSpec::Http(http) => http.open(variable),
    };
    let refused = |why| {
        ConfigError::new(Some(section.url_line), "url".to_owned(), ConfigErrorKind::Store(why))
    };
    opened.and_then(|store| store.map_err(refused)).map_err(|error| error.of(&section.name))
}

fn folder(root: &PathBuf) -> Result<SharedStorage, String> {
    let store = LocalFileSystem::new_with_prefix(root)
        .map_err(|_| "the folder is not there or cannot be read; create it".to_owned())?;
    Ok(SharedStorage::new(ObjectStoreBackend::on_folder(store, root)))
}

/// Retries multiply: the mux has its own.
fn no_retries() -> RetryConfig {
    RetryConfig { max_retries: 0, ..RetryConfig::default() }
}

fn prefix(url: &Url) -> String {
    url.path().trim_matches('/').to_owned()
}

/// The number of a database in a path: none for no path, no answer for anything else.
fn database(url: &Url) -> Option<Option<i64>> {
    match url.path().trim_matches('/') {
        "" => Some(None),
        number => number.parse().ok().filter(|number| *number >= 0).map(Some),
    }
}

fn one_line(error: impl Display) -> String {
    error.to_string().lines().next().unwrap_or_default().to_owned()
}
