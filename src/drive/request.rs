//! The operations as values: what a driver sends to one backend, and possibly to the next.

use core::future::{Future, poll_fn};
use core::ops::Range;
use core::pin::Pin;

use bytes::Bytes;
use futures_core::Stream;
use futures_sink::Sink;

use crate::error::StorageError;
use crate::port::{
    Condition, LocalStorage, Metadata, OpContext, Operation, Page, PageRequest, Written,
};

/// One operation with its arguments. It can be sent any number of times.
pub(crate) trait Request<S: LocalStorage> {
    /// What a backend answers.
    type Answer;
    /// Which operation it is.
    const OPERATION: Operation;

    /// Whether the answer is a stream, which goes on with the context of the try.
    const OPENS_STREAM: bool =
        matches!(Self::OPERATION, Operation::GetStream | Operation::SetStream);

    /// The key, where the operation has one.
    fn key(&self) -> Option<&str>;

    /// Whether the answer of one backend settles the matter where others could know better.
    fn is_conclusive(_: &Self::Answer) -> bool {
        true
    }

    /// Asks one backend once.
    fn send(
        &self,
        storage: &S,
        cx: &OpContext,
    ) -> impl Future<Output = Result<Self::Answer, StorageError>>;
}

/// Declares a request: its name, its fields, and the storage method that it stands for.
macro_rules! request {
    ($name:ident { $($field:ident: $type:ty),* }, $answer:ty, |$this:ident, $storage:ident, $cx:ident| $call:expr) => {
        pub(crate) struct $name<'a> {
            pub(crate) key: &'a str,
            $(pub(crate) $field: $type,)*
        }

        impl<S: LocalStorage> Request<S> for $name<'_> {
            type Answer = $answer;
            const OPERATION: Operation = Operation::$name;

            fn key(&self) -> Option<&str> {
                Some(self.key)
            }

            fn send(
                &self,
                $storage: &S,
                $cx: &OpContext,
            ) -> impl Future<Output = Result<Self::Answer, StorageError>> {
                let $this = self;
                $call
            }
        }
    };
}

request!(Get {}, Bytes, |this, storage, cx| storage.get(this.key, cx));
request!(Set { value: Bytes }, Written, |this, storage, cx| {
    storage.set(this.key, this.value.clone(), cx)
});
request!(SetPartial { offset: u64, bytes: Bytes }, (), |this, storage, cx| {
    storage.set_partial(this.key, this.offset, this.bytes.clone(), cx)
});
request!(Delete {}, (), |this, storage, cx| storage.delete(this.key, cx));
request!(Stat {}, Metadata, |this, storage, cx| storage.stat(this.key, cx));
request!(GetRange { range: Range<u64> }, Bytes, |this, storage, cx| {
    storage.get_range(this.key, this.range.clone(), cx)
});
request!(SetIf { value: Bytes, condition: Condition }, Written, |this, storage, cx| {
    storage.set_if(this.key, this.value.clone(), this.condition.clone(), cx)
});
request!(GetStream {}, OpenReader<S::Reader>, |this, storage, cx| open_reader(
    storage, this.key, cx
));
request!(SetStream {}, S::Writer, |this, storage, cx| open_writer(storage, this.key, cx));

/// Whether a key has a value. A "no" is worth no more than a "key not found".
pub(crate) struct Has<'a> {
    pub(crate) key: &'a str,
}

impl<S: LocalStorage> Request<S> for Has<'_> {
    type Answer = bool;
    const OPERATION: Operation = Operation::Has;

    fn key(&self) -> Option<&str> {
        Some(self.key)
    }

    fn is_conclusive(found: &bool) -> bool {
        *found
    }

    fn send(
        &self,
        storage: &S,
        cx: &OpContext,
    ) -> impl Future<Output = Result<bool, StorageError>> {
        storage.has(self.key, cx)
    }
}

/// A page of a listing. It has no key: a prefix names none.
pub(crate) struct List<'a, 'p> {
    pub(crate) prefix: &'a str,
    pub(crate) page: &'p PageRequest,
}

impl<S: LocalStorage> Request<S> for List<'_, '_> {
    type Answer = Page;
    const OPERATION: Operation = Operation::List;

    fn key(&self) -> Option<&str> {
        None
    }

    fn send(
        &self,
        storage: &S,
        cx: &OpContext,
    ) -> impl Future<Output = Result<Page, StorageError>> {
        storage.list(self.prefix, self.page, cx)
    }
}

/// A read stream whose first chunk has arrived, or whose end has.
pub(crate) struct OpenReader<R> {
    pub(crate) reader: R,
    pub(crate) first: Option<Bytes>,
}

/// Opens a read stream and waits for its first chunk, so that everything that goes wrong up to
/// there can still be made good by another backend.
async fn open_reader<S: LocalStorage>(
    storage: &S,
    key: &str,
    cx: &OpContext,
) -> Result<OpenReader<S::Reader>, StorageError> {
    let mut reader = storage.get_stream(key, cx).await?;
    let first = poll_fn(|task| Pin::new(&mut reader).poll_next(task)).await.transpose()?;
    Ok(OpenReader { reader, first })
}

/// Opens a write stream and waits until it takes its first chunk, for the same reason.
async fn open_writer<S: LocalStorage>(
    storage: &S,
    key: &str,
    cx: &OpContext,
) -> Result<S::Writer, StorageError> {
    let mut writer = storage.set_stream(key, cx).await?;
    poll_fn(|task| Pin::new(&mut writer).poll_ready(task)).await?;
    Ok(writer)
}
