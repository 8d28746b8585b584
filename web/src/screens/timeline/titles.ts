// Apart from the other words, which come with the screen.
import { words } from "../../i18n/words";

export const title = words({ "title": "Timeline" }, { "title": "时间线" });
