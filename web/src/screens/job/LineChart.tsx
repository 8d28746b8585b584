// Values over time, as SVG: a line through those that are good, a hollow mark for each of the others. The
// point that is nearest to the pointer is chosen, and a click opens it.
import { useState } from "preact/hooks";
import { zone } from "../../app/preferences";
import { roundUp, someTicks } from "../../ui/axis";
import { partsOf } from "../../ui/time";

export interface ChartPoint {
    at: number; // ms
    value: number;
    ok: boolean;
}

const HEIGHT = 130;
const TICKS = 7;

function tickText(at: number): string {
    const parts = partsOf(at, zone.value);
    return parts.time === "00:00:00" ? parts.date.slice(5) : parts.time.slice(0, 5);
}

export function LineChart<P extends ChartPoint>(props: {
    points: P[]; // by time
    from: number;
    to: number;
    label: string;
    format: (value: number) => string;
    onChoose: (point: P | null) => void;
    onOpen?: (point: P) => void;
    gap?: number; // ms: points that are further apart are not connected
    least?: number; // of the top of the scale
}) {
    const { points, from, to } = props;
    const [chosen, setChosen] = useState<P | null>(null);
    const most = Math.max(props.least ?? 0, roundUp(Math.max(...points.map((point) => point.value)) * 1.05));
    const x = (at: number): number => ((at - from) * 100) / (to - from);
    const y = (value: number): number => HEIGHT * (1 - value / most);
    const choose = (point: P | null): void => {
        setChosen(point);
        props.onChoose(point);
    };
    const follow = (event: PointerEvent & { currentTarget: Element }): void => {
        const box = event.currentTarget.getBoundingClientRect();
        const at = from + ((event.clientX - box.left) / box.width) * (to - from);
        const near = points.reduce<P | null>((best, point) => (best && Math.abs(best.at - at) <= Math.abs(point.at - at) ? best : point), null);
        if (near !== chosen) choose(near);
    };
    const good = points.filter((point) => point.ok);
    const line = good.map((point, i) => `${i && point.at - good[i - 1]!.at <= (props.gap ?? Infinity) ? "L" : "M"}${x(point.at) * 10} ${y(point.value)}`);
    const isCrowded = points.length > 120 || props.gap !== undefined;
    return (
        <div class="line-chart" role="img" aria-label={props.label}>
            <div class="line-chart-values num" aria-hidden="true">
                {[most, most / 2, 0].map((value) => (
                    <span key={value}>{props.format(value)}</span>
                ))}
            </div>
            <div
                class={`line-chart-plot ${chosen && props.onOpen ? "is-link" : ""}`}
                onPointerMove={follow}
                onPointerLeave={() => choose(null)}
                onClick={() => chosen && props.onOpen?.(chosen)}
            >
                <svg width="100%" height={HEIGHT + 20} aria-hidden="true">
                    {[0, 0.5, 1].map((part) => (
                        <line key={part} class="grid-line" x1="0" x2="100%" y1={HEIGHT * part} y2={HEIGHT * part} />
                    ))}
                    {someTicks(from, to, TICKS, zone.value).map((at) => (
                        <g key={at}>
                            <line class="grid-line" x1={`${x(at)}%`} x2={`${x(at)}%`} y1="0" y2={HEIGHT} />
                            <text x={`${x(at)}%`} y={HEIGHT + 16}>
                                {tickText(at)}
                            </text>
                        </g>
                    ))}
                    <svg viewBox={`0 0 1000 ${HEIGHT}`} width="100%" height={HEIGHT} preserveAspectRatio="none">
                        {line.length > 1 && <path class="line-chart-line" d={line.join("")} />}
                    </svg>
                    {points.map((point, i) =>
                        point.ok && isCrowded && point !== chosen ? null : (
                            <circle key={i} class={point.ok ? "point-ok" : "point-bad"} cx={`${x(point.at)}%`} cy={y(point.value)} r={point === chosen ? 5 : point.ok ? 2.5 : 4} />
                        ),
                    )}
                </svg>
            </div>
        </div>
    );
}
