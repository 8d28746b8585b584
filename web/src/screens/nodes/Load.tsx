// What a node does: its runs, its load and memory, now and over the last day.
import { useEffect } from "preact/hooks";
import { api } from "../../api/client";
import { useResource } from "../../ui/resource";
import type { Node } from "./node";
import { lineOf, type Values } from "./samples";
import { t } from "./words";

const WIDTH = 90;
const HEIGHT = 22;
const EVERY_MS = 15_000; // as the agent looks

export interface NodeLoad {
    node: string;
    cpu: Values;
    memory: Values;
    running: Values | null;
}

interface Loads {
    step_s: number;
    until: string | null;
    items: NodeLoad[];
}

// Of all nodes, as far as the agent that is asked has seen them.
export function useLoads(): Map<string, NodeLoad> {
    const found = useResource("loads", (signal) => api.optional<Loads>("/cluster/load", { points: WIDTH }, signal));
    useEffect(() => {
        const timer = setInterval(found.reload, EVERY_MS);
        return () => clearInterval(timer);
    }, []);
    return new Map(found.data?.items.map((item) => [item.node, item]));
}

function Lines({ load }: { load: NodeLoad }) {
    if (load.cpu.length < 2) return null;
    return (
        <svg class="load-lines" width={WIDTH} height={HEIGHT} viewBox={`0 -1 ${WIDTH} ${HEIGHT + 2}`} aria-hidden="true">
            <path class="load-cpu" d={lineOf(load.cpu, 100, WIDTH, HEIGHT)} />
            <path class="load-memory" d={lineOf(load.memory, 100, WIDTH, HEIGHT)} />
        </svg>
    );
}

function Key({ name, percent }: { name: "cpu" | "memory"; percent: number }) {
    return (
        <span class="load-key-text">
            <span class={`load-key load-${name}`} />
            {t(`load.${name}`)} <span class="num">{percent} %</span>
        </span>
    );
}

export function Running({ node }: { node: Node }) {
    const most = node.max_running;
    const text = most ? t("running.of", { n: node.running, max: most }) : String(node.running);
    return (
        <span class="load-now">
            {most > 0 && <meter min={0} max={most} value={Math.min(node.running, most)} aria-label={text} />}
            <span class="num">{text}</span>
            <span class="faint small" title={t("free.text")}>
                {t("capacity", { n: node.capacity })} · {t("free", { n: node.free })}
            </span>
        </span>
    );
}

export function Load({ node, load }: { node: Node; load: NodeLoad | undefined }) {
    const { cpu_load: cpu, memory_used: memory } = node;
    const isKnown = typeof cpu === "number" || typeof memory === "number";
    return (
        <span class="load">
            <Running node={node} />
            {isKnown && (
                <span class="load-keys small faint" title={t("load.text")}>
                    <span>
                        {typeof cpu === "number" && <Key name="cpu" percent={cpu} />}
                        {typeof memory === "number" && <Key name="memory" percent={memory} />}
                    </span>
                    {load && <Lines load={load} />}
                </span>
            )}
        </span>
    );
}
