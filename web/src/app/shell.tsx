// The frame of every screen: navigation, preferences, connection state.
import { Component, type ComponentChildren, type FunctionComponent } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { heardAt, isAway, shownState } from "../api/live";
import { chooseLanguage, language, languages, type Language } from "../i18n/language";
import { t } from "../i18n/common";
import { Icon, type IconName } from "../ui/icons";
import { momentText } from "../ui/moments";
import { Button, Dialog, Empty } from "../ui/parts";
import { paletteOpen, shortcutsOpen } from "./keyboard";
import { Palette } from "./palette";
import { localZone, theme, themes, zoneChoice, zoneChoices, type Theme, type ZoneChoice } from "./preferences";
import { leave, leaving, location, path } from "./router";
import { MaintenanceBanner } from "./maintenance";
import { findScreen, navigation, subject, type Screen, type ScreenProps } from "./screens";
import { agent, logout, me } from "./session";
import { attempt, Toasts } from "./toasts";

export function Logo() {
    return (
        <a class="logo" href="#/">
            <svg viewBox="0 0 24 24" aria-hidden="true">
                <path d="M12 2.800a1.600 1.600 0 0 1 1.600 1.600v.5c2.800.7 4.600 3.100 4.600 6.200 0 3.500.7 4.700 1.900 6.100H3.900c1.200-1.400 1.900-2.600 1.900-6.100 0-3.100 1.800-5.500 4.600-6.200v-.5A1.600 1.600 0 0 1 12 2.800zM9.700 18.600h4.600a2.300 2.300 0 0 1-4.600 0z" />
            </svg>
            <span>peal</span>
        </a>
    );
}

function Live() {
    const state = shownState.value;
    const icons: Record<typeof state, IconName> = { live: "check", connecting: "running", offline: "warning" };
    return (
        <span class={`live live-${state}`} role="status" title={t(`live.${state}.text`)}>
            <Icon name={icons[state]} class={state === "connecting" ? "turning" : ""} />
            {t(`live.${state}`)}
        </span>
    );
}

function Choice<T extends string>(props: {
    label: string;
    value: T;
    choices: readonly { value: T; text: string }[];
    onChoose: (value: T) => void;
}) {
    return (
        <fieldset class="choice">
            <legend>{props.label}</legend>
            <div class="segments">
                {props.choices.map((choice) => (
                    <label key={choice.value}>
                        <input
                            type="radio"
                            name={props.label}
                            checked={choice.value === props.value}
                            onChange={() => props.onChoose(choice.value)}
                        />
                        <span>{choice.text}</span>
                    </label>
                ))}
            </div>
        </fieldset>
    );
}

export function Preferences() {
    return (
        <>
            <Choice<Theme>
                label={t("theme")}
                value={theme.value}
                choices={themes.map((value) => ({ value, text: t(`theme.${value}`) }))}
                onChoose={(value) => (theme.value = value)}
            />
            <Choice<Language>
                label={t("language")}
                value={language.value}
                choices={languages.map((item) => ({ value: item.code, text: item.name }))}
                onChoose={chooseLanguage}
            />
            <Choice<ZoneChoice>
                label={t("zone")}
                value={zoneChoice.value}
                choices={zoneChoices.map((value) => ({ value, text: t(`zone.${value}`, { zone: localZone }) }))}
                onChoose={(value) => (zoneChoice.value = value)}
            />
        </>
    );
}

function PreferencesDialog({ onClose }: { onClose: () => void }) {
    return (
        <Dialog title={t("preferences")} onClose={onClose} actions={<Button onClick={onClose}>{t("close")}</Button>}>
            <Preferences />
            {me.value && (
                <div class="account">
                    <Icon name="person" />
                    <span>{t("signed.in", { name: me.value.name, role: me.value.role })}</span>
                    {me.value.kind !== "socket" && (
                        <Button icon="exit" small onClick={() => void attempt(logout)}>
                            {t("logout")}
                        </Button>
                    )}
                </div>
            )}
            {agent.value && (
                <p class="faint small">
                    peal {agent.value.version} · {agent.value.node}
                </p>
            )}
        </Dialog>
    );
}

function Shortcuts() {
    const rows: [string, string][] = [
        ["Ctrl K", t("shortcuts.palette")],
        ["/", t("shortcuts.search")],
        ["j", t("shortcuts.next")],
        ["k", t("shortcuts.previous")],
        ["↵", t("shortcuts.open")],
        ...navigation.map((screen): [string, string] => [
            `g ${screen.nav?.key ?? ""}`,
            t("shortcuts.go", { name: screen.nav?.label() ?? "" }),
        ]),
        ["?", t("shortcuts.help")],
    ];
    const close = (): void => void (shortcutsOpen.value = false);
    return (
        <Dialog title={t("shortcuts")} onClose={close} actions={<Button onClick={close}>{t("close")}</Button>}>
            <dl class="shortcuts">
                {rows.map(([keys, text]) => (
                    <div key={keys}>
                        <dt>
                            {keys.split(" ").map((key) => (
                                <kbd key={key}>{key}</kbd>
                            ))}
                        </dt>
                        <dd>{text}</dd>
                    </div>
                ))}
            </dl>
        </Dialog>
    );
}

