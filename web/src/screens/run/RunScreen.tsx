import { useEffect, useState } from "preact/hooks";
import { api, jobPath, runPath } from "../../api/client";
import { commandText } from "../../api/definition";
import { onLive } from "../../api/live";
import { isOpen, type Job, type Run } from "../../api/types";
import { go, hrefs, location } from "../../app/router";
import type { ScreenProps } from "../../app/screens";
import { may } from "../../app/session";
import { attempt, toastDone } from "../../app/toasts";
import { t as common } from "../../i18n/common";
import { Icon } from "../../ui/icons";
import { Duration, Moment } from "../../ui/moments";
import { Button, CopyButton, Dialog, Facts, Failure, Head, Panel } from "../../ui/parts";
import { useResource, useThrottled } from "../../ui/resource";
import { reasonText, Status } from "../../ui/status";
import { spanText } from "../../ui/spans";
import { bytesText } from "../../ui/time";
import { InstancePanel } from "./Instance";
import { Log } from "./Log";
import { findNeighbours } from "./neighbours";
import { t } from "./words";
import "./run.css";

function isInstance(run: Run): boolean {
    return !!run.instance && !run.step;
}

function exitText(run: Run): string | null {
    if (run.signal !== null) return t("exit.signal", { signal: run.signal });
    return run.exit_code === null ? null : t("exit.code", { code: run.exit_code });
}

function waited(run: Run): string | null {
    if (!run.tick || !run.started_at) return null;
    return spanText(Date.parse(run.started_at) - Date.parse(run.tick));
}

function RunFacts({ run }: { run: Run }) {
    const exit = exitText(run);
    const late = waited(run);
    const cpu =
        run.user_ms === null || run.system_ms === null || isInstance(run)
            ? null
            : t("cpu.value", { user: spanText(run.user_ms), system: spanText(run.system_ms) });
    return (
        <Facts
            rows={[
                [t("duration"), <Duration from={run.started_at} to={run.finished_at} />],
                [t("tick"), <Moment at={run.tick} />],
                [t("started"), <Moment at={run.started_at} />],
                [t("finished"), <Moment at={run.finished_at} />],
                late !== null && [t("late"), <span class="num">{late}</span>],
                [t("node"), run.node ?? "–"],
                [t("cause"), common(`cause.${run.cause}`)],
                !!run.step && [t("step"), <span class="mono">{run.step}</span>],
                !!run.instance && !!run.step && [t("instance"), <a href={hrefs.run(run.instance)}>{run.instance}</a>],
                run.by !== null && [t("by"), run.by],
                (run.attempts ?? run.attempt) > 1 && [t("attempt"), run.attempts ? t("attemptOf", { n: run.attempt, all: run.attempts }) : run.attempt],
                run.parts !== null && [t("part"), t(run.pinned === null ? "shardOf" : "partOf", { n: (run.part ?? 0) + (run.pinned === null ? 0 : 1), all: run.parts })],
                run.state === "queued" && run.parts !== null && [t("turn"), t("inTurn")],
                run.pinned !== null && [t("pinned"), run.pinned],
                ...Object.entries(run.params ?? {}).map(([name, value]) => [t("param", { name }), <span class="mono">{value}</span>] as const),
                !!run.input && [t("input"), [bytesText(run.input.size), run.input.event, run.input.type].filter(Boolean).join(", ")],
                !!run.timeout && [t("timeout"), run.timeout],
                !!run.env && [t("env"), <span class="mono">{Object.keys(run.env).join(" ")}</span>],
                exit !== null && [t("exit"), exit],
                cpu !== null && [t("cpu"), cpu],
                run.max_rss_kb !== null && run.max_rss_kb > 0 && [t("memory"), bytesText(run.max_rss_kb * 1024)],
                [
                    t("id"),
                    <span class="mono run-id">
                        {run.run_id} <CopyButton text={run.run_id} />
                    </span>,
                ],
            ]}
        />
    );
}

function Progress({ progress }: { progress: NonNullable<Run["progress"]> }) {
    const text = progress.text ? `${progress.percent}% ${progress.text}` : `${progress.percent}%`;
    return (
        <div class="run-progress">
            <progress max={100} value={progress.percent} aria-label={t("progress")} />
            <span class="num">{text}</span>
        </div>
    );
}

function Command({ run }: { run: Run }) {
    const job = useResource(`job ${run.job}`, (signal) => api.optional<Job>(jobPath(run.job), {}, signal));
    if (!job.data || job.data.uid !== run.job_uid) return null;
    const changed = run.started_at && job.data.updated_at > run.started_at;
    return (
        <div class="command">
            <span class="faint small">{t("command")}</span>
            <pre tabIndex={0}>{commandText(job.data)}</pre>
            {changed && <p class="faint small">{t("command.changed")}</p>}
        </div>
    );
}

function KillDialog({ run, onClose, onDone }: { run: Run; onClose: () => void; onDone: (run: Run) => void }) {
    const kill = (): void => {
        onClose();
        void attempt(async () => {
            onDone(await api.post<Run>(runPath(run.run_id, "/kill")));
            toastDone(t("kill.done"));
        });
    };
    return (
        <Dialog
            title={t(isInstance(run) ? "cancel.ask" : "kill.ask", { job: run.job })}
            onClose={onClose}
            actions={
                <>
                    <Button onClick={onClose}>{common("cancel")}</Button>
                    <Button kind="danger" icon="stop" onClick={kill}>
                        {t(isInstance(run) ? "cancel" : "kill")}
                    </Button>
                </>
            }
        >
            <p>{t(isInstance(run) ? "cancel.text" : "kill.text")}</p>
        </Dialog>
    );
}

