#!/usr/bin/env python3
"""jobs.py SEED COUNT [respell|change|import]

Prints a configuration of Terraform, in JSON, with so many jobs of all kinds, made by the seed. With `respell` the values
are the same, written in other ways; with `change` one field of one job has another value, and stderr has the two names;
with `import` each job has an import block, too.
jobs.py fields   prints all fields that it can make, one a line, like retries.wait, for the test to compare.
"""
import json
import random
import sys

# Values by field; those of one tuple mean the same. No value is a default.
SOON = [("90s", "1m30s"), ("2h", "120m"), ("36h", "1d12h"), ("45m", "2700s")]
SHORT = [("25s",), ("90s", "1m30s"), ("5m", "300s")]
SIZE = [("64MiB", "65536KiB"), ("1GiB", "1024MiB"), ("3000000",)]
WORDS = [("eins",), ("zwei drei",), ("ä\n",), ("x: [y]\n# z",)]
NAMES = [(["a"],), (["b", "a"],)]
ON = [("failure",), ("always",)]
HTTP = {
    "url": [("https://example.org/a",), ("http://127.0.0.1:9/b?c=d",)], "method": [("POST",), ("PUT",)],
    "headers": [({"X-A": "1"},), ({"X-A": "2", "X-B": "3"},)], "body": WORDS,
    "status": [(["200"],), (["200-204", "304"],)], "match": [("ok",)], "no_match": [("error",)], "redirects": [(3,), (5,)],
    "connect_timeout": SHORT, "ca": [("/etc/ca.pem",)], "cert": [("/etc/cert.pem",)], "key": [("/etc/key.pem",)],
}
LIMITS = {
    "open_files": [(64,), (1024,)], "processes": [(50,)], "core": [("0",), ("1MiB", "1024KiB")], "memory": SIZE,
    "cpu_time": SOON, "file_size": SIZE, "total_memory": SIZE[:2], "cpus": [("1.5",), ("2",)], "total_processes": [(100,)],
    "io_weight": [(50,)],
}
IONICE = {"class": [("best-effort",)], "level": [(7,), (2,)]}
RETRIES = {
    "count": [(3,), (5,)], "wait": SOON[:2], "backoff": [("exponential",)], "max_wait": SOON[1:], "jitter": [(20,)],
    "on": [(["failed", "lost"],), (["exit 75"],)], "within": SOON, "notify": [("each",)],
}
EXPECT = {
    "matches": [("^[1-9]",)], "not_matches": [("ERROR|FATAL",)], "exit": [(["0", "3-5"],)], "file": [("/srv/a",)],
    "newer_than": [("1h",)], "min_bytes": [("1MiB", "1024KiB"), ("17",)], "min_duration": [("5s",)], "max_duration": SOON[1:],
}
PROCESS = {  # in a job, and in a step, that runs a process
    "stdin": WORDS, "umask": [("027", "0027"), ("077", "77")], "nice": [(10,), (-5,)], "ionice": IONICE, "limits": LIMITS,
    "expect": EXPECT, "output": [("merged",)], "linger": SHORT,
}
STEP = {  # in both
    "grace": SOON[:2], "retries": RETRIES, "groups": [(["${peal_group.g.name}"],)], "priority": [(10,), (-10,)],
    "place": [("sticky",), ("least_loaded",)], "output_limit": SIZE, "secrets": [(["db-password"],), (["Q=b", "c"],)],
}
EITHER = {"where": [("zone=eu",), ("zone=eu,!gpu",)], "timeout": SOON, "env": [({"A": "1"},), ({"B": "x y", "PASSWORD": "q"},)]}
OF_HOME = {"cwd": [("/srv",), ("/tmp",)], "user": [("nobody",)]}
TICKS = {
    "timezone": [("Europe/Berlin",), ("Asia/Tokyo",)], "start": [("2027-01-31T08:00:00Z", "2027-01-31T09:00:00+01:00")],
    "end": [("2030-01-01T00:00:00Z", "2030-01-01T00:00Z")], "jitter": SHORT, "dst": [("skip",), ("both",)],
    "calendars": [(["${peal_calendar.c.name}"],)], "only_on": [(["${peal_calendar.d.name}"],)], "deadline": SOON,
    "only_if": {"jobs": [(["${peal_job.first.name}"],)], "on": ON, "within": SOON, "wait": SOON},
    "catch_up": {"policy": [("all",)], "window": SOON, "limit": [(7,)]},
}
ANY = {
    "overlap": {"policy": [("queue",)], "queue": [(3,), (4,)]}, "retention": {"runs": [(100,)], "age": SOON, "bytes": SIZE},
    "delete_after": [("400d", "9600h")], "ping": [("https://example.org/ping",)], "labels": [({"team": "db"},), ({"n": "7"},)],
    "owner": [("x@example.org",)], "notes": WORDS, "paused": [(True,)],
    "notify": {"to": [(["${peal_channel.o.name}"],), ([],)], "on": [(["lost", "failure"], ["failure", "lost"])], "late": SOON,
               "too_long": [("2h", "2h"), ("auto",)], "too_short": [("5s",)], "success_by": [("06:00",)],
               "success_within": SOON, "title": [("${job} x",)], "text": [("${facts}",)]},
    "params": [({"day": {"default": "x", "help": "A day"}, "n": {"type": "integer", "default": "100"}},),
               ({"f": {"default": "a", "allowed": ["a", "b"]}},)],
}
SPREAD = {"spread": [("all",), ("2",), ("shards 4",)], "rolling": {"at_once": [(1,), (2,)], "stop_on_failure": [(True,)]}}
EACH = [({"items": ["a", "b"]},), ({"from": 1, "to": 9, "by": 2, "at_once": 2},), ({"shards": 3},)]
MADE_OTHERWISE = ["finally", "expect.duration", "steps.expect.duration", "schedule", "schedules", "command", "shell", "overlap.at_once", "function.digest", "function.version",
                  "steps.workflow", "steps.each.of", "steps.outputs"]


