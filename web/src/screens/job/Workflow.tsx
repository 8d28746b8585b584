// A workflow: the graph of its steps, as they stand in its newest instance, and its last instances as a
// grid of instances and steps.
import { useEffect } from "preact/hooks";
import { api, jobPath, runPath } from "../../api/client";
import { onLive } from "../../api/live";
import type { InstanceSteps, Job, Page, Run, Step, StepDefinition } from "../../api/types";
import { hrefs } from "../../app/router";
import { Graph, type GraphEdge, type GraphNode } from "../../graph/Graph";
import { stateOf } from "../../graph/steps";
import { momentText } from "../../ui/moments";
import { Failure, Panel } from "../../ui/parts";
import { useResource, useThrottled } from "../../ui/resource";
import { spanText } from "../../ui/spans";
import { stateWord, Status, toneOf } from "../../ui/status";
import { t } from "./words";

const INSTANCES = 12;

type On = GraphEdge["on"];

function afterOf(step: StepDefinition): { step: string; on: On }[] {
    const list = step.after === undefined ? [] : Array.isArray(step.after) ? step.after : [step.after];
    return list.map((item) => (typeof item === "string" ? { step: item, on: "success" as On } : { step: item.step, on: (item.on ?? "success") as On }));
}

// Edges of the definition; the steps of `finally` follow the last ones.
export function edgesOfDefinition(job: Pick<Job, "steps" | "finally">): GraphEdge[] {
    const steps = job.steps ?? [];
    const edges = [...steps, ...(job.finally ?? [])].flatMap((step) => afterOf(step).map(({ step: from, on }) => ({ from, to: step.name, on })));
    const awaited = new Set(edges.map((edge) => edge.from));
    const last = steps.filter((step) => !awaited.has(step.name));
    const final = (job.finally ?? []).filter((step) => !afterOf(step).length);
    return [...edges, ...final.flatMap((step) => last.map(({ name }) => ({ from: name, to: step.name, on: "always" as On })))];
}

function definitionNodes(job: Job, newest: InstanceSteps | null): GraphNode[] {
    const known = new Map(newest?.steps.map((step) => [step.name, step]));
    return [...(job.steps ?? []), ...(job.finally ?? [])].map((step) => {
        const run = known.get(step.name);
        return {
            id: step.name,
            name: step.name,
            state: run ? stateOf(run) : "never",
            isFaint: !run || run.state === null || run.state === "waiting",
            ...(run?.started_at && run.finished_at ? { note: spanText(Date.parse(run.finished_at) - Date.parse(run.started_at)) } : {}),
            ...(run?.run_id && !run.items ? { href: hrefs.run(run.run_id) } : {}),
        };
    });
}

function Cell({ step }: { step: Step | undefined }) {
    if (!step) return <td class="grid-cell" />;
    const state = stateOf(step);
    const mark = <span class={`grid-mark tone-${toneOf(state)} ${step.state === null || step.state === "waiting" ? "grid-open" : ""}`} />;
    const words = `${step.name}: ${stateWord(state)}`;
    return (
        <td class="grid-cell" title={words}>
            {step.run_id ? (
                <a href={hrefs.run(step.run_id)} aria-label={words}>
                    {mark}
                </a>
            ) : (
                mark
            )}
        </td>
    );
}

// Newest on the right, as time goes.
function Grid({ names, instances }: { names: string[]; instances: InstanceSteps[] }) {
    const columns = [...instances].reverse();
    return (
        <div class="table-scroll" tabIndex={0}>
            <table class="workflow-grid">
                <thead>
                    <tr>
                        <th>{t("workflow.step")}</th>
                        {columns.map(({ instance }) => (
                            <th key={instance.run_id}>
                                <a href={hrefs.run(instance.run_id)} title={instance.tick ? momentText(instance.tick) : ""}>
                                    <Status state={instance.state} />
                                </a>
                            </th>
                        ))}
                    </tr>
                </thead>
                <tbody>
                    {names.map((name) => (
                        <tr key={name}>
                            <th scope="row" class="mono">
                                {name}
                            </th>
                            {columns.map(({ instance, steps }) => (
                                <Cell key={instance.run_id} step={steps.find((step) => step.name === name)} />
                            ))}
                        </tr>
                    ))}
                </tbody>
            </table>
        </div>
    );
}

export function WorkflowPanels({ job, version }: { job: Job; version: string }) {
    const found = useResource(`instances ${job.name} ${version}`, async (signal) => {
        const page = await api.get<Page<Run>>(jobPath(job.name, "/instances"), { limit: INSTANCES }, signal);
        return Promise.all(page.items.map((run) => api.get<InstanceSteps>(runPath(run.run_id, "/steps"), {}, signal)));
    });
    const soon = useThrottled(found.reload, 2000);
    useEffect(() => onLive("run", (event) => (event.job === job.name ? soon() : undefined)), [job.name]);
    const instances = found.data ?? [];
    const names = [...new Set([...(job.steps ?? []), ...(job.finally ?? [])].map((step) => step.name))];
    return (
        <>
            <Panel title={t("workflow")}>
                {found.problem && <Failure problem={found.problem} onRetry={found.reload} />}
                <Graph nodes={definitionNodes(job, instances[0] ?? null)} edges={edgesOfDefinition(job)} label={t("workflow")} />
            </Panel>
            {instances.length > 0 && (
                <Panel title={t("workflow.grid")}>
                    <Grid names={names} instances={instances} />
                </Panel>
            )}
        </>
    );
}
