// The jobs of a filter that depend on each other, in groups that are connected. Pure.
import type { Job } from "../../api/types";

export type Member = Pick<Job, "name" | "after" | "status">;

export interface Edge {
    from: string;
    to: string;
    on: "success" | "failure" | "always";
}

export interface Group {
    names: string[];
    edges: Edge[];
}

export function edgesOf(jobs: Member[]): Edge[] {
    return jobs.flatMap((job) => (job.after ?? []).map(({ job: from, on }) => ({ from, to: job.name, on: (on ?? "success") as Edge["on"] })));
}

// Upstream jobs that the filter does not take.
export function outsideOf(jobs: Member[]): string[] {
    const known = new Set(jobs.map((job) => job.name));
    return [...new Set(edgesOf(jobs).map((edge) => edge.from))].filter((name) => !known.has(name));
}

// The largest first; within a group in the order of names.
export function groupsOf(edges: Edge[]): Group[] {
    const heads = new Map<string, string>();
    const headOf = (name: string): string => {
        let head = name;
        for (let next = heads.get(head); next !== undefined; next = heads.get(head)) head = next;
        return head;
    };
    const names = [...new Set(edges.flatMap((edge) => [edge.from, edge.to]))].sort();
    for (const { from, to } of edges) {
        const [a, b] = [headOf(from), headOf(to)];
        if (a !== b) heads.set(a, b);
    }
    const groups = new Map<string, Group>();
    for (const name of names) {
        const group = groups.get(headOf(name)) ?? { names: [], edges: [] };
        group.names.push(name);
        groups.set(headOf(name), group);
    }
    for (const edge of edges) groups.get(headOf(edge.from))?.edges.push(edge);
    return [...groups.values()].sort((a, b) => b.names.length - a.names.length);
}
