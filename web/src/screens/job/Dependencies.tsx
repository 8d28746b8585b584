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

function conditionKey({ exists, met, on }: Dependencies["after"][number]) {
    if (!exists) return "missing";
    return met ? "met" : (`unmet.${on}` as const);
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
                                <li key={item.job}>
                                    <Name {...item} /> {item.state && <Status state={item.state} />}{" "}
                                    {item.ended_at && (
                                        <span class="faint">
                                            (<Relative at={item.ended_at} />){" "}
                                        </span>
                                    )}
                                    <span class={item.exists ? "faint" : "note bad"}>
                                        {t(conditionKey(item), { job: item.job })}
                                    </span>
                                </li>
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
