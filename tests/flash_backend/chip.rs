//! A NOR chip in memory: bits only clear, sectors erase whole, words are aligned.

use std::cell::RefCell;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use embedded_storage_async::nor_flash::{
    ErrorType, MultiwriteNorFlash, NorFlash, NorFlashError, NorFlashErrorKind, ReadNorFlash,
};

pub(crate) const SECTOR: usize = 256;
pub(crate) const SECTORS: usize = 4;
pub(crate) const SIZE: usize = SECTOR * SECTORS;
const WORD: usize = 4;

/// One change of the chip, with what it held before.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    pub(crate) before: Vec<u8>,
    pub(crate) change: Change,
}

#[derive(Clone, Debug)]
pub(crate) enum Change {
    Write(usize, Vec<u8>),
    Erase(usize, usize),
}

impl Change {
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Write(_, bytes) => bytes.len(),
            Self::Erase(from, to) => to - from,
        }
    }

    /// Does the first `done` bytes of the change.
    pub(crate) fn apply(&self, cells: &mut [u8], done: usize) {
        match self {
            Self::Write(at, bytes) => {
                let cells = cells[*at..].iter_mut();
                cells.zip(&bytes[..done]).for_each(|(cell, byte)| *cell &= byte);
            }
            Self::Erase(from, _) => cells[*from..*from + done].fill(0xFF),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fault(NorFlashErrorKind);

impl NorFlashError for Fault {
    fn kind(&self) -> NorFlashErrorKind {
        self.0
    }
}

pub(crate) struct Cells {
    pub(crate) bytes: Vec<u8>,
    /// Every change so far, where they are recorded.
    pub(crate) steps: Option<Vec<Step>>,
    pub(crate) erases: usize,
    /// The chip answers with errors.
    pub(crate) broken: bool,
    /// Each change waits before it begins and in its middle.
    pub(crate) slow: bool,
    /// Each read waits before it begins.
    pub(crate) slow_reads: bool,
    /// Words take one write between erasures.
    once: bool,
    /// Reads fail from this address on.
    pub(crate) unreadable_from: Option<usize>,
}

/// A handle on the chip; clones are wired to the same cells.
#[derive(Clone)]
pub(crate) struct Nor<const S: usize = SECTOR>(pub(crate) Rc<RefCell<Cells>>);

/// The same on which a word can be written once.
#[derive(Clone)]
pub(crate) struct Once(pub(crate) Nor);

impl Nor {
    pub(crate) fn new() -> Self {
        Self::of(vec![0xFF; SIZE])
    }

    pub(crate) fn of(bytes: Vec<u8>) -> Self {
        Self::sized(bytes)
    }
}

impl<const S: usize> Nor<S> {
    /// A chip whose sectors have another size.
    pub(crate) fn sized(bytes: Vec<u8>) -> Self {
        Self(Rc::new(RefCell::new(Cells {
            bytes,
            steps: None,
            erases: 0,
            broken: false,
            slow: false,
            slow_reads: false,
            once: false,
            unreadable_from: None,
        })))
    }

    pub(crate) fn image(&self) -> Vec<u8> {
        self.0.borrow().bytes.clone()
    }

    fn check(&self, at: u32, len: usize, unit: usize) -> Result<usize, Fault> {
        let at = at as usize;
        if self.0.borrow().broken {
            return Err(Fault(NorFlashErrorKind::Other));
        }
        if !at.is_multiple_of(unit) || !len.is_multiple_of(unit) || len == 0 {
            return Err(Fault(NorFlashErrorKind::NotAligned));
        }
        if at + len > self.0.borrow().bytes.len() {
            return Err(Fault(NorFlashErrorKind::OutOfBounds));
        }
        Ok(at)
    }

    async fn change(&self, change: Change) {
        let slow = {
            let mut cells = self.0.borrow_mut();
            let before = cells.bytes.clone();
            if let Some(steps) = &mut cells.steps {
                steps.push(Step { before, change: change.clone() });
            }
            cells.slow
        };
        if slow {
            pause().await;
            change.apply(&mut self.0.borrow_mut().bytes, change.len() / 2);
            pause().await;
        }
        change.apply(&mut self.0.borrow_mut().bytes, change.len());
    }
}

impl Once {
    pub(crate) fn of(bytes: Vec<u8>) -> Self {
        let nor = Nor::of(bytes);
        nor.0.borrow_mut().once = true;
        Self(nor)
    }
}

impl<const S: usize> ErrorType for Nor<S> {
    type Error = Fault;
}

impl<const S: usize> ReadNorFlash for Nor<S> {
    const READ_SIZE: usize = 1;

    async fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), Fault> {
        let at = self.check(offset, bytes.len(), Self::READ_SIZE)?;
        if self.0.borrow().slow_reads {
            pause().await;
        }
        let cells = self.0.borrow();
        if cells.unreadable_from.is_some_and(|from| at >= from) {
            return Err(Fault(NorFlashErrorKind::Other));
        }
        bytes.copy_from_slice(&cells.bytes[at..at + bytes.len()]);
        Ok(())
    }

    fn capacity(&self) -> usize {
        self.0.borrow().bytes.len()
    }
}

impl<const S: usize> NorFlash for Nor<S> {
    const WRITE_SIZE: usize = WORD;
    const ERASE_SIZE: usize = S;

    async fn erase(&mut self, from: u32, to: u32) -> Result<(), Fault> {
        let len = (to as usize).saturating_sub(from as usize);
        let from = self.check(from, len, S)?;
        self.0.borrow_mut().erases += 1;
        self.change(Change::Erase(from, from + len)).await;
        Ok(())
    }

    async fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), Fault> {
        let at = self.check(offset, bytes.len(), WORD)?;
        assert_eq!(bytes.as_ptr().align_offset(4), 0, "some chips take aligned buffers alone");
        {
            let cells = self.0.borrow();
            let old = &cells.bytes[at..at + bytes.len()];
            let sets = old.iter().zip(bytes).any(|(old, new)| old & new != *new);
            assert!(!sets, "a write to {at} would set bits");
            assert!(!cells.once || old.iter().all(|byte| *byte == 0xFF), "{at} is written again");
        }
        self.change(Change::Write(at, bytes.into())).await;
        Ok(())
    }
}

impl<const S: usize> MultiwriteNorFlash for Nor<S> {}

impl ErrorType for Once {
    type Error = Fault;
}

impl ReadNorFlash for Once {
    const READ_SIZE: usize = 1;

    async fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), Fault> {
        self.0.read(offset, bytes).await
    }

    fn capacity(&self) -> usize {
        SIZE
    }
}

impl NorFlash for Once {
    const WRITE_SIZE: usize = WORD;
    const ERASE_SIZE: usize = SECTOR;

    async fn erase(&mut self, from: u32, to: u32) -> Result<(), Fault> {
        self.0.erase(from, to).await
    }

    async fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), Fault> {
        self.0.write(offset, bytes).await
    }
}

/// Is pending once, and ready to be polled again.
fn pause() -> impl Future<Output = ()> {
    struct Pause(bool);

    impl Future for Pause {
        type Output = ();

        fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
            if self.0 {
                return Poll::Ready(());
            }
            self.0 = true;
            cx.waker().wake_by_ref();
            Poll::Pending
        }
    }
    Pause(false)
}
