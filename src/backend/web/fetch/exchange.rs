//! A request and its answer.

use alloc::string::String;

use bytes::Bytes;
use js_sys::{Promise, Uint8Array};
use wasm_bindgen::JsCast;
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};
use web_sys::{AbortController, Headers, ReadableStream, RequestCache, RequestInit, Response};

use super::{Settings, head};
use crate::backend::web::bytes::{from_host, to_host};
use crate::backend::web::faults;
use crate::error::{NetworkFault, StorageError};
use crate::runtime::wasm::JsFuture;

#[wasm_bindgen]
extern "C" {
    /// The `fetch` of a window, a worker or Node.
    #[wasm_bindgen(catch)]
    fn fetch(address: &str, init: &RequestInit) -> Result<Promise, JsValue>;
}

/// A request.
pub(super) struct Request<'a> {
    pub(super) method: &'static str,
    pub(super) address: &'a str,
    /// A header of this request alone.
    pub(super) header: Option<(&'static str, &'a str)>,
    pub(super) body: Option<&'a [u8]>,
}

/// An answer, its body unread. Dropped before that is read, the request is aborted.
pub(super) struct Exchange {
    response: Response,
    _request: Aborting,
}

/// Aborts a request when it is dropped. Where the answer is all there this changes nothing.
struct Aborting(AbortController);

impl Drop for Aborting {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Exchange {
    /// Sends a request and waits for the head of the answer, whatever it says.
    pub(super) async fn begin(
        settings: &Settings,
        request: Request<'_>,
    ) -> Result<Self, StorageError> {
        let aborting = Aborting(AbortController::new().map_err(|_| faults::unreachable())?);
        let init = init(settings, &request)?;
        init.set_signal(Some(&aborting.0.signal()));
        let answer = fetch(request.address, &init).map_err(|_| faults::unreachable())?;
        let response = JsFuture::from(answer).await.map_err(|_| faults::unreachable())?;
        Ok(Self { response: response.unchecked_into(), _request: aborting })
    }

    pub(super) fn status(&self) -> u16 {
        self.response.status()
    }

    /// A header of the answer, where there is one and the page may see it.
    pub(super) fn header(&self, name: &str) -> Option<String> {
        self.response.headers().get(name).ok().flatten()
    }

    /// The answer to a read, if it is one.
    pub(super) fn found(self) -> Result<Self, StorageError> {
        match self.status() {
            404 | 410 => Err(StorageError::key_not_found()),
            _ => self.accepted(),
        }
    }

    /// The answer to a read of the whole, if it is one.
    pub(super) fn whole(self) -> Result<Self, StorageError> {
        let answer = self.found()?;
        if answer.status() == 206 {
            return Err(StorageError::network(NetworkFault::Other)
                .with_detail("the server sent a part where the whole value was asked for"));
        }
        Ok(answer)
    }

    /// The answer, unless it is a refusal.
    pub(super) fn accepted(self) -> Result<Self, StorageError> {
        if self.response.ok() { Ok(self) } else { Err(head::refusal(&self)) }
    }

    /// The whole body.
    pub(super) async fn bytes(self) -> Result<Bytes, StorageError> {
        let body = self.response.array_buffer().map_err(cut_off)?;
        let body = JsFuture::from(body).await.map_err(cut_off)?;
        from_host(&Uint8Array::new(&body))
    }

    /// The body as a stream of the host; none where the answer has none.
    pub(super) fn body(&self) -> Option<ReadableStream> {
        self.response.body()
    }
}

fn init(settings: &Settings, request: &Request<'_>) -> Result<RequestInit, StorageError> {
    let headers = Headers::new().map_err(|_| faults::unreachable())?;
    for (name, value) in &settings.headers {
        headers.append(name, value).map_err(|_| faults::illegal_header())?;
    }
    if let Some((name, value)) = request.header {
        headers.set(name, value).map_err(|_| faults::illegal_header())?;
    }
    let init = RequestInit::new();
    init.set_method(request.method);
    init.set_headers(&headers);
    init.set_cache(RequestCache::NoStore);
    init.set_credentials(settings.credentials);
    if let Some(body) = request.body {
        let body = to_host(body)?;
        init.set_body(&body);
    }
    Ok(init)
}

fn cut_off(thrown: JsValue) -> StorageError {
    faults::broken(&thrown)
}
