"""The node of a program, and the functions that it has."""
from __future__ import annotations

import asyncio
import atexit
import contextlib
import os
import re
import signal
import sys
import threading
import weakref
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, TypeVar

from ._errors import ExistsError, InvalidError, StoppedError, check, failure, text_of
from ._peal import ffi, lib
from ._run import EPOCH, Call, Duration, Function, milliseconds

F = TypeVar("F", bound=Function)

_overlap = {"skip": lib.PEAL_SKIP, "allow": lib.PEAL_ALLOW, "queue": lib.PEAL_QUEUE,
            "replace": lib.PEAL_REPLACE}
_catch_up = {"last": lib.PEAL_LAST, "none": lib.PEAL_NONE, "all": lib.PEAL_ALL}
_callers = {"threads": lib.PEAL_THREADS, "steps": lib.PEAL_STEPS}


def c_text(keep: list[Any], text: str | None) -> Any:
    """A C string that lives as long as `keep`; NULL for None."""
    if text is None:
        return ffi.NULL
    keep.append(ffi.new("char[]", text.encode()))
    return keep[-1]


def _choice(name: str, choices: Mapping[str, int], value: str) -> int:
    if value not in choices:
        raise InvalidError(f"{name}: {value!r} is none of {', '.join(choices)}")
    return choices[value]


def _start(start: datetime | Duration | None) -> int:
    """A time, or how long after the first registration in the store."""
    if start is None:
        return 0
    if not isinstance(start, datetime):
        return -milliseconds(start) - 1
    if start.tzinfo is None:
        raise InvalidError("start: a datetime needs a time zone: datetime(..., tzinfo=...)")
    return (start - EPOCH) // timedelta(milliseconds=1)


def _default_name(function: Function) -> str:
    """cleanup, or billing.cleanup when it is not of the main module."""
    name: str = getattr(function, "__qualname__", "").replace(".<locals>", "")
    module = getattr(function, "__module__", None) or "__main__"
    return name if module == "__main__" else f"{module}.{name}"


@dataclass(frozen=True)
class Job:
    """A function with its options, as `every` describes them."""

    function: Function | None
    schedule: str | None = None
    name: str | None = None
    tz: str | None = None
    interval: Duration | None = None
    start: datetime | Duration | None = None
    timeout: Duration | None = None
    deadline: Duration | None = None
    jitter: Duration | None = None
    overlap: str = "skip"
    catch_up: str = "last"
    retries: int = 0
    retry_wait: Duration | None = None
    local: bool = False
    where: str | None = None
    more: str | None = None
    command: str | None = None  #: for /bin/sh, in place of a function
    http: str | None = None  #: a URL to be called, in place of a function

    def full_name(self) -> str:
        return self.name or (_default_name(self.function) if self.function else "")

    def register(self, node: Any, handle: Any) -> None:
        keep: list[Any] = []
        job = ffi.new("peal_job *")
        job.name = c_text(keep, self.full_name())
        if self.command is None and self.http is None:
            job.function = lib.call_function
        job.arg = handle
        for member in ("schedule", "tz", "where", "more", "command", "http"):
            setattr(job, member, c_text(keep, getattr(self, member)))
        for member in ("interval", "timeout", "deadline", "jitter", "retry_wait"):
            setattr(job, member + "_ms", milliseconds(getattr(self, member)))
        job.start_ms = _start(self.start)
        job.overlap = _choice("overlap", _overlap, self.overlap)
        job.catch_up = _choice("catch_up", _catch_up, self.catch_up)
        job.retries = self.retries
        job.local = self.local
        code = getattr(self.function, "__code__", None)
        place = ffi.new("peal_place *")
        if code is not None:
            place.file = c_text(keep, code.co_filename)
            place.line = code.co_firstlineno
            job.place = place
        check(lib.peal_add_sized(node, job, ffi.sizeof("peal_job")))


