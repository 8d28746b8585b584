// What is known about a run: in one line, and in full.
import type { ComponentChildren } from "preact";
import { api, jobPath } from "../../api/client";
import { commandText } from "../../api/definition";
import { isOpen, type Job, type Run } from "../../api/types";
import { hrefs } from "../../app/router";
import { t as common } from "../../i18n/common";
import { endText } from "../../ui/causes";
import { Duration, Moment } from "../../ui/moments";
import { Button, CopyButton, Facts } from "../../ui/parts";
import { useResource } from "../../ui/resource";
import { spanText } from "../../ui/spans";
import { toneOf } from "../../ui/status";
import { bytesText } from "../../ui/time";
import { DiffText } from "../job/Versions";
import { t } from "./words";

export function isInstance(run: Run): boolean {
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

export function RunFacts({ run }: { run: Run }) {
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
                run.by !== null && run.cause !== "after" && [t("by"), run.by],
                (run.attempts ?? run.attempt) > 1 && [t("attempt"), run.attempts ? t("attemptOf", { n: run.attempt, all: run.attempts }) : run.attempt],
                run.parts !== null && [t("part"), t(run.pinned === null ? "shardOf" : "partOf", { n: (run.part ?? 0) + (run.pinned === null ? 0 : 1), all: run.parts })],
                run.state === "queued" && run.parts !== null && [t("turn"), t("inTurn")],
                run.pinned !== null && [t("pinned"), run.pinned],
                !!run.waits_for && [t("group"), t(run.waits_for.limit === "label" ? "waitsForLabel" : "waitsFor", { group: run.waits_for.group, label: run.waits_for.label ?? "", place: run.waits_for.place, of: run.waits_for.of })],
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

// The definition that ran, and what differs from it now.
export function Definition({ run }: { run: Run }) {
    const ran = useResource(`definition ${run.job} ${run.job_revision}`, async (signal) => {
        const now = await api.optional<Job>(jobPath(run.job), {}, signal);
        if (!now || now.uid !== run.job_uid) return null;
        const isOther = !!run.job_revision && run.job_revision !== now.revision;
        const then = isOther ? await api.optional<Job>(jobPath(run.job, `/versions/${run.job_revision}`), {}, signal) : now;
        return { job: then ?? now, isOther, isKnown: !!then };
    });
    if (!ran.data || ran.data.job.steps) return null;
    const { job, isOther, isKnown } = ran.data;
    return (
        <>
            <div class="command">
                <span class="faint small">
                    {t("command")}
                    {isOther && ` · ${t(isKnown ? "command.then" : "command.changed", { revision: run.job_revision ?? 0 })}`}
                </span>
                <pre tabIndex={0}>{commandText(job)}</pre>
            </div>
            {isOther && isKnown && <DiffText name={run.job} revision={run.job_revision ?? 0} title={t("command.since")} />}
        </>
    );
}

// One line: why it ended, how long it took, when, where, and who wanted it.
export function RunLine({ run, isWhole, onWhole }: { run: Run; isWhole: boolean; onWhole: () => void }) {
    const why = run.state === "ok" ? "" : endText(run);
    const parts: ComponentChildren[] = [
        why && <strong class={`tone-${toneOf(run.state)}`}>{why}</strong>,
        run.started_at && <Duration from={run.started_at} to={run.finished_at} />,
        run.started_at && (
            <span>
                {t("started")} <Moment at={run.started_at} />
            </span>
        ),
        run.node && <span>{run.node}</span>,
        <span>
            {common(`cause.${run.cause}`)}
            {run.cause === "after" && run.by ? (
                <>
                    {common("colon")}
                    <a href={hrefs.run(run.by)}>{t("chain.before")}</a>
                </>
            ) : (
                run.by && run.state !== "killed" && `, ${run.by}`
            )}
        </span>,
        (run.attempts ?? run.attempt) > 1 && (
            <span>
                {t("attempt")} {run.attempts ? t("attemptOf", { n: run.attempt, all: run.attempts }) : run.attempt}
            </span>
        ),
        run.state === "queued" && run.parts !== null && <span>{t("inTurn")}</span>,
        isOpen(run.state) && !run.started_at && run.detail && <span class="faint">{run.detail}</span>,
    ];
    return (
        <div class="run-line">
            {parts.filter(Boolean)}
            <Button small kind="plain" icon={isWhole ? "up" : "down"} pressed={isWhole} onClick={onWhole}>
                {t("details")}
            </Button>
        </div>
    );
}
