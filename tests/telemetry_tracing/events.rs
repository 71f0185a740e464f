//! Each event of a mux, to the letter.

use storage_mux::telemetry::TracingSink;
use storage_mux::{BackendName, Event, EventSink, MuxMode, StorageError};
use tracing::Level;

use crate::support::ms;
use crate::watch::Watch;

/// Spec: EV-1
#[test]
fn each_event_has_its_topic_its_fields_and_its_level() {
    let a = || BackendName::from("a");
    let b = || BackendName::from("b");
    let down = || StorageError::http(503);
    let cases = [
        (
            Event::BackendDown { name: a(), cause: down(), code: "HTTP_503" },
            Level::WARN,
            format!("cause={} code=HTTP_503 message=a backend is down name=a", down()),
        ),
        (
            Event::BackendRecovered { name: a(), down_for: ms(1_500) },
            Level::INFO,
            "down_for=1.5s message=a backend is up again name=a".into(),
        ),
        (
            Event::Failover { from: a(), to: b(), attempt_index: 3, cause: down() },
            Level::INFO,
            format!(
                "attempt_index=3 cause={} from=a message=a call moved on to the next backend to=b",
                down()
            ),
        ),
        (
            Event::FanoutPartial {
                mode: MuxMode::Mirror,
                failed: vec![a(), b()],
                causes: vec![down(), StorageError::unsupported()],
            },
            Level::WARN,
            format!(
                "causes={}, {} failed=a, b message=some backends lack a write mode=mirror",
                down(),
                StorageError::unsupported()
            ),
        ),
        (
            Event::DrainStarted { name: a(), in_flight: 2 },
            Level::INFO,
            "in_flight=2 message=a backend takes no new calls name=a".into(),
        ),
        (
            Event::DrainCompleted { name: a(), duration: ms(20) },
            Level::INFO,
            "duration=20ms message=a backend has served its last call name=a".into(),
        ),
        (
            Event::BackendAdded { name: a(), weight: Some(2.5) },
            Level::INFO,
            "message=a backend joined name=a weight=2.5".into(),
        ),
        (
            Event::BackendAdded { name: a(), weight: None },
            Level::INFO,
            "message=a backend joined name=a".into(),
        ),
        (Event::BackendRemoved { name: a() }, Level::INFO, "message=a backend left name=a".into()),
        (
            Event::WeightChanged { name: a(), from: Some(1.0), to: 2.0 },
            Level::INFO,
            "from=1.0 message=a backend has a new weight name=a to=2.0".into(),
        ),
    ];
    for (event, level, text) in cases {
        let watch = Watch::default();
        watch.during(|| TracingSink::new().emit(&event));
        let mut events = watch.events();
        let mut seen = events.pop().expect("one event");
        assert_eq!(events, []);
        assert_eq!((seen.name, seen.target), (event.topic(), "storage_mux"));
        assert_eq!(seen.level, level, "{event:?}");
        assert_eq!(seen.fields.remove("topic").as_deref(), Some(event.topic()));
        assert_eq!(seen.text(), text);
    }
}
