import { useState } from "preact/hooks";
import { api } from "../../api/client";
import type { Page } from "../../api/types";
import { me } from "../../app/session";
import { toastDone } from "../../app/toasts";
import { t as common } from "../../i18n/common";
import { Moment, Relative, ZoneNote } from "../../ui/moments";
import { Button, CopyButton, Dialog, Empty, Failure, Panel } from "../../ui/parts";
import { useResource } from "../../ui/resource";
import { Ask } from "./Ask";
import { parseGrants, type Scope } from "./scope";
import { ScopeCell, ScopeFields, type ScopeText } from "./ScopeFields";
import { t } from "./words";

interface Token extends Scope {
    id: string;
    label: string;
    user: string | null;
    expires_at: string | null;
    used_at: string | null;
}

function NewDialog({ onClose, onMade }: { onClose: () => void; onMade: (token: string) => void }) {
    const [label, setLabel] = useState("");
    const [expires, setExpires] = useState("90d");
    // Only users have rights that a token could take over.
    const isUser = me.value?.kind === "user";
    const [scope, setScope] = useState<ScopeText>({ role: isUser ? "" : "viewer", define: true, grants: "" });
    const make = async (): Promise<void> => {
        const namespaces = parseGrants(scope.grants);
        // Rights in namespaces alone: none everywhere.
        const role = scope.role || (namespaces.length ? "none" : "");
        const made = await api.post<{ token: string }>("/tokens", {
            label,
            expires_in: expires,
            ...(role ? { role } : {}),
            ...(role === "editor" ? { define: scope.define } : {}),
            ...(namespaces.length ? { namespaces } : {}),
        });
        onMade(made.token);
    };
    return (
        <Ask title={t("token.new").replace("…", "")} action={t("token.make")} onDo={make} onClose={onClose}>
            <label>
                {t("token.label")}
                <input required autofocus autocomplete="off" value={label} onInput={(event) => setLabel(event.currentTarget.value)} />
            </label>
            <label>
                {t("token.expires")}
                <select value={expires} onChange={(event) => setExpires(event.currentTarget.value)}>
                    {[7, 30, 90, 365].map((n) => (
                        <option key={n} value={`${n}d`}>
                            {t("token.days", { n })}
                        </option>
                    ))}
                    <option value="never">{t("token.never")}</option>
                </select>
            </label>
            <ScopeFields value={scope} first={isUser ? "own" : "none"} onChange={setScope} />
        </Ask>
    );
}

function MadeDialog({ token, onClose }: { token: string; onClose: () => void }) {
    return (
        <Dialog title={t("token.made")} onClose={onClose} actions={<Button onClick={onClose}>{common("close")}</Button>}>
            <p>{t("token.once")}</p>
            <p class="made-token">
                <code>{token}</code>
                <CopyButton text={token} />
            </p>
        </Dialog>
    );
}

export function Tokens() {
    const tokens = useResource("tokens", (signal) => api.optional<Page<Token>>("/tokens", {}, signal));
    const [isAsked, setIsAsked] = useState(false);
    const [made, setMade] = useState<string | null>(null);
    const [revoked, setRevoked] = useState<Token | null>(null);
    if (tokens.problem) return <Failure problem={tokens.problem} onRetry={tokens.reload} />;
    if (!tokens.data) return tokens.loading ? null : <Empty icon="link" title={t("none.here")} />;
    const revoke = async (token: Token): Promise<void> => {
        await api.delete(`/tokens/${encodeURIComponent(token.id)}`);
        toastDone(t("token.revoked"));
        setRevoked(null);
        tokens.reload();
    };
    return (
        <Panel
            title={t("tab.tokens")}
            beside={
                <Button small icon="plus" onClick={() => setIsAsked(true)}>
                    {t("token.new")}
                </Button>
            }
        >
            {!tokens.data.items.length && <Empty icon="link" title={t("token.none")} />}
            {tokens.data.items.length > 0 && (
                <div class="table-scroll" tabIndex={0} role="region" aria-label={t("tab.tokens")}>
                    <table class="table">
                        <thead>
                            <tr>
                                <th>{t("token.label")}</th>
                                <th class="wide-only">{t("token.user")}</th>
                                <th>{t("role")}</th>
                                <th>
                                    {t("token.expires")} <ZoneNote />
                                </th>
                                <th class="wide-only">{t("token.used")}</th>
                                <th />
                            </tr>
                        </thead>
                        <tbody>
                            {tokens.data.items.map((token) => (
                                <tr key={token.id}>
                                    <td>
                                        <strong>{token.label}</strong>
                                    </td>
                                    <td class="wide-only">{token.user ?? "–"}</td>
                                    <td>
                                        <ScopeCell scope={token} />
                                    </td>
                                    <td>{token.expires_at ? <Moment at={token.expires_at} bare /> : t("token.never")}</td>
                                    <td class="wide-only">{token.used_at ? <Relative at={token.used_at} /> : t("token.unused")}</td>
                                    <td class="right">
                                        <Button small icon="trash" onClick={() => setRevoked(token)}>
                                            {t("token.revoke")}
                                        </Button>
                                    </td>
                                </tr>
                            ))}
                        </tbody>
                    </table>
                </div>
            )}
            {isAsked && (
                <NewDialog
                    onClose={() => setIsAsked(false)}
                    onMade={(token) => {
                        setIsAsked(false);
                        setMade(token);
                        tokens.reload();
                    }}
                />
            )}
            {made && <MadeDialog token={made} onClose={() => setMade(null)} />}
            {revoked && (
                <Ask
                    danger
                    title={t("token.revoke.ask", { name: revoked.label })}
                    action={t("token.revoke.do")}
                    onDo={() => revoke(revoked)}
                    onClose={() => setRevoked(null)}
                >
                    <p>{t("token.revoke.text")}</p>
                </Ask>
            )}
        </Panel>
    );
}
