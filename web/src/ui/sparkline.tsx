// The last runs of a job as small bars, the newest on the right. Failures are the tallest, so that they
// are seen first, also without colours.
import { toneOf } from "./status";
import type { RunState } from "../api/types";

export function Sparkline({ states, label }: { states: RunState[]; label: string }) {
    const width = 5;
    const all = states.slice(-20);
    return (
        <svg class="sparkline" viewBox={`0 0 ${20 * width} 16`} role="img" aria-label={label} preserveAspectRatio="none">
            <title>{label}</title>
            {all.map((state, i) => {
                const tone = toneOf(state);
                const height = tone === "bad" ? 14 : tone === "good" ? 8 : 5;
                return (
                    <rect
                        key={i}
                        class={`bar-${tone}`}
                        x={(20 - all.length + i) * width}
                        y={15 - height}
                        width={width - 1.5}
                        height={height}
                        rx="1"
                    />
                );
            })}
        </svg>
    );
}