class Functions:
    """What functions can be added to."""

    def _add(self, job: Job) -> None:
        raise NotImplementedError

    def add(self, function: Function, schedule: str | None = None, **options: Any) -> None:
        """Registers a function; schedule and options as for `every`."""
        self._add(Job(function, schedule, **options))

    def add_command(self, name: str, schedule: str | None, command: str, **options: Any) -> None:
        """Registers a line for /bin/sh in place of a function; its lines are the run's output."""
        self._add(Job(None, schedule, name, command=command, **options))

    def add_http(self, name: str, schedule: str | None, http: str, **options: Any) -> None:
        """Registers an HTTP call in place of a function: a URL, or the fields of a job's `http` as
        YAML or JSON. It needs peal-call."""
        self._add(Job(None, schedule, name, http=http, **options))

    def every(self, schedule: str | None = None, *, name: str | None = None, tz: str | None = None,
              interval: Duration | None = None, start: datetime | Duration | None = None,
              timeout: Duration | None = None, deadline: Duration | None = None,
              jitter: Duration | None = None, overlap: str = "skip", catch_up: str = "last",
              retries: int = 0, retry_wait: Duration | None = None, local: bool = False,
              where: str | None = None, more: str | None = None) -> Callable[[F], F]:
        """Registers the function below it, which is called once per tick in the cluster.

        schedule    cron with 5, 6 or 7 fields, "@every 90s", "@daily" ...; None: by interval, or
                    on request alone
        name        of the job; else the function's: cleanup, or module.cleanup
        tz          "Asia/Shanghai"; else the machine's when it was first registered
        interval    every so often, in whole seconds, from ...
        start       ... this time on, or so long after the first registration in the store
        timeout     then Run.cancelled; deadline: a call that would be later is not made
        overlap     "skip", "allow", "queue" or "replace"; catch_up: "last", "none" or "all"
        retries     further attempts after a failure, each after retry_wait (10 s)
        local       in each process, not once in the cluster
        where       selector of labels; more: any other fields of a job, as YAML or JSON

        Lengths of time are timedeltas or seconds. What is wrong is raised at once.
        """
        def register(function: F) -> F:
            self._add(Job(function, schedule, name, tz, interval, start, timeout, deadline, jitter,
                          overlap, catch_up, retries, retry_wait, local, where, more))
            return function

        return register


# ---- a node ----

_open_nodes: weakref.WeakSet[Node] = weakref.WeakSet()


def _program() -> str:
    """As people name it: the module of -m, or the file."""
    spec = getattr(sys.modules.get("__main__"), "__spec__", None)
    name = spec.name if spec else os.path.splitext(os.path.basename(sys.argv[0]))[0]
    name = re.sub(r"\.__main__$", "", name)
    return re.sub(r"[^A-Za-z0-9._-]", "-", name)[:63] or "python"


