// Apart from the other words, which come with the screen.
import { words } from "../../i18n/words";

export const title = words({ "title": "Edit {name}", "title.new": "New job" }, { "title": "编辑 {name}", "title.new": "新建任务" });
