// An etcd of its own, for nodes that are to be a cluster. null: there is none on this machine.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { until } from "./agent.mjs";

export async function freePort() {
    const server = createServer();
    await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address();
    await new Promise((resolve) => server.close(resolve));
    return port;
}

export async function startEtcd() {
    const data = mkdtempSync(join(tmpdir(), "peal-browser-etcd-"));
    const [client, peer] = [`127.0.0.1:${await freePort()}`, `http://127.0.0.1:${await freePort()}`];
    const words = ["--data-dir", data, "--listen-client-urls", `http://${client}`, "--advertise-client-urls", `http://${client}`];
    words.push("--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", `default=${peer}`, "--log-level", "error");
    const child = spawn("etcd", words, { stdio: "ignore" });
    let isThere = true;
    const ended = new Promise((resolve) => {
        child.once("error", () => resolve((isThere = false)));
        child.once("exit", resolve);
    });
    const answers = () => fetch(`http://${client}/health`).then((answer) => answer.ok, () => false);
    await until("etcd", async () => !isThere || (await answers()));
    if (!isThere) return null;
    return {
        store: `etcd://${client}/peal`,
        async stop() {
            child.kill("SIGTERM");
            await ended;
            rmSync(data, { recursive: true, force: true });
        },
    };
}
