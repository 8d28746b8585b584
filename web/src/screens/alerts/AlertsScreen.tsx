// What became of messages: how each channel does, which jobs are silenced, and the messages themselves.
import { useEffect, useState } from "preact/hooks";
import { api } from "../../api/client";
import { onLive } from "../../api/live";
import type { Absence, Mute, Page } from "../../api/types";
import { href, hrefs, location, setQuery } from "../../app/router";
import { may } from "../../app/session";
import { attempt, toastDone, toastProblem } from "../../app/toasts";
import { Icon, type IconName } from "../../ui/icons";
import { Moment, ZoneNote } from "../../ui/moments";
import { muteText, unmute } from "../../ui/mute";
import { t as mutes } from "../../ui/mute_words";
import { Button, Empty, Failure, Head, Incomplete, Panel, SearchField, useSearchText } from "../../ui/parts";
import { useResource, useThrottled } from "../../ui/resource";
import type { Tone } from "../../ui/status";
import { countByJob, statesOf, type ChannelState, type Message } from "./counts";
import { title } from "./titles";
import { t } from "./words";
import "./alerts.css";

const REFRESH_MS = 15_000; // deliveries come without an event
const LIMIT = 200;
const JOBS = 10;

interface Messages {
    items: Message[];
    channels?: ChannelState[];
    incomplete?: Absence[];
}

const looks: Record<string, { icon: IconName; tone: Tone }> = {
    ok: { icon: "check", tone: "good" },
    sent: { icon: "check", tone: "good" },
    failing: { icon: "warning", tone: "bad" },
    given_up: { icon: "cross", tone: "bad" },
    waiting: { icon: "clock", tone: "warn" },
    held: { icon: "pause", tone: "calm" },
    muted: { icon: "pause", tone: "calm" },
    idle: { icon: "circle", tone: "calm" },
    unreadable: { icon: "question", tone: "warn" },
};

function Look({ name, text }: { name: string; text: string }) {
    const look = looks[name] ?? looks["idle"]!;
    return (
        <span class={`status tone-${look.tone}`}>
            <Icon name={look.icon} />
            <span>{text}</span>
        </span>
    );
}

function test(name: string): void {
    void attempt(async () => {
        const answer = await api.post<{ sent: boolean; error: string | null }>(`/channels/${encodeURIComponent(name)}/test`);
        if (answer.sent) toastDone(t("tested", { name }));
        else toastProblem(new Error(t("test.failed", { name, error: answer.error ?? "" })));
    });
}

const counted = ["sent", "waiting", "failed", "given_up", "muted"] as const;

function ChannelRow({ row, isFirst, withNode }: { row: ChannelState; isFirst: boolean; withNode: boolean }) {
    const key = `state.${row.state}`;
    return (
        <tr>
            <td>{isFirst && <strong>{row.channel}</strong>}</td>
            {withNode && <td>{row.node}</td>}
            <td>
                <Look name={row.state} text={t.has(key) ? t(key) : row.state} />
            </td>
            {counted.map((name) => (
                <td key={name} class={`num right ${name === "given_up" && row[name] ? "tone-bad" : ""}`}>
                    {name === "waiting" ? row.waiting + row.held : (row[name] ?? 0)}
                </td>
            ))}
            <td class="alert-result" title={row.error ?? undefined}>
                {row.state === "failing" ? (
                    <span class="tone-bad">
                        <Moment at={row.last_failed_at} bare /> {row.error}
                    </span>
                ) : (
                    <Moment at={row.last_sent_at} bare />
                )}
            </td>
            <td class="right">
                {isFirst && row.state !== "unreadable" && (
                    <Button small icon="play" onClick={() => test(row.channel)}>
                        {t("test")}
                    </Button>
                )}
            </td>
        </tr>
    );
}

