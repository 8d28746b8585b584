import type { Screen } from "../../app/screens";
import { t } from "./words";

// Links with a secret: a login without a password, and the first account of a new server.
const screens: Screen[] = [
    { path: "/login", title: () => t("login"), load: () => import("./Login"), isPublic: true },
    { path: "/login/:link", title: () => t("login"), load: () => import("./Login"), isPublic: true },
    { path: "/setup/:secret", title: () => t("setup"), load: () => import("./Setup"), isPublic: true },
];

export default screens;
