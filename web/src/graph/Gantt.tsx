// The steps of an instance on a time line: when each ran, and which ones decided how long it all took.
import type { Step } from "../api/types";
import { spanText } from "../ui/spans";
import { Status, toneOf } from "../ui/status";
import { barsOf, stateOf } from "./steps";
import "./gantt.css";

export function Gantt(props: { steps: Step[]; begin: number; now: number; label: string; critical: string; href: (step: Step) => string | undefined }) {
    const { bars, span } = barsOf(props.steps, props.begin, props.now);
    return (
        <div class="gantt" role="group" aria-label={props.label}>
            <ol>
                {bars.map(({ step, from, to, isCritical }) => {
                    const took = spanText((to - from) * span);
                    return (
                        <li key={step.name}>
                            <span class="gantt-name">
                                {props.href(step) ? <a href={props.href(step)}>{step.name}</a> : step.name}
                            </span>
                            <span class="gantt-track">
                                <span
                                    class={`gantt-bar tone-${toneOf(stateOf(step))} ${isCritical ? "gantt-critical" : ""}`}
                                    style={{ left: `${from * 100}%`, width: `max(3px, ${(to - from) * 100}%)` }}
                                    title={isCritical ? `${took}, ${props.critical}` : took}
                                />
                            </span>
                            <span class="gantt-took">
                                <Status state={stateOf(step)} /> <span class="num faint">{took}</span>
                            </span>
                        </li>
                    );
                })}
            </ol>
            <div class="gantt-axis faint small num">
                <span />
                <span class="gantt-ends">
                    <span>0</span>
                    <span>{spanText(span / 2)}</span>
                    <span>{spanText(span)}</span>
                </span>
                <span />
            </div>
        </div>
    );
}
