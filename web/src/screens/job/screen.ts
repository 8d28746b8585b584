import type { Screen } from "../../app/screens";
import { title } from "./titles";

const screen: Screen = {
    path: "/jobs/:name",
    within: "/jobs",
    title: (params) => title("title", { name: params["name"] ?? "" }),
    load: () => import("./JobScreen"),
};

export default screen;
