#!/usr/bin/env python3
"""tools/clients.py OPENAPI.json [FOLDER]

Writes what is generated of the clients in clients/, or in FOLDER: the types and the methods of the API, in Python,
TypeScript and Go, from the document that an agent serves as /openapi.json. tools/clients.sh --write makes the document
and calls this; test/integration/clients compares the outcome with what is committed.
"""
import json
import keyword
import os
import re
import sys

# Every operation has its name here, or a reason to have none: a new route is a decision.
NAMES = {
    "get /livez": "is_alive", "get /readyz": "is_ready", "get /metrics": "metrics",
    "get /openapi.json": "openapi",
    "get /api/v1/agent": "agent", "post /api/v1/agent/drain": "drain_agent",
    "get /api/v1/nodes": "list_nodes", "get /api/v1/nodes/{id}": "get_node",
    "get /api/v1/nodes/{id}/load": "node_load", "get /api/v1/cluster/load": "cluster_load",
    "post /api/v1/nodes/{id}/drain": "drain_node", "post /api/v1/nodes/{id}/undrain": "undrain_node",
    "get /api/v1/cluster": "cluster", "post /api/v1/cluster/advance-cursors": "advance_cursors",
    "get /api/v1/auth": "auth", "get /api/v1/me": "me", "post /api/v1/links": "create_link",
    "get /api/v1/users": "list_users", "post /api/v1/users": "create_user",
    "get /api/v1/users/{name}": "get_user", "patch /api/v1/users/{name}": "change_user",
    "delete /api/v1/users/{name}": "delete_user",
    "get /api/v1/tokens": "list_tokens", "post /api/v1/tokens": "create_token",
    "delete /api/v1/tokens/{id}": "revoke_token",
    "get /api/v1/channels": "list_channels", "get /api/v1/channels/{name}": "get_channel",
    "put /api/v1/channels/{name}": "put_channel", "delete /api/v1/channels/{name}": "delete_channel",
    "post /api/v1/channels/{name}/test": "test_channel",
    "get /api/v1/channels/{name}/messages": "list_channel_messages", "get /api/v1/messages": "list_messages",
    "get /api/v1/secrets": "list_secrets", "get /api/v1/secrets/{name}": "get_secret",
    "put /api/v1/secrets/{name}": "put_secret", "patch /api/v1/secrets/{name}": "change_secret",
    "delete /api/v1/secrets/{name}": "delete_secret",
    "get /api/v1/herd": "herd",
    "get /api/v1/jobs": "list_jobs", "post /api/v1/jobs": "create_job",
    "post /api/v1/jobs:batch": "batch_jobs", "post /api/v1/jobs:act": "act_on_jobs",
    "post /api/v1/jobs:decode": "decode_job", "post /api/v1/jobs:import": "import_crontab",
    "get /api/v1/jobs:recent": "recent_runs", "get /api/v1/jobs:facets": "job_facets",
    "get /api/v1/jobs:causes": "failure_causes",
    "get /api/v1/jobs/{name}": "get_job", "put /api/v1/jobs/{name}": "put_job",
    "patch /api/v1/jobs/{name}": "patch_job", "delete /api/v1/jobs/{name}": "delete_job",
    "post /api/v1/jobs/{name}/undelete": "undelete_job", "post /api/v1/jobs/{name}/rename": "rename_job",
    "post /api/v1/jobs/{name}/pause": "pause_job", "post /api/v1/jobs/{name}/resume": "resume_job",
    "post /api/v1/jobs/{name}/skip-next": "skip_next", "post /api/v1/jobs/{name}/mute": "mute_job",
    "post /api/v1/jobs/{name}/ack": "ack_job", "post /api/v1/jobs/{name}/unmute": "unmute_job",
    "get /api/v1/mutes": "list_mutes",
    "post /api/v1/jobs/{name}/run": "run_job", "post /api/v1/jobs/{name}/backfill": "backfill_job",
    "get /api/v1/jobs/{name}/webhook": "get_webhook", "post /api/v1/jobs/{name}/webhook": "create_webhook",
    "patch /api/v1/jobs/{name}/webhook": "change_webhook",
    "post /api/v1/jobs/{name}/webhook/rotate": "rotate_webhook",
    "delete /api/v1/jobs/{name}/webhook": "delete_webhook", "get /api/v1/webhooks": "list_webhooks",
    "get /api/v1/jobs/{name}/next": "next_ticks",
    "get /api/v1/jobs/{name}/dependencies": "job_dependencies", "get /api/v1/jobs/{name}/graph": "job_graph",
    "get /api/v1/jobs/{name}/instances": "list_instances", "get /api/v1/jobs/{name}/why": "why",
    "get /api/v1/jobs/{name}/versions": "list_versions",
    "get /api/v1/jobs/{name}/versions/{revision}": "get_version",
    "get /api/v1/jobs/{name}/versions/{revision}/diff": "diff_versions",
    "post /api/v1/jobs/{name}/rollback": "rollback_job",
    "get /api/v1/calendars": "list_calendars", "get /api/v1/calendars/{name}": "get_calendar",
    "get /api/v1/calendars/{name}/preview": "preview_calendar", "put /api/v1/calendars/{name}": "put_calendar",
    "delete /api/v1/calendars/{name}": "delete_calendar",
    "get /api/v1/maintenance": "list_maintenance", "post /api/v1/maintenance": "create_maintenance",
    "delete /api/v1/maintenance/{id}": "end_maintenance",
    "get /api/v1/groups": "list_groups", "get /api/v1/groups/{name}": "get_group",
    "put /api/v1/groups/{name}": "put_group", "delete /api/v1/groups/{name}": "delete_group",
    "get /api/v1/runs": "list_runs", "get /api/v1/runs/{id}": "get_run", "post /api/v1/runs/{id}/kill": "kill_run",
    "post /api/v1/runs/{id}/retry": "retry_run", "get /api/v1/runs/{id}/steps": "list_steps",
    "get /api/v1/runs/{id}/log": "get_log",
    "get /api/v1/timeline": "timeline", "get /api/v1/stats": "stats", "get /api/v1/audit": "list_changes",
    "get /api/v1/schedule/explain": "explain_schedule", "get /api/v1/schedule/next": "next_of_schedule",
    "get /api/v1/schedule/validate": "validate_schedule",
    # by hand, since they do not end
    "get /api/v1/events": None, "get /api/v1/runs/{id}/log/stream": None,
    # for people, for browsers, and for other programs
    "get /api": None, "post /api/v1/setup": None, "post /api/v1/login": None, "post /api/v1/logout": None,
    "post /hooks/{id}": None,
}
NOT_OURS = ("/v1", "/job/", "/worker/")  # facades
LEFT_OUT = {"get_log": {"raw"}}  # raw_log, by hand
SAME = {"JobOrPart": "Job"}  # without `fields` a list has whole jobs; with it members are missing
HEAD = "Generated by tools/clients.py from the API's OpenAPI document. Do not edit: tools/clients.sh --write"


