// A PostgreSQL of its own, which is away until `start`. null: there is none on this machine.
import { execFileSync } from "node:child_process";
import { chmodSync, chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { freePort } from "./etcd.mjs";

function findPrograms() {
    const versions = "/usr/lib/postgresql";
    const found = process.env.PEAL_POSTGRES_BIN ?? (existsSync(versions) ? readdirSync(versions).map((name) => join(versions, name, "bin")).at(-1) : "");
    return found && existsSync(join(found, "initdb")) ? found : null;
}

// It refuses to run as root.
function ownerIds() {
    if (userInfo().uid !== 0) return {};
    const id = (what) => Number(execFileSync("id", [what, "postgres"], { encoding: "utf8" }));
    return { uid: id("-u"), gid: id("-g") };
}

export async function makePostgres() {
    const programs = findPrograms();
    if (!programs) return null;
    const owner = ownerIds();
    const folder = mkdtempSync(join(tmpdir(), "peal-browser-postgres-"));
    chmodSync(folder, 0o755);
    if (owner.uid !== undefined) chownSync(folder, owner.uid, owner.gid);
    const data = join(folder, "data");
    const port = await freePort();
    const call = (program, ...words) => execFileSync(join(programs, program), words, { ...owner, cwd: folder, stdio: "ignore" });
    call("initdb", "-D", data, "-U", "peal", "--auth=trust", "-E", "UTF8", "--locale=C", "--no-sync");
    let isStarted = false;
    return {
        history: `postgresql://peal@127.0.0.1:${port}/postgres`,
        start() {
            const options = `-p ${port} -k ${folder} -h 127.0.0.1 -c fsync=off`;
            call("pg_ctl", "-D", data, "-l", join(folder, "log"), "-w", "-t", "60", "-o", options, "start");
            isStarted = true;
        },
        stop() {
            if (isStarted) call("pg_ctl", "-D", data, "-m", "immediate", "stop");
            rmSync(folder, { recursive: true, force: true });
        },
    };
}