class Node(Functions):
    """This process among those that share a store. Use it with `with`, or close() it."""

    def __init__(self, store: str | None = None, *, data: str | os.PathLike[str] | None = None,
                 program: str | None = None, version: int = 0,
                 labels: str | Mapping[str, str] | None = None, caller: str = "threads",
                 threads: int = 0, timeout: Duration | None = None,
                 in_background: bool = False, no_functions: bool = False) -> None:
        keep: list[Any] = []
        options = ffi.new("peal_options *")
        if isinstance(labels, Mapping):
            labels = ",".join(f"{key}={value}" for key, value in labels.items())
        options.store = c_text(keep, store)
        options.data = c_text(keep, None if data is None else os.fspath(data))
        options.program = c_text(keep, program or _program())
        options.version = version
        options.labels = c_text(keep, labels)
        options.caller = _choice("caller", _callers, caller)
        options.threads = threads
        options.timeout_ms = milliseconds(timeout)
        options.in_background = in_background
        options.no_functions = no_functions
        options.log = lib.log_message
        self._steps = caller == "steps"
        self._calls: list[tuple[Call, Any]] = []  # with the handles that the library has of them
        self._loop: asyncio.AbstractEventLoop | None = None
        self._node: Any = lib.peal_open_sized(options, ffi.sizeof("peal_options"))
        if self._node == ffi.NULL:
            self._node = None
            raise failure()
        _open_nodes.add(self)

    def __enter__(self) -> Node:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _there(self) -> Any:
        if self._node is None:
            raise StoppedError("the node is closed")
        return self._node

    # ---- functions ----

    def _add(self, job: Job) -> None:
        if job.function is None:
            job.register(self._there(), ffi.NULL)
            return
        call = Call(job.function)
        if call.is_async and self._steps:
            raise InvalidError(f'"{job.full_name()}" is a coroutine, which caller="steps" can\'t '
                               "wait for; open the node without it")
        call.loop = self._loop
        handle = ffi.new_handle(call)
        self._calls.append((call, handle))  # before it can be called
        job.register(self._there(), handle)

    def remove(self, name: str) -> None:
        """It is no longer called here; the job stays in the store."""
        check(lib.peal_remove(self._there(), name.encode()))

    def delete(self, name: str) -> None:
        """Removes the job for all."""
        check(lib.peal_delete(self._there(), name.encode()))

    def trigger(self, name: str, params: Mapping[str, str] | None = None) -> str:
        """Asks for a run now; its id."""
        lines = "\n".join(f"{key}={value}" for key, value in (params or {}).items())
        run_id = ffi.new("char[]", 27)
        check(lib.peal_trigger(self._there(), name.encode(), lines.encode() if lines else ffi.NULL,
                               run_id))
        return text_of(run_id)

    # ---- running ----

    def stop(self) -> None:
        """Takes no further ticks; wait() returns when the functions that run have."""
        if self._node is not None:
            lib.peal_stop(self._node)

    def wait(self) -> None:
        """Until stop(), or SIGTERM where the program leaves it to the system. A KeyboardInterrupt
        stops it too, and is raised when the functions that run have returned."""
        ended = _Ended(self._there())
        with _sigterm_stops(self):
            ended.start()
            try:
                ended.over.wait()
            except BaseException:
                self.stop()
                ended.over.wait()
                raise
        ended.check()

    async def serve(self) -> None:
        """wait() for asyncio. Coroutines run on this loop; with caller="steps" functions do. When
        it is cancelled, the node stops, and what runs is waited for."""
        node = self._there()
        loop = asyncio.get_running_loop()
        self._loop = loop
        for call, _ in self._calls:
            call.loop = loop
        fd = await self._readable(node) if self._steps else -1
        if fd >= 0:
            loop.add_reader(fd, lib.peal_step, node)
        is_over = loop.create_future()
        ended = _Ended(node, lambda: loop.call_soon_threadsafe(is_over.set_result, None))
        ended.start()
        try:
            await asyncio.shield(is_over)
        except asyncio.CancelledError:
            self.stop()
            await is_over
            raise
        finally:
            if fd >= 0:
                loop.remove_reader(fd)
                os.close(fd)
        ended.check()

    async def _readable(self, node: Any) -> int:
        """A descriptor of our own, which stays ours when the library closes its one."""
        while (fd := lib.peal_fd(node)) < 0:  # until it has joined, in the background
            await asyncio.sleep(0.05)
        return os.dup(fd)

    def close(self) -> None:
        """Stops, and waits for functions that run."""
        if self._node is None:
            return
        self.stop()
        ended = _Ended(self._node, is_close=True)
        self._node = None
        _open_nodes.discard(self)
        ended.start()
        ended.over.wait()
        self._calls.clear()


class _Ended(threading.Thread):
    """Waits for a node's end in C, where Python's own threads and signals would have to wait."""

    def __init__(self, node: Any, then: Callable[[], object] | None = None,
                 is_close: bool = False) -> None:
        super().__init__(name="peal", daemon=True)
        self._node = node
        self._then = then
        self._is_close = is_close
        self._error: Exception | None = None
        self.over = threading.Event()  # join() that is interrupted takes the thread for ended

    def run(self) -> None:
        try:
            if self._is_close:
                lib.peal_close(self._node)
            else:
                check(lib.peal_wait(self._node))
        except Exception as error:
            self._error = error
        self.over.set()
        if self._then:
            self._then()

    def check(self) -> None:
        if self._error:
            raise self._error


@contextlib.contextmanager
def _sigterm_stops(node: Node) -> Iterator[None]:
    is_ours = (threading.current_thread() is threading.main_thread()
               and signal.getsignal(signal.SIGTERM) == signal.SIG_DFL)
    if is_ours:
        signal.signal(signal.SIGTERM, lambda *_: node.stop())
    try:
        yield
    finally:
        if is_ours:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)


@atexit.register
def _close_all() -> None:
    for node in list(_open_nodes):
        node.close()


# ---- the program's own node ----

class Program(Functions):
    """Functions that wait for run()."""

    def __init__(self) -> None:
        self._jobs: dict[str, Job] = {}

    def _add(self, job: Job) -> None:
        name = job.full_name()
        if name in self._jobs:
            raise ExistsError(f'there is a function "{name}" already')
        job.register(ffi.NULL, ffi.NULL)  # what is wrong with it; nothing is opened by that
        lib.peal_remove(ffi.NULL, name.encode())
        self._jobs[name] = job

    def run(self, store: str | None = None, **options: Any) -> None:
        """Opens a node, with the options of `open`, and calls functions until it is stopped."""
        with Node(store, **options) as node:
            for job in self._jobs.values():
                node._add(job)
            node.wait()
