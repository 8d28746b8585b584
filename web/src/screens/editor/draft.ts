// A definition while it is edited: reading and writing its parts, texts that stand for values, and
// what becomes of it when somebody else has saved meanwhile. Pure.
import { jobFields } from "./job_fields";

export type Draft = Record<string, unknown>;

function isMap(value: unknown): value is Draft {
    return typeof value === "object" && value !== null && !Array.isArray(value);
}

// Maps are the same whatever the order of their keys.
export function same(a: unknown, b: unknown): boolean {
    if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((item, i) => same(item, b[i]));
    if (!isMap(a) || !isMap(b)) return a === b;
    const names = Object.keys(a);
    return names.length === Object.keys(b).length && names.every((name) => name in b && same(a[name], b[name]));
}

// `overlap: skip` is short for `overlap: {policy: skip}`.
const shortened: Record<string, string> = Object.fromEntries(
    jobFields.filter((field) => field.alone).map((field) => field.name.split(".") as [string, string]),
);

function lengthen(name: string, value: unknown): unknown {
    const whole = shortened[name];
    return whole && (typeof value === "string" || Array.isArray(value)) ? { [whole]: value } : value;
}

function shorten(name: string, value: Draft): unknown {
    const names = Object.keys(value);
    if (!names.length) return undefined;
    const whole = shortened[name];
    return whole && names.length === 1 && names[0] === whole ? value[whole] : value;
}

export function readAt(draft: Draft, path: readonly string[]): unknown {
    const [first = "", second] = path;
    if (second === undefined) return draft[first];
    const inner = lengthen(first, draft[first]);
    return isMap(inner) ? inner[second] : undefined;
}

function withField(draft: Draft, name: string, value: unknown): Draft {
    if (value !== undefined) return { ...draft, [name]: value };
    return Object.fromEntries(Object.entries(draft).filter(([other]) => other !== name));
}

// undefined removes the value, and the map around it if it was the last one.
export function writeAt(draft: Draft, path: readonly string[], value: unknown): Draft {
    const [first = "", second] = path;
    if (second === undefined) return withField(draft, first, value);
    const inner = lengthen(first, draft[first]);
    return withField(draft, first, shorten(first, withField(isMap(inner) ? inner : {}, second, value)));
}

// Steps have no inputs: a workflow is written as YAML.
export function isWorkflow(draft: Draft): boolean {
    return "steps" in draft || "finally" in draft || draft["kind"] === "workflow";
}

export function schedulesOf(draft: Draft): string[] {
    if (Array.isArray(draft["schedules"])) return draft["schedules"].map(String);
    return [typeof draft["schedule"] === "string" ? draft["schedule"] : ""];
}

export function withSchedules(draft: Draft, specs: string[]): Draft {
    const rest = withField(draft, "schedules", undefined);
    if (specs.length === 1) return { ...rest, schedule: specs[0] };
    return { ...withField(rest, "schedule", undefined), schedules: specs };
}

// ---- after other jobs ----

export interface AfterItem {
    job: string;
    on: string;
}

// What only ticks need; a job that waits for others has none.
export const ofTicks: readonly string[] = jobFields
    .filter((field) => field.ofTicks)
    .map((field) => field.name.replace(/\..*/, ""));

// A name, {job, on}, {jobs, on}, or a list of such.
export function aftersOf(draft: Draft): AfterItem[] {
    const read = (value: unknown, on: string): AfterItem[] =>
        Array.isArray(value)
            ? value.flatMap((item) => read(item, on))
            : isMap(value)
              ? read(value["jobs"] ?? value["job"] ?? "", String(value["on"] ?? on))
              : [{ job: String(value ?? ""), on }];
    return read(draft["after"], "success");
}

export function withAfters(draft: Draft, items: AfterItem[]): Draft {
    return { ...draft, after: items.map(({ job, on }) => (on === "success" ? { job } : { job, on })) };
}

// From ticks to other jobs, and back.
export function waiting(draft: Draft, waits: boolean, zone: string): Draft {
    if (!waits) return { ...withField(draft, "after", undefined), schedule: "", timezone: zone };
    return withAfters(
        ofTicks.reduce((rest, name) => withField(rest, name, undefined), draft),
        [{ job: "", on: "success" }],
    );
}

// ---- texts that stand for values ----