# ---- types ----

class Kind:
    """What a schema is, for all languages: a scalar, "any", "enum", "list", "map", "object" or "union"."""

    def __init__(self, what, of=None, nullable=False, words=None, parts=None):
        self.what, self.of, self.nullable, self.words, self.parts = what, of, nullable, words, parts


class Types:
    """The objects of the document, with those within others under names of their own."""

    def __init__(self, schemas):
        self.schemas = schemas
        self.objects = {}  # name: [(property, Kind, required, description)]
        self.unions = {}   # name: Kind
        self.about = {}
        for name in sorted(set(schemas) - set(SAME)):
            self.define(name, schemas[name])

    def define(self, name, schema):
        kind = self.kind(schema, name)
        self.about[name] = schema.get("description", "")
        if kind.what != "object" and name not in self.objects:
            self.unions[name] = kind

    def resolve(self, schema):
        return self.schemas[schema["$ref"].rsplit("/", 1)[1]] if "$ref" in schema else schema

    def merged(self, schema):
        """The properties of all parts, and which of them every part has."""
        properties = dict(schema.get("properties", {}))
        required = set(schema.get("required", []))
        for part in schema.get("allOf", []):
            more, needed = self.merged(self.resolve(part))
            properties.update(more)
            required |= needed
        return properties, required

    def kind(self, schema, name):
        if "$ref" in schema:
            of = schema["$ref"].rsplit("/", 1)[1]
            return Kind("object", SAME.get(of, of))
        if "enum" in schema:
            words = [word for word in schema["enum"] if word is not None]
            nullable = len(words) < len(schema["enum"])
            texts = all(isinstance(word, str) for word in words)
            return Kind("enum" if texts else "any", nullable=nullable, words=words)
        given = schema.get("type")
        listed = given if isinstance(given, list) else [given]
        nullable = "null" in listed
        listed = [one for one in listed if one != "null"]
        for word in ("anyOf", "oneOf"):
            if word in schema:
                parts = schema[word]
                nullable = nullable or any(part.get("type") == "null" for part in parts)
                parts = [part for part in parts if part.get("type") != "null"]
                kinds = [self.kind(part, name + str(i + 1)) for i, part in enumerate(parts)]
                if len(kinds) == 1:
                    kinds[0].nullable = True
                    return kinds[0]
                return Kind("union", nullable=nullable, parts=kinds)
        if len(listed) != 1:
            return Kind("any", nullable=nullable)
        if listed[0] is None and "properties" not in schema and "allOf" not in schema:
            return Kind("any")
        what = listed[0] or "object"
        if what == "array":
            return Kind("list", self.kind(schema.get("items", {}), singular(name)), nullable)
        if what != "object":
            return Kind(what, nullable=nullable)
        properties, required = self.merged(schema)
        if not properties:
            more = schema.get("additionalProperties")
            of = self.kind(more, singular(name)) if isinstance(more, dict) else Kind("any")
            return Kind("map", of, nullable)
        self.objects[name] = None  # its place, before those within it
        self.objects[name] = [(key, self.kind(properties[key], name + pascal(key)), key in required,
                               properties[key].get("description", "")) for key in properties]
        return Kind("object", name, nullable)


