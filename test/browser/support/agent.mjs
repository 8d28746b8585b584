// A real agent in a folder of its own, on a port of its own.
import { execFile, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { request } from "node:http";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

export const binaries = process.env.PEAL_BIN ?? join(new URL(".", import.meta.url).pathname, "../../../build/asan/bin");

export async function until(what, condition, seconds = 60) {
    const end = Date.now() + seconds * 1000;
    for (;;) {
        const value = await condition();
        if (value) return value;
        if (Date.now() > end) throw new Error(`waited ${seconds} s for ${what}`);
        await new Promise((resolve) => setTimeout(resolve, 100));
    }
}

// By the UNIX socket, as the user of this machine.
function call(socketPath, method, path, body) {
    return new Promise((resolve, reject) => {
        const text = body === undefined ? undefined : JSON.stringify(body);
        const headers = { Host: "localhost", ...(text ? { "Content-Length": Buffer.byteLength(text) } : {}) };
        const sent = request({ socketPath, method, path: `/api/v1${path}`, headers }, (answer) => {
            let out = "";
            answer.setEncoding("utf8");
            answer.on("data", (part) => (out += part));
            answer.on("end", () => resolve({ status: answer.statusCode, body: out ? JSON.parse(out) : null }));
        });
        sent.on("error", reject);
        sent.end(text);
    });
}

// Killed, and waited for: what still runs would outlive the agent and its folder.
async function endRuns(api) {
    const running = async () => (await api("GET", "/runs?state=running&limit=100")).body.items;
    for (const run of await running()) await api("POST", `/runs/${run.run_id}/kill`);
    await until("the runs to end", async () => (await running()).every((run) => !/^(long|big|huge)$/.test(run.job)), 20);
}

// `more`: options of `peal start`; `env`: more of its environment.
export async function startAgent(more = [], env = {}) {
    const data = mkdtempSync(join(tmpdir(), "peal-browser-"));
    const socket = join(data, "api.sock");
    const child = spawn(join(binaries, "peal"), ["start", "--data", data, "--listen", "127.0.0.1:0", ...more], {
        stdio: ["ignore", "ignore", "pipe"],
        env: { ...process.env, TZ: "UTC", PEAL_DEFAULT_USER: userInfo().username, ...env },
    });
    let said = "";
    child.stderr.on("data", (part) => (said += part));
    const ended = new Promise((resolve) => child.once("exit", resolve));
    const api = (method, path, body) => call(socket, method, path, body);
    await until("the agent to answer", async () => {
        if (child.exitCode !== null) throw new Error(`the agent ended:\n${said}`);
        return api("GET", "/jobs").then((answer) => answer.status === 200, () => false);
    });
    return {
        data,
        api,
        url: `http://127.0.0.1:${/ port=(\d+)/.exec(said)[1]}`,
        setupLink: () => readFileSync(join(data, "setup-link"), "utf8").trim(),
        // What the command prints.
        async peal(...words) {
            return (await promisify(execFile)(join(binaries, "peal"), [...words, "--data", data])).stdout;
        },
        // As if its machine had lost its power. Its spawner ends after a minute without an agent.
        async kill() {
            child.kill("SIGKILL");
            await ended;
            rmSync(data, { recursive: true, force: true, maxRetries: 5 });
        },
        // Fails if it has leaked memory, or said anything that a sanitizer says.
        async stop() {
            if (child.exitCode !== null || child.signalCode) throw new Error(`the agent ended:\n${said}`);
            await endRuns(api).catch(() => null);
            child.kill("SIGTERM");
            const code = await ended;
            rmSync(data, { recursive: true, force: true, maxRetries: 5 });
            if (code !== 0 || /Sanitizer|runtime error:/.test(said)) throw new Error(`the agent ended with ${code}:\n${said}`);
        },
    };
}