function Navigation({ current, onPreferences }: { current: string; onPreferences: () => void }) {
    return (
        <aside class="side">
            <Logo />
            <button class="go-to" type="button" onClick={() => (paletteOpen.value = true)}>
                <Icon name="search" />
                <span>{t("palette")}</span>
                <kbd>Ctrl K</kbd>
            </button>
            <nav class="nav" aria-label={t("nav.label")}>
                {navigation.map((screen) => (
                    <a key={screen.path} href={`#${screen.path}`} aria-current={screen.path === current ? "page" : undefined}>
                        <Icon name={screen.nav?.icon ?? "chevron"} />
                        <span>{screen.nav?.label()}</span>
                    </a>
                ))}
            </nav>
            <div class="side-foot">
                <Live />
                <button class="icon-button small-only" type="button" aria-label={t("palette")} onClick={() => (paletteOpen.value = true)}>
                    <Icon name="search" />
                </button>
                <button class="icon-button" type="button" title={t("preferences")} aria-label={t("preferences")} onClick={onPreferences}>
                    <Icon name="settings" />
                </button>
            </div>
        </aside>
    );
}

// An error boundary: a screen that fails leaves the shell intact.
class Guard extends Component<{ children: ComponentChildren }, { text: string | null }> {
    override state = { text: null };
    static override getDerivedStateFromError(error: unknown) {
        return { text: error instanceof Error ? error.message : String(error) };
    }
    override render() {
        if (this.state.text === null) return this.props.children;
        return <Empty icon="warning" title={t("error.crash", { text: this.state.text })} />;
    }
}

export function NotFound({ text }: { text: string }) {
    return (
        <Empty icon="question" title={t("not.found")}>
            <p>{t("not.found.text", { path: text })}</p>
            <p>
                <a href="#/jobs">{t("to.jobs")}</a>
            </p>
        </Empty>
    );
}

const loaded = new Map<Screen, FunctionComponent<ScreenProps>>();

// The screen of the address, or of another.
export function View({ at }: { at?: string }) {
    const found = findScreen(at ?? path.value);
    const [, redraw] = useState(0);
    subject.value; // draws the title anew
    const main = useRef<HTMLElement>(null);
    const Body = found ? loaded.get(found.screen) : undefined;
    useEffect(() => {
        if (!found) return;
        document.title = `${subject.value ?? found.screen.title(found.params)} · peal`;
        if (loaded.has(found.screen)) return;
        void attempt(async () => {
            loaded.set(found.screen, (await found.screen.load()).default);
            redraw((n) => n + 1);
        });
    });
    useEffect(() => {
        main.current?.scrollTo(0, 0);
    }, [location.value.path]);
    return (
        <main class="main" id="main" tabIndex={-1} ref={main}>
            <MaintenanceBanner />
            <Guard key={path.value}>{Body && found ? <Body params={found.params} /> : !found && <NotFound text={path.value} />}</Guard>
        </main>
    );
}

// The agent is away: what is on the screen is old, and nothing can be done.
function Away() {
    return (
        <p class="away" role="alert">
            <Icon name="warning" /> {t("away", { at: momentText(new Date(heardAt.value).toISOString()) })}
        </p>
    );
}

function LeaveDialog() {
    const stay = (): void => void (leaving.value = null);
    return (
        <Dialog
            title={t("leave.ask")}
            onClose={stay}
            actions={
                <>
                    <Button onClick={stay}>{t("leave.stay")}</Button>
                    <Button kind="danger" onClick={leave}>
                        {t("leave.do")}
                    </Button>
                </>
            }
        >
            <p>{t("leave.text")}</p>
        </Dialog>
    );
}

export function Shell() {
    const [preferences, setPreferences] = useState(false);
    const found = findScreen(path.value);
    const current = found?.screen.within ?? found?.screen.path ?? "";
    return (
        <div class="shell">
            <a
                class="skip-link"
                href="#main"
                onClick={(event) => {
                    event.preventDefault();
                    document.getElementById("main")?.focus();
                }}
            >
                {t("skip")}
            </a>
            <Navigation current={current} onPreferences={() => setPreferences(true)} />
            <View />
            {isAway.value && <Away />}
            <Toasts />
            <Palette />
            {leaving.value !== null && <LeaveDialog />}
            {preferences && <PreferencesDialog onClose={() => setPreferences(false)} />}
            {shortcutsOpen.value && <Shortcuts />}
        </div>
    );
}