def singular(name):
    return name[:-1] if name.endswith("s") and not name.endswith("ss") else name + "Item"


def pascal(name):
    return "".join(part[:1].upper() + part[1:] for part in re.split(r"[^A-Za-z0-9]+", name) if part)


def camel(name):
    name = pascal(name)
    return name[:1].lower() + name[1:]


# ---- operations ----

class Operation:
    def __init__(self, method, path, entry, name, types):
        self.method, self.path, self.name = method.upper(), path, name
        self.summary = entry["summary"]
        self.in_path = [p["name"] for p in entry["parameters"] if p["in"] == "path"]
        left_out = LEFT_OUT.get(name, set()) | {"require_match"}
        self.conditional = any(p["name"] == "require_match" for p in entry["parameters"])
        self.query = [(p["name"], types.kind(p.get("schema", {"type": "string"}), pascal(name) + pascal(p["name"])),
                       p.get("description", "")) for p in entry["parameters"]
                      if p["in"] == "query" and p["name"] not in left_out]
        self.fields, self.body, self.needs_body = [], None, False
        content = entry.get("requestBody", {}).get("content", {})
        for self.type, media in content.items():
            schema = media["schema"]
            if "$ref" in schema:
                self.body = types.kind(schema, "")
                self.needs_body = True
            else:
                known = {key for key, _, _ in self.query}
                self.fields = [(key, types.kind(value, pascal(name) + pascal(key)), value.get("description", ""))
                               for key, value in schema["properties"].items()]
                twice = known & {key for key, _, _ in self.fields}
                assert not twice, (name, twice)
        answer = next(iter(entry["responses"].values()))
        self.is_text = "text/plain" in answer["content"]
        schema = next(iter(answer["content"].values()))["schema"]
        self.answer = types.kind(schema, pascal(name) + "Answer")
        self.item = None
        keys = {key for key, _, _ in self.query}
        if "cursor" in keys and self.answer.what == "object" and not self.fields:
            items = [kind for key, kind, _, _ in types.objects.get(self.answer.of) or [] if key == "items"]
            self.item = items[0].of if items else None
        self.each = "each_" + singular(name.split("_", 1)[1]) if self.item else None


