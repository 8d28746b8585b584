import type { Screen } from "../../app/screens";
import { title } from "./titles";

const screen: Screen = {
    path: "/nodes",
    title: () => title("title"),
    load: () => import("./NodesScreen"),
    nav: { order: 50, icon: "nodes", label: () => title("title"), key: "n" },
};

export default screen;
