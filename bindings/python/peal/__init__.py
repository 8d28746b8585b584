"""Scheduled functions, elections and locks, alone or across a cluster.

    import peal

    @peal.every("*/5 * * * *", tz="Asia/Shanghai")
    def cleanup(run):
        run.log("swept")

    peal.run()
"""
from ._coord import Held, Selection, elect, lock, select, who_leads
from ._errors import (BusyError, Cancelled, Error, ExistsError, ForkedError, InvalidError, LostError,
                      NoMemoryError, NotFoundError, StoppedError, StorageError, UnreachableError,
                      VersionError, text_of)
from ._node import Functions, Job, Node, Program
from ._peal import lib
from ._run import Params, Run, RunHandler, current_run

__version__ = text_of(lib.peal_version())

_program = Program()
every = _program.every
add = _program.add
add_command = _program.add_command
add_http = _program.add_http
run = run_forever = _program.run
open = Node  # noqa: A001 peal.open() reads better than its class

__all__ = ["BusyError", "Cancelled", "Error", "ExistsError", "ForkedError", "Functions",
           "Held", "InvalidError", "Job", "LostError", "Node", "NoMemoryError", "NotFoundError", "Params",
           "Program", "Run", "RunHandler", "Selection", "StoppedError", "StorageError", "UnreachableError",
           "VersionError", "add", "add_command", "add_http", "current_run", "elect", "every",
           "lock", "open", "run", "run_forever", "select", "who_leads"]
