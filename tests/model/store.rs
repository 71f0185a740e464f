//! The model of a store: what it holds, what goes wrong next, and what it was asked.
//!
//! What it answers is clause P-7; when and whether it answers is the script that the test wrote.

use std::collections::{BTreeMap, VecDeque};

use bytes::Bytes;
use storage_mux::Operation;

use crate::action::{If, MILLI, Request, Trouble};
use crate::fail::{ABORTED, Answer, Blob, Fail, NOT_FOUND};

/// The longest chunk of a read stream.
const CHUNK: usize = 64 * 1024;

#[derive(Default)]
pub(crate) struct Store {
    /// Values with the number of the write that made them.
    pub(crate) values: BTreeMap<String, (Bytes, u64)>,
    writes: u64,
    pub(crate) next: VecDeque<Trouble>,
    pub(crate) always: Option<Trouble>,
    pub(crate) streams: VecDeque<(usize, Trouble)>,
    pub(crate) log: Vec<(Operation, String)>,
    /// Timers that it made.
    pub(crate) timers: u64,
}

/// What a store gives.
pub(crate) enum Reply {
    Answer(Answer),
    /// A read stream with its first chunk, or none where it has ended already.
    Reader(Option<Bytes>, ReadSide),
    Writer(WriteSide),
}

impl Store {
    pub(crate) fn put(&mut self, key: &str, value: Bytes) -> String {
        self.writes += 1;
        self.values.insert(key.into(), (value, self.writes));
        self.writes.to_string()
    }

    fn value(&self, key: &str) -> Result<&(Bytes, u64), Fail> {
        self.values.get(key).ok_or(NOT_FOUND)
    }

    fn page(&self, prefix: &str, after: Option<&str>, limit: usize) -> Answer {
        let found = self.values.iter().filter(|(key, _)| {
            key.starts_with(prefix) && after.is_none_or(|after| key.as_str() > after)
        });
        let mut lines: Vec<_> = found
            .map(|(key, (value, version))| {
                (key.clone(), value.len() as u64, Some(version.to_string()))
            })
            .collect();
        let more = lines.len() > limit;
        lines.truncate(limit);
        let next = lines.last().filter(|_| more).map(|(key, ..)| key.clone());
        Answer::Page(lines, next)
    }

    /// What becomes of a request that has come in, streams apart.
    fn answer(&mut self, request: &Request) -> Result<Answer, Fail> {
        Ok(match *request {
            Request::Get(key) => Answer::Bytes(Blob(self.value(key)?.0.clone())),
            Request::Set(key, value) => Answer::Written(Some(self.put(key, value.bytes()))),
            Request::SetPartial(key, offset, value) => {
                let bytes = value.bytes();
                let mut whole = self.values.get(key).map_or(Vec::new(), |(old, _)| old.to_vec());
                let (start, end) = (offset as usize, offset as usize + bytes.len());
                if !bytes.is_empty() {
                    whole.resize(whole.len().max(end), 0);
                    whole[start..end].copy_from_slice(&bytes);
                }
                self.put(key, whole.into());
                Answer::Done
            }
            Request::Has(key) => Answer::Found(self.values.contains_key(key)),
            Request::Delete(key) => {
                self.values.remove(key);
                Answer::Done
            }
            Request::List(prefix, after, limit) => self.page(prefix, after, limit),
            Request::Stat(key) => {
                let (value, version) = self.value(key)?;
                Answer::Meta(value.len() as u64, Some(version.to_string()))
            }
            Request::GetRange(key, start, end) => {
                let (value, _) = self.value(key)?;
                let (start, end) = (start as usize, (end as usize).min(value.len()));
                if start >= value.len() {
                    return Err(Fail::Http(416, None));
                }
                Answer::Bytes(Blob(value.slice(start..end.max(start))))
            }
            Request::SetIf(key, value, condition) => {
                let version = self.values.get(key).map(|(_, version)| *version);
                let holds = match condition {
                    If::Absent => version.is_none(),
                    If::Version(wanted) => version == Some(wanted),
                };
                if !holds {
                    return Err(Fail::Http(412, None));
                }
                Answer::Written(Some(self.put(key, value.bytes())))
            }
            Request::GetStream(key) => self.value(key).map(|_| Answer::Opened)?,
            Request::SetStream(_) => Answer::Opened,
        })
    }

    fn serve(&mut self, request: &Request, aborted: bool) -> Result<Answer, Fail> {
        if aborted {
            return Err(ABORTED);
        }
        self.answer(request)
    }
}

/// A trouble on its way, and the timer that it has set.
pub(crate) struct Gate {
    trouble: Trouble,
    until: Option<u64>,
}

impl Gate {
    const fn new(trouble: Trouble) -> Self {
        Self { trouble, until: None }
    }

    /// Through, or the error that takes the place of the answer. `None` while it waits.
    fn poll(&mut self, now: u64, timers: &mut u64) -> Option<Result<(), Fail>> {
        let (wait, end) = match &self.trouble {
            Trouble::None | Trouble::LoseAnswer(_) => return Some(Ok(())),
            Trouble::Fail(wrong) => return Some(Err(wrong.fail())),
            Trouble::Hang => return None,
            Trouble::Delay(wait) => (*wait, Ok(())),
            Trouble::DelayThenFail(wait, wrong) => (*wait, Err(wrong.fail())),
        };
        let until = *self.until.get_or_insert_with(|| {
            *timers += 1;
            now.saturating_add(wait * MILLI)
        });
        let over = until < u64::MAX && now >= until;
        over.then(|| {
            self.trouble = Trouble::None;
            self.until = None;
            end
        })
    }

