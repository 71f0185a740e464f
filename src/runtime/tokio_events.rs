//! The events of a mux on a tokio broadcast channel.

use ::tokio::sync::broadcast;

use crate::port::{Event, EventSink};

/// More slots than this would only hide that nobody reads.
const CAPACITY_MAX: usize = 1 << 16;

/// Hands the events of a mux to any number of tokio tasks. Clones share the channel.
///
/// The channel is bounded and never waits: the mux is as fast with a reader that sleeps as without
/// one. A reader that falls behind loses the oldest events, and is told how many: its next `recv`
/// gives `Lagged` with the count. While nobody reads, events are not even copied.
///
/// ```
/// use storage_mux::runtime::tokio::{TokioBroadcast, TokioClock};
/// use storage_mux::{Backend, MemoryStorage, SeededRng, StorageMux};
///
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let events = TokioBroadcast::new(64);
/// let mut reader = events.subscribe();
/// let mux = StorageMux::builder(TokioClock::new(), SeededRng::new(1))
///     .backend(Backend::new("primary", MemoryStorage::new()))
///     .event_sink(events.clone())
///     .build()?;
/// mux.add_backend(Backend::new("second", MemoryStorage::new()))?;
/// assert_eq!(reader.recv().await?.topic(), "storage-mux.backend.added");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct TokioBroadcast(broadcast::Sender<Event>);

impl TokioBroadcast {
    /// A channel that holds the last `capacity` events, rounded up to a power of two.
    ///
    /// A capacity outside 1 to 65 536 is brought within; the memory is taken at once.
    #[must_use]
    pub fn new(capacity: usize) -> Self {
        Self(broadcast::Sender::new(capacity.clamp(1, CAPACITY_MAX)))
    }

    /// A reader of all events from now on. It ends, with `Closed`, when the last sender is gone:
    /// the mux and the clones of this.
    #[must_use]
    pub fn subscribe(&self) -> broadcast::Receiver<Event> {
        self.0.subscribe()
    }
}

/// A channel that exists already, of whatever capacity.
impl From<broadcast::Sender<Event>> for TokioBroadcast {
    fn from(sender: broadcast::Sender<Event>) -> Self {
        Self(sender)
    }
}

impl EventSink for TokioBroadcast {
    fn emit(&self, event: &Event) {
        if self.0.receiver_count() > 0 {
            // The last reader may have left meanwhile; then the event is nobody's.
            let _ = self.0.send(event.clone());
        }
    }
}
