// A real agent with real jobs, reached by a real browser, which logs in on the agent's port.
import { readFileSync } from "node:fs";
import { chromium } from "playwright-core";
import { startAgent, until } from "./agent.mjs";
import { jobs } from "./jobs.mjs";
import { startWire } from "./wire.mjs";

export { until };

async function putJobs(agent, wanted) {
    for (const job of wanted) {
        const answer = await agent.api("PUT", `/jobs/${encodeURIComponent(job.name)}`, job);
        if (answer.status >= 300) throw new Error(`${job.name}: ${JSON.stringify(answer.body)}`);
    }
}

// The cookie of a session that a link began: of an account, or of the user of this machine.
async function logIn(agent, name) {
    const link = await agent.api("POST", "/links", name ? { name } : {});
    const secret = link.body.url.split("/").pop();
    const answer = await fetch(`${agent.url}/api/v1/login`, {
        method: "POST",
        headers: { Origin: agent.url, "Content-Type": "application/json" },
        body: JSON.stringify({ link: secret }),
    });
    const [cookie, value] = answer.headers.getSetCookie().find((line) => line.includes("peal_session=")).split(";")[0].split("=");
    return { name: cookie, value, url: agent.url };
}

function listen(context, problems) {
    context.on("page", (page) => {
        page.on("pageerror", (error) => problems.push(`${page.url()}: ${error.stack}`));
        page.on("console", (message) => {
            if (message.type() === "error" && !/Failed to load resource|ERR_/.test(message.text()))
                problems.push(`${page.url()}: ${message.text()}`);
        });
    });
}

// `jobs`: other jobs than those of jobs.mjs; `agent`: options of its agent; `env`: more of its
// environment.
export async function startWorld(options = {}) {
    const agent = await startAgent(options.agent, options.env);
    await putJobs(agent, options.jobs ?? jobs);
    const browser = await chromium.launch({
        executablePath: process.env.PEAL_CHROMIUM,
        args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--force-color-profile=srgb"],
    });
    const problems = [];
    const wires = [];
    return {
        agent,
        problems, // what pages complained about
        url: agent.url,
        contexts: () => browser.contexts(),
        // Between a browser and the agent, for a page with `baseURL: wire.url`.
        async wire() {
            wires.push(await startWire(agent.url));
            return wires.at(-1);
        },
        // `as`: an account; null: nobody is logged in; else the user of this machine is.
        async context({ as, ...others } = {}) {
            const context = await browser.newContext({
                baseURL: agent.url,
                locale: "en-GB",
                timezoneId: "Europe/Berlin",
                viewport: { width: 1280, height: 800 },
                ...others,
            });
            context.setDefaultTimeout(30_000);
            listen(context, problems);
            if (as !== null) await context.addCookies([await logIn(agent, as)]);
            return context;
        },
        async page(wanted) {
            return (await this.context(wanted)).newPage();
        },
        until,
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
            wires.forEach((wire) => wire.close());
            await agent.stop();
        },
    };
}

export const axeSource = () => readFileSync(new URL("../node_modules/axe-core/axe.min.js", import.meta.url), "utf8");
