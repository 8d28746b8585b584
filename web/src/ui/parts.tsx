// Small parts that screens are made of.
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { Problem } from "../api/client";
import { isAway } from "../api/live";
import type { Absence } from "../api/types";
import { hrefs } from "../app/router";
import { t } from "../i18n/common";
import { Icon, type IconName } from "./icons";

// The head of a screen: title and actions.
export function Head(props: {
    title: ComponentChildren;
    above?: ComponentChildren;
    beside?: ComponentChildren;
    children?: ComponentChildren;
}) {
    return (
        <header class="head">
            <div class="head-text">
                {props.above && <div class="head-above">{props.above}</div>}
                <div class="head-title">
                    <h1>{props.title}</h1>
                    {props.beside}
                </div>
            </div>
            {props.children && (
                <div class="head-actions" inert={isAway.value}>
                    {props.children}
                </div>
            )}
        </header>
    );
}

export function Button(props: {
    icon?: IconName;
    kind?: "primary" | "danger" | "plain";
    small?: boolean;
    disabled?: boolean;
    onClick: () => void;
    title?: string;
    pressed?: boolean;
    children?: ComponentChildren;
}) {
    const classes = ["button", props.kind ?? "", props.small ? "small" : "", props.children ? "" : "only-icon"];
    return (
        <button
            type="button"
            class={classes.join(" ")}
            disabled={props.disabled}
            onClick={props.onClick}
            title={props.title}
            aria-label={props.children ? undefined : props.title}
            aria-pressed={props.pressed}
        >
            {props.icon && <Icon name={props.icon} />}
            {props.children}
        </button>
    );
}

export function Empty(props: { icon?: IconName; title: string; children?: ComponentChildren }) {
    return (
        <div class="empty">
            <Icon name={props.icon ?? "bell"} />
            <p class="empty-title">{props.title}</p>
            {props.children && <div class="empty-text">{props.children}</div>}
        </div>
    );
}

// The nodes whose records an answer lacks.
export function Incomplete({ nodes }: { nodes: Absence[] | null | undefined }) {
    if (!nodes?.length) return null;
    return (
        <div class="note warn incomplete" role="status">
            <Icon name="warning" />
            <div>
                <p>{t("incomplete")}</p>
                <ul>
                    {nodes.map((absence) => (
                        <li key={absence.node}>
                            {absence.node === null ? t("database") : <a href="#/nodes">{absence.node}</a>} {t.has(absence.why) ? t(absence.why) : absence.why}
                        </li>
                    ))}
                </ul>
            </div>
        </div>
    );
}

export function Failure({ problem, onRetry }: { problem: Problem; onRetry?: () => void }) {
    return (
        <div class="failure" role="alert">
            <Icon name="warning" />
            <div>
                <p>{problem.detail}</p>
                <Incomplete nodes={problem.body["incomplete"] as Absence[] | undefined} />
                {problem.requestId && <p class="faint mono">{t("error.request", { id: problem.requestId })}</p>}
            </div>
            {onRetry && (
                <Button icon="retry" small onClick={onRetry}>
                    {t("retry")}
                </Button>
            )}
        </div>
    );
}

// What a screen is about is not there: why, and the way back to the list.
export function Missing({ problem, onRetry, to, text }: { problem: Problem; onRetry: () => void; to: string; text: string }) {
    const renamed = problem.body["renamed_to"];
    return (
        <>
            <Failure problem={problem} onRetry={onRetry} />
            <p class="missing">
                {typeof renamed === "string" && <a href={hrefs.job(renamed)}>{renamed}</a>} <a href={`#${to}`}>← {text}</a>
            </p>
        </>
    );
}

export function Panel(props: {
    title?: ComponentChildren;
    beside?: ComponentChildren;
    class?: string;
    children: ComponentChildren;
}) {
    return (
        <section class={`panel ${props.class ?? ""}`}>
            {(props.title || props.beside) && (
                <div class="panel-head">
                    {props.title && <h2>{props.title}</h2>}
                    {props.beside && <div class="panel-beside">{props.beside}</div>}
                </div>
            )}
            {props.children}
        </section>
    );
}

// Pairs of a label and a value.
export function Facts({ rows }: { rows: (readonly [string, ComponentChildren] | null | false)[] }) {
    return (
        <dl class="facts">
            {rows.map(
                (row) =>
                    row && (
                        <div key={row[0]}>
                            <dt>{row[0]}</dt>
                            <dd>{row[1]}</dd>
                        </div>
                    ),
            )}
        </dl>
    );
}

// Asks before something that can't be taken back, or shows a form. Escape and the backdrop close it.
export function Dialog(props: {
    title: string;
    onClose: () => void;
    actions?: ComponentChildren;
    wide?: boolean;
    children: ComponentChildren;
}) {
    const dialog = useRef<HTMLDialogElement>(null);
    useEffect(() => {
        const element = dialog.current;
        if (element && !element.open) element.showModal();
        return () => element?.close();
    }, []);
    return (
        <dialog
            ref={dialog}
            class={`dialog ${props.wide ? "wide" : ""}`}
            aria-label={props.title}
            onCancel={(event) => {
                event.preventDefault();
                props.onClose();
            }}
            onClick={(event) => {
                if (event.target === dialog.current) props.onClose();
            }}
        >
            <div class="dialog-body">
                <h2>{props.title}</h2>
                {props.children}
                {props.actions && <div class="dialog-actions">{props.actions}</div>}
            </div>
        </dialog>
    );
}