def operations(document, types):
    found, unknown = [], []
    for path, methods in document["paths"].items():
        for method, entry in methods.items():
            key = method + " " + path
            if path.startswith(NOT_OURS):
                continue
            if key not in NAMES:
                unknown.append(key)
            elif NAMES[key]:
                found.append(Operation(method, path, entry, NAMES[key], types))
    if unknown:
        sys.exit("tools/clients.py: NAMES has no name for: " + ", ".join(unknown))
    return found


def sentence(text):
    return text.rstrip(".") + "."


def wrapped(text, start, width=118):
    lines, line = [], start
    for word in text.split():
        if len(line) + 1 + len(word) > width and line.strip(" *#/"):
            lines.append(line)
            line = start
        line += ("" if line == start else " ") + word
    return lines + [line]


# ---- Python ----

PYTHON = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "any": "Any"}


def python_type(kind, null=True):
    if kind.what == "list":
        text = f"List[{python_type(kind.of)}]"
    elif kind.what == "map":
        text = f"Dict[str, {python_type(kind.of)}]"
    elif kind.what == "object":
        text = kind.of
    elif kind.what == "enum":
        text = "Literal[" + ", ".join(json.dumps(word) for word in kind.words) + "]"
    elif kind.what == "union":
        parts = list(dict.fromkeys(python_type(part) for part in kind.parts))
        text = "Any" if "Any" in parts else f"Union[{', '.join(parts)}]" if len(parts) > 1 else parts[0]
    else:
        text = PYTHON[kind.what]
    return f"Optional[{text}]" if kind.nullable and null and text != "Any" else text


def python_models(types):
    out = [f'"""{HEAD}"""', "from typing import Any, Dict, List, Literal, Optional, TypedDict, Union", ""]
    for name, fields in types.objects.items():
        needed = [field for field in fields if field[2]]
        others = [field for field in fields if not field[2]]
        plain = all(key.isidentifier() and not keyword.iskeyword(key) for key, _, _, _ in fields)
        if plain:
            base = "TypedDict"
            if needed and others:
                out += ["", "", f"class _{name}(TypedDict):"]
                out += [f"    {key}: {quoted(python_type(kind))}" for key, kind, _, _ in needed]
                base = "_" + name
            out += ["", "", f"class {name}({base}{'' if needed and not others else ', total=False'}):"]
            if types.about.get(name):
                out += wrapped(types.about[name].replace("\\", "\\\\") + '"""', '    """')
            for key, kind, _, about in (others if others else needed):
                out += wrapped(about, "    # ") if about else []
                out.append(f"    {key}: {quoted(python_type(kind))}")
        else:
            entries = ", ".join(f'"{key}": {quoted(python_type(kind))}' for key, kind, _, _ in fields)
            out += ["", f'{name} = TypedDict("{name}", {{{entries}}}, total=False)']
    for name, kind in types.unions.items():
        out += ["", f"{name} = {python_union(kind)}"]
    return "\n".join(out) + "\n"


def quoted(text):
    """A type, as a forward reference unless it is Python's own."""
    if text in PYTHON.values():
        return text
    return json.dumps(text) if '"' not in text else "'" + text + "'"


def python_union(kind):
    if kind.what == "union":
        return "Union[" + ", ".join(dict.fromkeys(part.of if part.what == "object" else python_type(part)
                                                  for part in kind.parts)) + "]"
    return python_type(kind)


def python_name(key, op=None):
    """The field of a body that is called as a part of the path is the new one."""
    key = ("new_" if op and key in op.in_path else "") + key.lstrip("_")
    return key + "_" if keyword.iskeyword(key) else key


