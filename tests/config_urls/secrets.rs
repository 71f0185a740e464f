//! Secrets come from the environment, and no error and no debug output shows one.

use storage_mux::SeededRng;
use storage_mux::config::{ConfigErrorKind, MuxConfig};
use storage_mux::sim::FakeClock;

const SECRET: &str = "hunter2hunter2";

fn backend(url: &str, rest: &str) -> String {
    format!("[[backend]]\nname = \"b\"\nurl = \"{url}\"\n{rest}\n")
}

#[test]
fn a_secret_in_the_document_is_refused_and_the_key_for_its_variable_named() {
    for (url, key, instead) in [
        ("s3://bucket", "access_key_id", "access_key_id_env"),
        ("s3://bucket", "secret_access_key", "secret_access_key_env"),
        ("s3://bucket", "session_token", "session_token_env"),
        ("redis://host", "password", "password_env"),
        ("https://host", "authorization", "authorization_env"),
        ("https://host", "token", "authorization_env"),
    ] {
        let text = backend(url, &format!("{key} = \"{SECRET}\""));
        let error = MuxConfig::parse(&text).expect_err("a secret");
        assert_eq!(error.kind, ConfigErrorKind::Secret(instead));
        assert_eq!((error.line, error.key.as_str()), (Some(4), key));
        assert!(!error.to_string().contains(SECRET), "{error}");
    }
    for url in [
        "redis://:hunter2hunter2@host",
        "s3://id:hunter2hunter2@bucket",
        "https://hunter2hunter2@h",
    ] {
        let error = MuxConfig::parse(&backend(url, "")).expect_err("a secret");
        assert!(matches!(error.kind, ConfigErrorKind::Secret(_)), "{error:?}");
        assert!(!format!("{error} {error:?}").contains(SECRET), "{error:?}");
    }
}

#[test]
fn no_mistake_shows_a_value_whatever_key_it_was_put_under() {
    let keys = [
        "mode2",
        "backend_timeout_ms",
        "cooldown_base_ms",
        "cooldown_cap_ms",
        "health_check_interval_ms",
        "throw_on_fanout_partial",
        "retry",
        "backend",
        "password",
    ];
    for key in keys {
        let text = format!("{key} = \"{SECRET}\"\n");
        let error = MuxConfig::parse(&text).expect_err("a mistake");
        assert!(!format!("{error} {error:?}").contains(SECRET), "{key}: {error:?}");
        assert!(error.to_string().contains(key), "{key}: {error}");
    }
    for inner in ["max_attempts", "jitter", "backoff", "other"] {
        let text = format!("[retry]\n{inner} = \"{SECRET}\"\n");
        let error = MuxConfig::parse(&text).expect_err("a mistake");
        assert!(!format!("{error} {error:?}").contains(SECRET), "{inner}: {error:?}");
    }
    for key in
        ["weight", "allow_http", "anonymous", "virtual_hosted_style", "conditional_writes", "x"]
    {
        let text = backend("s3://bucket", &format!("{key} = \"{SECRET}\""));
        let error = MuxConfig::parse(&text).expect_err("a mistake");
        assert!(!format!("{error} {error:?}").contains(SECRET), "{key}: {error:?}");
        assert!(
            error.to_string().starts_with(&format!("line 4, backend `b`, `{key}`: ")),
            "{error}"
        );
    }
    for broken in [format!("x = {SECRET}"), format!("x = \"{SECRET}"), format!("x = '{SECRET}\ny")]
    {
        let error = MuxConfig::parse(&broken).expect_err("no TOML");
        assert!(!format!("{error} {error:?}").contains(SECRET), "{error:?}");
    }
}

