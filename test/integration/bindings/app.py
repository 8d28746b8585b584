"""The program of the test: see bindings_test.sh.

    app.py FILE [threads | asyncio | steps | bad | coordinate | trigger NAME [KEY=VALUE]...]
"""
import asyncio
import logging
import signal
import sys

import peal

FILE, MODE = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "threads"


def note(what: str, line: object) -> None:
    with open(f"{FILE}.{what}", "a", encoding="utf-8") as file:
        file.write(f"{line}\n")


@peal.every("* * * * * *")
def tick(run: peal.Run) -> None:
    note("ticks", int(run.tick.timestamp()))


@peal.every(more="params: {who: {default: nobody}}")
def greet(run: peal.Run) -> None:
    run.progress(50, "words")
    logging.getLogger("app").warning("hello %s", run.params["who"])  # by way of RunHandler
    assert "other" not in run.params and peal.current_run() is run
    note("greeted", f'{run.params["who"]} {run.job} {run.attempt} {run.id}')


@peal.every()
def fails() -> None:
    raise ValueError("no luck today")


@peal.every()
def panics() -> None:
    sys.exit(101)


@peal.every(overlap="skip", timeout=3600, catch_up="none", retries=0)
def slow(run: peal.Run) -> None:
    note("slow", run.id)
    try:
        run.sleep(3600)
    except peal.Cancelled:
        run.log("told to stop" if run.cancelled else "not told")
        raise


async def coroutine(run: peal.Run) -> None:
    try:
        await asyncio.sleep(0 if run.attempt else 1)
        note("coroutine", run.id)
        await asyncio.sleep(3600)
    except asyncio.CancelledError:
        run.log("told to stop")
        raise


def bad() -> None:
    for schedule, options in (("75 * * * *", {"name": "bad"}), ("@daily", {"name": "tick"}),
                              ("@daily", {"name": "bad", "overlap": "maybe"})):
        try:
            peal.every(schedule, **options)(lambda: None)
        except peal.Error as error:
            print(type(error).__name__, error)
    try:
        peal.open("etcd://127.0.0.1:1/x", timeout=0.1)
    except peal.UnreachableError as error:
        print("unreachable", error)
    with peal.open() as opened:
        try:
            opened.remove("nobody")
        except LookupError as error:
            print(type(error).__name__, error)


def coordinate() -> None:
    with peal.lock("backup", id="one") as first:
        print("held", first.held, first.fence > 0)
        try:
            peal.lock("backup", 0.1)
        except peal.BusyError as error:
            print("busy", error)
    print("held", first.held)
    with peal.lock("backup", wait=None) as second:
        print("grows", second.fence > first.fence)
    with peal.elect("chief", id="one") as lead:
        print("leads", lead.held, peal.who_leads("chief"))
    print("nobody", peal.who_leads("chief"))
    print(*peal.select("mailer", 60, id="one"), *peal.select("mailer", 60, id="two"))


async def serve(caller: str) -> None:
    with peal.open(caller=caller) as opened:
        for job in peal._program._jobs.values():
            opened._add(job)
        if caller == "threads":
            opened.add(coroutine)
        await opened.serve()


if MODE == "bad":
    bad()
elif MODE == "coordinate":
    coordinate()
elif MODE == "trigger":
    with peal.open(program="asker") as opened:
        print(opened.trigger(sys.argv[3], dict(word.split("=", 1) for word in sys.argv[4:])))
else:
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell has it ignored with `&`
    logging.getLogger().addHandler(peal.RunHandler())
    try:
        if MODE == "threads":
            peal.run()
        else:
            asyncio.run(serve("threads" if MODE == "asyncio" else MODE))
    except KeyboardInterrupt:
        print("interrupted")
