//! Building a mux: what is refused, and with which words.

use std::time::Duration;

use storage_mux::retry::RetryOptions;
use storage_mux::sim::FakeClock;
use storage_mux::{
    Backend, Capabilities, Clock, LocalStorage, MemoryStorage, MuxBuilder, MuxCode, MuxError,
    MuxMode, MuxOptions, Operation, SeededRng, SharedStorage, StorageMux,
};

use crate::support::{World, ms, plain};

type Builder = MuxBuilder<MemoryStorage, FakeClock, SeededRng>;

fn builder() -> Builder {
    StorageMux::builder(FakeClock::new(), SeededRng::new(1))
}

fn memory(name: &str) -> Backend<MemoryStorage> {
    Backend::new(name, MemoryStorage::new())
}

fn refused(builder: Builder) -> MuxError {
    builder.build().expect_err("it must be refused")
}

/// Spec: MX-2
#[test]
fn a_mux_without_backends_is_refused() {
    let error = refused(builder());
    assert_eq!(error.code(), MuxCode::NoBackendsConfigured);
    assert_eq!(error.code().as_str(), "STORAGE_MUX.NO_BACKENDS_CONFIGURED");
}

/// Spec: MX-3
#[test]
fn two_backends_of_one_name_are_refused_by_that_name() {
    let error = refused(builder().backends([memory("a"), memory("b"), memory("a")]));
    assert_eq!(error.code(), MuxCode::BackendNameConflict);
    assert_eq!(error.backend().map(|name| name.as_str()), Some("a"));
    assert_eq!(
        error.to_string(),
        "the name is taken: backend \"a\"; choose another, or remove the backend that has it"
    );
}

/// Spec: MX-4
#[test]
fn a_mode_that_is_none_is_refused_by_its_text() {
    for text in ["magic", "", "Failover", "failover ", "round_robin"] {
        let error = text.parse::<MuxMode>().expect_err("no mode");
        assert_eq!(error.code(), MuxCode::InvalidMode);
        assert!(error.to_string().contains(&format!("{text:?}")), "{error}");
    }
    for mode in MuxMode::ALL {
        assert_eq!(mode.as_str().parse::<MuxMode>().expect("a mode"), mode);
    }
}

/// Spec: MX-6, E-4
#[test]
fn every_option_out_of_range_is_refused_by_its_name() {
    let cases: [(MuxOptions, &str); 5] = [
        (MuxOptions::new().with_backend_timeout(Duration::ZERO), "`backend_timeout`"),
        (MuxOptions::new().with_cooldown(Duration::ZERO, ms(1)), "`cooldown_base`"),
        (MuxOptions::new().with_cooldown(ms(2), ms(1)), "`cooldown_cap`"),
        (MuxOptions::new().with_cooldown(ms(1), Duration::ZERO), "`cooldown_cap`"),
        (MuxOptions::new().with_retry(RetryOptions::default().with_max_attempts(0)), "`retry`"),
    ];
    for (options, field) in cases {
        let error = refused(builder().backend(memory("a")).options(options));
        assert_eq!(error.code(), MuxCode::InvalidOption);
        assert!(error.to_string().contains(field), "{error}");
    }
    let edge =
        MuxOptions::new().with_backend_timeout(Duration::from_nanos(1)).with_cooldown(ms(1), ms(1));
    assert!(builder().backend(memory("a")).options(edge).build().is_ok());
}

/// Spec: E-4, E-5
#[test]
fn a_name_that_could_break_a_line_is_refused_on_one_line() {
    for name in ["", "a\nb", "\u{7}"] {
        let error = refused(builder().backend(memory(name)));
        assert_eq!(error.code(), MuxCode::InvalidOption);
        assert!(!error.to_string().contains(char::is_control), "{error}");
    }
}

/// Spec: E-4
#[test]
fn the_sixty_fourth_backend_fits_and_the_next_does_not() {
    let some = |count: usize| builder().backends((0..count).map(|n| memory(&format!("b{n}"))));
    assert!(some(64).build().is_ok());
    assert_eq!(refused(some(65)).code(), MuxCode::CapacityExceeded);
}

/// Spec: MX-6
#[test]
fn the_defaults_are_those_of_the_contract() {
    let options = MuxOptions::default();
    assert_eq!(options.mode(), MuxMode::Failover);
    assert_eq!(options.backend_timeout(), Duration::from_secs(30));
    assert_eq!(options.retry(), &RetryOptions::default());
    assert_eq!(options.cooldown(), (Duration::from_secs(1), Duration::from_secs(60)));
}

/// A memory store that lacks what it is told to.
#[derive(Clone)]
struct Limited(MemoryStorage, Capabilities);

mod limited {
    use std::ops::Range;

