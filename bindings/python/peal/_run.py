"""What a scheduled function is given, and how it is called."""
from __future__ import annotations

import asyncio
import contextvars
import inspect
import logging
import sys
import traceback
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta, timezone
from typing import Any, Union

from ._errors import Cancelled, StoppedError, text_of
from ._peal import ffi, lib

EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
LOOK_S = 0.1  # how often it is looked whether the run of a coroutine is cancelled

Duration = Union[timedelta, int, float]
Function = Callable[..., Any]

_current: contextvars.ContextVar[Run] = contextvars.ContextVar("peal.run")


def milliseconds(length: Duration | None) -> int:
    if length is None:
        return 0
    seconds = length.total_seconds() if isinstance(length, timedelta) else length
    return round(seconds * 1000)


class Params:
    """The parameters of a run, by name. The library does not list them."""

    def __init__(self, run: Run) -> None:
        self._run = run

    def get(self, name: str, default: str | None = None) -> str | None:
        value = lib.peal_param(self._run._there(), name.encode())
        return default if value == ffi.NULL else text_of(value)

    def __getitem__(self, name: str) -> str:
        value = self.get(name)
        if value is None:
            raise KeyError(name)
        return value

    def __contains__(self, name: str) -> bool:
        return self.get(name) is not None


class Run:
    """One call of a function. What it is stays readable; what it does is over when it returns."""

    id: str
    job: str
    tick: datetime  #: the time that it is for, in UTC
    attempt: int  #: from 1
    fence: int  #: grows with each start of the job
    traceparent: str  #: the span of this run (W3C trace context), the parent of those made here

    def __init__(self, run: Any) -> None:
        self._run = run
        self.id = text_of(lib.peal_run_id(run))
        self.job = text_of(lib.peal_run_job(run))
        self.tick = EPOCH + timedelta(milliseconds=lib.peal_run_tick(run))
        self.attempt = lib.peal_run_attempt(run)
        self.fence = lib.peal_run_fence(run)
        self.traceparent = text_of(lib.peal_run_traceparent(run))
        self.params = Params(self)

    def __repr__(self) -> str:
        return f"<peal.Run {self.id} of {self.job} at {self.tick.isoformat()}>"

    def _there(self) -> Any:
        if self._run is None:
            raise StoppedError(f"run {self.id} is over")
        return self._run

    def log(self, text: object) -> None:
        """Adds a line to the output of the run."""
        lib.log_line(self._there(), str(text).encode("utf-8", "replace").replace(b"\0", b"?"))

    def progress(self, percent: int, what: str = "") -> None:
        lib.peal_progress(self._there(), percent, what.encode())

    @property
    def cancelled(self) -> bool:
        """Killed, timed out, or the node stops: return soon."""
        return bool(lib.peal_cancelled(self._there()))

    def sleep(self, length: Duration) -> None:
        """Raises Cancelled as soon as the run is."""
        if lib.peal_sleep(self._there(), milliseconds(length)) < 0:
            raise Cancelled(f"run {self.id} is cancelled")


def current_run() -> Run | None:
    """The run whose function has called, at whatever depth."""
    return _current.get(None)


class RunHandler(logging.Handler):
    """Takes what is logged within a function to the output of its run:
    logging.getLogger().addHandler(peal.RunHandler())"""

    def emit(self, record: logging.LogRecord) -> None:
        run = current_run()
        if run is None or run._run is None:
            return
        try:
            run.log(self.format(record))
        except Exception:  # as the handlers of the standard library do
            self.handleError(record)


class Call:
    """What is called for a function: the handle that the library keeps."""

    def __init__(self, function: Function) -> None:
        self.function = function
        self.is_async = inspect.iscoroutinefunction(function)
        self.loop: asyncio.AbstractEventLoop | None = None  # where coroutines run; None: their own
        self.has_argument = _takes_argument(function)

    def __call__(self, c_run: Any) -> int:
        run = Run(c_run)
        token = _current.set(run)
        try:
            result = self.function(run) if self.has_argument else self.function()
            if self.is_async:
                self._await(run, result)
            return 0
        except Cancelled as cancelled:
            run.log(cancelled)
            return 1
        except SystemExit as end:
            return _exit_code(run, end)
        except BaseException as error:
            run.log("".join(traceback.format_exception(type(error), error, _own_frames(error))))
            return 1
        finally:
            _current.reset(token)
            run._run = None

    def _await(self, run: Run, result: Awaitable[Any]) -> None:
        if self.loop is None or self.loop.is_closed():
            asyncio.run(_watched(run, result))
        else:
            asyncio.run_coroutine_threadsafe(_watched(run, result), self.loop).result()


async def _watched(run: Run, result: Awaitable[Any]) -> None:
    """Cancels the coroutine when the run is cancelled."""
    task = asyncio.ensure_future(result)
    while not task.done():
        await asyncio.wait({task}, timeout=LOOK_S)
        if run.cancelled:
            task.cancel()
    if task.cancelled():
        raise Cancelled(f"run {run.id} is cancelled")
    task.result()


def _takes_argument(function: Function) -> bool:
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return True
    return any(p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD, p.VAR_POSITIONAL)
               for p in parameters)


def _own_frames(error: BaseException) -> Any:
    """The traceback without the frames of this file."""
    frames = error.__traceback__
    while frames is not None and frames.tb_next and frames.tb_frame.f_code.co_filename == __file__:
        frames = frames.tb_next
    return frames


def _exit_code(run: Run, end: SystemExit) -> int:
    if end.code is None or isinstance(end.code, int):
        return end.code or 0
    run.log(end.code)
    return 1


@ffi.def_extern(error=1)  # type: ignore[misc]
def call_function(c_run: Any, handle: Any) -> int:
    call: Call = ffi.from_handle(handle)
    return call(c_run)


_levels = {lib.PEAL_DEBUG: logging.DEBUG, lib.PEAL_INFO: logging.INFO,
           lib.PEAL_WARNING: logging.WARNING, lib.PEAL_ERROR: logging.ERROR}
_logger = logging.getLogger("peal")


@ffi.def_extern()  # type: ignore[misc]
def log_message(_context: Any, level: int, message: Any) -> None:
    if not sys.is_finalizing():
        _logger.log(_levels.get(level, logging.INFO), "%s", text_of(message))
