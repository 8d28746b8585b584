"""What each client can do, in this order and with these lines: app.py and its likes in other languages print the same."""
import os
import sys

from peal_client import Client, PealError

url, token, socket = sys.argv[1:4]


def refused(call):
    try:
        call()
    except PealError as error:
        return error
    raise AssertionError("not refused")


def watch():
    for event in peal.events(topics=["runs"]):
        if event.event == "run" and event.data["state"] == "ok":
            print("event", event.data["job"], "ok", flush=True)
            if event.data["job"] == "last":
                return
        elif event.event in ("hello", "reset"):
            print("listening", flush=True)


peal = Client("unix://" + socket)
if sys.argv[4:] == ["watch"]:
    watch()
    sys.exit()

print("me", Client(url, token=token).me()["name"], peal.me()["kind"])
print("without", refused(lambda: Client(url).me()).status)

job = peal.put_job("team/one", {"schedule": "@manual", "command": ["echo", "eins", "zwei"]})
print("made", job["name"], job["revision"], job["status"]["next_at"])
peal.patch_job("team/one", {"notes": "ä\n"}, if_match=str(job["revision"]))
print("late", refused(lambda: peal.patch_job("team/one", {"notes": "x"}, if_match=str(job["revision"]))).status)
wrong = refused(lambda: peal.put_job("team/bad", {"schedule": "0 25 * * *", "command": ["true"]}))
print("wrong", wrong.status, wrong.errors[0].pointer, wrong.errors[0].column, bool(wrong.request_id))
print("unknown", refused(lambda: peal.get_job("no/such")).status)

for number in range(7):
    peal.put_job(f"page/{number}", {"schedule": "@manual", "command": ["true"]})
print("pages", " ".join(each["name"] for each in peal.each_job(folder="page", limit=3)))

first = peal.run_job("team/one", idempotency_key="key-1", headers={"traceparent": os.environ["TRACE"]})
again = peal.run_job("team/one", idempotency_key="key-1", headers={"traceparent": os.environ["TRACE"]})
print("once", first["run_id"] == again["run_id"])
for event in peal.follow_log(first["run_id"]):
    if event.event == "chunk":
        print("chunk", event.data["stream"], event.data["text"].strip())
run = peal.get_run(first["run_id"])
print("run", run["state"], run["exit_code"], run["traceparent"] == os.environ["TRACE"])
print("raw", len(peal.raw_log(first["run_id"])))

peal.put_job("slow", {"schedule": "@manual", "command": ["sleep", "600"]})
slow = peal.run_job("slow")["run_id"]
while peal.get_run(slow)["state"] != "running":
    pass
peal.kill_run(slow)
for event in peal.follow_log(slow):
    pass
print("killed", peal.get_run(slow)["state"])
print("metrics", "peal_build_info" in peal.metrics())
batch = peal.batch_jobs(delete=[f"page/{number}" for number in range(7)])
print("batch", [each["name"] for each in peal.each_job(folder="page")], "results" in batch or "items" in batch)
