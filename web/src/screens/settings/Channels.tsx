// The channels, the result of their last message, and a form per type.
import { useState } from "preact/hooks";
import { api } from "../../api/client";
import type { Page } from "../../api/types";
import { attempt, toastDone, toastProblem } from "../../app/toasts";
import { Moment } from "../../ui/moments";
import { Button, Empty, Failure, Menu, Panel } from "../../ui/parts";
import { useResource } from "../../ui/resource";
import { Ask } from "./Ask";
import { events, fieldsOf, fromTexts, hasUsualUrl, toTexts, types, type Channel } from "./channel";
import { t } from "./channel_words";
import { Template } from "./Template";
import { t as settings } from "./words";

const channelPath = (name: string, rest = ""): string => `/channels/${encodeURIComponent(name)}${rest}`;

function test(name: string, body: unknown): void {
    void attempt(async () => {
        const answer = await api.post<{ sent: boolean; error: string | null }>(channelPath(name, "/test"), body);
        if (answer.sent) toastDone(t("tested"));
        else toastProblem(new Error(t("failed", { error: answer.error ?? "" })));
    });
}

type DialogProps = { channel: Channel | null; onClose: () => void; onDone: () => void };

function ChannelDialog({ channel, onClose, onDone }: DialogProps) {
    const [texts, setTexts] = useState(() => toTexts(channel));
    const set = (name: string, text: string): void => setTexts((old) => ({ ...old, [name]: text }));
    const name = texts["name"] ?? "";
    const save = async (): Promise<void> => {
        const headers: Record<string, string> = channel ? { "If-Match": `"${channel.revision}"` } : { "If-None-Match": "*" };
        await api.put(channelPath(name), fromTexts(texts), { headers });
        toastDone(settings("saved"));
        onClose();
        onDone();
    };
    const input = (field: string, label: string, more: object = {}) => (
        <label>
            {label}
            <input autocomplete="off" spellcheck={false} value={texts[field] ?? ""} onInput={(event) => set(field, event.currentTarget.value)} {...more} />
        </label>
    );
    const select = (field: "type" | "language", choices: readonly string[]) => (
        <label>
            {t(field)}
            <select value={texts[field]} onChange={(event) => set(field, event.currentTarget.value)}>
                {choices.map((choice) => (
                    <option key={choice}>{choice}</option>
                ))}
            </select>
        </label>
    );
    const on = (texts["on"] ?? "").split(", ");
    return (
        <Ask title={channel ? settings("user.title", { name }) : t("new").replace("…", "")} action={settings(channel ? "user.change" : "user.add")} onDo={save} onClose={onClose}>
            {!channel && input("name", settings("name"), { required: true, autofocus: true })}
            {select("type", types)}
            {input("url", t("url"), { required: !hasUsualUrl(texts["type"]), placeholder: texts["type"] === "mail" ? "smtps://mail.example.com" : "https://…" })}
            {fieldsOf(texts["type"]).map((field) =>
                field === "headers" ? (
                    <label>
                        {t(field)}
                        <textarea class="mono" rows={2} spellcheck={false} value={texts[field] ?? ""} onInput={(event) => set(field, event.currentTarget.value)} />
                    </label>
                ) : field === "password" || field === "secret" || field === "token" ? (
                    input(field, field === "password" ? settings(field) : t(field), { type: "password", autocomplete: "new-password" })
                ) : (
                    input(field, t(field), { required: field !== "user" })
                ),
            )}
            {texts["type"] === "mail" && (
                <label class="check">
                    <input type="checkbox" checked={texts["unencrypted"] === "true"} onChange={(event) => set("unencrypted", String(event.currentTarget.checked))} />
                    {t("unencrypted")}
                </label>
            )}
            <fieldset class="year-head">
                <legend>{t("on")}</legend>
                {events.map((event) => (
                    <label key={event} class="check">
                        <input
                            type="checkbox"
                            checked={on.includes(event)}
                            onChange={(change) => set("on", events.filter((other) => (other === event ? change.currentTarget.checked : on.includes(other))).join(", "))}
                        />
                        {t(event)}
                    </label>
                ))}
            </fieldset>
            <label class="check">
                <input type="checkbox" checked={texts["default"] === "true"} onChange={(event) => set("default", String(event.currentTarget.checked))} />
                {t("default")}
            </label>
            {select("language", ["en", "zh"])}
            {input("quiet", t("quiet"), { placeholder: "0s" })}
            {input("give_up", t("give_up"), { placeholder: "1h" })}
            <Template name={name} texts={texts} onSet={set} />
            {input("notes", settings("calendar.notes"), { spellcheck: true })}
            <div>
                <Button onClick={() => test(name || "new", fromTexts(texts))}>{t("test")}</Button>
            </div>
        </Ask>
    );
}

