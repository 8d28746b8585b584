// Runs the definition once before it is saved, as a job of its own that goes when the dialog is closed.
import { useEffect, useRef, useState } from "preact/hooks";
import { api, jobPath, Problem, runPath } from "../../api/client";
import { onLive } from "../../api/live";
import { isOpen, type Job, type Run } from "../../api/types";
import { hrefs } from "../../app/router";
import { t as common } from "../../i18n/common";
import { endText } from "../../ui/causes";
import { Duration } from "../../ui/moments";
import { Button, Dialog, Failure } from "../../ui/parts";
import { useResource } from "../../ui/resource";
import { Status } from "../../ui/status";
import { t } from "./builder_words";
import type { Draft } from "./draft";
import { isTrial, trialName, trialOf } from "./trial";

const POLL_MS = 1000; // while it runs
const OUTPUT = 16_384;

interface Piece {
    run: Run;
    chunks: { stream: string; text?: string }[];
}

function Outcome({ id, onEnd }: { id: string; onEnd: () => void }) {
    const log = useResource(`trial ${id}`, (signal) => api.get<Piece>(runPath(id, "/log"), { limit: OUTPUT }, signal));
    const run = log.data?.run;
    const isUnderWay = !run || isOpen(run.state);
    useEffect(() => {
        if (!isUnderWay) {
            onEnd();
            return undefined;
        }
        const timer = setInterval(log.reload, POLL_MS);
        const stop = onLive("run", (event) => event.run_id === id && log.reload());
        return () => {
            clearInterval(timer);
            stop();
        };
    }, [isUnderWay]);
    if (!run) return <p class="faint">{log.problem ? log.problem.detail : t("trial.waiting")}</p>;
    return (
        <div class="trial" role="status">
            <p>
                <Status state={run.state} big /> {[endText(run), run.detail].filter(Boolean).join(" · ")}{" "}
                <span class="faint">{run.started_at && <Duration from={run.started_at} to={run.finished_at} />}</span>{" "}
                <a href={hrefs.run(id)} target="_blank" rel="noreferrer">
                    {t("trial.open")}
                </a>
            </p>
            <pre class="last-output" tabIndex={0}>
                {log.data?.chunks.map((chunk, i) => (
                    <span key={i} class={chunk.stream === "stderr" ? "tone-bad" : ""}>
                        {chunk.text ?? ""}
                    </span>
                ))}
            </pre>
        </div>
    );
}

export function Trial(props: { name: string; draft: Draft; onWrong: (problem: Problem) => void; onClose: () => void }) {
    const name = trialName(props.name);
    const [id, setId] = useState<string | null>(null);
    const [busy, setBusy] = useState(false);
    const [problem, setProblem] = useState<Problem | null>(null);
    const made = useRef(false);
    useEffect(() => {
        // A run that is under way goes on, and is kept as all others.
        const remove = (): void => {
            if (made.current) void api.delete(jobPath(name)).catch(() => undefined);
            made.current = false;
        };
        addEventListener("pagehide", remove);
        return () => {
            removeEventListener("pagehide", remove);
            remove();
        };
    }, []);
    const run = async (): Promise<void> => {
        setBusy(true);
        setProblem(null);
        try {
            const old = await api.optional<Job>(jobPath(name));
            const headers: Record<string, string> = old && isTrial(old) ? { "If-Match": `"${old.revision}"` } : { "If-None-Match": "*" };
            await api.put<Job>(jobPath(name), trialOf(props.draft, t("trial.notes", { name: props.name })), { headers });
            made.current = true;
            const started = await api.post<{ run_id: string }>(jobPath(name, "/run"));
            setId(started.run_id);
        } catch (error) {
            setBusy(false);
            if (!(error instanceof Problem)) throw error;
            if (error.status === 422 && error.errors.length && !made.current) props.onWrong(error);
            else setProblem(error);
        }
    };
    return (
        <Dialog
            wide
            title={t("trial.title")}
            onClose={props.onClose}
            actions={
                <>
                    <Button onClick={props.onClose}>{common("close")}</Button>
                    <Button kind="primary" icon="play" disabled={busy} onClick={() => void run()}>
                        {t(id ? "trial.again" : "trial.do")}
                    </Button>
                </>
            }
        >
            <p>{t(id ? "trial.kept" : "trial.text", { name })}</p>
            {problem && <Failure problem={problem} />}
            {id && <Outcome key={id} id={id} onEnd={() => setBusy(false)} />}
        </Dialog>
    );
}
