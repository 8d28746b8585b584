import { useEffect, useState } from "preact/hooks";
import { api, runPath } from "../../api/client";
import { onLive } from "../../api/live";
import { isOpen, type Run } from "../../api/types";
import { go, hrefs, location } from "../../app/router";
import { subject, type ScreenProps } from "../../app/screens";
import { may } from "../../app/session";
import { attempt, toastDone } from "../../app/toasts";
import { t as common } from "../../i18n/common";
import { Icon } from "../../ui/icons";
import { Button, Dialog, Head, Missing, Panel } from "../../ui/parts";
import { useResource, useThrottled } from "../../ui/resource";
import { reasonText, stateWord, Status } from "../../ui/status";
import { InstancePanel } from "./Instance";
import { Log } from "./Log";
import { findAfter, findNeighbours } from "./neighbours";
import { Definition, isInstance, RunFacts, RunLine } from "./RunFacts";
import { title } from "./titles";
import { t } from "./words";
import "./run.css";

function Progress({ progress }: { progress: NonNullable<Run["progress"]> }) {
    const text = progress.text ? `${progress.percent}% ${progress.text}` : `${progress.percent}%`;
    return (
        <div class="run-progress">
            <progress max={100} value={progress.percent} aria-label={t("progress")} />
            <span class="num">{text}</span>
        </div>
    );
}

// Runs that belong to this one: other attempts, what it made run.
function Links({ title, runs, id, text }: { title: string; runs: Run[]; id: string; text: (run: Run) => string }) {
    return (
        <div class="attempts">
            <span class="faint small">{title}</span>
            {runs.map((other) => (
                <a key={other.run_id} href={hrefs.run(other.run_id)} aria-current={other.run_id === id ? "true" : undefined}>
                    {text(other)} <Status state={other.state} />
                </a>
            ))}
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
    const [isWhole, setWhole] = useState(false);
    const run = resource.data?.run_id === id ? resource.data : null;
    const around = useResource(`around ${run?.run_id ?? ""} ${run?.state ?? ""}`, (signal) =>
        run ? findNeighbours(run, signal) : Promise.resolve(null),
    );
    const after = useResource(`after ${run?.run_id ?? ""} ${run?.state ?? ""} ${isWhole}`, (signal) =>
        run && !isOpen(run.state) ? findAfter(run, signal) : Promise.resolve([]),
    ).data;
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
    useEffect(() => {
        subject.value = run && stateWord(run.state) + common("colon") + run.job;
        return () => void (subject.value = null);
    }, [run?.state, job]);
    const told = run?.progress !== undefined;
    useEffect(() => {
        if (!run || !isOpen(run.state)) return;
        const timer = setInterval(resource.reload, told ? 2000 : 5000); // nobody announces progress
        return () => clearInterval(timer);
    }, [id, run?.state, told]);
    if (resource.problem && !run) return <Missing problem={resource.problem} onRetry={resource.reload} to="/runs" text={title("runs")} />;
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
                        <a href={hrefs.runs()}>{title("runs")}</a>
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
                <RunLine run={run} isWhole={isWhole} onWhole={() => setWhole(!isWhole)} />
                {run.progress && <Progress progress={run.progress} />}
                {attempts.length > 1 && <Links title={t("attempts")} runs={attempts} id={id} text={(other) => String(other.attempt)} />}
                {after && after.length > 0 && <Links title={t("chain.after")} runs={after} id={id} text={(other) => other.job} />}
                {isWhole && (
                    <div class="panel-body run-summary">
                        {reason && (
                            <p>
                                {reason} {run.detail && !run.progress && <span class="faint">{run.detail}</span>}
                            </p>
                        )}
                        <RunFacts run={run} />
                        {!isInstance(run) && !run.step && <Definition run={run} />}
                    </div>
                )}
            </Panel>
            {isInstance(run) ? <InstancePanel key={id} run={run} /> : <Log key={id} run={run} at={at === null ? null : Number(at)} onEnd={(ended) => resource.set((old) => ({ ...old, ...ended }))} />}
            {killing && <KillDialog run={run} onClose={() => setKilling(false)} onDone={(changed) => resource.set(() => changed)} />}
        </div>
    );
}
