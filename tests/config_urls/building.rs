//! What a good document makes.

use std::time::Duration;
use std::{env, fs, process};

use storage_mux::config::{ConfigErrorKind, MuxConfig};
use storage_mux::sim::{FakeClock, run};
use storage_mux::{MuxCode, MuxMode, SeededRng};

/// Spec: MX-6
#[test]
fn a_document_sets_options_and_builds_its_backends_in_order() {
    let root = env::temp_dir().join(format!("storage-mux-config-{}", process::id()));
    fs::create_dir_all(&root).expect("a folder");
    let text = format!(
        r#"
        mode = "shield"
        backend_timeout_ms = 250
        retry = {{ max_attempts = 2 }}

        [[backend]]
        name = "disk"
        url = "file://{}"

        [[backend]]
        name = "memory"
        url = "memory://"
        "#,
        root.display()
    );
    let config = MuxConfig::parse(&text).expect("a good document");
    assert_eq!(config.options().mode(), MuxMode::Shield);
    assert_eq!(config.options().backend_timeout(), Duration::from_millis(250));
    assert_eq!(config.options().retry().max_attempts(), 2);
    assert_eq!(config.backend_names().collect::<Vec<_>>(), ["disk", "memory"]);

    let clock = FakeClock::new();
    let mux = config.builder(clock.clone(), SeededRng::new(1)).expect("opened").build().unwrap();
    run(&clock, mux.set("notes/today.txt", "value")).expect("ends").expect("stored");
    assert_eq!(fs::read_to_string(root.join("notes/today.txt")).ok().as_deref(), Some("value"));
    let stats = mux.stats();
    let names: Vec<_> = stats.backends.iter().map(|backend| backend.name.as_str()).collect();
    assert_eq!(names, ["disk", "memory"]);
    assert!(stats.backends.iter().all(|backend| backend.hits == 1), "a shield writes to both");
    fs::remove_dir_all(&root).expect("removed");
}

/// Spec: WT-1, WT-2, WT-3
#[test]
fn weights_are_those_of_the_document_and_judged_by_the_mux() {
    let text = |left: &str, right: &str| {
        format!(
            "mode = \"weighted\"\n[[backend]]\nname = \"l\"\nurl = \"memory://\"\n{left}\n\
             [[backend]]\nname = \"r\"\nurl = \"memory://\"\n{right}\n"
        )
    };
    let build = |left, right| {
        let clock = FakeClock::new();
        let config = MuxConfig::parse(&text(left, right)).expect("a good document");
        let built = config.builder(clock.clone(), SeededRng::new(1)).expect("memory").build();
        built.map(|mux| (clock, mux)).map_err(|error| error.code())
    };
    let (clock, mux) = build("weight = 0", "weight = 2.5").expect("good weights");
    for _ in 0..50 {
        run(&clock, mux.has("k")).expect("ends").expect("answered");
    }
    assert_eq!(mux.backend_stats("l").map(|stats| stats.hits), Some(0));
    assert_eq!(mux.backend_stats("r").map(|stats| stats.hits), Some(50));
    assert_eq!(build("weight = 1", "").err(), Some(MuxCode::WeightedRequiresWeights));
    assert_eq!(build("weight = 1", "weight = -1").err(), Some(MuxCode::InvalidWeight));
    assert_eq!(build("weight = 1", "weight = nan").err(), Some(MuxCode::InvalidWeight));
}

/// Spec: MX-2, MX-3
#[test]
fn what_a_mux_refuses_is_told_by_the_mux() {
    let build = |text: &str| {
        let config = MuxConfig::parse(text).expect("a good document");
        let builder = config.builder(FakeClock::new(), SeededRng::new(1)).expect("memory");
        builder.build().map(drop).map_err(|error| error.code())
    };
    assert_eq!(build(""), Err(MuxCode::NoBackendsConfigured));
    let twice = "[[backend]]\nname = \"a\"\nurl = \"memory://\"\n".repeat(2);
    assert_eq!(build(&twice), Err(MuxCode::BackendNameConflict));
}

#[test]
fn every_scheme_opens_without_a_request() {
    let text = r#"
        [[backend]]
        name = "s3"
        url = "s3://bucket/some/prefix"
        region = "eu-central-1"
        endpoint = "https://s3.example"
        virtual_hosted_style = false
        conditional_writes = false
        access_key_id_env = "ID"
        secret_access_key_env = "KEY"
        session_token_env = "SESSION"

        [[backend]]
        name = "anonymous"
        url = "s3://bucket"
        region = "eu-central-1"
        endpoint = "http://127.0.0.1:9"
        allow_http = true
        anonymous = true

        [[backend]]
        name = "redis"
        url = "redis://user@127.0.0.1:6380/3"
        root = "/app"
        password_env = "REDIS"

        [[backend]]
        name = "dav"
        url = "https://dav.example/files"
        authorization_env = "DAV"

        [[backend]]
        name = "plain-dav"
        url = "http://127.0.0.1:8081"
        allow_http = true
    "#;
    let config = MuxConfig::parse(text).expect("a good document");
    let mux = config
        .builder_with(|name| Some(format!("value-of-{name}")), FakeClock::new(), SeededRng::new(1))
        .expect("opened")
        .build()
        .expect("built");
    assert_eq!(mux.stats().backends.len(), 5);
}

#[test]
fn a_folder_that_is_not_there_is_refused_when_the_mux_is_built() {
    let text = "[[backend]]\nname = \"disk\"\nurl = \"file:///no/such/folder\"";
    let config = MuxConfig::parse(text).expect("a good document");
    let error = config.builder(FakeClock::new(), SeededRng::new(1)).expect_err("refused");
    assert!(matches!(error.kind, ConfigErrorKind::Store(_)), "{error}");
    assert_eq!(
        error.to_string(),
        "line 3, backend `disk`, `url`: the folder is not there or cannot be read; create it"
    );
}

/// Clients keep versions for longer than a process lives, and memory does not keep its values.
#[test]
fn memory_of_another_process_does_not_repeat_versions() {
    let version = |seed| {
        let text = "[[backend]]\nname = \"m\"\nurl = \"memory://\"";
        let clock = FakeClock::new();
        let config = MuxConfig::parse(text).expect("a good document");
        let builder = config.builder(clock.clone(), SeededRng::new(seed)).expect("memory");
        let mux = builder.build().expect("built");
        run(&clock, mux.set("k", "v")).expect("ends").expect("stored").version
    };
    assert!(version(1).is_some());
    assert_ne!(version(1), version(2));
}
