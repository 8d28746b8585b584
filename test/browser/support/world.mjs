// A real agent with real jobs, reached by a real browser on a random port.
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";
import { jobs } from "./jobs.mjs";
import { startProxy } from "./proxy.mjs";

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

export async function startAgent() {
    const data = mkdtempSync(join(tmpdir(), "peal-browser-"));
    const socket = join(data, "api.sock");
    const child = spawn(join(binaries, "peal"), ["start", "--data", data, "--listen", "none"], {
        stdio: ["ignore", "ignore", "pipe"],
        env: { ...process.env, TZ: "UTC", ASAN_OPTIONS: "detect_leaks=0" },
    });
    let said = "";
    child.stderr.on("data", (part) => (said += part));
    const api = (method, path, body) => call(socket, method, path, body);
    await until("the agent to answer", async () => {
        if (child.exitCode !== null) throw new Error(`the agent ended:\n${said}`);
        return api("GET", "/jobs").then((answer) => answer.status === 200, () => false);
    });
    return {
        data,
        socket,
        api,
        async stop() {
            if (child.exitCode !== null || child.signalCode) throw new Error(`the agent ended:\n${said}`);
            const gone = new Promise((resolve) => child.once("exit", resolve));
            // What still runs would outlive the agent and its folder.
            const open = await api("GET", "/runs?state=running&limit=100").catch(() => ({ body: { items: [] } }));
            await Promise.all(open.body.items.map((run) => api("POST", `/runs/${run.run_id}/kill`).catch(() => null)));
            await until("the runs to end", async () => {
                const left = await api("GET", "/runs?state=running&limit=100");
                return left.body.items.every((run) => !/^(long|big)$/.test(run.job));
            }, 20).catch(() => null);
            child.kill("SIGTERM");
            await gone;
            rmSync(data, { recursive: true, force: true });
            if (/Sanitizer|runtime error:/.test(said)) throw new Error(said);
        },
    };
}

export async function startWorld() {
    const agent = await startAgent();
    for (const job of jobs) {
        const answer = await agent.api("PUT", `/jobs/${encodeURIComponent(job.name)}`, job);
        if (answer.status >= 300) throw new Error(`${job.name}: ${JSON.stringify(answer.body)}`);
    }
    const proxy = await startProxy(agent.socket);
    const browser = await chromium.launch({
        executablePath: process.env.PEAL_CHROMIUM ?? "/usr/bin/chromium",
        args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--force-color-profile=srgb"],
    });
    const problems = [];
    return {
        agent,
        proxy,
        problems, // what pages complained about
        async context(options = {}) {
            const context = await browser.newContext({
                baseURL: proxy.url,
                locale: "en-GB",
                timezoneId: "Europe/Berlin",
                viewport: { width: 1280, height: 800 },
                ...options,
            });
            context.setDefaultTimeout(30_000);
            context.on("page", (page) => {
                page.on("pageerror", (error) => problems.push(`${page.url()}: ${error.stack}`));
                page.on("console", (message) => {
                    if (message.type() === "error" && !/Failed to load resource|ERR_/.test(message.text()))
                        problems.push(`${page.url()}: ${message.text()}`);
                });
            });
            return context;
        },
        async page(options) {
            return (await this.context(options)).newPage();
        },
        // Runs a job and answers its run's id; `ended`: once it is over.
        async run(name, ended = false) {
            const started = await agent.api("POST", `/jobs/${encodeURIComponent(name)}/run`);
            const id = started.body.run_id;
            await until(`the run of ${name}`, async () => {
                const run = (await agent.api("GET", `/runs/${id}`)).body;
                return ended ? run.finished_at : run.started_at;
            });
            return id;
        },
        async stop() {
            await browser.close();
            proxy.close();
            await agent.stop();
        },
    };
}

export const axeSource = () => readFileSync(new URL("../node_modules/axe-core/axe.min.js", import.meta.url), "utf8");
