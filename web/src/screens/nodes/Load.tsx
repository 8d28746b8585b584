// What a node does: its runs, and how long processes wait for CPU and memory, now and since the screen was opened.
import { lineOf, remember } from "./samples";
import { t } from "./words";

const WIDTH = 90;
const HEIGHT = 22;

export interface Loaded {
    node: string;
    running: number;
    max_running: number; // 0: no limit
    capacity: number; // the node's weight in the distribution of runs
    free: number;
    cpu_pressure: number | null;
    memory_pressure: number | null;
}

function Lines({ node, at }: { node: Loaded; at: number }) {
    const samples = remember(node.node, { at, running: node.running, cpu: node.cpu_pressure, memory: node.memory_pressure });
    if (samples.length < 2) return null;
    return (
        <svg class="load-lines" width={WIDTH} height={HEIGHT} viewBox={`0 -1 ${WIDTH} ${HEIGHT + 2}`} aria-hidden="true">
            <path class="load-cpu" d={lineOf(samples, (sample) => sample.cpu, 100, WIDTH, HEIGHT)} />
            <path class="load-memory" d={lineOf(samples, (sample) => sample.memory, 100, WIDTH, HEIGHT)} />
        </svg>
    );
}

function Wait({ name, percent }: { name: "cpu" | "memory"; percent: number }) {
    return (
        <span class="load-wait">
            <span class={`load-key load-${name}`} />
            {t(`wait.${name}`)} <span class="num">{percent} %</span>
        </span>
    );
}

export function Load({ node, at }: { node: Loaded; at: number }) {
    const most = node.max_running;
    const text = most ? t("running.of", { n: node.running, max: most }) : String(node.running);
    return (
        <span class="load">
            <span class="load-now">
                {most > 0 && <meter min={0} max={most} value={Math.min(node.running, most)} aria-label={text} />}
                <span class="num">{text}</span>
                <span class="faint small">
                    {t("capacity", { n: node.capacity })} · {t("free", { n: node.free })}
                </span>
            </span>
            {node.cpu_pressure !== null && (
                <span class="load-waits small faint" title={t("pressure.text")}>
                    <span>
                        <Wait name="cpu" percent={node.cpu_pressure} />
                        <Wait name="memory" percent={node.memory_pressure ?? 0} />
                    </span>
                    <Lines node={node} at={at} />
                </span>
            )}
        </span>
    );
}