function ChannelsPanel({ states }: { states: ChannelState[] }) {
    const rows = [...states].sort((a, b) => (a.channel + a.node < b.channel + b.node ? -1 : 1));
    const withNode = new Set(rows.map((row) => row.node)).size > 1;
    return (
        <Panel title={t("channels")} beside={<a href={href("/settings", { tab: "channels" })}>{t("channels.edit")}</a>}>
            {!rows.length && <Empty icon="bell" title={t("channels.none")} />}
            {rows.length > 0 && (
                <div class="table-scroll" tabIndex={0} role="region" aria-label={t("channels")}>
                    <table class="table">
                        <thead>
                            <tr>
                                <th>{t("channel")}</th>
                                {withNode && <th>{t("node")}</th>}
                                <th>{t("state")}</th>
                                {counted.map((name) => (
                                    <th key={name} class="right">
                                        {t(name)}
                                    </th>
                                ))}
                                <th>{t("last")}</th>
                                <th />
                            </tr>
                        </thead>
                        <tbody>
                            {rows.map((row, i) => (
                                <ChannelRow key={`${row.channel} ${row.node}`} row={row} isFirst={rows[i - 1]?.channel !== row.channel} withNode={withNode} />
                            ))}
                        </tbody>
                    </table>
                </div>
            )}
            {rows.length > 0 && <p class="faint small panel-body">{t("since")}</p>}
        </Panel>
    );
}

function MutesPanel({ turn, onChange }: { turn: number; onChange: () => void }) {
    const found = useResource(`mutes ${turn}`, (signal) => api.optional<Page<Mute & { job: string }>>("/mutes", {}, signal));
    if (!found.data) return null; // an older agent
    return (
        <Panel title={t("mutes")}>
            {!found.data.items.length && <p class="panel-body faint">{t("mutes.none")}</p>}
            <ul class="alert-mutes">
                {found.data.items.map((mute) => (
                    <li key={mute.job}>
                        <a data-row href={hrefs.job(mute.job)}>
                            {mute.job}
                        </a>
                        <span class="alert-mute faint">{muteText(mute)}</span>
                        {may("operate", mute.job) && (
                            <Button small onClick={() => void unmute(mute.job).then(onChange)}>
                                {mutes("unmute")}
                            </Button>
                        )}
                    </li>
                ))}
            </ul>
        </Panel>
    );
}

function ByJob({ messages }: { messages: Message[] }) {
    const rows = countByJob(messages).slice(0, JOBS);
    if (!rows.length) return null;
    return (
        <Panel title={t("by.job")}>
            <div class="table-scroll" tabIndex={0} role="region" aria-label={t("by.job")}>
                <table class="table">
                    <thead>
                        <tr>
                            <th>{t("job")}</th>
                            {(["sent", "waiting", "given_up", "muted"] as const).map((name) => (
                                <th key={name} class="right">
                                    {t(name)}
                                </th>
                            ))}
                        </tr>
                    </thead>
                    <tbody>
                        {rows.map((row) => (
                            <tr key={row.job}>
                                <td class="primary-cell">
                                    <a href={href("/alerts", { job: row.job })}>{row.job}</a>
                                </td>
                                {(["sent", "waiting", "given_up", "muted"] as const).map((name) => (
                                    <td key={name} class="num right">
                                        {row[name]}
                                    </td>
                                ))}
                            </tr>
                        ))}
                    </tbody>
                </table>
            </div>
        </Panel>
    );
}

function MessageRow({ message }: { message: Message }) {
    const event = `event.${message.event}`;
    return (
        <tr>
            <td>
                <Moment at={message.ended_at ?? message.made_at} bare />
            </td>
            <td>
                <Look name={message.state} text={t(`message.${message.state}`)} />
            </td>
            <td>{t.has(event) ? t(event) : message.event}</td>
            <td class="primary-cell">
                {message.job && (
                    <a data-row class="row-link" href={message.run ? hrefs.run(message.run) : hrefs.job(message.job)}>
                        {message.job}
                    </a>
                )}
            </td>
            <td>{message.channel}</td>
            <td class="num right">{message.tries}</td>
            <td class="alert-result" title={message.answer ?? undefined}>
                {message.answer}{" "}
                {message.next_try_at && (
                    <span class="faint">
                        <Icon name="clock" /> <Moment at={message.next_try_at} bare />
                    </span>
                )}
            </td>
        </tr>
    );
}