function DeleteDialog({ channel, onClose, onDone }: DialogProps & { channel: Channel }) {
    const remove = async (): Promise<void> => {
        await api.delete(channelPath(channel.name));
        toastDone(settings("deleted", { name: channel.name }));
        onClose();
        onDone();
    };
    return (
        <Ask danger title={settings("user.delete.ask", { name: channel.name })} action={settings("user.delete.do")} onDo={remove} onClose={onClose}>
            <p>{t("delete.text")}</p>
        </Ask>
    );
}

function Result({ delivery }: { delivery: Channel["delivery"] }) {
    const failed = delivery?.last_failed_at ?? "";
    const isBad = failed > (delivery?.last_sent_at ?? "");
    if (isBad) {
        return (
            <span class="tone-bad">
                <Moment at={failed} bare /> {delivery?.last_error}
            </span>
        );
    }
    return delivery?.last_sent_at ? <Moment at={delivery.last_sent_at} bare /> : <span class="faint">{t("never")}</span>;
}

export function Channels() {
    const channels = useResource("channels", (signal) => api.get<Page<Channel>>("/channels", {}, signal));
    const [asked, setAsked] = useState<{ what: "edit" | "delete"; channel: Channel | null } | null>(null);
    const close = (): void => setAsked(null);
    if (channels.problem) return <Failure problem={channels.problem} onRetry={channels.reload} />;
    if (!channels.data) return null;
    const { items } = channels.data;
    return (
        <Panel
            title={t("title")}
            beside={
                <Button small icon="plus" onClick={() => setAsked({ what: "edit", channel: null })}>
                    {t("new")}
                </Button>
            }
        >
            {!items.length && <Empty icon="bell" title={t("none")} />}
            {items.length > 0 && (
                <div class="table-scroll" tabIndex={0} role="region" aria-label={t("title")}>
                    <table class="table">
                        <thead>
                            <tr>
                                <th>{settings("name")}</th>
                                <th>{t("type")}</th>
                                <th>{t("result")}</th>
                                <th>{t("counts")}</th>
                                <th />
                            </tr>
                        </thead>
                        <tbody>
                            {items.map((channel) => (
                                <tr key={channel.name}>
                                    <td>
                                        <strong>{channel.name}</strong> {channel.default && <span class="faint small">{t("all")}</span>}
                                    </td>
                                    <td>{channel.type}</td>
                                    <td>
                                        <Result delivery={channel.delivery} />
                                    </td>
                                    <td>
                                        {channel.delivery?.sent} / {channel.delivery?.waiting} / {channel.delivery?.given_up}
                                    </td>
                                    <td class="right">
                                        <Menu
                                            label={settings("user.actions", { name: channel.name })}
                                            items={[
                                                { icon: "play", text: t("test"), onClick: () => test(channel.name, {}) },
                                                { icon: "edit", text: settings("user.edit"), onClick: () => setAsked({ what: "edit", channel }) },
                                                { icon: "trash", text: settings("user.delete"), danger: true, onClick: () => setAsked({ what: "delete", channel }) },
                                            ]}
                                        />
                                    </td>
                                </tr>
                            ))}
                        </tbody>
                    </table>
                </div>
            )}
            {asked?.what === "edit" && <ChannelDialog channel={asked.channel} onClose={close} onDone={channels.reload} />}
            {asked?.what === "delete" && asked.channel && <DeleteDialog channel={asked.channel} onClose={close} onDone={channels.reload} />}
        </Panel>
    );
}
