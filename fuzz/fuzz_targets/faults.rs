//! Any text as the error of a store: classified, of one line where it is shown, and never a panic.
#![no_main]

use std::fmt;
use std::io;

use libfuzzer_sys::fuzz_target;
use object_store::path::Path;
use object_store::{
    CopyOptions, Error, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta,
    ObjectStore, PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
};
use futures_util::StreamExt;
use futures_util::stream::{BoxStream, once};
use storage_mux::backend::ObjectStoreBackend;
use storage_mux::sim::{FakeClock, run};
use storage_mux::{ErrorClass, OpContext, PageRequest, Storage, StorageErrorKind, classify};

#[derive(Clone, Debug)]
struct Failing {
    kind: u8,
    text: String,
}

impl fmt::Display for Failing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("failing")
    }
}

impl Failing {
    fn error(&self) -> Error {
        let source = || -> Box<dyn std::error::Error + Send + Sync> {
            match self.kind % 4 {
                0 => self.text.clone().into(),
                1 => io::Error::other(self.text.clone()).into(),
                2 => io::Error::from(io::ErrorKind::ConnectionReset).into(),
                _ => io::Error::new(io::ErrorKind::TimedOut, self.text.clone()).into(),
            }
        };
        let path = self.text.clone();
        match self.kind / 4 % 8 {
            0 => Error::NotFound { path, source: source() },
            1 => Error::AlreadyExists { path, source: source() },
            2 => Error::Precondition { path, source: source() },
            3 => Error::PermissionDenied { path, source: source() },
            4 => Error::Unauthenticated { path, source: source() },
            5 => Error::NotSupported { source: source() },
            _ => Error::Generic { store: "fuzz", source: source() },
        }
    }
}

#[async_trait::async_trait]
impl ObjectStore for Failing {
    async fn put_opts(&self, _: &Path, _: PutPayload, _: PutOptions) -> Result<PutResult> {
        Err(self.error())
    }

    async fn put_multipart_opts(
        &self,
        _: &Path,
        _: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        Err(self.error())
    }

    async fn get_opts(&self, _: &Path, _: GetOptions) -> Result<GetResult> {
        Err(self.error())
    }

    fn delete_stream(
        &self,
        _: BoxStream<'static, Result<Path>>,
    ) -> BoxStream<'static, Result<Path>> {
        let error = self.error();
        once(async move { Err(error) }).boxed()
    }

    fn list(&self, _: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        let error = self.error();
        once(async move { Err(error) }).boxed()
    }

    async fn list_with_delimiter(&self, _: Option<&Path>) -> Result<ListResult> {
        Err(self.error())
    }

    async fn copy_opts(&self, _: &Path, _: &Path, _: CopyOptions) -> Result<()> {
        Err(self.error())
    }
}

fuzz_target!(|input: (u8, String)| {
    let (kind, text) = input;
    let clock = FakeClock::new();
    let cx = OpContext::new();
    let store = ObjectStoreBackend::new(Failing { kind, text });
    let errors = [
        run(&clock, Storage::get(&store, "k", &cx)).expect("it ends").err(),
        run(&clock, Storage::stat(&store, "k", &cx)).expect("it ends").err(),
        run(&clock, Storage::get_range(&store, "k", 1..2, &cx)).expect("it ends").err(),
        run(&clock, Storage::set(&store, "k", "v".into(), &cx)).expect("it ends").err(),
        run(&clock, Storage::delete(&store, "k", &cx)).expect("it ends").err(),
        run(&clock, Storage::list(&store, "", &PageRequest::default(), &cx)).expect("ends").err(),
    ];
    for error in errors.into_iter().flatten() {
        let class = classify(&error);
        if let StorageErrorKind::Http { status, .. } = error.kind() {
            let transient = matches!(status, 408 | 429 | 500..=599);
            assert_eq!(class == ErrorClass::Transient, transient, "{error}");
        }
        assert_ne!(class, ErrorClass::Abort, "a store cannot give up for the caller: {error}");
        let _ = format!("{error} {error:?} {}", error.code());
    }
});