def python_method(op):
    arguments = [f"{name}: str" for name in op.in_path]
    if op.body:
        arguments.append(f"body: models.{op.body.of}")
    options = [(key, kind) for key, kind, _ in op.query + op.fields]
    named = [f"{python_name(key, op)}: Optional[{prefixed(kind)}] = None" for key, kind in options]
    if op.conditional:
        named.append("if_match: Optional[str] = None")
    if op.method == "POST":
        named.append("idempotency_key: Optional[str] = None")
    if op.method != "GET":
        named.append("headers: Optional[Mapping[str, str]] = None")
    arguments += (["*"] if named else []) + named
    query = ", ".join(f'"{key}": {python_name(key, op)}' for key, _, _ in op.query)
    if op.body:
        body = "body"
    elif op.fields:
        body = "given({" + ", ".join(f'"{key}": {python_name(key, op)}' for key, _, _ in op.fields) + "})"
    else:
        body = "None"
    path = re.sub(r"\{(\w+)\}", r"{segment(\1)}", op.path)
    answer = "str" if op.is_text else prefixed(op.answer) if op.answer.of else "Dict[str, Any]"
    signature = ["self"] + arguments
    lines = [f"    def {op.name}({', '.join(signature)}) -> {answer}:"]
    if len(lines[0]) > 118:
        lines = [f"    def {op.name}("] + [f"        {one}," for one in signature] + [f"    ) -> {answer}:"]
    lines.append(f'        """{sentence(op.summary)}"""')
    call = [f'"{op.method}"', f'f"{path}"' if op.in_path else f'"{path}"']
    call += [f"query={{{query}}}"] if query else []
    call += [f"body={body}"] if body != "None" else []
    call += [f'content_type="{op.type}"'] if body != "None" and op.type != "application/json" else []
    call += ["if_match=if_match"] if op.conditional else []
    call += ["idempotency_key=idempotency_key"] if op.method == "POST" else []
    call += ["headers=headers"] if op.method != "GET" else []
    method = "call_text" if op.is_text else "call"
    lines.append(f"        return self.{method}({', '.join(call)})")
    if len(lines[-1]) > 118:
        lines[-1:] = [f"        return self.{method}("] + [f"            {one}," for one in call] + ["        )"]
    return lines + [""] + (python_each(op, named, options) if op.each else [])


def python_each(op, named, options):
    arguments = ["self"] + [f"{name}: str" for name in op.in_path] + ["*"]
    arguments += [one for one in named if not one.startswith("cursor:")]
    passed = [name for name in op.in_path] + [f"{python_name(key)}={python_name(key)}" for key, _ in options
                                             if key != "cursor"]
    lines = [f"    def {op.each}("] + [f"        {one}," for one in arguments]
    lines += [f"    ) -> Iterator[{prefixed(op.item)}]:", f'        """{sentence(op.summary)} All pages."""',
              "        cursor: Optional[str] = None", "        while True:",
              f"            page = self.{op.name}({', '.join(passed + ['cursor=cursor'])})",
              '            yield from page["items"]', '            cursor = page["next"]',
              "            if cursor is None:", "                return", ""]
    return lines


def prefixed(kind):
    """The type, with those of models.py under their full names."""
    if kind.what == "object":
        return "models." + kind.of
    if kind.what == "list":
        return f"List[{prefixed(kind.of)}]"
    if kind.what == "map":
        return f"Dict[str, {prefixed(kind.of)}]"
    if kind.what == "union":
        parts = list(dict.fromkeys(prefixed(part) for part in kind.parts))
        return "Any" if "Any" in parts else f"Union[{', '.join(parts)}]"
    return python_type(kind, null=False)


def python_api(ops):
    out = [f'"""{HEAD}"""', "from typing import Any, Dict, Iterator, List, Literal, Mapping, Optional, Union", "",
           "from . import models", "from ._transport import Transport, given, segment", "", "",
           "class Api(Transport):", '    """The calls of the API, a method each."""', ""]
    for op in ops:
        out += python_method(op)
    return "\n".join(out).rstrip() + "\n"


# ---- TypeScript ----

TYPESCRIPT = {"string": "string", "integer": "number", "number": "number", "boolean": "boolean", "any": "unknown"}


