//! What `outward` takes of `object_store`, in version 0.13.

use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;

pub(super) use ::object_store_013::*;

pub(super) fn put_result(e_tag: Option<String>, version: Option<String>) -> PutResult {
    PutResult { e_tag, version }
}

pub(super) fn get_result(
    payload: GetResultPayload,
    meta: ObjectMeta,
    range: Range<u64>,
) -> GetResult {
    GetResult { payload, meta, range, attributes: Attributes::default() }
}

pub(super) fn list_result(
    common_prefixes: Vec<path::Path>,
    objects: Vec<ObjectMeta>,
) -> ListResult {
    ListResult { common_prefixes, objects }
}
