//! The connection to a database: opened by whoever needs it first, and again once it was lost.

use alloc::rc::{Rc, Weak};
use alloc::string::String;
use core::cell::RefCell;

use js_sys::Promise;
use wasm_bindgen::closure::Closure;
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{IdbDatabase, IdbFactory, IdbOpenDbRequest};

use super::transaction::{STORES, settled};
use crate::backend::web::faults;
use crate::error::StorageError;
use crate::runtime::wasm::{JsFuture, future_to_promise};

/// The version of the layout of the database.
const LAYOUT: u32 = 1;

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(thread_local_v2, js_name = indexedDB)]
    static INDEXED_DB: Option<IdbFactory>;
}

pub(super) struct Database {
    name: String,
    state: Rc<RefCell<State>>,
}

enum State {
    Closed,
    /// Under way, for all who wait. It goes on when they do not.
    Opening(Promise),
    Open(Connection),
}

impl Database {
    pub(super) fn new(name: String) -> Self {
        Self { name, state: Rc::new(RefCell::new(State::Closed)) }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn close(&self) {
        // Taken out first: nothing of the host runs while the cell is borrowed.
        drop(self.state.replace(State::Closed));
    }

    pub(super) async fn connection(&self) -> Result<IdbDatabase, StorageError> {
        if let State::Open(connection) = &*self.state.borrow() {
            return Ok(connection.database.clone());
        }
        let opened = JsFuture::from(self.opening()?).await;
        opened.map(JsCast::unchecked_into).map_err(|thrown| faults::database(&thrown))
    }

    /// The opening under way, begun where there is none.
    fn opening(&self) -> Result<Promise, StorageError> {
        if let State::Opening(opening) = &*self.state.borrow() {
            return Ok(opening.clone());
        }
        let factory = INDEXED_DB
            .with(Clone::clone)
            .ok_or_else(|| StorageError::unsupported().with_detail("this host has no IndexedDB"))?;
        let request = factory.open_with_u32(&self.name, LAYOUT);
        let request = request.map_err(|thrown| faults::database(&thrown))?;
        let opening = future_to_promise(open(request, Rc::downgrade(&self.state)));
        self.state.replace(State::Opening(opening.clone()));
        Ok(opening)
    }
}

/// Waits for a database to be open, and hands it over.
async fn open(request: IdbOpenDbRequest, state: Weak<RefCell<State>>) -> Result<JsValue, JsValue> {
    let fresh = request.clone();
    let layout = Closure::once(move || lay_out(&fresh));
    request.set_onupgradeneeded(Some(layout.as_ref().unchecked_ref()));
    let opened = settled(&request).await.and_then(|()| request.result());
    let database = opened.as_ref().ok().map(|opened| opened.clone().unchecked_into());
    let connection = database.map(|database| Connection::new(database, &state));
    // Without anyone left who wants it the connection is dropped, and so closed.
    if let Some(state) = state.upgrade() {
        drop(state.replace(connection.map_or(State::Closed, State::Open)));
    }
    opened
}

/// Makes the object stores of a new database.
fn lay_out(request: &IdbOpenDbRequest) -> Result<(), JsValue> {
    let database: IdbDatabase = request.result()?.unchecked_into();
    for store in STORES {
        database.create_object_store(store)?;
    }
    Ok(())
}

/// An open connection. Dropping it closes it; transactions under way still end.
struct Connection {
    database: IdbDatabase,
    _lost: Closure<dyn FnMut()>,
}

impl Connection {
    fn new(database: IdbDatabase, state: &Weak<RefCell<State>>) -> Self {
        let state = state.clone();
        let lost = Closure::<dyn FnMut()>::new(move || {
            if let Some(state) = state.upgrade() {
                drop(state.replace(State::Closed));
            }
        });
        // Another tab waits for us to let go, or the browser has let go for us.
        database.set_onversionchange(Some(lost.as_ref().unchecked_ref()));
        database.set_onclose(Some(lost.as_ref().unchecked_ref()));
        Self { database, _lost: lost }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.database.set_onversionchange(None);
        self.database.set_onclose(None);
        self.database.close();
    }
}
