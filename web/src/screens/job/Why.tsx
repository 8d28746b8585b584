// The outcome of a tick, in the server's words.
import { useState } from "preact/hooks";
import { api, jobPath } from "../../api/client";
import type { RunState, WaitingInstance, Why } from "../../api/types";
import { zone } from "../../app/preferences";
import { hrefs } from "../../app/router";
import { language } from "../../i18n/language";
import { instantOf, Moment, momentText } from "../../ui/moments";
import { Button, Failure, Panel } from "../../ui/parts";
import { useResource } from "../../ui/resource";
import { Status } from "../../ui/status";
import { t } from "./words";

const shownStates = new Set<string>(["queued", "due", "claimed", "begun", "running", "ok", "failed", "timed_out", "killed", "lost", "skipped", "missed"]);

// The server's times are UTC; those of the page are in the zone that is shown.
function inZone(text: string): string {
    return text.replace(/\b\d{4}-\d\d-\d\dT[\d:.]+Z/g, (at) => momentText(at));
}

function Answer({ title, why }: { title: string; why: Why }) {
    return (
        <div class="why">
            <p class="why-head">
                <strong>{title}</strong>
                {why.tick && <Moment at={why.tick} />}
                {shownStates.has(why.state) && <Status state={why.state as RunState} />}
            </p>
            <p>
                {inZone(why.text)} {why.run && <a href={hrefs.run(why.run.run_id)}>{t("why.run")}</a>}
            </p>
        </div>
    );
}

// What the steps of an instance wait for.
function Waits({ instance }: { instance: WaitingInstance }) {
    return (
        <div class="why">
            <p class="why-head">
                <strong>{t("why.instance")}</strong>
                {instance.tick && <Moment at={instance.tick} />}
                <Status state={instance.state} />
                <a href={hrefs.run(instance.run_id)}>{t("why.run")}</a>
            </p>
            <ul class="why-steps">
                {instance.steps.map((step) => (
                    <li key={step.name}>
                        <span class="mono">{step.name}</span> {inZone(step.text)}
                    </li>
                ))}
                {instance.more > 0 && <li class="faint">{t("why.more", { n: instance.more })}</li>}
            </ul>
        </div>
    );
}

export function WhyPanel({ name, version }: { name: string; version: string }) {
    const [field, setField] = useState("");
    const [tick, setTick] = useState<string | null>(null);
    const why = useResource(`why ${name} ${tick ?? ""} ${version} ${language.value}`, (signal) =>
        api.get<Why>(jobPath(name, "/why"), { tick }, signal),
    );
    return (
        <Panel title={t("why")}>
            <div class="panel-body whys">
                {why.problem && <Failure problem={why.problem} />}
                {why.data && <Answer title={t(tick ? "why.asked" : "why.last")} why={why.data} />}
                {why.data?.instances?.filter((instance) => instance.steps.length > 0 || instance.more > 0).map((instance) => (
                    <Waits key={instance.run_id} instance={instance} />
                ))}
                {why.data?.next && <Answer title={t("why.next")} why={why.data.next} />}
                <form
                    class="why-form"
                    onSubmit={(event) => {
                        event.preventDefault();
                        setTick(field ? instantOf(field) : null);
                    }}
                >
                    <label>
                        <span class="faint small">{t("why.tick", { zone: zone.value })}</span>
                        <input type="datetime-local" step="1" value={field} onInput={(e) => setField(e.currentTarget.value)} />
                    </label>
                    <Button icon="question" onClick={() => setTick(field ? instantOf(field) : null)}>
                        {t("why.do")}
                    </Button>
                </form>
            </div>
        </Panel>
    );
}