function Neighbour({ run, label, flipped }: { run: Run | null; label: string; flipped?: boolean }) {
    const icon = <Icon name="chevron" class={flipped ? "flipped" : ""} />;
    return run ? (
        <a class="button only-icon" href={hrefs.run(run.run_id)} aria-label={label} title={label}>
            {icon}
        </a>
    ) : (
        <button type="button" class="button only-icon" disabled aria-label={label} title={label}>
            {icon}
        </button>
    );
}

// Of an instance what failed, or all of it; of a step its instance, from there on.
function Again({ run, onAgain }: { run: Run; onAgain: (of?: string, body?: { steps: string | string[] }) => void }) {
    if (run.step && run.instance)
        return (
            <Button icon="retry" onClick={() => onAgain(run.instance!, { steps: [run.step!.replace(/\[\d+\]$/, "")] })}>
                {t("steps.again.from")}
            </Button>
        );
    if (!isInstance(run))
        return (
            <Button icon="retry" onClick={() => onAgain()}>
                {t("run.again")}
            </Button>
        );
    return (
        <>
            {run.state !== "ok" && (
                <Button icon="retry" kind="primary" onClick={() => onAgain()}>
                    {t("steps.again.failed")}
                </Button>
            )}
            <Button icon="retry" onClick={() => onAgain(run.run_id, { steps: "all" })}>
                {t("steps.again.all")}
            </Button>
        </>
    );
}

export default function RunScreen({ params }: ScreenProps) {
    const id = params["id"] ?? "";
    const resource = useResource(`run ${id}`, (signal) => api.get<Run>(runPath(id), {}, signal));
    const [killing, setKilling] = useState(false);
    const run = resource.data?.run_id === id ? resource.data : null;
    const around = useResource(`around ${run?.run_id ?? ""} ${run?.state ?? ""}`, (signal) =>
        run ? findNeighbours(run, signal) : Promise.resolve(null),
    );
    const aroundSoon = useThrottled(around.reload, 3000);
    const job = run?.job;
    useEffect(() => onLive("reset", resource.reload), []);
    useEffect(
        () =>
            onLive("run", (event) => {
                if (event.run_id !== id) {
                    if (event.job === job) aroundSoon();
                    return;
                }
                resource.set((old) => ({ ...old, ...event }));
                resource.reload(); // the answer in flight may be older than the event
            }),
        [id, job],
    );
    const told = run?.progress !== undefined;
    useEffect(() => {
        if (!run || !isOpen(run.state)) return;
        const timer = setInterval(resource.reload, told ? 2000 : 5000); // nobody announces progress
        return () => clearInterval(timer);
    }, [id, run?.state, told]);
    if (resource.problem && !run) return <Failure problem={resource.problem} onRetry={resource.reload} />;
    if (!run) return null;

    const again = (of = id, body?: { steps: string | string[] }): void =>
        void attempt(async () => {
            const started = await api.post<{ run_id: string }>(runPath(of, "/retry"), body);
            toastDone(t("run.started", { job: run.job }));
            go(hrefs.run(started.run_id));
        });
    const reason = reasonText(run.reason);
    const at = location.value.query.get("at");
    const { previous, next, attempts } = around.data ?? { previous: null, next: null, attempts: [] };
    return (
        <div class="run-screen">
            <Head
                above={
                    <>
                        <a href={hrefs.runs()}>{t("runs")}</a>
                        <Icon name="chevron" />
                        <a href={hrefs.runs({ job: run.job })} class="mono">
                            {run.job}
                        </a>
                        {run.instance && run.step && (
                            <>
                                <Icon name="chevron" />
                                <a href={hrefs.run(run.instance)}>{t("instance")}</a>
                            </>
                        )}
                    </>
                }
                title={<a class="title-link" href={hrefs.job(run.job)}>{run.job}</a>}
                beside={<Status state={run.state} big />}
            >
                <Neighbour run={previous} label={t("previous")} flipped />
                <Neighbour run={next} label={t("next")} />
                {may("operate", run.job) &&
                    (isOpen(run.state) ? (
                        <Button icon="stop" kind="danger" onClick={() => setKilling(true)}>
                            {t(isInstance(run) ? "cancel" : "kill")}
                        </Button>
                    ) : (
                        <Again run={run} onAgain={again} />
                    ))}
            </Head>
            <Panel>
                <div class="panel-body run-summary">
                    {(reason || (run.detail && !run.progress)) && (
                        <p class="run-reason">
                            {reason && <span>{reason}</span>}
                            {run.detail && !run.progress && <span class="faint"> {run.detail}</span>}
                        </p>
                    )}
                    {run.progress && <Progress progress={run.progress} />}
                    <RunFacts run={run} />
                    {!isInstance(run) && !run.step && <Command run={run} />}
                    {attempts.length > 1 && (
                        <div class="attempts">
                            <span class="faint small">{t("attempts")}</span>
                            {attempts.map((other) => (
                                <a key={other.run_id} href={hrefs.run(other.run_id)} aria-current={other.run_id === id ? "true" : undefined}>
                                    {other.attempt} <Status state={other.state} />
                                </a>
                            ))}
                        </div>
                    )}
                </div>
            </Panel>
            {isInstance(run) ? <InstancePanel key={id} run={run} /> : <Log key={id} run={run} at={at === null ? null : Number(at)} onEnd={(ended) => resource.set((old) => ({ ...old, ...ended }))} />}
            {killing && <KillDialog run={run} onClose={() => setKilling(false)} onDone={(changed) => resource.set(() => changed)} />}
        </div>
    );
}
