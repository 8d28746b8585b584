// The fields of the form, in their sections. What a field is, and its words, come from the server's table of
// fields (job_fields.ts); the words of its choices are "o.NAME.CHOICE" in words.ts.
import { language } from "../../i18n/language";
import { jobFields } from "./job_fields";

export interface JobField {
    name: string; // "overlap.queue"
    section: "name" | "when" | "what" | "steps" | "http" | "function" | "limits" | "how" | "expect" | "notify" | "kept";
    kind: "text" | "number" | "names" | "area" | "pairs" | "params" | "steps" | "choice" | "switch";
    choices?: readonly string[]; // the first is what holds unless told
    sample?: string;
    defines?: boolean; // only who may define can change it
    ofTicks?: boolean; // goes with a schedule, not with `after`
    ofProcess?: boolean; // goes with a process, not with `http` or `function`
    alone?: boolean; // may stand for the whole that it is in
    en: readonly [label: string, help: string];
    zh: readonly [label: string, help: string];
}

export interface Field extends JobField {
    path: readonly string[];
}

// These have inputs of their own.
const own = ["name", "schedule", "schedules", "after", "timezone", "calendars", "only_on", "command", "shell", "http.url", "paused"];

function fieldsOf(...names: JobField["section"][]): Field[] {
    return jobFields
        .filter((field) => names.includes(field.section) && !own.includes(field.name))
        .map((field) => ({ ...field, path: field.name.split(".") }));
}

export const callFields: readonly Field[] = fieldsOf("http");

export const functionFields: readonly Field[] = fieldsOf("function");

export const whenFields: readonly Field[] = fieldsOf("when");

export const sections: readonly { name: "run" | "policy" | "keep" | "limits"; fields: readonly Field[] }[] = [
    { name: "policy", fields: fieldsOf("how", "expect", "notify") },
    { name: "keep", fields: fieldsOf("kept") },
    { name: "run", fields: fieldsOf("what") },
    { name: "limits", fields: fieldsOf("limits") },
];

export function withoutProcess(draft: Record<string, unknown>): Record<string, unknown> {
    const theirs = new Set(jobFields.filter((field) => field.ofProcess).map((field) => field.name.split(".")[0]));
    return Object.fromEntries(Object.entries(draft).filter(([name]) => !theirs.has(name)));
}

function wordsOf(name: string): readonly [label: string, help: string] {
    return jobFields.find((field) => field.name === name)?.[language.value] ?? [name, ""];
}

export function labelOf(name: string): string {
    return wordsOf(name)[0];
}

export function helpOf(name: string): string {
    return wordsOf(name)[1];
}

// The field that a line of YAML is about: its own, or the one above that it belongs to.
export function fieldAt(lines: readonly string[], at: number): JobField | undefined {
    const top = lines.findLastIndex((line, i) => i <= at && /^\w/.test(line));
    const outer = /^\w+/.exec(lines[top] ?? "")?.[0];
    const inner = top < at ? /^\s+(\w+):/.exec(lines[at] ?? "")?.[1] : undefined;
    const named = (name: string): JobField | undefined => jobFields.find((field) => field.name === name);
    return (
        named(`${outer}.${inner}`) ?? named(`${outer}`) ?? jobFields.find((field) => field.alone && field.name.startsWith(`${outer}.`))
    );
}

// Names with commas between; one stands for itself.
export function namesOf(text: string): string | string[] | undefined {
    const names = text.split(/[\s,]+/).filter(Boolean);
    return names.length > 1 ? names : names[0];
}

// What is typed, as the definition has it: nothing, a number where it is one, else the text.
export function valueOf(kind: Field["kind"], text: string): unknown {
    if (text === "") return undefined;
    return kind === "number" && /^-?\d{1,15}$/.test(text) ? Number(text) : text;
}
