"""The work, done by APScheduler: COUNT each|UNIX_S PROGRAM [ARGUMENT]..."""

import datetime
import logging
import os
import signal
import subprocess
import sys

from apscheduler.schedulers.background import BackgroundScheduler
from apscheduler.triggers.cron import CronTrigger
from apscheduler.triggers.date import DateTrigger

command = sys.argv[3:]


def run():
    subprocess.run(command, env={}, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=True)


def main():
    count, when = int(sys.argv[1]), sys.argv[2]
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
    logging.disable(logging.CRITICAL)
    # Its defaults (10 threads, a run that is 1 s late is not made), but that late runs are made.
    scheduler = BackgroundScheduler(
        timezone="UTC",
        job_defaults={"misfire_grace_time": None, "coalesce": False, "max_instances": 100},
    )
    for _ in range(count):
        trigger = (
            CronTrigger(second="*", timezone="UTC")
            if when == "each"
            else DateTrigger(datetime.datetime.fromtimestamp(int(when), datetime.timezone.utc))
        )
        scheduler.add_job(run, trigger)
    scheduler.start()
    print("ready", flush=True)
    signal.sigwait([signal.SIGTERM])
    os._exit(0)  # whatever still waits for its start


main()
