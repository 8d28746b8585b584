// A form in a dialog that stays open, and says what is wrong, until the server has taken it.
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { Problem } from "../../api/client";
import { t as common } from "../../i18n/common";
import { Button, Dialog, Failure } from "../../ui/parts";

export function Ask(props: {
    title: string;
    action: string;
    danger?: boolean;
    onDo: () => Promise<void>;
    onClose: () => void;
    children: ComponentChildren;
}) {
    const [problem, setProblem] = useState<Problem | null>(null);
    const [busy, setBusy] = useState(false);
    const submit = async (event: Event): Promise<void> => {
        event.preventDefault();
        setBusy(true);
        try {
            await props.onDo();
        } catch (error) {
            setProblem(error instanceof Problem ? error : new Problem(0, String(error)));
            setBusy(false);
        }
    };
    return (
        <Dialog title={props.title} onClose={props.onClose}>
            <form class="ask-form" onSubmit={(event) => void submit(event)}>
                {props.children}
                {problem && <Failure problem={problem} />}
                <div class="dialog-actions">
                    <Button onClick={props.onClose}>{common("cancel")}</Button>
                    <button class={`button ${props.danger ? "danger" : "primary"}`} disabled={busy}>
                        {props.action}
                    </button>
                </div>
            </form>
        </Dialog>
    );
}
