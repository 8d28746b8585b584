"""One class for each enum peal_error; the words are the library's."""
from __future__ import annotations

from typing import Any

from ._peal import ffi, lib


class Error(Exception):
    """Something that the library has refused, or failed at."""

    code: int = 0


class InvalidError(Error, ValueError):
    """An argument is wrong; the words say which, and where."""

    code = lib.PEAL_E_INVALID


class NoMemoryError(Error, MemoryError):
    code = lib.PEAL_E_NOMEM


class ExistsError(Error):
    """The name is taken: by another function, program or job."""

    code = lib.PEAL_E_EXISTS


class NotFoundError(Error, LookupError):
    code = lib.PEAL_E_NOT_FOUND


class UnreachableError(Error):
    """The store has not answered in time."""

    code = lib.PEAL_E_UNREACHABLE


class BusyError(Error):
    """Somebody else has it."""

    code = lib.PEAL_E_BUSY


class LostError(Error):
    """This process had it, and has it no longer."""

    code = lib.PEAL_E_LOST


class Cancelled(LostError):
    """The run was killed, has timed out, or its node stops: raised by Run.sleep()."""


class ForkedError(Error):
    """The node belongs to the parent process."""

    code = lib.PEAL_E_FORKED


class StoppedError(Error):
    """The node, or the run, is over."""

    code = lib.PEAL_E_STOPPED


class VersionError(Error):
    """The store was written by a newer peal."""

    code = lib.PEAL_E_VERSION


class StorageError(Error, OSError):
    """Disk, permission, corrupt file."""

    code = lib.PEAL_E_IO


_by_code = {kind.code: kind for kind in (
    InvalidError, NoMemoryError, ExistsError, NotFoundError, UnreachableError, BusyError, LostError,
    ForkedError, StoppedError, VersionError, StorageError)}


def text_of(text: Any) -> str:
    """A C string, whatever bytes it has."""
    return bytes(ffi.string(text)).decode("utf-8", "replace")


def failure(code: int | None = None) -> Error:
    """The last failure of this thread."""
    kind = _by_code.get(lib.peal_failure() if code is None else code, Error)
    return kind(text_of(lib.peal_why()))


def check(code: int) -> int:
    if code < 0:
        raise failure(code)
    return code