class Maker:
    def __init__(self, seed, respell):
        self.random = random.Random(seed)
        self.spelling = random.Random(str(seed) + str(respell))
        self.leaves = []  # (job, path, holder, key, values, value)

    def one(self, values):
        means = self.random.choice(values)
        return means, self.spelling.choice(means)

    def leaf(self, job, path, holder, key, values):
        means, holder[key] = self.one(values)
        self.leaves.append((job, path, holder, key, values, means))

    def put(self, job, into, table, odds=0.3, path=""):
        for key, values in table.items():
            if self.random.random() >= odds:
                continue
            if isinstance(values, dict):
                into[key] = {}
                first = next(iter(values))
                self.leaf(job, path + key + "." + first, into[key], first, values[first])
                self.put(job, into[key], {k: v for k, v in values.items() if k != first}, odds, path + key + ".")
            else:
                self.leaf(job, path + key, into, key, values)
        self.agree(into)

    @staticmethod
    def agree(into):
        """Takes out and adds what peal does not take without, or beside, something else."""
        if {"newer_than", "min_bytes"} & set(into.get("expect", {})):
            into["expect"].setdefault("file", "/srv/b")
        if "rolling" in into:
            into.setdefault("spread", "all")
        if "secrets" in into:
            into.get("http", {}).pop("redirects", None)

    def process(self, job, into, path):
        if self.random.random() < 0.5:
            self.leaf(job, path + "command", into, "command", [(["true"],), (["echo", "$x", "1 2"],)])
        else:
            self.leaf(job, path + "shell", into, "shell", [("true\n",), ("set -eu\nx",)])
        self.put(job, into, PROCESS, path=path)

    def call(self, job, into, path):
        into["http"] = {}
        self.leaf(job, path + "http.url", into["http"], "url", HTTP["url"])
        self.put(job, into["http"], {k: v for k, v in HTTP.items() if k not in ("url", "key")}, path=path + "http.")
        if "cert" in into["http"]:
            self.put(job, into["http"], {"key": HTTP["key"]}, 1, path + "http.")

    def steps(self, job, into):
        into["steps"] = []
        for i in range(self.random.randint(1, 4)):
            step = {"name": f"s{i}"}
            path = f"steps.{i}."
            what = self.random.random()
            if what < 0.5:
                self.process(job, step, path)
                self.put(job, step, {**STEP, **EITHER, **OF_HOME}, 0.2, path)
            elif what < 0.7:
                self.call(job, step, path)
            else:
                step["job"] = "${peal_job.first.name}"
                self.put(job, step, {"with": [({"day": "y"},)], "timeout": SOON}, 0.5, path)
            if i:
                step["after"] = [{"step": f"s{j}", **({"on": "always"} if j else {})} for j in range(i)]
                self.put(job, step, {"join": [("any",)] + ([("2",)] if i > 2 else []), "when": [("params.day == 'x'",)]}, 0.3, path)
            if what < 0.5:
                self.put(job, step, {"each": EACH}, 0.3, path)
            into["steps"].append(step)
        if any("when" in step for step in into["steps"]):
            into["params"] = {"day": {"default": "x"}}
        if self.random.random() < 0.5:
            into["finally"] = [{"name": "last", "shell": "rm -rf x\n"}]

    def job(self, name, others):
        into = {"name": f"team/{name}"}
        if others and self.random.random() < 0.2:
            into["after"] = [{"job": f"${{peal_job.{self.random.choice(others)}.name}}"}]
            self.put(name, into["after"][0], {"on": ON}, 0.5, "after.0.")
        else:
            self.leaf(name, "schedule", into, "schedule", [("30 2 * * *",), ("@every 90s",), ("0 0 9 ? * MON-FRI",)])
            if self.random.random() < 0.2:
                into["schedules"] = [into.pop("schedule"), "@hourly"]
                self.leaves.pop()
            self.put(name, into, TICKS)
        self.put(name, into, {**ANY, **EITHER})
        what = self.random.random()
        if what < 0.5:
            self.process(name, into, "")
            self.put(name, into, {**STEP, **OF_HOME})
            self.put(name, into, SPREAD, 0.2)
        elif what < 0.7:
            self.call(name, into, "")
            self.put(name, into, STEP)
        elif what < 0.8:
            into["function"] = {"program": "billing", "name": "clean"}
            self.put(name, into, {k: v for k, v in STEP.items() if k != "secrets"})
            into.pop("env", None)
        else:
            into.pop("params", None)
            self.steps(name, into)
        return into


