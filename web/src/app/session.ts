// Who uses the console, and what they may do.
import { computed, signal } from "@preact/signals";
import { api, loginNeeded } from "../api/client";
import type { Agent, Me } from "../api/types";

export const me = signal<Me | null>(null);
export const agent = signal<Agent | null>(null);

export type Right = "view" | "operate" | "edit" | "define" | "admin";

const everywhere = computed(() => new Set<string>(me.value?.rights));

// On everything, or on one job: a namespace's rights are over the jobs whose names start with it.
export function may(right: Right, job?: string): boolean {
    if (everywhere.value.has(right)) return true;
    if (job === undefined) return false;
    return (me.value?.namespaces ?? []).some((grant) => job.startsWith(`${grant.namespace}/`) && grant.rights.includes(right));
}

// On some jobs at least.
export function maySomewhere(right: Right): boolean {
    return may(right) || mayIn(right).length > 0;
}

// The namespaces that give the right, if not all do.
export function mayIn(right: Right): string[] {
    if (may(right)) return [];
    return (me.value?.namespaces ?? []).filter((grant) => grant.rights.includes(right)).map((grant) => grant.namespace);
}

export async function loadSession(): Promise<void> {
    [me.value, agent.value] = await Promise.all([api.get<Me>("/me"), api.get<Agent>("/agent")]);
    loginNeeded.value = false;
}

// Who logs in or out in one tab does so in all.
const tabs = typeof BroadcastChannel === "undefined" ? null : new BroadcastChannel("peal-session");
if (tabs)
    tabs.onmessage = (event: MessageEvent<"in" | "out">) => {
        if (event.data === "out") loginNeeded.value = true;
        else if (loginNeeded.value) void loadSession().catch(() => undefined);
    };

export async function login(call: "/login" | "/setup", body: unknown): Promise<void> {
    await api.post(call, body, { quiet401: true });
    await loadSession();
    tabs?.postMessage("in");
}

export async function logout(): Promise<void> {
    await api.post("/logout");
    me.value = null;
    loginNeeded.value = true;
    tabs?.postMessage("out");
}
