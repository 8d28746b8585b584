"""The work, done by APScheduler: COUNT each|spread|UNIX_S FILE."""

import array
import datetime
import logging
import os
import signal
import sys
import time

from apscheduler.schedulers.background import BackgroundScheduler
from apscheduler.triggers.cron import CronTrigger
from apscheduler.triggers.date import DateTrigger

times = []


def note():
    times.append(time.time_ns())


def trigger(when, i):
    if when == "each":
        return CronTrigger(second="*", timezone="UTC")
    if when == "spread":
        return CronTrigger(second=i % 60, timezone="UTC")
    return DateTrigger(datetime.datetime.fromtimestamp(int(when), datetime.timezone.utc))


def main():
    count, when, file = int(sys.argv[1]), sys.argv[2], sys.argv[3]
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
    logging.disable(logging.CRITICAL)
    # Its defaults (10 threads, a call that is 1 s late is not made), but that late calls are made.
    scheduler = BackgroundScheduler(
        timezone="UTC",
        job_defaults={"misfire_grace_time": None, "coalesce": False, "max_instances": 100},
    )
    for i in range(count):
        scheduler.add_job(note, trigger(when, i))
    scheduler.start()
    print("ready 0 0", flush=True)
    signal.sigwait([signal.SIGTERM])
    with open(file, "wb") as out:
        array.array("q", list(times)).tofile(out)
    os._exit(0)  # whatever still waits for its call


main()
