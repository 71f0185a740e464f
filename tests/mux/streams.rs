//! Streams: fixed to a backend at the first chunk, in flight until they end, broken out loud.

use bytes::Bytes;
use futures_util::{SinkExt, StreamExt, join};
use storage_mux::sim::{Fault, StreamFault};
use storage_mux::{AbortController, BackendStatus, Clock, MuxCode, OpContext, StorageError};

use crate::support::{World, ms, plain};

fn broken() -> Fault {
    Fault::Fail(StorageError::http(500))
}

fn text(chunks: Vec<Result<Bytes, StorageError>>) -> Result<String, StorageError> {
    let chunks = chunks.into_iter().collect::<Result<Vec<_>, _>>()?;
    Ok(String::from_utf8_lossy(&chunks.concat()).into_owned())
}

/// Spec: SM-1
#[test]
fn a_read_stream_falls_through_until_its_first_chunk_has_come() {
    for fault_at_open in [true, false] {
        let world = World::new(2, plain());
        world.put_all("k", "value");
        if fault_at_open {
            world.stores[0].push(broken());
        } else {
            world.stores[0].push_stream(StreamFault::new(0, broken()));
        }
        let read = world.run(async { text(world.mux.get_stream("k").await?.collect().await) });
        assert_eq!(read.as_deref(), Ok("value"));
        assert_eq!(world.calls(), [1, 1]);
        assert_eq!((world.backend(0).errors, world.backend(1).hits), (1, 1));
        world.assert_at_rest();
    }
}

/// Case ST-01, ST-06. Spec: SM-1, SM-5
#[test]
fn a_read_stream_that_breaks_after_its_first_chunk_gives_one_error_and_then_ends() {
    let world = World::new(2, plain());
    world.put_all("k", "value");
    world.stores[0].push_stream(StreamFault::new(1, broken()));
    world.run(async {
        let mut stream = world.mux.get_stream("k").await.expect("open");
        assert_eq!(stream.next().await, Some(Ok("value".into())));
        assert_eq!(stream.next().await, Some(Err(StorageError::http(500))));
        for _ in 0..10 {
            assert_eq!(stream.next().await, None);
        }
    });
    assert_eq!(world.calls(), [1, 0]);
    let backend = world.backend(0);
    assert_eq!((backend.status, backend.errors, backend.hits), (BackendStatus::Down, 1, 0));
    world.assert_at_rest();
}

/// Case ST-07. Spec: SM-5
#[test]
fn a_backend_that_has_ended_its_stream_is_not_polled_again() {
    let world = World::new(1, plain());
    world.put(0, "k", "");
    // What would come of a second poll after the end.
    world.stores[0].push_stream(StreamFault::new(1, broken()));
    let read = world.run(async { text(world.mux.get_stream("k").await?.collect().await) });
    assert_eq!(read.as_deref(), Ok(""));
    assert_eq!((world.backend(0).hits, world.backend(0).errors), (1, 0));
    world.assert_at_rest();
}

/// Case TC-04. Spec: SM-3
#[test]
fn the_timeout_of_a_stream_is_between_chunks_and_not_over_the_whole() {
    let world = World::new(1, plain());
    let value: &'static str = Box::leak("x".repeat(640 * 1024).into_boxed_str());
    world.put(0, "k", value);
    // Each wait below the timeout, their sum above it.
    world.run(async {
        let mut stream = world.mux.get_stream("k").await.expect("open");
        let mut read = 0;
        while let Some(chunk) = stream.next().await {
            read += chunk.expect("whole").len();
            world.clock.sleep(ms(900)).await;
        }
        assert_eq!(read, value.len());
    });
    assert!(world.now_ms() >= 1_800);

    world.stores[0].push_stream(StreamFault::new(3, Fault::Hang));
    let (start, mut chunks) = (world.now_ms(), 0);
    let error = world.run(async {
        let mut stream = world.mux.get_stream("k").await.expect("open");
        loop {
            match stream.next().await.expect("an error before the end") {
                Ok(_) => chunks += 1,
                Err(error) => break error,
            }
        }
    });
    assert!(error.is_mux(MuxCode::BackendTimeout), "{error}");
    assert_eq!((chunks, world.now_ms() - start), (3, 1_000));
    assert_eq!(world.backend(0).timeouts, 1);
    world.assert_at_rest();
}

/// Case ST-03. Spec: SM-4
#[test]
fn a_stream_is_in_flight_until_it_ends_or_is_dropped() {
    let world = World::new(1, plain());
    world.put(0, "k", "value");
    let mut stream = world.run(world.mux.get_stream("k")).expect("open");
    assert_eq!(world.backend(0).in_flight, 1);
    world.run(stream.next());
    assert_eq!(world.backend(0).in_flight, 1);
    assert_eq!(world.run(stream.next()), None);
    assert_eq!((world.backend(0).in_flight, world.backend(0).hits), (0, 1));

    let stream = world.run(world.mux.get_stream("k")).expect("open");
    assert_eq!(world.backend(0).in_flight, 1);
    drop(stream);
    assert_eq!((world.backend(0).in_flight, world.backend(0).cancelled), (0, 1));

    let sink = world.run(world.mux.set_stream("k")).expect("open");
    assert_eq!(world.backend(0).in_flight, 1);
    drop(sink);
    assert_eq!((world.backend(0).in_flight, world.backend(0).cancelled), (0, 2));
    assert_eq!(world.peek(0, "k").as_deref(), Some("value"), "a dropped sink stores nothing");
    world.assert_at_rest();
}

