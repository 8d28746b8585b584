// Apart from the other words, which come with the screen.
import { words } from "../../i18n/words";

export const title = words({ "title": "Alerts" }, { "title": "告警" });
