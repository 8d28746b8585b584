// The cluster in pictures: clocks of the nodes beside each other, and where the runs of a day went.
import { api } from "../../api/client";
import type { Absence, Entry, Run } from "../../api/types";
import { hrefs } from "../../app/router";
import { Incomplete, Panel } from "../../ui/parts";
import { useResource } from "../../ui/resource";
import { spanText } from "../../ui/spans";
import { hoursOf } from "./samples";
import { t } from "./words";

const HOURS = 24;
const LIMIT = 1000;
const LIMIT_MS = 500; // a node with more takes no runs

export interface Offset {
    node: string;
    ms: number;
}

// Those that are near zero would hide each other on a straight scale.
function placeOf(ms: number, most: number): number {
    const part = Math.log10(1 + Math.abs(ms)) / Math.log10(1 + most);
    return 50 + Math.sign(ms) * Math.min(1, part) * 48;
}

export function Clocks({ offsets }: { offsets: Offset[] }) {
    const most = Math.max(1000, ...offsets.map((offset) => Math.abs(offset.ms)));
    const marks = [-LIMIT_MS, -20, 0, 20, LIMIT_MS];
    return (
        <Panel title={t("clocks")}>
            <div class="clocks" role="img" aria-label={offsets.map(({ node, ms }) => `${node}: ${ms < 0 ? "−" : "+"}${spanText(Math.abs(ms))}`).join(", ")}>
                <div class="clocks-axis num faint">
                    {marks.map((ms) => (
                        <span key={ms} class={Math.abs(ms) === LIMIT_MS ? "is-limit" : ""} style={{ left: `${placeOf(ms, most)}%` }}>
                            {ms === 0 ? "0" : `${ms < 0 ? "−" : "+"}${Math.abs(ms)} ms`}
                        </span>
                    ))}
                </div>
                {offsets.map(({ node, ms }) => (
                    <div key={node} class="clocks-row">
                        <span class="clocks-name">{node}</span>
                        <span class="clocks-track">
                            <i class={Math.abs(ms) >= LIMIT_MS ? "is-bad" : Math.abs(ms) >= 100 ? "is-warn" : ""} style={{ left: `${placeOf(ms, most)}%` }} />
                        </span>
                    </div>
                ))}
            </div>
            <p class="faint small panel-body">{t("clocks.text")}</p>
        </Panel>
    );
}

// Bars of hours, one row a node, all on one scale.
export function RunsByNode({ turn }: { turn: number }) {
    const found = useResource(`runs by node ${turn}`, async (signal) => {
        const now = Date.now();
        const query = { from: new Date(now - HOURS * 3_600_000).toISOString(), to: new Date(now + 1000).toISOString(), limit: LIMIT };
        const { runs, incomplete } = await api.get<{ runs: (Run | Entry)[]; incomplete?: Absence[] }>("/timeline", query, signal);
        const all = runs.filter((row): row is Run => "run_id" in row);
        const oldest = Math.min(now, ...all.map((run) => Date.parse(run.started_at ?? "") || now));
        return { nodes: hoursOf(all, now, HOURS), since: runs.length >= LIMIT ? oldest : null, now, incomplete };
    });
    if (!found.data?.nodes.length) return null;
    const { nodes, since, now, incomplete } = found.data;
    const most = Math.max(1, ...nodes.flatMap((node) => node.hours.map((hour) => hour.ok + hour.bad)));
    const sum = nodes.reduce((all, node) => all + node.total, 0);
    return (
        <Panel title={t("runs.day")} beside={since !== null && <span class="faint small">{t("runs.since", { n: LIMIT, span: spanText(now - since) })}</span>}>
            <Incomplete nodes={incomplete} />
            <ul class="node-runs">
                {nodes.map((node) => (
                    <li key={node.node}>
                        <a class="clocks-name" href={hrefs.runs({ node: node.node })}>
                            {node.node}
                        </a>
                        <span class="node-hours" role="img" aria-label={t("runs.text", { n: node.total, failed: node.failed })}>
                            {node.hours.map((hour, i) => (
                                <span key={i} title={t("runs.hour", { n: HOURS - i, ok: hour.ok, bad: hour.bad })}>
                                    <i class="bad" style={{ height: `${(hour.bad / most) * 100}%` }} />
                                    <i style={{ height: `${(hour.ok / most) * 100}%` }} />
                                </span>
                            ))}
                        </span>
                        <span class="num">
                            {t("runs.n", { n: node.total })} <span class="faint">{Math.round((node.total * 100) / sum)} %</span>
                        </span>
                    </li>
                ))}
            </ul>
        </Panel>
    );
}
