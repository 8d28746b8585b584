import type { Screen } from "../../app/screens";
import { title } from "./titles";

const load = (): ReturnType<Screen["load"]> => import("./EditorScreen");

const screens: Screen[] = [
    { path: "/jobs/:name/edit", within: "/jobs", title: (params) => title("title", { name: params["name"] ?? "" }), load },
    { path: "/new", within: "/jobs", title: () => title("title.new"), load },
];

export default screens;
