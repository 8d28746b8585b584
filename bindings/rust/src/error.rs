use std::borrow::Cow;
use std::ffi::{CStr, CString};
use std::fmt;
use std::os::raw::{c_char, c_int};

use crate::sys;

/// What went wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// An argument is wrong; the words say which, and where.
    Invalid,
    NoMemory,
    /// The name is taken: by another function, program or job.
    Exists,
    NotFound,
    /// The store has not answered in time.
    Unreachable,
    /// Somebody else has it.
    Busy,
    /// This process had it, and has it no longer; of a run: it is cancelled.
    Lost,
    /// The node belongs to the parent process.
    Forked,
    Stopped,
    /// The store was written by a newer peal.
    Version,
    /// Disk, permission, corrupt file.
    Io,
}

/// What the library has refused, or failed at; its words say why, and a next step.
#[derive(Clone, Debug)]
pub struct Error {
    pub kind: Kind,
    pub why: String,
}

impl Error {
    pub(crate) fn new(kind: Kind, why: impl Into<String>) -> Error {
        Error {
            kind,
            why: why.into(),
        }
    }

    /// The last failure of this thread.
    pub(crate) fn last() -> Error {
        let kind = match unsafe { sys::peal_failure() } {
            sys::E_INVALID => Kind::Invalid,
            sys::E_NOMEM => Kind::NoMemory,
            sys::E_EXISTS => Kind::Exists,
            sys::E_NOT_FOUND => Kind::NotFound,
            sys::E_UNREACHABLE => Kind::Unreachable,
            sys::E_BUSY => Kind::Busy,
            sys::E_LOST => Kind::Lost,
            sys::E_FORKED => Kind::Forked,
            sys::E_STOPPED => Kind::Stopped,
            sys::E_VERSION => Kind::Version,
            _ => Kind::Io,
        };
        Error::new(kind, unsafe { text(sys::peal_why()) })
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.why)
    }
}

impl std::error::Error for Error {}

pub(crate) fn check(code: c_int) -> Result<(), Error> {
    match code {
        sys::OK => Ok(()),
        _ => Err(Error::last()),
    }
}

/// A copy of a C string.
pub(crate) unsafe fn text(text: *const c_char) -> Cow<'static, str> {
    Cow::Owned(CStr::from_ptr(text).to_string_lossy().into_owned())
}

pub(crate) fn c_text(text: &str) -> Result<CString, Error> {
    CString::new(text)
        .map_err(|_| Error::new(Kind::Invalid, format!("{text:?} has a zero byte in it")))
}
