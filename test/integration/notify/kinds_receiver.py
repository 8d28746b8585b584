"""kinds_receiver.py PORT FILE
A receiver that is as strict as PagerDuty, Teams, Telegram and ntfy are: what they would refuse it
refuses, with their answers. What it takes becomes a line of FILE: the kind, and the body as JSON.
A file FILE.busy makes it answer the next request with a 429, as each of them does."""

import html.parser
import json
import os
import re
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer

ADAPTIVE = "application/vnd.microsoft.card.adaptive"


class Wrong(Exception):
    pass


def must(holds, why):
    if not holds:
        raise Wrong(why)


def only(value, required, optional=()):
    must(isinstance(value, dict), "not an object")
    must(set(required) <= set(value), f"missing {set(required) - set(value)}")
    must(set(value) <= set(required) | set(optional), f"unknown {set(value)}")


def pagerduty(path, headers, body):
    must(path == "/v2/enqueue", "path")
    must(re.fullmatch(r"[0-9a-f]{32}", body.get("routing_key", "")), "routing_key")
    must(1 <= len(body["dedup_key"]) <= 255, "dedup_key")
    action = body["event_action"]
    must(action in ("trigger", "resolve", "acknowledge"), "event_action")
    if action != "trigger":
        only(body, ["routing_key", "event_action", "dedup_key"])
        return
    only(body, ["routing_key", "event_action", "dedup_key", "payload"], ["client", "client_url", "links"])
    payload = body["payload"]
    only(payload, ["summary", "source", "severity"], ["timestamp", "component", "group", "class", "custom_details"])
    must(1 <= len(payload["summary"]) <= 1024, "summary")
    must(payload["severity"] in ("critical", "error", "warning", "info"), "severity")
    must(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", payload["timestamp"]), "timestamp")
    for link in body.get("links", []):
        only(link, ["href"], ["text"])


def teams(path, headers, body):
    only(body, ["type", "attachments"])
    must(body["type"] == "message" and len(body["attachments"]) == 1, "message")
    attachment = body["attachments"][0]
    only(attachment, ["contentType", "content"], ["contentUrl"])
    must(attachment["contentType"] == ADAPTIVE, "contentType")
    card = attachment["content"]
    only(card, ["type", "version", "body"], ["$schema", "actions", "msteams"])
    must(card["type"] == "AdaptiveCard", "card")
    for block in card["body"]:
        only(block, ["type", "inlines"], ["spacing"])
        must(block["type"] == "RichTextBlock", "block")
        for run in block["inlines"]:
            only(run, ["type", "text"], ["size", "weight", "fontType"])
            must(run["type"] == "TextRun" and run["text"], "run")
    for action in card["actions"]:
        only(action, ["type", "title", "url"])
        must(action["url"].startswith("https://"), "url")


class Entities(html.parser.HTMLParser):
    """The tags that Telegram knows, each closed."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.open, self.text = [], ""

    def handle_starttag(self, tag, attrs):
        must(tag in ("b", "pre") and not attrs, f"can't parse entities: {tag}")
        self.open.append(tag)

    def handle_endtag(self, tag):
        must(self.open and self.open.pop() == tag, f"can't parse entities: /{tag}")

    def handle_data(self, data):
        self.text += data


def telegram(path, headers, body):
    must(path == "/bot123:secret-bot/sendMessage", "Not Found")
    only(body, ["chat_id", "text"], ["parse_mode", "link_preview_options"])
    must(body["parse_mode"] == "HTML" and body["chat_id"] == "-1001", "chat not found")
    must(not re.search(r"&(?!(amp|lt|gt|quot);)", body["text"]), "can't parse entities: &")
    parser = Entities()
    parser.feed(body["text"])
    parser.close()
    must(not parser.open, "can't parse entities: end")
    must(1 <= len(parser.text.encode("utf-16-le")) // 2 <= 4096, "message is too long")


def ntfy(path, headers, body):
    must(path == "/", "path")
    must(headers.get("Authorization") == "Bearer tk_1", "unauthorized")
    only(body, ["topic"], ["message", "title", "tags", "priority", "click"])
    must(re.fullmatch(r"[-_A-Za-z0-9]{1,64}", body["topic"]), "topic")
    must(len(body["message"].encode()) <= 4096, "message")
    must(body["priority"] in (1, 2, 3, 4, 5), "priority")
    must(all(isinstance(tag, str) for tag in body["tags"]), "tags")


# By the path: the check, the answer, the answer to a wrong request, and to one too many.
KINDS = {
    "/v2/": ("pagerduty", pagerduty, (202, {"status": "success", "message": "Event processed"}), lambda why: (400, {"status": "invalid event", "errors": [why]}), (429, {})),
    "/workflows/": ("teams", teams, (202, None), lambda why: (400, {"error": {"message": why}}), (429, {})),
    "/bot": ("telegram", telegram, (200, {"ok": True, "result": {"message_id": 1}}), lambda why: (400, {"ok": False, "error_code": 400, "description": "Bad Request: " + why}),
             (429, {"ok": False, "error_code": 429, "description": "Too Many Requests: retry after 3", "parameters": {"retry_after": 3}})),
    "/": ("ntfy", ntfy, (200, {"id": "x", "event": "message"}), lambda why: (400, {"code": 40024, "http": 400, "error": why}), (429, {"code": 42901, "http": 429, "error": "limit reached"})),
}


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):  # noqa: N802
        name, check, well, wrong, busy = next(kind for prefix, kind in KINDS.items() if self.path.startswith(prefix))
        raw = self.rfile.read(int(self.headers["Content-Length"]))
        status, answer = well
        try:
            if os.path.exists(sys.argv[2] + ".busy"):
                os.unlink(sys.argv[2] + ".busy")
                status, answer = busy
            else:
                must(self.headers["Content-Type"].startswith("application/json"), "type")
                body = json.loads(raw.decode("utf-8"))
                check(self.path, self.headers, body)
                with open(sys.argv[2], "a", encoding="utf-8") as got:
                    got.write(json.dumps({"kind": name, "body": body}) + "\n")
        except (Wrong, KeyError, TypeError, ValueError) as why:
            status, answer = wrong(str(why))
        text = b"" if answer is None else json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def do_GET(self):  # noqa: N802
        self.send_response(200)
        self.end_headers()

    def log_message(self, *args):
        pass


HTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