/// Spec: SM-2
#[test]
fn a_write_stream_moves_on_before_its_first_chunk_is_taken() {
    for fault_at_open in [true, false] {
        let world = World::new(2, plain());
        if fault_at_open {
            world.stores[0].push(broken());
        } else {
            world.stores[0].push_stream(StreamFault::new(0, broken()));
        }
        world.run(async {
            let mut sink = world.mux.set_stream("k").await.expect("b opens");
            sink.send("val".into()).await.expect("b takes it");
            sink.send("ue".into()).await.expect("b takes it");
            sink.close().await.expect("b stores it");
        });
        assert_eq!((world.peek(0, "k"), world.peek(1, "k").as_deref()), (None, Some("value")));
        world.assert_at_rest();
    }
}

/// Case RT-06, PW-05. Spec: SM-2, SM-5, RC-3
#[test]
fn a_write_stream_that_breaks_after_a_chunk_was_taken_is_final_and_nothing_becomes_visible() {
    for chunks_before in [1, 2] {
        let world = World::new(2, plain().with_retry(Default::default()));
        world.stores[0].push_stream(StreamFault::new(chunks_before, broken()));
        let result = world.run(async {
            let mut sink = world.mux.set_stream("k").await.expect("a opens");
            sink.send("val".into()).await?;
            sink.send("ue".into()).await?;
            let closed = sink.close().await;
            assert_eq!(sink.close().await, closed, "a failed sink stays failed");
            closed
        });
        assert_eq!(result, Err(StorageError::http(500)));
        assert_eq!((world.peek(0, "k"), world.peek(1, "k")), (None, None));
        assert_eq!(world.calls(), [1, 0]);
        assert_eq!(world.backend(0).errors, 1);
        world.assert_at_rest();
    }
}

/// Case ST-07. Spec: SM-2, P-7
#[test]
fn an_empty_stream_is_an_empty_value() {
    let world = World::new(2, plain());
    world.run(async {
        let mut sink = world.mux.set_stream("k").await.expect("open");
        sink.close().await.expect("closed");
        sink.close().await.expect("closing twice is closing once");
        assert!(sink.send("late".into()).await.is_err());
        let read: Vec<_> = world.mux.get_stream("k").await.expect("open").collect().await;
        assert_eq!(text(read).as_deref(), Ok(""));
        assert_eq!(world.mux.get("k").await.expect("a value"), "");
    });
    world.assert_at_rest();
}

/// Spec: AB-4, SM-4
#[test]
fn an_abort_ends_an_open_stream_at_its_next_poll_and_marks_no_backend() {
    let world = World::new(1, plain());
    world.put(0, "k", "value");
    world.stores[0].keep_signals();
    let controller = AbortController::new();
    let cx = OpContext::new().with_signal(controller.signal());
    world.run(async {
        let mut stream = world.mux.with(&cx).get_stream("k").await.expect("open");
        assert!(!world.stores[0].signals()[0].is_aborted(), "the try goes on in the stream");
        controller.abort();
        let error = stream.next().await.expect("an item").expect_err("aborted");
        assert!(error.is_mux(MuxCode::BackendAborted));
        assert_eq!(stream.next().await, None);
    });
    assert_eq!((world.backend(0).cancelled, world.backend(0).consecutive_failures), (1, 0));
    world.assert_at_rest();
}

/// Spec: AB-4, SM-3
#[test]
fn an_abort_wakes_a_stream_that_waits_for_its_next_chunk() {
    let world = World::new(1, plain());
    world.put(0, "k", "value");
    world.stores[0].push_stream(StreamFault::new(1, Fault::Hang));
    let controller = AbortController::new();
    let cx = OpContext::new().with_signal(controller.signal());
    world.run(async {
        let mut stream = world.mux.with(&cx).get_stream("k").await.expect("open");
        stream.next().await.expect("the first chunk").expect("whole");
        let later = async {
            world.clock.sleep(ms(7)).await;
            controller.abort();
        };
        let (item, ()) = futures_util::future::join(stream.next(), later).await;
        assert!(item.expect("an item").expect_err("aborted").is_mux(MuxCode::BackendAborted));
    });
    assert_eq!(world.now_ms(), 7);
    world.assert_at_rest();
}

/// Spec: HE-4, SM-4
#[test]
fn a_probe_by_a_stream_is_over_with_its_first_chunk() {
    let world = World::new(2, plain());
    world.put_all("k", "value");
    world.take_down(0);
    world.clock.advance(ms(1_000));
    let stream = world.run(world.mux.get_stream("k")).expect("a answers");
    assert_eq!(world.backend(0).status, BackendStatus::Up);
    assert_eq!(world.backend(0).in_flight, 1);
    drop(stream);
    world.assert_at_rest();
}

/// Found by the simulation, seed 537. Spec: HE-2, HE-4
#[test]
fn a_stream_that_set_out_before_an_outage_neither_ends_it_nor_renews_it() {
    for breaks in [false, true] {
        let world = World::new(2, plain());
        world.put_all("k", "value");
        world.stores[0].push(Fault::Delay(ms(100)));
        world.stores[0].push(broken());
        if breaks {
            world.stores[0].push_stream(StreamFault::new(1, broken()));
        }
        let (opened, other) =
            world.run(async { join!(world.mux.get_stream("k"), world.mux.get("k")) });
        assert_eq!(other.as_deref(), Ok(&b"value"[..]), "the other fell through");
        let outage = world.backend(0);
        assert_eq!((outage.status, outage.consecutive_failures), (BackendStatus::Down, 1));

        let read = world.run(async { text(opened?.collect().await) });
        assert_eq!(read.is_err(), breaks);
        let after = world.backend(0);
        assert_eq!((after.status, after.consecutive_failures), (BackendStatus::Down, 1));
        assert_eq!(after.cooldown_until, outage.cooldown_until);
        assert_eq!(world.topics(), ["storage-mux.backend.down", "storage-mux.failover"]);
        world.assert_at_rest();
    }
}
