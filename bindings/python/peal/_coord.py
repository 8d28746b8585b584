"""Locks, elections, and one of many: docs/COORDINATION.md has their promises."""
from __future__ import annotations

import threading
from typing import Any, NamedTuple

from ._errors import NotFoundError, check, text_of
from ._node import Node, c_text
from ._peal import ffi, lib
from ._run import Duration, milliseconds


class Selection(NamedTuple):
    is_self: bool
    id: str  #: who is chosen


class Held:
    """A lock that this process has, or an election that it leads; `with` releases it."""

    def __init__(self, name: str, held: Any) -> None:
        self.name = name
        self._held: Any = held
        self.fence: int = lib.peal_fence(held)  #: larger than that of everybody before

    @property
    def held(self) -> bool:
        """Whether it is still this process's, by the clock."""
        return self._held is not None and bool(lib.peal_is_held(self._held))

    def release(self) -> None:
        """Raises LostError if it was not held all the time."""
        held, self._held = self._held, None
        if held is not None:
            check(lib.peal_release(held))

    def __enter__(self) -> Held:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is None:
            self.release()
        elif self._held is not None:  # what was raised goes before what is lost
            held, self._held = self._held, None
            lib.peal_release(held)


class _Claim(threading.Thread):
    """Waits in C, so that Ctrl-C does not have to; one that nobody waits for any more is given up."""

    def __init__(self, call: Any, node: Node | None, claim: Any, keep: list[Any]) -> None:
        super().__init__(name="peal-claim", daemon=True)
        self._call, self._claim, self._keep = call, claim, keep
        self._node = ffi.NULL if node is None else node._there()
        self._guard = threading.Lock()
        self._is_given_up = False
        self._over = threading.Event()
        self._error: Exception | None = None
        self.held: Any = None

    def run(self) -> None:
        held = ffi.new("peal_held **")
        try:
            check(self._call(self._node, held, self._claim, ffi.sizeof("peal_claim")))
        except Exception as error:
            self._error = error
        with self._guard:
            if self._error is None:
                self.held = held[0]
            if self._is_given_up and self.held is not None:
                lib.peal_release(self.held)
        self._over.set()

    def wait(self) -> Any:
        self.start()
        try:
            self._over.wait()
        except BaseException:
            with self._guard:
                self._is_given_up = True
                if self.held is not None:
                    lib.peal_release(self.held)
            raise
        if self._error:
            raise self._error
        return self.held


def _take(call: Any, name: str, wait: Duration | None, id: str | None, ttl: Duration | None,
          margin: Duration | None, node: Node | None) -> Held:
    keep: list[Any] = []
    claim = ffi.new("peal_claim *")
    claim.name = c_text(keep, name)
    claim.wait_ms = -1 if wait is None else milliseconds(wait)
    claim.id = c_text(keep, id)
    claim.ttl_ms = milliseconds(ttl)
    claim.margin_ms = milliseconds(margin)
    return Held(name, _Claim(call, node, claim, keep).wait())


def lock(name: str, wait: Duration | None = 0, *, id: str | None = None, ttl: Duration | None = None,
         margin: Duration | None = None, node: Node | None = None) -> Held:
    """Takes a lock, if it is free within `wait` (None: however long it takes); else BusyError, which
    names the holder. `ttl` and `margin` are etcd's."""
    return _take(lib.peal_lock_sized, name, wait, id, ttl, margin, node)


def elect(name: str, wait: Duration | None = None, *, id: str | None = None,
          ttl: Duration | None = None, margin: Duration | None = None,
          node: Node | None = None) -> Held:
    """Becomes a candidate, and returns when it leads; release() resigns."""
    return _take(lib.peal_elect_sized, name, wait, id, ttl, margin, node)


def who_leads(name: str, *, node: Node | None = None) -> str | None:
    """The id of who leads at this moment."""
    ret = ffi.new("char[]", lib.PEAL_ID_SIZE)
    try:
        check(lib.peal_who_leads(ffi.NULL if node is None else node._there(), name.encode(), ret))
    except NotFoundError:
        return None
    return text_of(ret)


def select(service: str, hold: Duration, *, id: str | None = None,
           node: Node | None = None) -> Selection:
    """All ask, one is chosen for the time `hold`, the others learn who."""
    keep: list[Any] = []
    ret = ffi.new("char[]", lib.PEAL_ID_SIZE)
    is_self = check(lib.peal_select(ffi.NULL if node is None else node._there(), service.encode(),
                                    c_text(keep, id), milliseconds(hold), ret))
    return Selection(is_self == 1, text_of(ret))
