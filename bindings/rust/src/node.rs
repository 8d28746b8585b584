use std::ffi::CString;
use std::os::raw::{c_char, c_int, c_void};
use std::panic::{catch_unwind, AssertUnwindSafe, Location};
use std::ptr::null_mut;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::coord::{self, Claim};
use crate::error::{c_text, check, text, Error};
use crate::job::{ms, params_text, pointer, Job, What};
use crate::run::{Function, Outcome, Run};
use crate::sys;

/// Of a message for [`Options::log`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    Debug,
    Info,
    Warning,
    Error,
}

type Log = Box<dyn Fn(Level, &str) + Send + Sync>;

/// Of a node; the defaults are a good choice.
#[derive(Default)]
pub struct Options {
    /// `None`: `PEAL_STORE`, else embedded: `"sqlite"`.
    pub store: Option<String>,
    /// A folder; `None`: `PEAL_DATA`, else `$XDG_STATE_HOME/peal` or its like.
    pub data: Option<String>,
    /// `None`: the name of the executable.
    pub program: Option<String>,
    /// Of the program's functions: a lower one never replaces a higher one.
    pub version: i32,
    /// `"zone=eu,disk=ssd"`, for [`Job::on_nodes_where`].
    pub labels: Option<String>,
    /// How many functions run at a time; 0: 4.
    pub threads: i32,
    /// How long `open` tries; zero: 5 s.
    pub timeout: Duration,
    /// `open` returns at once, and goes on to try until it succeeds.
    pub in_background: bool,
    /// Locks, elections and selections alone: this process is no node.
    pub no_functions: bool,
    /// `None`: warnings and errors go to stderr. May be called from any thread.
    pub log: Option<Log>,
}

/// This process among those that share a store. Dropping it waits for functions that run.
pub struct Node {
    node: *mut sys::peal_node,
    _log: Option<Box<Log>>, // as C has it, until the node is closed
    functions: Mutex<Vec<*mut Function>>, // the same
}

unsafe impl Send for Node {}
unsafe impl Sync for Node {} // every function of the library may be called from any thread

impl Options {
    /// Joins the cluster, or opens the embedded store.
    pub fn open(self) -> Result<Node, Error> {
        let texts = [&self.store, &self.data, &self.program, &self.labels];
        let texts = texts.map(|text| text.as_deref().map(c_text).transpose());
        let [store, data, program, labels] = texts;
        let texts: [Option<CString>; 4] = [store?, data?, program?, labels?];
        let log = self.log.map(Box::new);
        let options = sys::peal_options {
            store: pointer(&texts[0]),
            data: pointer(&texts[1]),
            program: pointer(&texts[2]),
            version: self.version,
            labels: pointer(&texts[3]),
            caller: 0,
            threads: self.threads,
            timeout_ms: c_int::try_from(ms(self.timeout)).unwrap_or(c_int::MAX),
            in_background: self.in_background,
            no_functions: self.no_functions,
            log: log.as_ref().map(|_| tell as sys::peal_log_function),
            context: log.as_ref().map_or(null_mut(), |log| {
                (&**log as *const Log as *mut Log).cast::<c_void>()
            }),
        };
        let size = std::mem::size_of::<sys::peal_options>();
        let node = unsafe { sys::peal_open_sized(&options, size) };
        if node.is_null() {
            return Err(Error::last());
        }
        Ok(Node {
            node,
            _log: log,
            functions: Mutex::default(),
        })
    }
}

extern "C" fn tell(context: *mut c_void, level: c_int, message: *const c_char) {
    let log = unsafe { &*context.cast::<Log>() };
    let level = match level {
        0 => Level::Debug,
        1 => Level::Info,
        2 => Level::Warning,
        _ => Level::Error,
    };
    // A panic must not go through C; its hook has said what it is.
    drop(catch_unwind(AssertUnwindSafe(|| {
        log(level, &unsafe { text(message) })
    })));
}

impl Node {
    pub(crate) fn inner(&self) -> *mut sys::peal_node {
        self.node
    }

    pub(crate) fn keep(&self, function: *mut Function) {
        let mut functions = self
            .functions
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        functions.push(function);
    }

    /// As [`crate::every`], for this node.
    #[track_caller]
    pub fn every<F>(&self, name: &str, schedule: &str, function: F) -> Job<'_>
    where
        F: FnMut(&Run) -> Outcome + Send + 'static,
    {
        let function = What::Function(Box::new(Mutex::new(Box::new(function) as _)));
        Job::new(Some(self), Location::caller(), name, schedule, function)
    }

    /// A line for /bin/sh in place of a function; its lines are the run's output.
    #[track_caller]
    pub fn every_command(&self, name: &str, schedule: &str, command: &str) -> Job<'_> {
        let command = What::Command(command.to_owned());
        Job::new(Some(self), Location::caller(), name, schedule, command)
    }

    /// An HTTP call in place of a function: a URL, or the fields of a job's `http` as YAML or JSON.
    /// It needs peal-call.
    #[track_caller]
    pub fn every_http(&self, name: &str, schedule: &str, http: &str) -> Job<'_> {
        let http = What::Http(http.to_owned());
        Job::new(Some(self), Location::caller(), name, schedule, http)
    }

    /// It is no longer called here; the job stays in the store.
    pub fn remove(&self, name: &str) -> Result<(), Error> {
        let name = c_text(name)?;
        check(unsafe { sys::peal_remove(self.node, name.as_ptr()) })
    }

    /// Removes the job for all.
    pub fn delete(&self, name: &str) -> Result<(), Error> {
        let name = c_text(name)?;
        check(unsafe { sys::peal_delete(self.node, name.as_ptr()) })
    }

    /// Asks for a run now, and returns its id.
    pub fn trigger(&self, name: &str, params: &[(&str, &str)]) -> Result<String, Error> {
        trigger_on(self.node, name, params)
    }

    /// As [`crate::claim`], on the store of this node.
    pub fn claim(&self, name: &str) -> Claim<'_> {
        Claim::new(Some(self), name)
    }

    /// As [`crate::who_leads`], on the store of this node.
    pub fn who_leads(&self, name: &str) -> Result<String, Error> {
        coord::who_leads(Some(self), name)
    }

    /// As [`crate::select`], on the store of this node.
    pub fn select(
        &self,
        service: &str,
        id: Option<&str>,
        hold: Duration,
    ) -> Result<(bool, String), Error> {
        coord::select(Some(self), service, id, hold)
    }

    /// Takes no further ticks; [`Node::wait`] returns when the functions that run have.
    pub fn stop(&self) {
        unsafe { sys::peal_stop(self.node) }
    }

    /// Until [`Node::stop`].
    pub fn wait(&self) -> Result<(), Error> {
        check(unsafe { sys::peal_wait(self.node) })
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        self.node = unsafe { sys::peal_close(self.node) };
        let functions = self
            .functions
            .get_mut()
            .unwrap_or_else(PoisonError::into_inner);
        for function in functions.drain(..) {
            drop(unsafe { Box::from_raw(function) });
        }
    }
}

pub(crate) fn trigger_on(
    node: *mut sys::peal_node,
    name: &str,
    params: &[(&str, &str)],
) -> Result<String, Error> {
    let (name, params) = (c_text(name)?, params_text(params)?);
    let mut id: [c_char; 27] = [0; 27];
    check(unsafe { sys::peal_trigger(node, name.as_ptr(), pointer(&params), id.as_mut_ptr()) })?;
    Ok(unsafe { text(id.as_ptr()) }.into_owned())
}
