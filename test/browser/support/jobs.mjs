// The jobs that the screens are tested with.
export const jobs = [
    {
        name: "billing/close-day",
        schedule: "0 0 * * *",
        timezone: "America/New_York",
        command: ["/srv/billing/close-day", "--ledger", "main books"],
        owner: "billing@example.org",
        labels: { team: "billing", tier: "1" },
        timeout: "2h",
        notes: "Closes the books of the day.\n\nSafe to run twice: the second run finds nothing to do.",
    },
    {
        name: "clock",
        schedule: "*/2 * * * * *",
        timezone: "UTC",
        shell: "date '+it is %H:%M:%S'",
        labels: { team: "demo" },
    },
    {
        name: "colours",
        schedule: "@manual",
        shell:
            "printf 'plain \\033[31mred\\033[0m \\033[1;32mbold green\\033[0m \\033[38;5;208morange\\033[0m\\n'; " +
            "printf '\\033[33mwarning: disk is at 91%%\\n  and still yellow on the next line\\033[0m\\n'; " +
            "echo 'something went wrong' >&2; echo done",
    },
    {
        name: "flaky",
        schedule: "@every 5s",
        timezone: "UTC",
        shell: "if [ $(( $(date +%s) / 5 % 3 )) -eq 0 ]; then echo 'no luck this time' >&2; exit 3; fi; echo all is well",
        owner: "platform@example.org",
        labels: { team: "demo", tier: "2" },
    },
    {
        name: "long",
        schedule: "@manual",
        shell: "i=0; while [ $i -lt 3000 ]; do i=$((i + 1)); echo \"step $i of 3000\"; sleep 0.05; done",
        overlap: "allow",
        grace: "2s",
    },
    { name: "paused-one", schedule: "@hourly", timezone: "Europe/Berlin", command: ["true"], paused: true },
    {
        name: "big",
        schedule: "@manual",
        // 200,000 lines, 12 MB.
        shell: "seq -f 'line %09.0f of the big output, with a few words more on it' 200000",
        output_limit: "64MiB",
    },
];
