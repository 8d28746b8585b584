// Roles, everywhere or in namespaces. Pure.

export const roles = ["viewer", "operator", "editor", "admin"] as const;

export interface Grant {
    namespace: string;
    role: string;
    define?: boolean;
}

export interface Scope {
    role: string;
    define: boolean;
    namespaces: Grant[];
}

export function formatGrants(grants: readonly Grant[]): string {
    return grants.map((grant) => `${grant.namespace}=${grant.role}`).join("\n");
}

// `define` is not in the text: where it was revoked in a namespace, it stays revoked.
export function parseGrants(text: string, before: readonly Grant[] = []): Grant[] {
    const lines = text.split("\n").map((line) => line.trim());
    return lines.filter(Boolean).map((line) => {
        const [namespace = "", role = ""] = line.split("=").map((part) => part.trim());
        const known = before.find((grant) => grant.namespace === namespace && grant.role === role && role === "editor");
        return { namespace, role, ...(known?.define === false ? { define: false } : {}) };
    });
}
