// All that is wrong with a definition. The server tells the first mistake; the others show once that
// field is out of the way.
import { Problem, type ProblemItem } from "../../api/client";
import { writeAt, type Draft } from "./draft";

const ROUNDS = 12;

// What a job can't do without is made good in place of being left out.
const standIns: readonly [names: readonly string[], value: readonly [string, unknown]][] = [
    [["command", "shell", "http", "function"], ["command", ["true"]]],
    [["schedule", "schedules", "after"], ["schedule", "@manual"]],
];

// null: the pointer names no field of it.
export function withoutMistake(draft: Draft, pointer: string): Draft | null {
    const [first = "", second] = pointer.split("/").slice(1);
    const value = draft[first];
    if (value === undefined) return null;
    const standIn = standIns.find(([names]) => names.includes(first));
    if (standIn) return { ...standIn[0].reduce((rest, name) => writeAt(rest, [name], undefined), draft), [standIn[1][0]]: standIn[1][1] };
    const isInner = second !== undefined && typeof value === "object" && value !== null && !Array.isArray(value) && second in value;
    return writeAt(draft, isInner ? [first, second] : [first], undefined);
}

// `check` fails with a Problem where the definition is wrong.
export async function allMistakes(draft: Draft, first: Problem, check: (draft: Draft) => Promise<unknown>): Promise<ProblemItem[]> {
    const found: ProblemItem[] = [];
    let problem: Problem | null = first;
    let rest: Draft | null = draft;
    for (let round = 0; round < ROUNDS && problem?.status === 422 && problem.errors.length; round++) {
        const known = found.length;
        for (const item of problem.errors) {
            if (!found.some((other) => other.pointer === item.pointer)) found.push(item);
            rest = rest && withoutMistake(rest, item.pointer);
        }
        if (!rest || found.length === known) break;
        problem = await check(rest).then(() => null, (error: unknown) => (error instanceof Problem ? error : null));
    }
    return found;
}