def ts_type(kind, prefix="", null=True):
    if kind.what == "list":
        inner = ts_type(kind.of, prefix)
        text = f"({inner})[]" if "|" in inner else f"{inner}[]"
    elif kind.what == "map":
        text = f"Record<string, {ts_type(kind.of, prefix)}>"
    elif kind.what == "object":
        text = prefix + kind.of
    elif kind.what == "enum":
        text = "Word<" + " | ".join(json.dumps(word) for word in kind.words) + ">"
        text = text.replace("Word", prefix + "Word", 1)
    elif kind.what == "union":
        text = " | ".join(dict.fromkeys(ts_type(part, prefix) for part in kind.parts))
    else:
        text = TYPESCRIPT[kind.what]
    return f"{text} | null" if kind.nullable and null and text != "unknown" else text


def ts_key(key):
    return key if re.fullmatch(r"[A-Za-z_]\w*", key) else json.dumps(key)


def ts_models(types):
    out = [f"// {HEAD}", "", "/** One of these words; a newer peal may have more of them. */",
           "export type Word<T extends string> = T | (string & {});"]
    for name, fields in types.objects.items():
        out.append("")
        if types.about.get(name):
            out += ["/**"] + wrapped(types.about[name], " * ") + [" */"]
        out.append(f"export interface {name} {{")
        for key, kind, required, about in fields:
            if about:
                out += [f"  /** {about} */"] if len(about) < 100 else ["  /**"] + wrapped(about, "   * ") + ["   */"]
            out.append(f"  {ts_key(key)}{'' if required else '?'}: {ts_type(kind)};")
        out.append("}")
    for name, kind in types.unions.items():
        out += ["", f"export type {name} = {ts_type(kind)};"]
    return "\n".join(out) + "\n"


def ts_method(op):
    options = op.query + op.fields
    named = [f"{ts_key(key)}?: {ts_type(kind, 'models.', null=False)}" for key, kind, _ in options]
    arguments = [f"{camel(name)}: string" for name in op.in_path]
    if op.body:
        arguments.append(f"body: models.{op.body.of}")
    if named:
        arguments.append(f"options: {{ {'; '.join(named)} }} = {{}}")
    arguments.append("request: RequestOptions = {}")
    path = re.sub(r"\{(\w+)\}", lambda m: "${segment(" + camel(m[1]) + ")}", op.path)
    answer = "string" if op.is_text else ts_type(op.answer, "models.") if op.answer.of else "Record<string, unknown>"
    parts = [f"method: {json.dumps(op.method)}", f"path: `{path}`"]
    if op.query:
        parts.append("query: pick(options, [" + ", ".join(json.dumps(key) for key, _, _ in op.query) + "])")
    if op.body:
        parts.append("body")
    elif op.fields:
        parts.append("body: pick(options, [" + ", ".join(json.dumps(key) for key, _, _ in op.fields) + "])")
    if (op.body or op.fields) and op.type != "application/json":
        parts.append(f"type: {json.dumps(op.type)}")
    call = "callText" if op.is_text else f"call<{answer}>"
    lines = [f"  /** {sentence(op.summary)} */", f"  {camel(op.name)}({', '.join(arguments)}): Promise<{answer}> {{"]
    if len(lines[-1]) > 118:
        lines[-1:] = [f"  {camel(op.name)}("] + [f"    {one}," for one in arguments] + [f"  ): Promise<{answer}> {{"]
    lines += [f"    return this.{call}({{ {', '.join(parts)} }}, request);", "  }", ""]
    if op.each:
        kept = [one for one, (key, _, _) in zip(named, options) if key != "cursor"]
        first = [f"{camel(name)}: string" for name in op.in_path]
        passed = [camel(name) for name in op.in_path]
        item = ts_type(op.item, "models.")
        lines += [f"  /** {sentence(op.summary)} All pages. */", f"  async *{camel(op.each)}("]
        lines += [f"    {one}," for one in first + [f"options: {{ {'; '.join(kept)} }} = {{}}",
                                                   "request: RequestOptions = {}"]]
        lines += [f"  ): AsyncGenerator<{item}> {{", "    let cursor: string | null | undefined;", "    do {",
                  f"      const page: models.{op.answer.of} = await this.{camel(op.name)}("
                  f"{', '.join(passed + ['cursor ? { ...options, cursor } : options', 'request'])});",
                  "      yield* page.items;", "      cursor = page.next;", "    } while (cursor);", "  }", ""]
    return lines


