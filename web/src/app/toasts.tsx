// Toasts: completed actions, with undo, and errors.
import { signal } from "@preact/signals";
import { Problem } from "../api/client";
import { t } from "../i18n/common";
import { Icon } from "../ui/icons";

interface Toast {
    id: number;
    kind: "done" | "problem";
    text: string;
    requestId?: string | null;
    undo?: (() => void) | undefined;
}

const toasts = signal<Toast[]>([]);
let count = 0;

function add(toast: Omit<Toast, "id">, seconds: number): void {
    const id = ++count;
    toasts.value = [...toasts.value.slice(-3), { ...toast, id }];
    setTimeout(() => dismiss(id), seconds * 1000);
}

function dismiss(id: number): void {
    toasts.value = toasts.value.filter((toast) => toast.id !== id);
}

export function toastDone(text: string, undo?: () => void): void {
    add({ kind: "done", text, undo }, undo ? 12 : 5);
}

export function toastProblem(error: unknown): void {
    if (error instanceof DOMException && error.name === "AbortError") return;
    if (error instanceof Problem && error.status === 401) return; // the login says it
    const text = error instanceof Error ? error.message : String(error);
    add({ kind: "problem", text, requestId: error instanceof Problem ? error.requestId : null }, 15);
}

// Runs the action and shows its error; undefined after an error.
export async function attempt<T>(action: () => Promise<T>): Promise<T | undefined> {
    try {
        return await action();
    } catch (error) {
        toastProblem(error);
        return undefined;
    }
}

export function Toasts() {
    return (
        <div class="toasts" role="status" aria-live="polite">
            {toasts.value.map((toast) => (
                <div key={toast.id} class={`toast toast-${toast.kind}`} role={toast.kind === "problem" ? "alert" : undefined}>
                    <Icon name={toast.kind === "done" ? "check" : "warning"} />
                    <div class="toast-text">
                        <p>{toast.text}</p>
                        {toast.requestId && <p class="faint mono">{t("error.request", { id: toast.requestId })}</p>}
                    </div>
                    {toast.undo && (
                        <button
                            class="button small"
                            onClick={() => {
                                dismiss(toast.id);
                                toast.undo?.();
                            }}
                        >
                            {t("undo")}
                        </button>
                    )}
                    <button class="icon-button" aria-label={t("close")} onClick={() => dismiss(toast.id)}>
                        <Icon name="cross" />
                    </button>
                </div>
            ))}
        </div>
    );
}
