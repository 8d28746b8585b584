// What a new job can start from: a template, or a crontab.
import { api } from "../../api/client";
import type { Calendar, Page } from "../../api/types";
import { href } from "../../app/router";
import { localZone } from "../../app/preferences";
import { Icon } from "../../ui/icons";
import { t } from "./builder_words";
import type { Draft } from "./draft";
import { fromTemplate, templates } from "./templates";

export function Starts({ name, onChoose }: { name: string; onChoose: (draft: Draft) => void }) {
    const choose = async (draft: Draft): Promise<void> => {
        const known = "calendars" in draft ? await api.optional<Page<Calendar>>("/calendars").catch(() => null) : null;
        onChoose(fromTemplate(draft, name, localZone, known?.items.map((calendar) => calendar.name) ?? []));
    };
    return (
        <div class="starts" role="group" aria-label={t("starts")}>
            <span class="faint small">{t("starts")}</span>
            {templates.map((template) => (
                <button key={template.name} type="button" class="button small" title={t(`t.${template.name}.text`)} onClick={() => void choose(template.draft)}>
                    {t(`t.${template.name}`)}
                </button>
            ))}
            <a class="button small" href={href("/import")}>
                <Icon name="download" />
                {t("starts.import")}
            </a>
        </div>
    );
}
