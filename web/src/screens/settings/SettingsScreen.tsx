// Settings: the own account, users, tokens, calendars, groups, maintenance, channels, the audit log, about.
import { useState } from "preact/hooks";
import { api } from "../../api/client";
import { href, location } from "../../app/router";
import { logout, may, me } from "../../app/session";
import { Preferences } from "../../app/shell";
import { attempt, toastDone } from "../../app/toasts";
import { t as common } from "../../i18n/common";
import { Moment } from "../../ui/moments";
import { Button, Facts, Failure, Head, Panel } from "../../ui/parts";
import { useResource } from "../../ui/resource";
import { Troubles, Wellness, type Health } from "../../ui/trouble";
import { Audit } from "./Audit";
import { Calendars } from "./Calendars";
import { Channels } from "./Channels";
import { Groups } from "./Groups";
import { Maintenance } from "./Maintenance";
import { Tokens } from "./Tokens";
import { Users } from "./Users";
import { title } from "./titles";
import { t } from "./words";
import "./settings.css";

function PasswordPanel({ name }: { name: string }) {
    const [old, setOld] = useState("");
    const [fresh, setFresh] = useState("");
    const [again, setAgain] = useState("");
    const differ = again !== "" && fresh !== again;
    const change = (event: Event): void => {
        event.preventDefault();
        if (fresh !== again) return;
        void attempt(async () => {
            await api.patch(`/users/${encodeURIComponent(name)}`, { password: fresh, old_password: old });
            toastDone(t("password.done"));
            [setOld, setFresh, setAgain].forEach((set) => set(""));
        });
    };
    const field = (label: string, value: string, kind: string, set: (text: string) => void) => (
        <label>
            {label}
            <input
                type="password"
                required
                minLength={kind === "new-password" ? 8 : 1}
                autocomplete={kind}
                value={value}
                onInput={(event) => set(event.currentTarget.value)}
            />
        </label>
    );
    return (
        <Panel title={t("password")}>
            <form class="panel-body ask-form" onSubmit={change}>
                {field(t("password.old"), old, "current-password", setOld)}
                {field(t("password.new"), fresh, "new-password", setFresh)}
                {field(t("password.again"), again, "new-password", setAgain)}
                <p class={differ ? "tone-bad" : "faint small"} role="status">
                    {t(differ ? "password.differ" : "password.rule")}
                </p>
                <div>
                    <button class="button primary" disabled={differ}>
                        {t("password.do")}
                    </button>
                </div>
            </form>
        </Panel>
    );
}

function Account() {
    const who = me.value;
    if (!who) return null;
    const endAll = (): void => void attempt(() => api.post("/logout", { all: true }).then(() => logout().catch(() => undefined)));
    return (
        <div class="settings-grid">
            <Panel title={t("you")}>
                <div class="panel-body settings-you">
                    <Facts
                        rows={[
                            [t("name"), who.name],
                            who.role !== "none" && [t("role"), who.role],
                            who.rights.length > 0 && [t("rights"), who.rights.join(", ")],
                            ...who.namespaces.map((grant): [string, string] => [`${grant.namespace}/`, `${grant.role}: ${grant.rights.join(", ")}`]),
                        ]}
                    />
                    {who.kind === "socket" && <p class="faint">{t("you.socket")}</p>}
                    {who.kind !== "socket" && (
                        <div class="settings-exits">
                            <Button icon="exit" onClick={() => void attempt(logout)}>
                                {common("logout")}
                            </Button>
                            {who.kind === "user" && <Button onClick={endAll}>{t("everywhere.do")}</Button>}
                        </div>
                    )}
                </div>
            </Panel>
            {who.kind === "user" && <PasswordPanel name={who.name} />}
            <Panel title={t("look")}>
                <div class="panel-body settings-you">
                    <Preferences />
                </div>
            </Panel>
        </div>
    );
}

interface About {
    node: string;
    version: string;
    started_at: string;
    data: string | null;
    timezone: string;
    store: Health & { url: string | null };
    history: Health;
    jobs_user: { name: string | null; shared: boolean } | null;
}

function userOfJobs({ name, shared }: NonNullable<About["jobs_user"]>): string {
    if (name === null) return t("jobs.user.none");
    return t(shared ? "jobs.user.shared" : "jobs.user.name", { user: name });
}

function AboutPanel() {
    const agent = useResource("about", (signal) => api.get<About>("/agent", {}, signal));
    if (agent.problem) return <Failure problem={agent.problem} onRetry={agent.reload} />;
    if (!agent.data) return null;
    const { data } = agent;
    return (
        <Panel title={t("tab.about")}>
            <div class="panel-body settings-you">
                <Troubles store={data.store} history={data.history} />
                <Facts
                    rows={[
                        [t("version"), `peal ${data.version}`],
                        [t("node"), data.node],
                        [t("started"), <Moment at={data.started_at} />],
                        [t("zone"), data.timezone],
                        !!data.jobs_user && [t("jobs.user"), userOfJobs(data.jobs_user)],
                        !!data.data && [t("data"), <code>{data.data}</code>],
                        [t("store"), <Wellness of={data.store} {...(data.store.url ? { name: data.store.url } : {})} />],
                        [t("history"), <Wellness of={data.history} />],
                    ]}
                />
                <p class="links">
                    <a href="/api">{t("api")}</a> <a href="/openapi.json">{t("openapi")}</a>
                </p>
            </div>
        </Panel>
    );
}

const tabs = ["account", "calendars", "groups", "maintenance", "channels", "users", "tokens", "audit", "about"] as const;

export default function SettingsScreen() {
    const shown = tabs.filter((tab) => (tab !== "users" && tab !== "channels") || may("admin"));
    const tab = shown.find((name) => name === location.value.query.get("tab")) ?? "account";
    return (
        <>
            <Head title={title("title")} />
            <nav class="tabs" aria-label={t("tabs")}>
                {shown.map((name) => (
                    <a key={name} href={href("/settings", { tab: name === "account" ? null : name })} aria-current={name === tab ? "page" : undefined}>
                        {t(`tab.${name}`)}
                    </a>
                ))}
            </nav>
            {tab === "account" && <Account />}
            {tab === "calendars" && <Calendars />}
            {tab === "groups" && <Groups />}
            {tab === "maintenance" && <Maintenance />}
            {tab === "channels" && <Channels />}
            {tab === "users" && <Users />}
            {tab === "tokens" && <Tokens />}
            {tab === "audit" && <Audit />}
            {tab === "about" && <AboutPanel />}
        </>
    );
}
