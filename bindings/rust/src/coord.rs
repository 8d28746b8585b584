use std::os::raw::{c_char, c_int};
use std::ptr::null_mut;
use std::time::Duration;

use crate::error::{c_text, check, text, Error};
use crate::job::{ms, pointer};
use crate::node::Node;
use crate::sys;

/// What is claimed: a lock, or the lead of an election. `docs/COORDINATION.md` has the promises.
#[must_use = "call .lock() or .elect()"]
pub struct Claim<'n> {
    node: Option<&'n Node>,
    name: String,
    id: Option<String>,
    wait_ms: i64,
    ttl_ms: i64,
    margin_ms: i64,
}

/// A lock that this process has, or an election that it leads. Dropping it gives it up.
pub struct Held {
    held: *mut sys::peal_held,
}

unsafe impl Send for Held {}
unsafe impl Sync for Held {} // every function of the library may be called from any thread

type Take = unsafe extern "C" fn(
    *mut sys::peal_node,
    *mut *mut sys::peal_held,
    *const sys::peal_claim,
    usize,
) -> c_int;

impl<'n> Claim<'n> {
    pub(crate) fn new(node: Option<&'n Node>, name: &str) -> Claim<'n> {
        Claim {
            node,
            name: name.to_owned(),
            id: None,
            wait_ms: 0,
            ttl_ms: 0,
            margin_ms: 0,
        }
    }

    /// For others to see; else HOST-PROCESS.
    pub fn id(mut self, id: &str) -> Self {
        self.id = Some(id.to_owned());
        self
    }

    /// How long it may take; else it is only had if it is free.
    pub fn wait(mut self, length: Duration) -> Self {
        self.wait_ms = ms(length);
        self
    }

    /// However long it takes.
    pub fn wait_forever(mut self) -> Self {
        self.wait_ms = -1;
        self
    }

    /// etcd: how long after this process it is free at the latest; else 10 s.
    pub fn ttl(mut self, length: Duration) -> Self {
        self.ttl_ms = ms(length);
        self
    }

    /// etcd: how long before that it is taken for lost; else 3/10 of it.
    pub fn margin(mut self, length: Duration) -> Self {
        self.margin_ms = ms(length);
        self
    }

    /// [`crate::Kind::Busy`]: its words name the holder.
    pub fn lock(self) -> Result<Held, Error> {
        self.take(sys::peal_lock_sized)
    }

    /// Becomes a candidate, and returns when it leads.
    pub fn elect(self) -> Result<Held, Error> {
        self.take(sys::peal_elect_sized)
    }

    fn take(self, take: Take) -> Result<Held, Error> {
        let name = c_text(&self.name)?;
        let id = self.id.as_deref().map(c_text).transpose()?;
        let mut claim: sys::peal_claim = unsafe { std::mem::zeroed() };
        claim.name = name.as_ptr();
        claim.id = pointer(&id);
        claim.wait_ms = self.wait_ms;
        claim.ttl_ms = self.ttl_ms;
        claim.margin_ms = self.margin_ms;
        let node = self.node.map_or(null_mut(), Node::inner);
        let mut held = null_mut();
        let size = std::mem::size_of::<sys::peal_claim>();
        check(unsafe { take(node, &mut held, &claim, size) })?;
        Ok(Held { held })
    }
}

impl Held {
    /// Whether it is still this process's, by the clock.
    pub fn is_held(&self) -> bool {
        unsafe { sys::peal_is_held(self.held) }
    }

    /// Larger than that of everybody who held this name before.
    pub fn fence(&self) -> i64 {
        unsafe { sys::peal_fence(self.held) }
    }

    /// Gives it up, or resigns; [`crate::Kind::Lost`]: it was not held all the time.
    pub fn release(mut self) -> Result<(), Error> {
        let held = std::mem::replace(&mut self.held, null_mut());
        check(unsafe { sys::peal_release(held) })
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        unsafe { sys::peal_release(self.held) };
    }
}

pub(crate) fn who_leads(node: Option<&Node>, name: &str) -> Result<String, Error> {
    let name = c_text(name)?;
    let mut id: [c_char; sys::ID_SIZE] = [0; sys::ID_SIZE];
    let node = node.map_or(null_mut(), Node::inner);
    check(unsafe { sys::peal_who_leads(node, name.as_ptr(), id.as_mut_ptr()) })?;
    Ok(unsafe { text(id.as_ptr()) }.into_owned())
}

pub(crate) fn select(
    node: Option<&Node>,
    service: &str,
    own: Option<&str>,
    hold: Duration,
) -> Result<(bool, String), Error> {
    let (service, own) = (c_text(service)?, own.map(c_text).transpose()?);
    let mut id: [c_char; sys::ID_SIZE] = [0; sys::ID_SIZE];
    let node = node.map_or(null_mut(), Node::inner);
    let chosen = unsafe {
        sys::peal_select(
            node,
            service.as_ptr(),
            pointer(&own),
            ms(hold),
            id.as_mut_ptr(),
        )
    };
    match chosen {
        0 | 1 => Ok((chosen == 1, unsafe { text(id.as_ptr()) }.into_owned())),
        _ => Err(Error::last()),
    }
}