// The words of a command as a shell would split them; a quote that is still open ends at the end.
export function splitWords(text: string): string[] {
    const words: string[] = [];
    let word: string | null = null;
    let quote = "";
    for (let i = 0; i < text.length; i++) {
        const sign = text.charAt(i);
        if (quote) {
            if (sign === quote) quote = "";
            else if (quote === '"' && sign === "\\" && /["\\$`]/.test(text.charAt(i + 1))) word += text.charAt(++i);
            else word += sign;
        } else if (sign === "'" || sign === '"') {
            quote = sign;
            word ??= "";
        } else if (/\s/.test(sign)) {
            if (word !== null) words.push(word);
            word = null;
        } else {
            word = (word ?? "") + (sign === "\\" && i + 1 < text.length ? text.charAt(++i) : sign);
        }
    }
    if (word !== null) words.push(word);
    return words;
}

export function joinWords(words: readonly unknown[]): string {
    const quote = (word: string): string => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replace(/'/g, "'\\''")}'`);
    return words.map((word) => quote(String(word))).join(" ");
}

// "NAME=value", one a line.
export function parsePairs(text: string): Draft | undefined {
    const pairs: Draft = {};
    for (const line of text.split("\n")) {
        const mark = line.indexOf("=");
        const name = (mark < 0 ? line : line.slice(0, mark)).trim();
        if (name) pairs[name] = mark < 0 ? "" : line.slice(mark + 1);
    }
    return Object.keys(pairs).length ? pairs : undefined;
}

export function formatPairs(value: unknown): string {
    return isMap(value)
        ? Object.entries(value)
              .map(([name, text]) => `${name}=${String(text)}`)
              .join("\n")
        : "";
}

// A value of several lines does not fit on one.
export function arePairs(value: unknown): boolean {
    return value === undefined || (isMap(value) && Object.values(value).every((text) => !/\n/.test(String(text))));
}

// ---- parameters: "day", "count: integer = 5" ----

export function parseParams(text: string): Draft | undefined {
    const params: Draft = {};
    for (const line of text.split("\n")) {
        const [, name = "", type = "", , initial] = /^\s*([^:=\s]+)\s*(?::\s*(\w*)\s*)?(=\s?(.*))?$/.exec(line) ?? [];
        if (name) params[name] = { ...(type && type !== "string" ? { type } : {}), ...(initial === undefined ? {} : { default: initial }) };
    }
    return Object.keys(params).length ? params : undefined;
}

export function formatParams(value: unknown): string {
    if (!isMap(value)) return "";
    return Object.entries(value)
        .map(([name, param]) => {
            const { type, default: initial } = (param ?? {}) as { type?: unknown; default?: unknown };
            return name + (type ? `: ${String(type)}` : "") + (initial === undefined ? "" : ` = ${String(initial)}`);
        })
        .join("\n");
}

// What the lines can say: no allowed values, no help, no value of several lines.
export function areParams(value: unknown): boolean {
    return (
        value === undefined ||
        (isMap(value) &&
            Object.values(value).every(
                (param) =>
                    param === null ||
                    (isMap(param) &&
                        Object.keys(param).every((key) => key === "type" || key === "default") &&
                        !/\n|^\s/.test(String(param["default"] ?? ""))),
            ))
    );
}

// ---- somebody else saved meanwhile ----

export interface Conflict {
    field: string;
    base: unknown;
    mine: unknown;
    theirs: unknown;
    side: "mine" | "theirs"; // who changed it; with `both`, the default choice
    both: boolean;
}

// `command`, `shell` and `http` say the same thing in three ways, and so do `schedule`, `schedules` and `after`: they
// are taken together.
const together: readonly (readonly string[])[] = [
    ["schedule", "schedules", "after"],
    ["command", "shell", "http"],
];

function partOf(draft: Draft, names: readonly string[]): unknown {
    const found = names.filter((name) => draft[name] !== undefined);
    return names.length === 1 ? draft[names[0] ?? ""] : found.length ? Object.fromEntries(found.map((name) => [name, draft[name]])) : undefined;
}

function fieldsOf(drafts: Draft[]): (readonly string[])[] {
    const names = new Set(drafts.flatMap((draft) => Object.keys(draft)));
    const groups = together.filter((group) => group.some((name) => names.has(name)));
    for (const group of groups) group.forEach((name) => names.delete(name));
    return [...groups, ...[...names].map((name) => [name])];
}

// The changes of both sides since `base`; equal changes are no conflict.
export function compare(base: Draft, mine: Draft, theirs: Draft): Conflict[] {
    const found: Conflict[] = [];
    for (const names of fieldsOf([base, mine, theirs])) {
        const [b, m, o] = [partOf(base, names), partOf(mine, names), partOf(theirs, names)];
        if (same(m, o)) continue;
        const both = !same(b, m) && !same(b, o);
        found.push({ field: names.join(" "), base: b, mine: m, theirs: o, both, side: same(b, m) ? "theirs" : "mine" });
    }
    return found;
}

// Their definition, with the chosen fields of mine.
export function merge(mine: Draft, theirs: Draft, mineFields: ReadonlySet<string>): Draft {
    let merged = theirs;
    for (const field of mineFields)
        for (const name of field.split(" ")) merged = withField(merged, name, mine[name]);
    return merged;
}
