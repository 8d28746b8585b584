import type { Screen } from "../../app/screens";
import { title } from "./titles";

const screen: Screen = {
    path: "/alerts",
    title: () => title("title"),
    load: () => import("./AlertsScreen"),
    nav: { order: 35, icon: "bell", label: () => title("title"), key: "a" },
};

export default screen;
