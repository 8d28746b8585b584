// How the job is doing, in one line: the last end and its cause, what runs, what comes next.
import type { ComponentChildren } from "preact";
import type { Job } from "../../api/types";
import { hrefs } from "../../app/router";
import { CauseLine, endText, streakText, useCauses } from "../../ui/causes";
import { Duration, Moment, Relative } from "../../ui/moments";
import { muteOf, muteText } from "../../ui/mute";
import { stateWord } from "../../ui/status";
import { t } from "./words";

function Next({ job }: { job: Job }) {
    const { status } = job;
    if (status.paused) return <>{t("line.paused")}</>;
    if (!status.next_at) return null;
    return (
        <>
            {t("line.next")} <Relative at={status.next_at} overdue /> (<Moment at={status.next_at} />)
        </>
    );
}

export function StatusLine({ job }: { job: Job }) {
    const { last, running, queued } = job.status;
    const cause = useCauses([job]).get(job.name);
    const mute = muteOf(job);
    const parts: ComponentChildren[] = [];
    if (running) parts.push(<a href={hrefs.runs({ job: job.name, state: "running" })}>{t("line.running", { n: running })}</a>);
    if (queued) parts.push(t("line.queued", { n: queued }));
    if (last)
        parts.push(
            <>
                <a href={hrefs.run(last.run_id)}>{t("line.last", { state: stateWord(last.state) })}</a> <Relative at={last.finished_at} />
                {last.state === "ok" && (
                    <>
                        {" "}
                        ({t("line.took")} <Duration from={last.started_at} to={last.finished_at} />)
                    </>
                )}
            </>,
        );
    else if (!running && !queued) parts.push(t("line.never"));
    if (cause) parts.push(endText(cause.run), streakText(cause));
    if (job.status.paused || job.status.next_at) parts.push(<Next job={job} />);
    return (
        <div class="status-line">
            <p>
                {parts.filter(Boolean).map((part, i) => (
                    <span key={i}>
                        {i > 0 && <span class="faint"> · </span>}
                        {part}
                    </span>
                ))}
            </p>
            {cause && <CauseLine cause={cause} />}
            {mute && <p class="faint">{muteText(mute)}</p>}
        </div>
    );
}
