// In which zone the times of the page are: the job's, the browser's or UTC.
import { useEffect } from "preact/hooks";
import { jobZone, knownZone, localZone, zoneChoice, zoneChoices, type ZoneChoice } from "../../app/preferences";
import { agent } from "../../app/session";
import { t } from "./words";

export function ZoneSwitch({ of }: { of: string | undefined }) {
    const own = knownZone(of ?? agent.value?.timezone);
    useEffect(() => {
        jobZone.value = own;
        return () => void (jobZone.value = null);
    }, [own]);
    const names: Record<ZoneChoice, string> = { job: t("zone.job", { zone: own ?? "" }), local: t("zone.local", { zone: localZone }), utc: "UTC" };
    return (
        <select aria-label={t("zone")} value={zoneChoice.value} onChange={(event) => (zoneChoice.value = event.currentTarget.value as ZoneChoice)}>
            {zoneChoices.map(
                (choice) =>
                    (choice !== "job" || own) && (
                        <option key={choice} value={choice}>
                            {names[choice]}
                        </option>
                    ),
            )}
        </select>
    );
}
