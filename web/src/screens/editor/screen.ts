import type { Screen } from "../../app/screens";
import { t } from "./words";

const load = (): ReturnType<Screen["load"]> => import("./EditorScreen");

const screens: Screen[] = [
    { path: "/jobs/:name/edit", within: "/jobs", title: (params) => t("title", { name: params["name"] ?? "" }), load },
    { path: "/new", within: "/jobs", title: () => t("title.new"), load },
];

export default screens;