def escaped(value):
    """With ${...} that are not references as texts."""
    if isinstance(value, dict):
        return {key: escaped(one) for key, one in value.items()}
    if isinstance(value, list):
        return [escaped(one) for one in value]
    if isinstance(value, str) and not value.startswith("${peal_"):
        return value.replace("${", "$${")
    return value


def named(table, before=""):
    for key, values in table.items():
        yield before + key
        if isinstance(values, dict):
            yield from named(values, before + key + ".")


def fields():
    step = {**PROCESS, **STEP, **EITHER, **OF_HOME, "http": HTTP}
    job = {**step, **TICKS, **ANY, **SPREAD, "function": {"program": [], "name": []}, "after": {"job": [], "on": []}}
    job["params"] = dict.fromkeys(("type", "default", "allowed", "help"), [])
    of_step = {**step, "name": [], "job": [], "with": [], "after": {"step": [], "on": []}, "join": [], "when": [],
               "function": {"program": [], "name": [], "digest": [], "version": []}, "command": [], "shell": [],
               "each": dict.fromkeys(("items", "from", "to", "by", "shards", "at_once"), [])}
    job["steps"] = of_step
    return sorted(set(named(job)) | set(MADE_OTHERWISE))


def main():
    if sys.argv[1] == "fields":
        print("\n".join(fields()))
        return
    seed, count, how = sys.argv[1], int(sys.argv[2]), (sys.argv[3:] or [""])[0]
    maker = Maker(seed, how in ("respell", "import"))
    jobs = {"first": {"name": "team/first", "schedule": "@manual", "command": ["true"], "params": {"day": {"default": "x"}}}}
    for i in range(count):
        name = f"j{i}"
        jobs[name] = maker.job(name, list(jobs))
    if how == "change":
        simple = [leaf for leaf in maker.leaves if len(leaf[4]) > 1 and leaf[3] in leaf[2]]
        name, path, holder, key, values, means = simple[maker.spelling.randrange(len(simple))]
        holder[key] = next(value for value in values if value != means)[0]
        print(name, path, file=sys.stderr)
    config = {"resource": {
        "peal_job": escaped(jobs),
        "peal_group": {"g": {"name": "g", "cluster": 3, "labels": {"zone": 2}}},
        "peal_calendar": {"c": {"name": "c", "dates": ["2027-12-24", "12-25"], "weekdays": ["sun", "sat"]},
                          "d": {"name": "d", "windows": ["mon-fri 09:00-17:30", "22:00-06:00"], "timezone": "Europe/Berlin"}},
        "peal_channel": {"o": {"name": "o", "type": "webhook", "url": "https://example.org/hook?key=hush", "secret": "hush-hush-hush",
                               "headers": {"Authorization": "Bearer hush"}, "on": ["lost", "failure"], "quiet": "90s"}}}}
    if how == "import":
        config["import"] = [{"to": f"peal_job.{name}", "id": job["name"]} for name, job in jobs.items()]
        config["import"] += [{"to": "peal_group.g", "id": "g"}, {"to": "peal_calendar.c", "id": "c"},
                             {"to": "peal_calendar.d", "id": "d"}, {"to": "peal_channel.o", "id": "o"}]
    json.dump(config, sys.stdout, indent=1, ensure_ascii=False)


main()
