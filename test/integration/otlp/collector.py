#!/usr/bin/env python3
"""collector.py FOLDER: a receiver of OTLP/HTTP with JSON that takes nothing which is not as the protocol's definition
has it. The port is in FOLDER/port, each span and metric a line in FOLDER/spans and FOLDER/metrics, what is wrong in
FOLDER/wrong, the headers of the last request in FOLDER/headers.

FOLDER/answer, if it is there, says what is answered instead: "503", "503 2" (with Retry-After: 2), "400", "hang", or
"partial 1" (200, of which so many spans are rejected).
"""
import http.server
import json
import os
import re
import sys
import time

folder = sys.argv[1]


class Wrong(Exception):
    pass


def check(is_right, what):
    if not is_right:
        raise Wrong(what)


def members(value, allowed, needed=()):
    check(isinstance(value, dict), f"no object: {value!r}")
    for key in value:
        check(key in allowed, f"unknown member {key}")
    for key in needed:
        check(key in value, f"no {key}")


def no_twice(pairs):
    keys = [key for key, _ in pairs]
    check(len(keys) == len(set(keys)), f"a member twice: {keys}")
    return dict(pairs)


def is_number(text, signed=True):
    """Numbers of 64 bits are texts."""
    return isinstance(text, str) and re.fullmatch(r"-?\d{1,19}" if signed else r"\d{1,20}", text)


def attributes(items):
    check(isinstance(items, list), "attributes are a list")
    found = {}
    for item in items:
        members(item, {"key", "value"}, {"key", "value"})
        check(item["key"] and item["key"] not in found, f"attribute twice, or without a name: {item}")
        members(item["value"], {"stringValue", "intValue", "doubleValue", "boolValue"})
        check(len(item["value"]) == 1, f"one value: {item}")
        kind, value = next(iter(item["value"].items()))
        check(isinstance(value, str) if kind == "stringValue" else is_number(value), f"{item}")
        found[item["key"]] = int(value) if kind == "intValue" else value
    return found


def resource(value):
    members(value, {"attributes"}, {"attributes"})
    return attributes(value["attributes"])


def is_id(text, digits):
    return isinstance(text, str) and re.fullmatch(f"[0-9a-f]{{{digits}}}", text) and text.strip("0")


def read_span(span, of):
    members(span, {"traceId", "spanId", "parentSpanId", "name", "kind", "flags", "startTimeUnixNano",
                   "endTimeUnixNano", "attributes", "links", "status"},
            {"traceId", "spanId", "name", "kind", "startTimeUnixNano", "endTimeUnixNano", "attributes"})
    check(is_id(span["traceId"], 32), "traceId")
    check(is_id(span["spanId"], 16), "spanId")
    check("parentSpanId" not in span or is_id(span["parentSpanId"], 16), "parentSpanId")
    check(span["kind"] in range(1, 6), "kind")
    check(isinstance(span["name"], str) and span["name"], "name")
    start, end = span["startTimeUnixNano"], span["endTimeUnixNano"]
    check(is_number(start, False) and is_number(end, False) and 0 < int(start) <= int(end), "times")
    check(isinstance(span.get("flags", 0), int), "flags")
    for link in span.get("links", []):
        members(link, {"traceId", "spanId", "attributes"}, {"traceId", "spanId"})
        check(is_id(link["traceId"], 32) and is_id(link["spanId"], 16), "link")
        attributes(link.get("attributes", []))
    status = span.get("status", {})
    members(status, {"code", "message"})
    check(status.get("code", 0) in (0, 1, 2), "status")
    return {"trace": span["traceId"], "span": span["spanId"], "parent": span.get("parentSpanId"),
            "name": span["name"], "ms": (int(end) - int(start)) // 1000000, "status": status.get("code", 0),
            "message": status.get("message"), "links": [link["spanId"] for link in span.get("links", [])],
            "of": attributes(span["attributes"]), "resource": of}