export interface MenuItem {
    icon: IconName;
    text: string;
    danger?: boolean;
    disabled?: boolean;
    onClick: () => void;
}

// A button that opens a list of actions. Arrows move, Escape closes.
export function Menu({ label, items, icon }: { label: string; icon?: IconName; items: (MenuItem | null)[] }) {
    const [place, setPlace] = useState<{ top: number; right: number } | null>(null);
    const open = place !== null;
    const root = useRef<HTMLDivElement>(null);
    // Fixed on the screen, so that a table that scrolls does not cut it off; above if there is no room.
    const setOpen = (on: boolean): void => {
        const box = root.current?.getBoundingClientRect();
        const height = items.filter(Boolean).length * 30 + 12;
        if (!on || !box) return setPlace(null);
        const below = box.bottom + 4 + height <= window.innerHeight;
        setPlace({ top: below ? box.bottom + 4 : box.top - 4 - height, right: window.innerWidth - box.right });
    };
    useEffect(() => {
        if (!open) return undefined;
        root.current?.querySelector<HTMLButtonElement>("[role=menuitem]:not(:disabled)")?.focus();
        const outside = (event: Event): void => {
            if (!root.current?.contains(event.target as Node)) setOpen(false);
        };
        const away = (): void => setOpen(false);
        document.addEventListener("pointerdown", outside);
        window.addEventListener("scroll", away, true);
        window.addEventListener("hashchange", away);
        return () => {
            document.removeEventListener("pointerdown", outside);
            window.removeEventListener("scroll", away, true);
            window.removeEventListener("hashchange", away);
        };
    }, [open]);
    const onKey = (event: KeyboardEvent): void => {
        const buttons = [...(root.current?.querySelectorAll<HTMLButtonElement>("[role=menuitem]:not(:disabled)") ?? [])];
        const at = buttons.indexOf(document.activeElement as HTMLButtonElement);
        if (event.key === "Escape" && open) {
            event.stopPropagation();
            setOpen(false);
            root.current?.querySelector<HTMLButtonElement>("button")?.focus();
        } else if (event.key === "ArrowDown" && open) {
            event.preventDefault();
            buttons[(at + 1) % buttons.length]?.focus();
        } else if (event.key === "ArrowUp" && open) {
            event.preventDefault();
            buttons[(at - 1 + buttons.length) % buttons.length]?.focus();
        }
    };
    return (
        <div class="menu" ref={root} onKeyDown={onKey} inert={isAway.value}>
            <button
                type="button"
                class="button only-icon"
                aria-haspopup="menu"
                aria-expanded={open}
                aria-label={label}
                title={label}
                onClick={() => setOpen(!open)}
            >
                <Icon name={icon ?? "dots"} />
            </button>
            {place && (
                <div
                    class="menu-list"
                    role="menu"
                    aria-label={label}
                    style={{ top: `${place.top}px`, right: `${place.right}px` }}
                >
                    {items.map(
                        (item) =>
                            item && (
                                <button
                                    key={item.text}
                                    type="button"
                                    role="menuitem"
                                    class={item.danger ? "danger" : ""}
                                    disabled={item.disabled}
                                    onClick={() => {
                                        setOpen(false);
                                        item.onClick();
                                    }}
                                >
                                    <Icon name={item.icon} />
                                    {item.text}
                                </button>
                            ),
                    )}
                </div>
            )}
        </div>
    );
}

export function CopyButton({ text }: { text: string }) {
    const [done, setDone] = useState(false);
    return (
        <button
            type="button"
            class="icon-button"
            title={done ? t("copied") : t("copy")}
            aria-label={done ? t("copied") : t("copy")}
            onClick={() => {
                void navigator.clipboard?.writeText(text).then(() => {
                    setDone(true);
                    setTimeout(() => setDone(false), 1500);
                });
            }}
        >
            <Icon name={done ? "check" : "copy"} />
        </button>
    );
}

// A field with a magnifier; "/" goes there.
export function SearchField(props: { value: string; label: string; onInput: (value: string) => void }) {
    return (
        <label class="search">
            <Icon name="search" />
            <span class="hidden-text">{props.label}</span>
            <input
                type="search"
                data-search
                value={props.value}
                placeholder={props.label}
                autocomplete="off"
                spellcheck={false}
                onInput={(event) => props.onInput(event.currentTarget.value)}
            />
            <kbd>/</kbd>
        </label>
    );
}

// A debounced value, for search as you type.
export function useDelayed<T>(value: T, ms: number): T {
    const [late, setLate] = useState(value);
    useEffect(() => {
        const timer = setTimeout(() => setLate(value), ms);
        return () => clearTimeout(timer);
    }, [value, ms]);
    return late;
}

// The text of a search field that is in the address, too: it goes there a moment after it was typed, and
// follows the address when that changes.
export function useSearchText(inAddress: string, search: (text: string) => void): [string, (text: string) => void] {
    const [text, setText] = useState(inAddress);
    const known = useRef(inAddress);
    const late = useDelayed(text, 200);
    useEffect(() => {
        if (late === known.current) return;
        known.current = late;
        search(late);
    }, [late]);
    useEffect(() => {
        if (inAddress === known.current) return;
        known.current = inAddress;
        setText(inAddress);
    }, [inAddress]);
    return [text, setText];
}