def ts_api(ops):
    out = [f"// {HEAD}", "", 'import type * as models from "./models.js";',
           'import { pick, segment, Transport, type RequestOptions } from "./transport.js";', "",
           "/** The calls of the API, a method each. */", "export class Api extends Transport {"]
    for op in ops:
        out += ts_method(op)
    return "\n".join(out).rstrip() + "\n}\n"


# ---- Go ----

GO = {"string": "string", "integer": "int64", "number": "float64", "boolean": "bool", "any": "any", "enum": "string"}
INITIALISMS = {"Id": "ID", "Uid": "UID", "Url": "URL", "Ms": "MS", "Kb": "KB", "Json": "JSON", "Tz": "TZ"}


def go_name(key):
    name = "".join(INITIALISMS.get(part[:1].upper() + part[1:], part[:1].upper() + part[1:])
                   for part in re.split(r"[^A-Za-z0-9]+", key) if part)
    return name if name[:1].isalpha() else "N" + name


def go_type(kind):
    if kind.what == "list":
        return "[]" + go_type(kind.of)
    if kind.what == "map":
        return "map[string]" + go_type(kind.of)
    if kind.what == "union":
        return "any"
    if kind.what == "object":
        return ("*" if kind.nullable else "") + kind.of
    text = GO[kind.what]
    return "*" + text if kind.nullable and text != "any" else text


def go_comment(text, start):
    return wrapped(text, start + "// ", 110) if text else []


def go_fields(fields):
    lines = []
    for key, kind, required, about in fields:
        lines += go_comment(about, "\t")
        text = go_type(kind)
        if not required and kind.what == "object" and not kind.nullable:
            text = "*" + text
        lines.append(f"\t{go_name(key)} {text} `json:\"{key}{'' if required else ',omitempty'}\"`")
    return lines


def go_union_fields(types, kind):
    """All that any part has."""
    found = {}
    for part in kind.parts:
        for key, of, _, about in types.objects.get(part.of) or []:
            if key in found and go_type(found[key][1]) != go_type(of):
                of = found[key][1] if go_type(found[key][1]).startswith("*") else of
            found[key] = (key, of, False, about)
    return list(found.values())


def go_models(types):
    out = [f"// {HEAD}".replace("Generated by tools/clients.py", "Code generated by tools/clients.py") + " DO NOT EDIT.",
           "", "package peal", ""]
    for name, fields in types.objects.items():
        out += go_comment(f"{name}: {types.about[name]}" if types.about.get(name) else "", "")
        out += [f"type {name} struct {{"] + go_fields(fields) + ["}", ""]
    for name, kind in types.unions.items():
        if kind.what == "union" and all(part.what == "object" for part in kind.parts):
            parts = " or ".join(part.of for part in kind.parts)
            out += [f"// {name} is a {parts}: what the one lacks is empty."]
            out += [f"type {name} struct {{"] + go_fields(go_union_fields(types, kind)) + ["}", ""]
        else:
            out += [f"type {name} = {go_type(kind)}", ""]
    return "\n".join(out)


def go_option(key, kind):
    """A member of the options of a method, and how it is sent: a bool and a number have no value to stand for none."""
    text = go_type(kind).lstrip("*")
    return "*" + text if text in ("bool", "int64", "float64") or kind.what == "object" else text