    pub(crate) const fn waiting(&self) -> usize {
        self.until.is_some() as usize
    }
}

/// A request that a store works on.
pub(crate) struct Work {
    gate: Gate,
    open: Option<Result<ReadSide, WriteSide>>,
}

impl Work {
    /// A request comes in: it is written down, and meets whatever is scheduled.
    pub(crate) fn start(store: &mut Store, operation: Operation, key: &str) -> Self {
        store.log.push((operation, key.into()));
        let scheduled = store.next.pop_front().or_else(|| store.always.clone());
        Self { gate: Gate::new(scheduled.unwrap_or(Trouble::None)), open: None }
    }

    /// Timers that it waits for.
    pub(crate) fn waiting(&self) -> usize {
        self.gate.waiting()
            + match &self.open {
                Some(Ok(reader)) => reader.turn.waiting(),
                Some(Err(writer)) => writer.turn.waiting(),
                None => 0,
            }
    }

    /// The reply, once there is one. A stream is a reply once it has its first chunk, or takes it.
    pub(crate) fn poll(
        &mut self,
        store: &mut Store,
        request: &Request,
        now: u64,
        aborted: bool,
    ) -> Option<Result<Reply, Fail>> {
        if self.open.is_none() {
            if let Err(fail) = self.gate.poll(now, &mut store.timers)? {
                return Some(Err(fail));
            }
            let served =
                store.serve(request, aborted).and_then(|answer| match &self.gate.trouble {
                    Trouble::LoseAnswer(wrong) => Err(wrong.fail()),
                    _ => Ok(answer),
                });
            let answer = match served {
                Ok(answer) => answer,
                Err(fail) => return Some(Err(fail)),
            };
            let mut turn = || Turn(store.streams.pop_front().map(|(n, t)| (n, Gate::new(t))));
            self.open = Some(match *request {
                Request::GetStream(key) => Ok(ReadSide {
                    turn: turn(),
                    rest: store.values.get(key).map(|(value, _)| value.clone()).unwrap_or_default(),
                    broken: false,
                }),
                Request::SetStream(key) => {
                    Err(WriteSide { turn: turn(), key: key.into(), chunks: Vec::new() })
                }
                _ => return Some(Ok(Reply::Answer(answer))),
            });
        }
        let step = match self.open.as_mut()? {
            Ok(reader) => reader.next(now, &mut store.timers)?,
            Err(writer) => writer.turn.poll(now, &mut store.timers)?.map(|()| None),
        };
        Some(step.and_then(|first| match self.open.take() {
            Some(Ok(reader)) => Ok(Reply::Reader(first, reader)),
            Some(Err(writer)) => Ok(Reply::Writer(writer)),
            None => Err(NOT_FOUND),
        }))
    }
}

/// What is scheduled for a stream, after so many chunks.
pub(crate) struct Turn(Option<(usize, Gate)>);

impl Turn {
    fn poll(&mut self, now: u64, timers: &mut u64) -> Option<Result<(), Fail>> {
        let Some((0, gate)) = &mut self.0 else { return Some(Ok(())) };
        let through = gate.poll(now, timers)?;
        if !matches!(gate.trouble, Trouble::LoseAnswer(_)) {
            self.0 = None;
        }
        Some(through)
    }

    fn passed(&mut self) {
        if let Some((after, _)) = &mut self.0 {
            *after = after.saturating_sub(1);
        }
    }

    fn lost(&self) -> Result<(), Fail> {
        match &self.0 {
            Some((0, Gate { trouble: Trouble::LoseAnswer(wrong), .. })) => Err(wrong.fail()),
            _ => Ok(()),
        }
    }

    pub(crate) fn waiting(&self) -> usize {
        self.0.as_ref().map_or(0, |(_, gate)| gate.waiting())
    }
}

/// A store's end of a read stream.
pub(crate) struct ReadSide {
    pub(crate) turn: Turn,
    rest: Bytes,
    broken: bool,
}

impl ReadSide {
    /// The stream is over, and with it whatever it waited for.
    pub(crate) fn drop_timer(&mut self) {
        self.turn = Turn(None);
    }

    pub(crate) fn next(
        &mut self,
        now: u64,
        timers: &mut u64,
    ) -> Option<Result<Option<Bytes>, Fail>> {
        if self.broken {
            return Some(Ok(None));
        }
        let turn = self.turn.poll(now, timers)?.and_then(|()| self.turn.lost());
        if let Err(fail) = turn {
            self.broken = true;
            return Some(Err(fail));
        }
        let size = self.rest.len().min(CHUNK);
        let chunk = (size > 0).then(|| self.rest.split_to(size));
        self.turn.passed();
        Some(Ok(chunk))
    }
}

/// A store's end of a write stream.
pub(crate) struct WriteSide {
    pub(crate) turn: Turn,
    key: String,
    chunks: Vec<Bytes>,
}

impl WriteSide {
    pub(crate) fn ready(&mut self, now: u64, timers: &mut u64) -> Option<Result<(), Fail>> {
        self.turn.poll(now, timers)
    }

    pub(crate) fn send(&mut self, chunk: Bytes) {
        self.turn.passed();
        self.chunks.push(chunk);
    }

    /// The value stands once this is through, even where the answer to that is lost.
    pub(crate) fn close(&mut self, store: &mut Store, now: u64) -> Option<Result<(), Fail>> {
        let through = self.turn.poll(now, &mut store.timers)?;
        Some(through.and_then(|()| {
            store.put(&self.key, self.chunks.concat().into());
            self.turn.lost()
        }))
    }
}
