use std::ffi::CString;
use std::os::raw::{c_char, c_int, c_void};
use std::panic::Location;
use std::ptr::{null, null_mut};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::error::{c_text, check, Error, Kind};
use crate::node::Node;
use crate::run::{call, Function};
use crate::sys;

/// What is done about a tick while an earlier run has not ended.
#[derive(Clone, Copy, Debug)]
pub enum Overlap {
    Skip,
    Allow,
    Queue,
    Replace,
}

/// Which ticks are made up for when none of the program's processes was there.
#[derive(Clone, Copy, Debug)]
pub enum CatchUp {
    Last,
    None,
    All,
}

pub(crate) enum What {
    Function(Box<Function>),
    Command(String),
    Http(String),
}

/// A function that is to be registered, by [`Job::register`]; what is not said has good defaults.
#[must_use = "call .register()"]
pub struct Job<'n> {
    node: Option<&'n Node>,
    place: &'static Location<'static>,
    name: String,
    schedule: Option<String>,
    function: Option<Box<Function>>,
    command: Option<String>,
    http: Option<String>,
    tz: Option<String>,
    selector: Option<String>,
    more: Option<String>,
    c: sys::peal_job, // the members that are numbers
}

impl<'n> Job<'n> {
    pub(crate) fn new(
        node: Option<&'n Node>,
        place: &'static Location<'static>,
        name: &str,
        schedule: &str,
        what: What,
    ) -> Job<'n> {
        let schedule = (!schedule.is_empty()).then(|| schedule.to_owned());
        let (function, command, http) = match what {
            What::Function(function) => (Some(function), None, None),
            What::Command(command) => (None, Some(command), None),
            What::Http(http) => (None, None, Some(http)),
        };
        Job {
            node,
            place,
            name: name.to_owned(),
            schedule,
            function,
            command,
            http,
            tz: None,
            selector: None,
            more: None,
            c: unsafe { std::mem::zeroed() }, // null and 0 are what the library takes for unsaid
        }
    }

    /// The time zone of the schedule; else the machine's when it was first registered.
    pub fn tz(mut self, zone: &str) -> Self {
        self.tz = Some(zone.to_owned());
        self
    }

    /// Takes the place of a schedule, `""`: every so often, in whole seconds.
    pub fn interval(mut self, length: Duration) -> Self {
        self.c.interval_ms = ms(length);
        self
    }

    /// There are no ticks before this time, and an interval counts from it.
    pub fn start(mut self, at: SystemTime) -> Self {
        self.c.start_ms = at.duration_since(UNIX_EPOCH).map(ms).unwrap_or(0);
        self
    }

    /// The same, so long after the function's first registration in the store, whoever makes it.
    pub fn start_in(mut self, length: Duration) -> Self {
        self.c.start_ms = -ms(length) - 1;
        self
    }

    /// Then the run is cancelled.
    pub fn timeout(mut self, length: Duration) -> Self {
        self.c.timeout_ms = ms(length);
        self
    }

    /// A call that would be later than this is not made.
    pub fn deadline(mut self, length: Duration) -> Self {
        self.c.deadline_ms = ms(length);
        self
    }

    /// Spreads calls over so long after their tick.
    pub fn jitter(mut self, length: Duration) -> Self {
        self.c.jitter_ms = ms(length);
        self
    }

    pub fn overlap(mut self, overlap: Overlap) -> Self {
        self.c.overlap = overlap as c_int;
        self
    }

    pub fn catch_up(mut self, catch_up: CatchUp) -> Self {
        self.c.catch_up = catch_up as c_int;
        self
    }

    /// Further attempts after a failure, each after so long; zero: 10 s.
    pub fn retries(mut self, count: u16, wait: Duration) -> Self {
        self.c.retries = c_int::from(count);
        self.c.retry_wait_ms = ms(wait);
        self
    }

    /// In each process, not once in the cluster.
    pub fn local(mut self) -> Self {
        self.c.local = true;
        self
    }

    /// Selects nodes by their labels.
    pub fn on_nodes_where(mut self, selector: &str) -> Self {
        self.selector = Some(selector.to_owned());
        self
    }

    /// Any other fields of a job, as YAML or JSON.
    pub fn more(mut self, fields: &str) -> Self {
        self.more = Some(fields.to_owned());
        self
    }

    /// Says at once what is wrong, with the place of the call.
    pub fn register(self) -> Result<(), Error> {
        let node = self.node.map_or(null_mut(), Node::inner);
        let mut job = self.c;
        let (name, file) = (c_text(&self.name)?, c_text(self.place.file())?);
        let place = sys::peal_place {
            file: file.as_ptr(),
            line: self.place.line() as c_int,
        };
        let texts = [
            &self.schedule,
            &self.tz,
            &self.selector,
            &self.more,
            &self.command,
            &self.http,
        ];
        let texts = texts.map(|text| text.as_deref().map(c_text).transpose());
        let [schedule, tz, selector, more, command, http] = texts;
        let (schedule, tz, selector, more) = (schedule?, tz?, selector?, more?);
        let (command, http) = (command?, http?);
        job.name = name.as_ptr();
        job.schedule = pointer(&schedule);
        job.tz = pointer(&tz);
        job.where_ = pointer(&selector);
        job.more = pointer(&more);
        job.place = &place;
        job.command = pointer(&command);
        job.http = pointer(&http);
        let function = self.function.map(Box::into_raw);
        job.function = function.map(|_| call as sys::peal_function);
        job.arg = function.map_or(null_mut(), |function| function.cast::<c_void>());
        let size = std::mem::size_of::<sys::peal_job>();
        let done = check(unsafe { sys::peal_add_sized(node, &job, size) });
        match (function, self.node) {
            (Some(function), _) if done.is_err() => drop(unsafe { Box::from_raw(function) }),
            (Some(function), Some(node)) => node.keep(function),
            _ => (), // the program's own node is never closed
        }
        done
    }
}

pub(crate) fn pointer(text: &Option<CString>) -> *const c_char {
    text.as_ref().map_or(null(), |text| text.as_ptr())
}

pub(crate) fn ms(length: Duration) -> i64 {
    i64::try_from(length.as_millis()).unwrap_or(i64::MAX)
}

/// "day=2026-11-01\nregion=eu"
pub(crate) fn params_text(params: &[(&str, &str)]) -> Result<Option<CString>, Error> {
    if params
        .iter()
        .any(|(name, value)| name.contains('\n') || value.contains('\n'))
    {
        return Err(Error::new(
            Kind::Invalid,
            "a parameter has more than one line",
        ));
    }
    let lines: Vec<String> = params
        .iter()
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    (!lines.is_empty())
        .then(|| c_text(&lines.join("\n")))
        .transpose()
}
