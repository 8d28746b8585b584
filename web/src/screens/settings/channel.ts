// A channel between the form, where all is text, and the API. Pure.

export interface Channel {
    name: string;
    revision: number;
    type: string;
    url?: string;
    headers?: Record<string, string>;
    secret?: string;
    token?: string;
    chat?: string;
    from?: string;
    to?: string | string[];
    user?: string;
    password?: string;
    on?: string | string[];
    default?: boolean;
    language?: string;
    quiet?: string;
    group?: string;
    give_up?: string;
    title?: string;
    text?: string;
    notes?: string;
    delivery?: {
        sent: number;
        waiting: number;
        given_up: number;
        last_sent_at: string | null;
        last_failed_at: string | null;
        last_error: string | null;
    };
}

export const types = ["webhook", "slack", "dingtalk", "feishu", "wecom", "mail", "pagerduty", "teams", "telegram", "ntfy"] as const;
export const events = ["failure", "lost", "recovery", "late", "success", "too_long", "too_short", "overdue"] as const;

// What a template can name: src/notify/payload/template.c.
export const fills = [
    "title", "facts", "job", "event", "state", "reason", "detail", "tick", "ticks", "started", "finished", "duration",
    "exit_code", "signal", "attempt", "node", "run", "output", "link", "held_back", "channel",
] as const;

// Fields of some types alone, in the order of the form.
type Field = "headers" | "secret" | "token" | "chat" | "from" | "to" | "user" | "password";
const fields: Record<string, readonly Field[]> = {
    webhook: ["headers", "secret"],
    dingtalk: ["secret"],
    feishu: ["secret"],
    mail: ["from", "to", "user", "password"],
    pagerduty: ["token"],
    telegram: ["token", "chat"],
    ntfy: ["token"],
};
export const fieldsOf = (type = ""): readonly Field[] => fields[type] ?? [];

// The agent knows where these are.
export const hasUsualUrl = (type = ""): boolean => type === "pagerduty" || type === "telegram";

export type Texts = Record<string, string>;

export function toTexts(channel: Channel | null): Texts {
    const texts: Texts = { type: "webhook", on: "failure, lost, recovery", language: "en" };
    for (const [name, value] of Object.entries(channel ?? {})) {
        if (name === "headers") texts[name] = Object.entries(value as object).map((pair) => pair.join("=")).join("\n");
        else if (name !== "delivery") texts[name] = Array.isArray(value) ? value.join(", ") : String(value);
    }
    return texts;
}

export function fromTexts(texts: Texts): Record<string, unknown> {
    const body: Record<string, unknown> = { type: texts["type"] };
    const left = ["url", "language", "quiet", "group", "give_up", "title", "text", "notes", ...fieldsOf(texts["type"])];
    for (const name of left) {
        const text = name === "text" ? texts[name] : texts[name]?.trim();
        if (!text?.trim()) continue;
        if (name === "to") body[name] = text.split(/[\s,]+/);
        else if (name === "headers") body[name] = Object.fromEntries(text.split("\n").map((line) => [line.split("=")[0], line.slice(line.indexOf("=") + 1)]));
        else body[name] = text;
    }
    body["on"] = (texts["on"] ?? "").split(/[\s,]+/).filter(Boolean);
    if (texts["default"] === "true") body["default"] = true;
    if (texts["type"] === "mail" && texts["unencrypted"] === "true") body["unencrypted"] = true;
    return body;
}
