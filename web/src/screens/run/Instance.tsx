// The steps of an instance of a workflow: as a graph, on a time line, and in words.
import { useEffect, useState } from "preact/hooks";
import { api, runPath } from "../../api/client";
import { onLive } from "../../api/live";
import { isOpen, type InstanceSteps, type Run, type Step } from "../../api/types";
import { hrefs } from "../../app/router";
import { Gantt } from "../../graph/Gantt";
import { Graph } from "../../graph/Graph";
import { edgesOf, itemsOf, nodesOf, stateOf } from "../../graph/steps";
import { Duration } from "../../ui/moments";
import { Failure, Incomplete, Panel } from "../../ui/parts";
import { useResource, useThrottled } from "../../ui/resource";
import { spanText } from "../../ui/spans";
import { reasonText, Status } from "../../ui/status";
import { t } from "./words";

type View = "graph" | "gantt" | "list";

function hrefOf(step: Step): string | undefined {
    return step.run_id && !step.items ? hrefs.run(step.run_id) : undefined;
}

function noteOf(step: Step): string {
    const items = itemsOf(step);
    if (step.earlier) return t("steps.earlier");
    if (items) return t("steps.items", { ended: items.ended, all: items.all });
    if (!step.started_at || !step.finished_at) return "";
    return spanText(Date.parse(step.finished_at) - Date.parse(step.started_at));
}

function StepRow({ step }: { step: Step }) {
    const reason = reasonText(step.reason);
    const link = hrefOf(step);
    return (
        <tr data-row>
            <td class="mono">{link ? <a href={link}>{step.name}</a> : step.name}</td>
            <td>
                <Status state={stateOf(step)} />
                {(step.attempt ?? 1) > 1 && <span class="faint small"> {t("steps.attempt", { n: step.attempt ?? 1 })}</span>}
            </td>
            <td class="num">{step.started_at && <Duration from={step.started_at} to={step.finished_at} />}</td>
            <td>{step.node}</td>
            <td>
                {[step.why, reason, step.detail, step.earlier && t("steps.earlier")].filter(Boolean).join(" · ")}
                {step.items && <span class="faint">{noteOf(step)}</span>}
            </td>
        </tr>
    );
}

function StepList({ steps }: { steps: Step[] }) {
    return (
        <div class="table-scroll" tabIndex={0}>
            <table class="table">
                <thead>
                    <tr>
                        <th>{t("steps.step")}</th>
                        <th>{t("steps.state")}</th>
                        <th class="num">{t("duration")}</th>
                        <th>{t("node")}</th>
                        <th>{t("why")}</th>
                    </tr>
                </thead>
                <tbody>
                    {steps.map((step) => (
                        <StepRow key={step.name} step={step} />
                    ))}
                </tbody>
            </table>
        </div>
    );
}

function Shown({ view, run, steps }: { view: View; run: Run; steps: Step[] }) {
    if (view === "list") return <StepList steps={steps} />;
    if (view === "gantt")
        return (
            <Gantt
                steps={steps}
                begin={Date.parse(run.started_at ?? run.claimed_at ?? "")}
                now={Date.now()}
                label={t("steps.gantt")}
                critical={t("steps.critical")}
                href={hrefOf}
            />
        );
    const label = (from: string, to: string, on: "success" | "failure" | "always"): string => `${from} → ${to}: ${t(`steps.on.${on}`)}`;
    return <Graph nodes={nodesOf(steps, noteOf, hrefOf)} edges={edgesOf(steps, label)} label={t("steps.graph")} />;
}

export function InstancePanel({ run }: { run: Run }) {
    const [view, setView] = useState<View>("graph");
    const found = useResource(`steps ${run.run_id} ${run.state}`, (signal) => api.get<InstanceSteps>(runPath(run.run_id, "/steps"), {}, signal));
    const soon = useThrottled(found.reload, 500);
    useEffect(() => onLive("run", (event) => (event.job === run.job ? soon() : undefined)), [run.run_id]);
    useEffect(() => {
        if (!isOpen(run.state) || view !== "gantt") return;
        const timer = setInterval(soon, 2000); // bars grow
        return () => clearInterval(timer);
    }, [run.state, view]);
    return (
        <Panel
            title={t("steps")}
            beside={
                <div class="segments" role="radiogroup" aria-label={t("steps.view")}>
                    {(["graph", "gantt", "list"] as const).map((name) => (
                        <label key={name}>
                            <input type="radio" name="steps-view" checked={view === name} onChange={() => setView(name)} />
                            <span>{t(`steps.${name}`)}</span>
                        </label>
                    ))}
                </div>
            }
        >
            <Incomplete nodes={found.data?.incomplete} />
            {found.problem && <Failure problem={found.problem} onRetry={found.reload} />}
            {found.data && <Shown view={view} run={run} steps={found.data.steps} />}
            {found.data && !found.data.has_plan && <p class="note warn">{t("steps.no_plan")}</p>}
        </Panel>
    );
}
