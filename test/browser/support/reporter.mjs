// Prints like cmocka, so that every case is counted (tools/report.awk).
function casesOf(task) {
    return task.type === "suite" ? task.tasks.flatMap(casesOf) : [task];
}

function nameOf(task) {
    return task.suite?.name ? `${task.suite.name}: ${task.name}` : task.name;
}

export default class Reporter {
    onFinished(files = [], errors = []) {
        const cases = files.flatMap((file) => file.tasks.flatMap(casesOf));
        const failed = cases.filter((task) => task.result?.state !== "pass" && task.mode === "run");
        console.log(`[==========] Running ${cases.length} test(s).`);
        for (const task of cases) {
            console.log(`[ RUN      ] ${nameOf(task)}`);
            for (const error of task.result?.errors ?? []) console.log(`${error.stack ?? error.message}\n${error.diff ?? ""}`);
            const verdict = task.mode !== "run" ? "  SKIPPED " : failed.includes(task) ? "  FAILED  " : "       OK ";
            console.log(`[${verdict}] ${nameOf(task)}`);
        }
        for (const suite of files.flatMap((file) => file.tasks).filter((task) => task.type === "suite"))
            for (const error of suite.result?.errors ?? []) console.log(`${suite.name}: ${error.stack ?? error.message}`);
        for (const file of files) for (const error of file.result?.errors ?? []) console.log(`${file.name}: ${error.stack}`);
        for (const error of errors) console.log(error.stack ?? error.message);
        console.log(`[==========] ${cases.length} test(s) run.`);
        console.log(`[  PASSED  ] ${cases.length - failed.length} test(s).`);
        if (failed.length) console.log(`[  FAILED  ] ${failed.length} test(s), listed above.`);
    }
}
