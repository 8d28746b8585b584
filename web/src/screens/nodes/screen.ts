import type { Screen } from "../../app/screens";
import { title } from "./titles";

const screens: Screen[] = [
    {
        path: "/nodes",
        title: () => title("title"),
        load: () => import("./NodesScreen"),
        nav: { order: 50, icon: "nodes", label: () => title("title"), key: "n" },
    },
    {
        path: "/nodes/:node",
        within: "/nodes",
        title: (params) => title("node", { name: params["node"] ?? "" }),
        load: () => import("./NodeScreen"),
    },
];

export default screens;
