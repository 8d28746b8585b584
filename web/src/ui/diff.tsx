// Before and after, with a sign in front of each line, so that it can be read without colours.
import { toYaml } from "../api/definition";
import { diffLines, nearChanges } from "./line_diff";
import "./diff.css";

const signs = { same: "  ", added: "+ ", removed: "- ", gap: "  " } as const;

function linesOf(value: unknown): string[] {
    return value === null || value === undefined ? [] : toYaml(value).split("\n");
}

export function Diff({ before, after, label }: { before: unknown; after: unknown; label: string }) {
    const lines = nearChanges(diffLines(linesOf(before), linesOf(after)), 3);
    return (
        <pre class="line-diff" tabIndex={0} aria-label={label}>
            {lines.map((line, i) => (
                <span key={i} class={`diff-${line.kind}`}>
                    {signs[line.kind]}
                    {line.text}
                    {"\n"}
                </span>
            ))}
        </pre>
    );
}