def go_method(op):
    name = go_name(op.name)
    options = name + "Options"
    lines = []
    has_options = bool(op.query or op.fields)
    if has_options:
        lines += [f"// {options} are what {name} can be given; what is left out is not sent.", f"type {options} struct {{"]
        lines += [f"\t{go_name(key)} {go_option(key, kind)} `json:\"-\"`" for key, kind, _ in op.query]
        lines += [f"\t{go_name(key)} {go_option(key, kind)} `json:\"{key},omitempty\"`" for key, kind, _ in op.fields]
        lines += ["}", ""]
    arguments = ["ctx context.Context"] + [f"{go_argument(one)} string" for one in op.in_path]
    if op.body:
        arguments.append(f"body {op.body.of}")
    if has_options:
        arguments.append(f"options *{options}")
    arguments.append("headers ...Header")
    answer = "string" if op.is_text else "*" + op.answer.of if op.answer.of else "map[string]any"
    lines += go_comment(f"{name}: {sentence(op.summary)}", "")
    lines.append(f"func (c *Client) {name}({', '.join(arguments)}) ({answer}, error) {{")
    path = '"' + re.sub(r"\{(\w+)\}", lambda m: '" + segment(' + go_argument(m[1]) + ') + "', op.path) + '"'
    path = path.replace(' + ""', "")
    lines.append(f'\tr := request{{method: "{op.method}", path: {path}, headers: headers}}')
    if has_options:
        lines.append("\tif options != nil {")
        lines += [f"\t\tr.add(\"{key}\", options.{go_name(key)})" for key, _, _ in op.query]
        lines += ["\t\tr.body = options"] if op.fields else []
        lines.append("\t}")
    if op.body:
        lines.append("\tr.body = body")
    if (op.body or op.fields) and op.type != "application/json":
        lines.append(f'\tr.contentType = "{op.type}"')
    if op.is_text:
        lines.append("\treturn c.callText(ctx, &r)")
    elif op.answer.of:
        lines += [f"\tanswer := new({op.answer.of})", "\treturn answer, c.call(ctx, &r, answer)"]
    else:
        lines += ["\tvar answer map[string]any", "\terr := c.call(ctx, &r, &answer)", "\treturn answer, err"]
    lines += ["}", ""]
    return lines + (go_each(op, name, options) if op.each else [])


def go_argument(name):
    return {"id": "id", "name": "name"}.get(name, camel(name))


def go_each(op, name, options):
    """Go 1.18 has no iterators: a function is called for each item."""
    each = go_name(op.each)
    arguments = ["ctx context.Context"] + [f"{go_argument(one)} string" for one in op.in_path]
    passed = ", ".join(["ctx"] + [go_argument(one) for one in op.in_path] + ["&page"])
    return [f"// {each}: all pages of {name}. An error of visit ends it, and is returned.",
            f"func (c *Client) {each}({', '.join(arguments)}, options *{options}, visit func({go_type(op.item)}) error) error {{",
            f"\tvar page {options}", "\tif options != nil {", "\t\tpage = *options", "\t}", "\tfor {",
            f"\t\tanswer, err := c.{name}({passed})", "\t\tif err != nil {", "\t\t\treturn err", "\t\t}",
            "\t\tfor _, item := range answer.Items {", "\t\t\tif err := visit(item); err != nil {",
            "\t\t\t\treturn err", "\t\t\t}", "\t\t}", "\t\tif answer.Next == nil {", "\t\t\treturn nil", "\t\t}",
            "\t\tpage.Cursor = *answer.Next", "\t}", "}", ""]


def go_api(ops):
    out = [f"// {HEAD}".replace("Generated by tools/clients.py", "Code generated by tools/clients.py") + " DO NOT EDIT.",
           "", "package peal", "", 'import "context"', ""]
    for op in ops:
        out += go_method(op)
    return "\n".join(out)


# ---- all of it ----

def main():
    document = json.load(open(sys.argv[1], encoding="utf-8"))
    folder = sys.argv[2] if len(sys.argv) > 2 else os.path.join(os.path.dirname(__file__), "..", "clients")
    types = Types(document["components"]["schemas"])
    ops = operations(document, types)
    files = {
        "python/peal_client/models.py": python_models(types), "python/peal_client/_api.py": python_api(ops),
        "typescript/src/models.ts": ts_models(types), "typescript/src/api.ts": ts_api(ops),
        "go/models.go": go_models(types), "go/api.go": go_api(ops),
    }
    for name, text in files.items():
        path = os.path.join(folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)


main()