function MessagesPanel({ messages, channels }: { messages: Messages; channels: string[] }) {
    const query = location.value.query;
    const [text, setText] = useSearchText(query.get("job") ?? "", (job) => setQuery({ job: job || null }));
    const choose = (name: "state" | "channel", any: string, values: [string, string][]) => (
        <select aria-label={t(name)} value={query.get(name) ?? ""} onChange={(event) => setQuery({ [name]: event.currentTarget.value || null })}>
            <option value="">{any}</option>
            {values.map(([value, label]) => (
                <option key={value} value={value}>
                    {label}
                </option>
            ))}
        </select>
    );
    return (
        <Panel title={t("messages")}>
            <div class="filters panel-body">
                <SearchField value={text} label={t("search")} onInput={setText} />
                {choose("state", t("any.state"), (["waiting", "held", "sent", "given_up", "muted"] as const).map((name) => [name, t(`message.${name}`)]))}
                {choose("channel", t("any.channel"), channels.map((name) => [name, name]))}
            </div>
            <Incomplete nodes={messages.incomplete} />
            {!messages.items.length && <Empty icon="bell" title={t("messages.none")} children={t("messages.none.text")} />}
            {messages.items.length > 0 && (
                <div class="table-scroll" tabIndex={0} role="region" aria-label={t("messages")}>
                    <table class="table">
                        <thead>
                            <tr>
                                <th>
                                    {t("time")} <ZoneNote />
                                </th>
                                <th>{t("state")}</th>
                                <th>{t("event")}</th>
                                <th>{t("job")}</th>
                                <th>{t("channel")}</th>
                                <th class="right">{t("tries")}</th>
                                <th>{t("answer")}</th>
                            </tr>
                        </thead>
                        <tbody>
                            {messages.items.map((message) => (
                                <MessageRow key={`${message.id} ${message.node}`} message={message} />
                            ))}
                        </tbody>
                    </table>
                </div>
            )}
        </Panel>
    );
}

// Only admins see what became of messages.
function ForAdmins({ turn }: { turn: number }) {
    const query = location.value.query;
    const filter = { job: query.get("job"), state: query.get("state") };
    const channel = query.get("channel");
    const path = channel ? `/channels/${encodeURIComponent(channel)}/messages` : "/messages";
    const messages = useResource(`messages ${path} ${JSON.stringify(filter)} ${turn}`, (signal) => api.get<Messages>(path, { ...filter, limit: LIMIT }, signal));
    const channels = useResource(`channels ${turn}`, (signal) => api.get<Page<Parameters<typeof statesOf>[0][number]>>("/channels", {}, signal));
    const all = messages.data?.channels;
    const own = statesOf(channels.data?.items ?? []);
    const states = all && !channel ? all : own;
    return (
        <>
            {messages.problem && <Failure problem={messages.problem} onRetry={messages.reload} />}
            {channels.data && <ChannelsPanel states={states} />}
            {messages.data && <ByJob messages={messages.data.items} />}
            {messages.data && <MessagesPanel messages={messages.data} channels={channels.data?.items.map((item) => item.name) ?? []} />}
        </>
    );
}

export default function AlertsScreen() {
    const [turn, setTurn] = useState(0);
    const soon = useThrottled(() => setTurn((n) => n + 1), 2000);
    useEffect(() => {
        const stops = (["run", "job", "reset"] as const).map((name) => onLive(name, soon));
        const timer = setInterval(soon, REFRESH_MS);
        return () => {
            stops.forEach((stop) => stop());
            clearInterval(timer);
        };
    }, []);
    return (
        <div class="alerts">
            <Head title={title("title")} />
            {!may("admin") && <p class="note">{t("admins")}</p>}
            <MutesPanel turn={turn} onChange={soon} />
            {may("admin") && <ForAdmins turn={turn} />}
        </div>
    );
}
