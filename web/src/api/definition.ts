// A job's definition: the fields of a job file, without those that the server adds.
import type { Job } from "./types";

const added = ["uid", "revision", "created_at", "updated_at", "applied_at", "deleted_at", "status"];

export function definitionOf(job: Job): Record<string, unknown> {
    return Object.fromEntries(Object.entries(job).filter(([name]) => !added.includes(name)));
}

// Words that YAML does not read as text, and its indicator characters.
const SPECIAL = /^(?:true|false|yes|no|on|off|null|~|[-+.]?\d[\d_.,:e+-]*|0[xo][\da-f]+|[-+]?\.(?:inf|nan))$/i;
const SAFE = /^[A-Za-z0-9_/.$(][A-Za-z0-9_/.$()@%+=,:; -]*$/;

function scalar(value: unknown, indent: string): string {
    if (typeof value !== "string") return JSON.stringify(value);
    if (/\n/.test(value) && !/[^\S\n]\n|^\s/.test(value)) {
        const end = value.endsWith("\n") ? "" : "-";
        const lines = (end ? value : value.slice(0, -1)).split("\n");
        if (!lines[lines.length - 1]) return JSON.stringify(value);
        return [`|${end}`, ...lines.map((line) => (line ? `${indent}  ${line}` : ""))].join("\n");
    }
    const isPlain = SAFE.test(value) && !SPECIAL.test(value) && !/: |:$|\s$| #/.test(value);
    return isPlain ? value : JSON.stringify(value);
}

// As YAML, for reading and for `peal apply`.
export function toYaml(value: unknown, indent = ""): string {
    if (Array.isArray(value)) {
        if (!value.length) return "[]";
        if (value.every((item) => typeof item !== "object" && !/\n/.test(String(item))))
            return `[${value.map((item) => (/[,[\]{}]/.test(String(item)) ? JSON.stringify(item) : scalar(item, indent))).join(", ")}]`;
        return value.map((item) => `\n${indent}- ${toYaml(item, `${indent}  `).trimStart()}`).join("");
    }
    if (value !== null && typeof value === "object") {
        const entries = Object.entries(value);
        if (!entries.length) return "{}";
        const lines = entries.map(([name, item]) => {
            const text = toYaml(item, `${indent}  `);
            return `${indent}${scalar(name, indent)}:${text.startsWith("\n") ? "" : " "}${text}`;
        });
        return `${indent ? "\n" : ""}${lines.join("\n")}`;
    }
    return scalar(value, indent.slice(2));
}

// The program whose function the job is, and the function's name; null: it is none.
export function functionOf(job: Pick<Job, "name" | "function">): { program: string; name: string } | null {
    if (job.function === undefined) return null;
    if (typeof job.function === "string") return { program: job.function, name: job.name };
    return { program: job.function.program, name: job.function.name ?? job.name };
}

// The command, as typed in a shell; of an HTTP call its method and URL; of a function its program and name.
export function commandText(job: Job): string {
    const call = functionOf(job);
    if (call) return `${call.program}: ${call.name}`;
    if (job.shell) return job.shell.trimEnd();
    if (typeof job.http === "string") return `GET ${job.http}`;
    if (job.http) return `${job.http.method ?? (job.http.body === undefined ? "GET" : "POST")} ${job.http.url}`;
    const quote = (word: string): string => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replace(/'/g, "'\\''")}'`);
    return (job.command ?? []).map((word) => quote(String(word))).join(" ");
}
