// Where there are few jobs: from the first job to a message and to the accounts of others, and a demo.
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { api } from "../../api/client";
import type { Job, Page } from "../../api/types";
import { href } from "../../app/router";
import { may, maySomewhere } from "../../app/session";
import { attempt, toastDone } from "../../app/toasts";
import { Icon } from "../../ui/icons";
import { Button, Panel } from "../../ui/parts";
import { useResource } from "../../ui/resource";
import { addDemo, isDemo, removeDemo } from "./demo";
import { t } from "./first_words";

const HIDDEN = "peal.first_steps"; // in this browser
const FEW = 8; // jobs

interface Steps {
    jobs: string[];
    channels: number;
    users: number;
}

async function readSteps(signal: AbortSignal): Promise<Steps> {
    const [jobs, channels, users] = await Promise.all([
        api.get<Page<Job>>("/jobs", { fields: "name", limit: FEW + 1 }, signal),
        api.optional<Page<unknown>>("/channels", {}, signal),
        may("admin") ? api.optional<Page<unknown>>("/users", {}, signal) : null,
    ]);
    return { jobs: jobs.items.map((job) => job.name), channels: channels?.items.length ?? 0, users: users?.items.length ?? 0 };
}

function Step(props: { n: number; title: string; text: string; isDone: boolean; children: ComponentChildren }) {
    return (
        <li class={`first-step ${props.isDone ? "is-done" : ""}`}>
            <span class="first-mark">{props.isDone ? <Icon name="check" /> : props.n}</span>
            <div>
                <h3>
                    {props.title} {props.isDone && <span class="hidden-text">({t("done")})</span>}
                </h3>
                <p class="faint">{props.text}</p>
                <p class="first-do">{props.children}</p>
            </div>
        </li>
    );
}

export function hasFirstSteps(jobs: number): boolean {
    return jobs <= FEW && maySomewhere("edit") && localStorage.getItem(HIDDEN) === null;
}

export function FirstSteps({ version, onChange }: { version: string; onChange: () => void }) {
    const [isHidden, setIsHidden] = useState(false);
    const steps = useResource(`first ${version}`, readSteps);
    if (isHidden || !steps.data) return null;
    const { jobs, channels, users } = steps.data;
    const demo = jobs.filter(isDemo);
    const hide = (): void => {
        localStorage.setItem(HIDDEN, "1");
        setIsHidden(true);
    };
    const change = (action: () => Promise<void>, text: string): void =>
        void attempt(async () => {
            await action();
            toastDone(text);
            steps.reload();
            onChange();
        });
    return (
        <Panel
            title={t("title")}
            class="first"
            beside={
                jobs.length > 0 && (
                    <Button small onClick={hide}>
                        {t("hide")}
                    </Button>
                )
            }
        >
            <ol class="first-steps">
                <Step n={1} title={t("job")} text={t("job.text")} isDone={jobs.length > demo.length}>
                    <a class="button primary" href="#/new">
                        <Icon name="plus" /> {t("job.do")}
                    </a>
                    <a class="button" href="#/import">
                        {t("import.do")}
                    </a>
                </Step>
                {may("admin") && (
                    <>
                        <Step n={2} title={t("message")} text={t("message.text")} isDone={channels > 0}>
                            <a class="button" href={href("/settings", { tab: "channels" })}>
                                {t("message.do")}
                            </a>
                        </Step>
                        <Step n={3} title={t("user")} text={t("user.text")} isDone={users > 1}>
                            <a class="button" href={href("/settings", { tab: "users" })}>
                                {t("user.do")}
                            </a>
                        </Step>
                    </>
                )}
            </ol>
            {may("define") && may("edit") && (
                <p class="first-demo panel-body">
                    {demo.length ? (
                        <>
                            <span>{t("demo.is")}</span>
                            <Button small icon="trash" onClick={() => change(() => removeDemo(demo), t("demo.removed"))}>
                                {t("demo.remove")}
                            </Button>
                        </>
                    ) : (
                        <>
                            <span>
                                <strong>{t("demo")}</strong> {t("demo.text")}
                            </span>
                            <Button small icon="play" onClick={() => change(addDemo, t("demo.added"))}>
                                {t("demo.add")}
                            </Button>
                        </>
                    )}
                </p>
            )}
        </Panel>
    );
}