#[test]
fn a_variable_that_is_not_set_names_its_key_and_not_what_stands_there() {
    let pair =
        format!("access_key_id_env = \"ID\"\nsecret_access_key_env = \"{SECRET}\"\nregion = \"r\"");
    let config = MuxConfig::parse(&backend("s3://bucket", &pair)).expect("names of variables");
    let set_id = |name: &str| (name == "ID").then(|| "id".to_owned());
    for variable in [&set_id as &dyn Fn(&str) -> Option<String>, &|_| Some(String::new())] {
        let built = config.builder_with(variable, FakeClock::new(), SeededRng::new(1));
        let error = built.expect_err("not set");
        assert_eq!(error.kind, ConfigErrorKind::Variable);
        assert_eq!(error.backend.as_deref(), Some("b"));
        assert!(!format!("{error} {error:?}").contains(SECRET), "{error:?}");
    }
    let error = config.builder_with(set_id, FakeClock::new(), SeededRng::new(1)).err();
    assert_eq!(
        error.map(|error| error.to_string()).as_deref(),
        Some(
            "line 5, backend `b`, `secret_access_key_env`: \
             the variable that it names is not set, or empty; set it"
        )
    );
}

#[test]
fn a_secret_in_place_of_the_name_of_a_variable_is_not_shown() {
    let value = format!("authorization_env = \"Bearer {SECRET}\"");
    let error = MuxConfig::parse(&backend("https://host", &value)).expect_err("no name");
    assert!(matches!(error.kind, ConfigErrorKind::WrongType(_)), "{error:?}");
    assert!(!format!("{error} {error:?}").contains(SECRET), "{error:?}");
}

#[test]
fn a_secret_that_does_not_fit_is_not_shown() {
    let text = backend("https://host", "authorization_env = \"DAV\"");
    let config = MuxConfig::parse(&text).expect("a good document");
    let value = format!("Bearer\n{SECRET}");
    let built = config.builder_with(|_| Some(value.clone()), FakeClock::new(), SeededRng::new(1));
    let error = built.expect_err("no header");
    assert_eq!(error.key, "authorization_env");
    assert!(!format!("{error} {error:?}").contains(SECRET), "{error:?}");
}

#[test]
fn debug_output_of_configuration_and_mux_shows_no_secret() {
    let text = backend("redis://host", "password_env = \"REDIS\"");
    let config = MuxConfig::parse(&text).expect("a good document");
    let set = |_: &str| Some(SECRET.to_owned());
    let builder = config.builder_with(set, FakeClock::new(), SeededRng::new(1)).expect("opened");
    let mut shown = format!("{config:?} {builder:?} ");
    shown.push_str(&format!("{:?}", builder.build().expect("built")));
    assert!(!shown.contains(SECRET), "{shown}");
}

#[test]
fn no_mistake_shows_a_value_however_it_is_quoted() {
    for text in [
        format!("backend_timeout_ms = 'a\"{SECRET}'\n"),
        format!("backend_timeout_ms = \"a\\\"{SECRET}\\\"\"\n"),
        format!("# don't\n[retry]\njitter = \"{SECRET}\"\n"),
        format!("[retry]\njitter = \"\\u0068{}\"\n", &SECRET[1..]),
        format!("[retry]\njitter = \"{SECRET}\\nmore\"\n"),
        format!("[retry]\njitter = \"\"\"{SECRET}\"\"\"\n"),
    ] {
        let error = MuxConfig::parse(&text).expect_err("a mistake");
        assert!(!format!("{error} {error:?}").contains(SECRET), "{text}: {error:?}");
    }
}

#[test]
fn a_secret_in_an_endpoint_is_refused_and_not_shown() {
    for endpoint in [format!("http://id:{SECRET}@h:9000"), format!("https://{SECRET}@h")] {
        let text = backend("s3://bucket", &format!("endpoint = \"{endpoint}\""));
        let error = MuxConfig::parse(&text).expect_err("a secret");
        assert!(matches!(error.kind, ConfigErrorKind::Secret(_)), "{error:?}");
        assert_eq!((error.line, error.key.as_str()), (Some(4), "endpoint"));
        assert!(!format!("{error} {error:?}").contains(SECRET), "{error:?}");
    }
}