def read_metric(metric, of):
    members(metric, {"name", "description", "unit", "gauge", "sum", "histogram"}, {"name"})
    kinds = [kind for kind in ("gauge", "sum", "histogram") if kind in metric]
    check(len(kinds) == 1, f"one kind: {metric['name']}")
    data = metric[kinds[0]]
    members(data, {"dataPoints"} | ({"aggregationTemporality"} if kinds[0] != "gauge" else set())
            | ({"isMonotonic"} if kinds[0] == "sum" else set()), {"dataPoints"})
    check(kinds[0] == "gauge" or data["aggregationTemporality"] == 2, "cumulative")
    check(data["dataPoints"], f"no point: {metric['name']}")
    for point in data["dataPoints"]:
        labels = attributes(point["attributes"])
        check(is_number(point["timeUnixNano"], False), "time")
        check(kinds[0] == "gauge" or is_number(point["startTimeUnixNano"], False), "start")
        if kinds[0] == "histogram":
            counts, bounds = point["bucketCounts"], point["explicitBounds"]
            check(len(counts) == len(bounds) + 1 and bounds == sorted(bounds), "buckets")
            check(all(is_number(one, False) for one in counts), "counts")
            check(sum(map(int, counts)) == int(point["count"]) and isinstance(point["sum"], (int, float)), "sum")
            value = int(point["count"])
        elif kinds[0] == "sum":
            check(is_number(point["asInt"]) and int(point["asInt"]) >= 0, "asInt")
            value = int(point["asInt"])
        else:
            check(isinstance(point["asDouble"], (int, float)), "asDouble")
            value = point["asDouble"]
        yield {"name": metric["name"], "kind": kinds[0], "of": labels, "value": value, "resource": of}


def read_body(path, body):
    """The lines of a request."""
    kind = {"/v1/traces": ("resourceSpans", "scopeSpans", "spans"),
            "/v1/metrics": ("resourceMetrics", "scopeMetrics", "metrics")}.get(path)
    check(kind, f"no such path: {path}")
    members(body, {kind[0]}, {kind[0]})
    for group in body[kind[0]]:
        members(group, {"resource", kind[1]}, {"resource", kind[1]})
        of = resource(group["resource"])
        for scope in group[kind[1]]:
            members(scope, {"scope", kind[2]}, {"scope", kind[2]})
            check(scope["scope"]["name"] == "peal", "scope")
            check(scope[kind[2]], "nothing")
            for item in scope[kind[2]]:
                yield from [read_span(item, of)] if kind[2] == "spans" else read_metric(item, of)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        text = self.rfile.read(int(self.headers["Content-Length"]))
        words = answer().split()
        if words[:1] == ["hang"]:
            while os.path.exists(os.path.join(folder, "answer")):
                time.sleep(0.05)
            self.close_connection = True
            return
        write("headers", "".join(f"{key}: {value}\n" for key, value in self.headers.items()), "w")
        status, rejected = 200, 0
        if words[:1] == ["partial"]:
            rejected = int(words[1])
        elif words:
            status = int(words[0])
        try:
            check(self.headers["Content-Type"] == "application/json", "Content-Type")
            lines = [json.dumps(line) for line in read_body(self.path, json.loads(text, object_pairs_hook=no_twice))]
            if status == 200:
                write(self.path.rsplit("/", 1)[1].replace("traces", "spans"), "".join(line + "\n" for line in lines))
        except (Wrong, KeyError, ValueError, TypeError) as wrong:
            write("wrong", f"{wrong!r}\n")
            status = 400
        answered = {"partialSuccess": {"rejectedSpans": str(rejected), "errorMessage": "too old"}} if rejected else {}
        body = json.dumps(answered).encode()
        self.send_response(status)
        if status == 503 and len(words) > 1:
            self.send_header("Retry-After", words[1])
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        write("requests", f"{self.path} {status}\n")

    def log_message(self, *arguments):
        pass


def answer():
    try:
        with open(os.path.join(folder, "answer"), encoding="utf-8") as file:
            return file.read()
    except FileNotFoundError:
        return ""


def write(name, text, mode="a"):
    with open(os.path.join(folder, name), mode, encoding="utf-8") as file:
        file.write(text)


server = http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[2]) if len(sys.argv) > 2 else 0), Handler)
write("port.new", f"{server.server_port}\n", "w")
os.rename(os.path.join(folder, "port.new"), os.path.join(folder, "port"))
server.serve_forever()
