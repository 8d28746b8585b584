//! include/peal.h, by hand. Later versions of the library add members at the ends of structs only,
//! and are told the size of these.
#![allow(non_camel_case_types)]

use std::os::raw::{c_char, c_int, c_void};

pub const OK: c_int = 0;
pub const E_INVALID: c_int = -1;
pub const E_NOMEM: c_int = -2;
pub const E_EXISTS: c_int = -3;
pub const E_NOT_FOUND: c_int = -4;
pub const E_UNREACHABLE: c_int = -5;
pub const E_BUSY: c_int = -6;
pub const E_LOST: c_int = -7;
pub const E_FORKED: c_int = -8;
pub const E_STOPPED: c_int = -9;
pub const E_VERSION: c_int = -10;

#[repr(C)]
pub struct peal_node {
    _private: [u8; 0],
}

#[repr(C)]
pub struct peal_run {
    _private: [u8; 0],
}

pub type peal_log_function = extern "C" fn(*mut c_void, c_int, *const c_char);
pub type peal_function = extern "C" fn(*mut peal_run, *mut c_void) -> c_int;

#[repr(C)]
pub struct peal_options {
    pub store: *const c_char,
    pub data: *const c_char,
    pub program: *const c_char,
    pub version: c_int,
    pub labels: *const c_char,
    pub caller: c_int,
    pub threads: c_int,
    pub timeout_ms: c_int,
    pub in_background: bool,
    pub log: Option<peal_log_function>,
    pub context: *mut c_void,
    pub no_functions: bool,
}

pub const ID_SIZE: usize = 129;

#[repr(C)]
pub struct peal_held {
    _private: [u8; 0],
}

#[repr(C)]
pub struct peal_claim {
    pub name: *const c_char,
    pub wait_ms: i64,
    pub id: *const c_char,
    pub won: Option<extern "C" fn(*mut c_void, i64)>,
    pub lost: Option<extern "C" fn(*mut c_void, *const c_char)>,
    pub context: *mut c_void,
    pub ttl_ms: i64,
    pub margin_ms: i64,
    pub place: *const peal_place,
}

#[repr(C)]
pub struct peal_place {
    pub file: *const c_char,
    pub line: c_int,
}

#[repr(C)]
pub struct peal_job {
    pub name: *const c_char,
    pub schedule: *const c_char,
    pub function: Option<peal_function>,
    pub arg: *mut c_void,
    pub interval_ms: i64,
    pub start_ms: i64,
    pub tz: *const c_char,
    pub local: bool,
    pub timeout_ms: i64,
    pub deadline_ms: i64,
    pub jitter_ms: i64,
    pub overlap: c_int,
    pub catch_up: c_int,
    pub retries: c_int,
    pub retry_wait_ms: i64,
    pub where_: *const c_char,
    pub more: *const c_char,
    pub command: *const c_char,
    pub place: *const peal_place,
    pub http: *const c_char,
}

extern "C" {
    pub fn peal_why() -> *const c_char;
    pub fn peal_failure() -> c_int;
    pub fn peal_version() -> *const c_char;
    pub fn peal_open_sized(options: *const peal_options, size: usize) -> *mut peal_node;
    pub fn peal_stop(peal: *mut peal_node);
    pub fn peal_close(peal: *mut peal_node) -> *mut peal_node;
    pub fn peal_run_forever() -> c_int;
    pub fn peal_wait(peal: *mut peal_node) -> c_int;
    pub fn peal_add_sized(peal: *mut peal_node, job: *const peal_job, size: usize) -> c_int;
    pub fn peal_remove(peal: *mut peal_node, name: *const c_char) -> c_int;
    pub fn peal_delete(peal: *mut peal_node, name: *const c_char) -> c_int;
    pub fn peal_trigger(
        peal: *mut peal_node,
        name: *const c_char,
        params: *const c_char,
        ret_id: *mut c_char,
    ) -> c_int;
    pub fn peal_log(run: *mut peal_run, format: *const c_char, ...);
    pub fn peal_progress(run: *mut peal_run, percent: c_int, what: *const c_char);
    pub fn peal_cancelled(run: *const peal_run) -> bool;
    pub fn peal_sleep(run: *mut peal_run, ms: i64) -> c_int;
    pub fn peal_run_id(run: *const peal_run) -> *const c_char;
    pub fn peal_run_job(run: *const peal_run) -> *const c_char;
    pub fn peal_run_tick(run: *const peal_run) -> i64;
    pub fn peal_run_attempt(run: *const peal_run) -> c_int;
    pub fn peal_run_fence(run: *const peal_run) -> i64;
    pub fn peal_run_traceparent(run: *const peal_run) -> *const c_char;
    pub fn peal_lock_sized(
        peal: *mut peal_node,
        ret: *mut *mut peal_held,
        claim: *const peal_claim,
        size: usize,
    ) -> c_int;
    pub fn peal_elect_sized(
        peal: *mut peal_node,
        ret: *mut *mut peal_held,
        claim: *const peal_claim,
        size: usize,
    ) -> c_int;
    pub fn peal_is_held(held: *mut peal_held) -> bool;
    pub fn peal_fence(held: *mut peal_held) -> i64;
    pub fn peal_release(held: *mut peal_held) -> c_int;
    pub fn peal_who_leads(peal: *mut peal_node, name: *const c_char, ret_id: *mut c_char) -> c_int;
    pub fn peal_select(
        peal: *mut peal_node,
        service: *const c_char,
        id: *const c_char,
        hold_ms: i64,
        ret_id: *mut c_char,
    ) -> c_int;
    pub fn peal_param(run: *const peal_run, name: *const c_char) -> *const c_char;
}
