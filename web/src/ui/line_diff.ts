// A line diff of two texts. Pure.

export interface DiffLine {
    kind: "same" | "added" | "removed" | "gap";
    text: string;
}

// The longest common subsequence of lines, by a table of lengths; texts have a few hundred lines.
export function diffLines(before: string[], after: string[]): DiffLine[] {
    const width = after.length + 1;
    const lengths = new Uint32Array((before.length + 1) * width);
    const at = (i: number, j: number): number => lengths[i * width + j] ?? 0;
    for (let i = before.length - 1; i >= 0; i--)
        for (let j = after.length - 1; j >= 0; j--)
            lengths[i * width + j] = before[i] === after[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    const lines: DiffLine[] = [];
    for (let i = 0, j = 0; i < before.length || j < after.length; ) {
        const [old, fresh] = [before[i], after[j]];
        if (old !== undefined && old === fresh) {
            lines.push({ kind: "same", text: old });
            i++;
            j++;
        } else if (old !== undefined && (fresh === undefined || at(i + 1, j) >= at(i, j + 1))) {
            lines.push({ kind: "removed", text: old });
            i++;
        } else {
            lines.push({ kind: "added", text: fresh ?? "" });
            j++;
        }
    }
    return lines;
}

// Only the lines within `around` lines of a change.
export function nearChanges(lines: DiffLine[], around: number): DiffLine[] {
    const near = lines.map((_, i) => lines.slice(Math.max(0, i - around), i + around + 1).some((line) => line.kind !== "same"));
    const shown: DiffLine[] = [];
    lines.forEach((line, i) => {
        if (near[i]) shown.push(line);
        else if (shown[shown.length - 1]?.kind !== "gap") shown.push({ kind: "gap", text: "…" });
    });
    return shown;
}
