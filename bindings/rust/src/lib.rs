//! Scheduled functions, elections and locks, alone or across a cluster.
//!
//! ```no_run
//! fn main() -> Result<(), peal::Error> {
//!     peal::every("cleanup", "*/5 * * * *", |run| {
//!         run.log("swept");
//!         Ok(())
//!     })
//!     .tz("Asia/Shanghai")
//!     .register()?;
//!     peal::run_forever()
//! }
//! ```
//!
//! A program that uses it is a node: each tick of a function is called once among all processes that
//! share a store, however many there are. Everything may be called from any thread.

mod coord;
mod error;
mod job;
mod node;
mod run;
pub mod sys;

use std::panic::Location;
use std::ptr::null_mut;
use std::sync::Mutex;
use std::time::Duration;

use job::What;

pub use coord::{Claim, Held};
pub use error::{Error, Kind};
pub use job::{CatchUp, Job, Overlap};
pub use node::{Level, Node, Options};
pub use run::{Outcome, Run};

/// A function of this program, on its own node, which the first use opens with the options of the
/// environment. The name is unique in the store. The schedule is cron with 5, 6 or 7 fields,
/// `"@every 90s"`, `"@daily"` ...; `""`: by [`Job::interval`], or on request alone. In one process it
/// is called once at a time.
#[track_caller]
pub fn every<F>(name: &str, schedule: &str, function: F) -> Job<'static>
where
    F: FnMut(&Run) -> Outcome + Send + 'static,
{
    let function = What::Function(Box::new(Mutex::new(Box::new(function) as _)));
    Job::new(None, Location::caller(), name, schedule, function)
}

/// Until [`stop`], or SIGINT or SIGTERM, which it takes for the time of this call only, and only where
/// the program handles neither.
pub fn run_forever() -> Result<(), Error> {
    match unsafe { sys::peal_run_forever() } {
        0 => Ok(()),
        _ => Err(Error::last()),
    }
}

/// Has [`run_forever`] return when the functions that run have.
pub fn stop() {
    unsafe { sys::peal_stop(null_mut()) }
}

/// As [`Node::trigger`], on the program's own node.
pub fn trigger(name: &str, params: &[(&str, &str)]) -> Result<String, Error> {
    node::trigger_on(null_mut(), name, params)
}

/// A lock, or the lead of an election, that this process would have: it needs no function, and makes
/// no node. `peal::claim("backup").wait(length).lock()?`
pub fn claim(name: &str) -> Claim<'static> {
    Claim::new(None, name)
}

/// The id of who leads at this moment; [`Kind::NotFound`]: nobody.
pub fn who_leads(name: &str) -> Result<String, Error> {
    coord::who_leads(None, name)
}

/// All ask, one is chosen for the time `hold`, the others learn who: whether it is this id (`None`:
/// HOST-PROCESS), and whose it is.
pub fn select(service: &str, id: Option<&str>, hold: Duration) -> Result<(bool, String), Error> {
    coord::select(None, service, id, hold)
}

/// Of the library that is loaded.
pub fn version() -> String {
    unsafe { error::text(sys::peal_version()) }.into_owned()
}
