import { useState } from "preact/hooks";
import { api } from "../../api/client";
import type { Page } from "../../api/types";
import { toastDone } from "../../app/toasts";
import { Icon } from "../../ui/icons";
import { Moment, ZoneNote } from "../../ui/moments";
import { Button, Empty, Failure, Menu, Panel } from "../../ui/parts";
import { useResource } from "../../ui/resource";
import { Ask } from "./Ask";
import { formatGrants, parseGrants, type Scope } from "./scope";
import { ScopeCell, ScopeFields, type ScopeText } from "./ScopeFields";
import { t } from "./words";

interface User extends Scope {
    name: string;
    disabled: boolean;
    has_password: boolean;
    changed_at: string | null;
}

const userPath = (name: string): string => `/users/${encodeURIComponent(name)}`;

type DialogProps = { user: User | null; onClose: () => void; onDone: () => void };

function UserDialog({ user, onClose, onDone }: DialogProps) {
    const [name, setName] = useState("");
    const [password, setPassword] = useState("");
    const [disabled, setDisabled] = useState(user?.disabled ?? false);
    const [scope, setScope] = useState<ScopeText>({
        role: user?.role ?? "viewer",
        define: user?.define ?? true,
        grants: formatGrants(user?.namespaces ?? []),
    });
    const save = async (): Promise<void> => {
        const body = {
            role: scope.role,
            namespaces: parseGrants(scope.grants, user?.namespaces),
            ...(scope.role === "editor" ? { define: scope.define } : {}),
            ...(password ? { password } : {}),
        };
        if (user) await api.patch(userPath(user.name), { ...body, disabled });
        else await api.post("/users", { ...body, name });
        toastDone(t("saved"));
        onClose();
        onDone();
    };
    return (
        <Ask title={user ? t("user.title", { name: user.name }) : t("user.new").replace("…", "")} action={t(user ? "user.change" : "user.add")} onDo={save} onClose={onClose}>
            {!user && (
                <label>
                    {t("name")}
                    <input required autofocus autocomplete="off" value={name} onInput={(event) => setName(event.currentTarget.value)} />
                </label>
            )}
            <ScopeFields value={scope} first="none" onChange={setScope} />
            <label>
                {t(user ? "user.password.reset" : "user.password")}
                <input type="password" minLength={8} autocomplete="new-password" value={password} onInput={(event) => setPassword(event.currentTarget.value)} />
            </label>
            {user && (
                <label class="check">
                    <input type="checkbox" checked={disabled} onChange={(event) => setDisabled(event.currentTarget.checked)} />
                    {t("user.disabled")}
                </label>
            )}
        </Ask>
    );
}

function DeleteDialog({ user, onClose, onDone }: DialogProps & { user: User }) {
    const remove = async (): Promise<void> => {
        await api.delete(userPath(user.name));
        toastDone(t("deleted", { name: user.name }));
        onClose();
        onDone();
    };
    return (
        <Ask danger title={t("user.delete.ask", { name: user.name })} action={t("user.delete.do")} onDo={remove} onClose={onClose}>
            <p>{t("user.delete.text")}</p>
        </Ask>
    );
}

export function Users() {
    const users = useResource("users", (signal) => api.optional<Page<User>>("/users", {}, signal));
    const [asked, setAsked] = useState<{ what: "edit" | "delete"; user: User | null } | null>(null);
    const close = (): void => setAsked(null);
    if (users.problem) return <Failure problem={users.problem} onRetry={users.reload} />;
    if (!users.data) return users.loading ? null : <Empty icon="person" title={t("none.here")} />;
    return (
        <Panel
            title={t("tab.users")}
            beside={
                <Button small icon="plus" onClick={() => setAsked({ what: "edit", user: null })}>
                    {t("user.new")}
                </Button>
            }
        >
            {!users.data.items.length && <Empty icon="person" title={t("user.none")} />}
            {users.data.items.length > 0 && (
                <div class="table-scroll" tabIndex={0} role="region" aria-label={t("tab.users")}>
                    <table class="table">
                        <thead>
                            <tr>
                                <th>{t("name")}</th>
                                <th>{t("role")}</th>
                                <th>{t("state")}</th>
                                <th>
                                    {t("changed")} <ZoneNote />
                                </th>
                                <th />
                            </tr>
                        </thead>
                        <tbody>
                            {users.data.items.map((user) => (
                                <tr key={user.name}>
                                    <td>
                                        <strong>{user.name}</strong>
                                    </td>
                                    <td>
                                        <ScopeCell scope={user} />
                                    </td>
                                    <td>
                                        <span class={`status tone-${user.disabled ? "warn" : "good"}`}>
                                            <Icon name={user.disabled ? "pause" : "check"} />
                                            <span>{t(user.disabled ? "user.off" : "user.on")}</span>
                                        </span>
                                    </td>
                                    <td>
                                        <Moment at={user.changed_at} bare />
                                    </td>
                                    <td class="menu-cell">
                                        <Menu
                                            label={t("user.actions", { name: user.name })}
                                            items={[
                                                { icon: "edit", text: t("user.edit"), onClick: () => setAsked({ what: "edit", user }) },
                                                { icon: "trash", text: t("user.delete"), danger: true, onClick: () => setAsked({ what: "delete", user }) },
                                            ]}
                                        />
                                    </td>
                                </tr>
                            ))}
                        </tbody>
                    </table>
                </div>
            )}
            {asked?.what === "edit" && <UserDialog user={asked.user} onClose={close} onDone={users.reload} />}
            {asked?.what === "delete" && asked.user && <DeleteDialog user={asked.user} onClose={close} onDone={users.reload} />}
        </Panel>
    );
}
