// Upstream and downstream jobs of a job.
import { api, jobPath } from "../../api/client";
import type { Dependencies } from "../../api/types";
import { hrefs } from "../../app/router";
import { Relative } from "../../ui/moments";
import { Panel } from "../../ui/parts";
import { useResource } from "../../ui/resource";
import { Status } from "../../ui/status";
import { t } from "./words";

function Name({ job, on }: { job: string; on: string | undefined }) {
    return (
        <>
            <a href={hrefs.job(job)}>{job}</a>
            {on && on !== "success" && (
                <>
                    {" "}
                    <span class="label">{on}</span>
                </>
            )}
        </>
    );
}

export function AfterWords({ after }: { after: { job: string; on?: string }[] }) {
    return (
        <ul class="schedule-words">
            <li>
                {t("after")}{" "}
                {after.map(({ job, on }, i) => (
                    <span key={job}>
                        {i > 0 && ", "}
                        <Name job={job} on={on} />
                    </span>
                ))}
            </li>
        </ul>
    );
}

type Upstream = Dependencies["after"][number];

function conditionOf({ exists, met, on }: Upstream) {
    return exists ? (met ? "met" : (`unmet.${on}` as const)) : "missing";
}

// "Waiting for etl/load to succeed (last: failed 3 m ago)", with the name as a link.
function Condition({ of }: { of: Upstream }) {
    const [before, after] = t(conditionOf(of)).split("{job}");
    return (
        <li class={of.exists ? undefined : "note bad"}>
            {before}
            <a href={hrefs.job(of.job)}>{of.job}</a>
            {after}
            {of.state && (
                <span class="faint">
                    {" "}
                    ({t("last")} <Status state={of.state} /> {of.ended_at && <Relative at={of.ended_at} />})
                </span>
            )}
        </li>
    );
}

export function DependenciesPanel({ name, version }: { name: string; version: string }) {
    const found = useResource(`dependencies ${name} ${version}`, (signal) =>
        api.get<Dependencies>(jobPath(name, "/dependencies"), {}, signal),
    );
    const { after, before } = found.data ?? { after: [], before: [] };
    if (!after.length && !before.length) return null;
    return (
        <Panel title={t("dependencies")}>
            <div class="panel-body">
                {after.length > 0 && (
                    <>
                        <span class="faint small">{t("waits")}</span>
                        <ul class="schedule-words">
                            {after.map((item) => (
                                <Condition key={item.job} of={item} />
                            ))}
                        </ul>
                    </>
                )}
                {before.length > 0 && (
                    <>
                        <span class="faint small">{t("waited")}</span>
                        <ul class="schedule-words">
                            {before.map((item) => (
                                <li key={item.job}>
                                    <Name {...item} />
                                </li>
                            ))}
                        </ul>
                    </>
                )}
            </div>
        </Panel>
    );
}