    use bytes::Bytes;
    use storage_mux::{
        Capabilities, Condition, MemoryReader, MemoryWriter, Metadata, OpContext, Page,
        PageRequest, Storage, StorageError, Written,
    };

    impl Storage for super::Limited {
        type Reader = MemoryReader;
        type Writer = MemoryWriter;

        async fn get(&self, key: &str, cx: &OpContext) -> Result<Bytes, StorageError> {
            self.0.get(key, cx).await
        }
        async fn set(
            &self,
            key: &str,
            value: Bytes,
            cx: &OpContext,
        ) -> Result<Written, StorageError> {
            self.0.set(key, value, cx).await
        }
        async fn set_partial(
            &self,
            key: &str,
            offset: u64,
            bytes: Bytes,
            cx: &OpContext,
        ) -> Result<(), StorageError> {
            self.0.set_partial(key, offset, bytes, cx).await
        }
        async fn has(&self, key: &str, cx: &OpContext) -> Result<bool, StorageError> {
            self.0.has(key, cx).await
        }
        async fn delete(&self, key: &str, cx: &OpContext) -> Result<(), StorageError> {
            self.0.delete(key, cx).await
        }
        async fn list(
            &self,
            prefix: &str,
            page: &PageRequest,
            cx: &OpContext,
        ) -> Result<Page, StorageError> {
            self.0.list(prefix, page, cx).await
        }
        async fn stat(&self, key: &str, cx: &OpContext) -> Result<Metadata, StorageError> {
            self.0.stat(key, cx).await
        }
        async fn get_stream(
            &self,
            key: &str,
            cx: &OpContext,
        ) -> Result<MemoryReader, StorageError> {
            self.0.get_stream(key, cx).await
        }
        async fn set_stream(
            &self,
            key: &str,
            cx: &OpContext,
        ) -> Result<MemoryWriter, StorageError> {
            self.0.set_stream(key, cx).await
        }
        fn capabilities(&self) -> Capabilities {
            self.1
        }
        fn depth(&self) -> usize {
            0
        }
        async fn get_range(
            &self,
            key: &str,
            range: Range<u64>,
            cx: &OpContext,
        ) -> Result<Bytes, StorageError> {
            self.0.get_range(key, range, cx).await
        }
        async fn set_if(
            &self,
            key: &str,
            value: Bytes,
            condition: Condition,
            cx: &OpContext,
        ) -> Result<Written, StorageError> {
            self.0.set_if(key, value, condition, cx).await
        }
    }
}

/// Spec: MX-5
#[test]
fn the_capabilities_are_what_all_backends_share_and_the_rest_is_refused_untouched() {
    let all = Capabilities::all(64);
    let stores = [
        Limited(MemoryStorage::new(), all),
        Limited(MemoryStorage::new(), Capabilities::all(32).without(Operation::Set)),
    ];
    let clock = FakeClock::new();
    let mux = StorageMux::builder(clock.clone(), SeededRng::new(1))
        .backends(
            ["a", "b"]
                .into_iter()
                .zip(stores.clone())
                .map(|(name, store)| Backend::new(name, store)),
        )
        .build()
        .expect("two backends");
    assert_eq!(mux.capabilities(), Capabilities::all(32).without(Operation::Set));
    let error =
        storage_mux::sim::run(&clock, mux.set("k", "v")).expect("runs").expect_err("lacking");
    assert_eq!(error.code(), "STORAGE.UNSUPPORTED");
    assert!(error.to_string().contains("backend `b` has no set"), "{error}");
    assert!(stores[0].0.is_empty(), "no backend may have been asked");
}

/// Spec: IN-2
#[test]
fn eight_levels_are_legal_and_the_ninth_is_refused() {
    let mut storage = SharedStorage::new(MemoryStorage::new());
    for level in 1..=9 {
        let built = StorageMux::builder(FakeClock::new(), SeededRng::new(level))
            .backend(Backend::new("inner", storage.clone()))
            .build();
        if level == 9 {
            let error = built.expect_err("nine levels");
            assert_eq!(error.code(), MuxCode::RecursionDepthExceeded);
            assert_eq!(error.backend().map(|name| name.as_str()), Some("inner"));
            return;
        }
        storage = built.expect("up to eight levels").into();
        assert_eq!(LocalStorage::depth(&storage), level as usize);
    }
}

/// Spec: MX-1, P-1
#[test]
fn a_clone_of_a_mux_shares_its_backends_and_its_clock() {
    let world = World::new(1, plain());
    let other = world.mux.clone();
    world.run(other.set("k", "v")).expect("stored");
    assert_eq!(world.run(world.mux.get("k")).expect("found"), "v");
    assert_eq!(world.mux.clock().now(), world.clock.now());
}
