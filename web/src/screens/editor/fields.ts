// The fields of the form. Each has its words: "f.NAME" is its label, "h.NAME" what helps.

export interface Field {
    path: readonly string[];
    kind: "text" | "number" | "names" | "area" | "pairs" | "choice" | "switch";
    choices?: readonly string[]; // the first is what holds unless told
    sample?: string;
    defines?: boolean; // only who may define can change it
}

function field(name: string, kind: Field["kind"], more: Omit<Field, "path" | "kind"> = {}): Field {
    return { path: name.split("."), kind, ...more };
}

const define = { defines: true };

export const whenFields: readonly Field[] = [
    field("start", "text", { sample: "2027-01-31 08:00" }),
    field("end", "text", { sample: "2028-01-01" }),
    field("jitter", "text", { sample: "0s" }),
    field("dst", "choice", { choices: ["default", "skip", "both"] }),
];

export const sections: readonly { name: "run" | "policy" | "keep" | "limits"; fields: readonly Field[] }[] = [
    {
        name: "policy",
        fields: [
            field("overlap.policy", "choice", { choices: ["skip", "allow", "queue", "replace"] }),
            field("overlap.queue", "number", { sample: "10" }),
            field("catch_up.policy", "choice", { choices: ["last", "skip", "all"] }),
            field("catch_up.window", "text", { sample: "1d" }),
            field("catch_up.limit", "number", { sample: "100" }),
            field("timeout", "text", { sample: "2h" }),
            field("grace", "text", { sample: "10s" }),
            field("deadline", "text", { sample: "6h" }),
            field("where", "text", { sample: "zone=eu,!gpu" }),
            field("notify.to", "names", { sample: "ops, billing" }),
            field("notify.on", "names", { sample: "failure, lost, recovery" }),
            field("notify.late", "text", { sample: "5m" }),
        ],
    },
    {
        name: "keep",
        fields: [
            field("owner", "text", { sample: "team@example.org" }),
            field("labels", "pairs", { sample: "team=db" }),
            field("notes", "area"),
            field("output_limit", "number", { sample: "1MiB" }),
            field("retention.runs", "number", { sample: "1000" }),
            field("retention.age", "text", { sample: "90d" }),
        ],
    },
    {
        name: "run",
        fields: [
            field("cwd", "text", { sample: "/srv/app", ...define }),
            field("user", "text", define),
            field("env", "pairs", { sample: "NAME=value", ...define }),
            field("stdin", "area", define),
        ],
    },
    {
        name: "limits",
        fields: [
            field("umask", "text", { sample: "022", ...define }),
            field("nice", "number", { sample: "0", ...define }),
            field("limits.memory", "number", { sample: "2GiB", ...define }),
            field("limits.cpu_time", "text", { sample: "1h", ...define }),
            field("limits.open_files", "number", define),
            field("limits.processes", "number", define),
            field("limits.file_size", "number", { sample: "10GiB", ...define }),
            field("limits.core", "number", { sample: "0", ...define }),
        ],
    },
];

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
