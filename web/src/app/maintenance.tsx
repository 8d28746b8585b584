// What is in maintenance or paused now, above every screen.
import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { api } from "../api/client";
import { onLive } from "../api/live";
import type { Agent, Maintenance } from "../api/types";
import { t } from "../i18n/common";
import { now } from "../ui/clock";
import { Icon } from "../ui/icons";
import { momentText } from "../ui/moments";
import { useResource } from "../ui/resource";

// What shows maintenance reads it again when this changes. The stream of events does not have it.
export const maintenanceTurn = signal(0);

const EVERY_MS = 15_000;

const next = (): void => {
    if (!document.hidden) maintenanceTurn.value++;
};

function Line({ item }: { item: Maintenance }) {
    const parts = [
        item.namespace ? t(`${item.kind}.namespace`, { name: item.namespace }) : t(`${item.kind}.cluster`),
        item.to && t("maintenance.to", { at: momentText(item.to) }),
        item.reason,
    ];
    return (
        <p class="note warn incomplete" role="status">
            <Icon name="pause" />
            <a href="#/settings?tab=maintenance">{parts.filter(Boolean).join(" · ")}</a>
        </p>
    );
}

export function MaintenanceBanner() {
    const agent = useResource(`maintenance ${maintenanceTurn.value}`, (stop) => api.get<Agent>("/agent", {}, stop));
    useEffect(() => {
        const timer = setInterval(next, EVERY_MS);
        const off = onLive("reset", next);
        return () => {
            clearInterval(timer);
            off();
        };
    }, []);
    return <>{agent.data?.maintenance?.map((item) => (!item.to || Date.parse(item.to) > now.value) && <Line key={item.id} item={item} />)}</>;
}
