use std::any::Any;
use std::ffi::{CStr, CString};
use std::fmt::Display;
use std::os::raw::{c_char, c_int, c_void};
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::error::{c_text, Error, Kind};
use crate::sys;

/// What a function returns: an error fails the run, and is in its output.
pub type Outcome = Result<(), Box<dyn std::error::Error>>;

const PANICKED: c_int = 101; // as of a program that panics

/// A function, one call at a time in this process.
pub(crate) type Function = Mutex<Box<dyn FnMut(&Run) -> Outcome + Send>>;

/// One call of a function.
pub struct Run {
    run: *mut sys::peal_run,
}

unsafe impl Send for Run {}
unsafe impl Sync for Run {} // every function of the library may be called from any thread

impl Run {
    /// Adds a line to the output of the run.
    pub fn log(&self, line: impl Display) {
        let line = CString::new(line.to_string().replace('\0', "?")).unwrap_or_default();
        unsafe { sys::peal_log(self.run, "%s\0".as_ptr().cast::<c_char>(), line.as_ptr()) }
    }

    /// Is shown while it runs.
    pub fn progress(&self, percent: i32, what: &str) {
        let what = CString::new(what.replace('\0', "?")).unwrap_or_default();
        unsafe { sys::peal_progress(self.run, percent, what.as_ptr()) }
    }

    /// Killed, timed out, or the node stops: return soon.
    pub fn cancelled(&self) -> bool {
        unsafe { sys::peal_cancelled(self.run) }
    }

    /// Fails with [`Kind::Lost`] as soon as the run is cancelled.
    pub fn sleep(&self, length: Duration) -> Result<(), Error> {
        let ms = i64::try_from(length.as_millis()).unwrap_or(i64::MAX);
        match unsafe { sys::peal_sleep(self.run, ms) } {
            sys::OK => Ok(()),
            _ => Err(Error::new(
                Kind::Lost,
                format!("run {} is cancelled", self.id()),
            )),
        }
    }

    pub fn id(&self) -> &str {
        self.text(unsafe { sys::peal_run_id(self.run) })
    }

    /// The name of its job.
    pub fn job(&self) -> &str {
        self.text(unsafe { sys::peal_run_job(self.run) })
    }

    /// The time that it is for.
    pub fn tick(&self) -> SystemTime {
        let ms = unsafe { sys::peal_run_tick(self.run) };
        UNIX_EPOCH + Duration::from_millis(u64::try_from(ms).unwrap_or(0))
    }

    /// From 1.
    pub fn attempt(&self) -> i32 {
        unsafe { sys::peal_run_attempt(self.run) }
    }

    /// Grows with each start of the job.
    pub fn fence(&self) -> i64 {
        unsafe { sys::peal_run_fence(self.run) }
    }

    /// The span of this run (W3C trace context), the parent of those that are made in it.
    pub fn traceparent(&self) -> &str {
        self.text(unsafe { sys::peal_run_traceparent(self.run) })
    }

    pub fn param(&self, name: &str) -> Option<&str> {
        let name = c_text(name).ok()?;
        let value = unsafe { sys::peal_param(self.run, name.as_ptr()) };
        (!value.is_null()).then(|| self.text(value))
    }

    /// A text that lives as long as the run. Names, ids and parameters are UTF-8.
    fn text(&self, text: *const c_char) -> &str {
        unsafe { CStr::from_ptr(text) }
            .to_str()
            .unwrap_or("\u{fffd}")
    }
}

fn words_of(panic: &(dyn Any + Send)) -> &str {
    if let Some(words) = panic.downcast_ref::<&str>() {
        words
    } else if let Some(words) = panic.downcast_ref::<String>() {
        words
    } else {
        "a panic without words"
    }
}

/// What the library calls; `arg` is a [`Function`].
pub(crate) extern "C" fn call(run: *mut sys::peal_run, arg: *mut c_void) -> c_int {
    let function = unsafe { &*arg.cast::<Function>() };
    let run = Run { run };
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        let mut function = function.lock().unwrap_or_else(PoisonError::into_inner);
        function(&run)
    }));
    match outcome {
        Ok(Ok(())) => 0,
        Ok(Err(error)) => {
            run.log(error);
            1
        }
        Err(panic) => {
            run.log(format!("panicked: {}", words_of(panic.as_ref())));
            PANICKED
        }
    }
}
