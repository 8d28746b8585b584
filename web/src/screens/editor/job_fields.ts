// The fields of a job. Made from the table in src/job/definition/job_fields.c, and not to be edited:
//     PEAL_WRITE=1 ctest -R unit.job_reference
import type { JobField } from "./fields";

export const jobFields: readonly JobField[] = [
    {
        name: "name", section: "name", kind: "text", sample: "billing/invoices",
        en: ["Name", "Letters, digits and . _ / -; slashes make groups, like billing/invoices."],
        zh: ["名称", "字母、数字和 . _ / -；斜杠用于分组，如 billing/invoices。"],
    },
    {
        name: "schedule", section: "when", kind: "text", sample: "30 2 * * *", ofTicks: true,
        en: ["Schedule", "Cron, like 30 2 * * *, or @daily, @every 90s, @after 10m, @manual. H picks a time that differs from job to job."],
        zh: ["计划", "cron 表达式，如 30 2 * * *，或 @daily、@every 90s、@after 10m、@manual。H 会为每个任务选取不同的时间。"],
    },
    {
        name: "schedules", section: "when", kind: "names", ofTicks: true,
        en: ["Schedules", "The job is due whenever any of them is, once per instant."],
        zh: ["多个计划", "其中任意一个到期时任务即到期，同一时刻只一次。"],
    },
    {
        name: "after", section: "when", kind: "names", sample: "extract",
        en: ["After other jobs", "Instead of a schedule: it runs when each of these jobs has ended as wanted since its last run; well, unless told otherwise."],
        zh: ["在其他任务之后", "代替计划：自上次运行以来，这些任务都按要求结束后运行；默认为正常结束。"],
    },
    {
        name: "timezone", section: "when", kind: "text", sample: "Europe/Berlin", ofTicks: true,
        en: ["Time zone", "Time zone of the schedules; unless given, the agent's."],
        zh: ["时区", "计划所用的时区；不填则为代理的时区。"],
    },
    {
        name: "start", section: "when", kind: "text", sample: "2027-01-31 08:00", ofTicks: true,
        en: ["Not before", "Nothing is due before it."],
        zh: ["不早于", "在此之前不会到期。"],
    },
    {
        name: "end", section: "when", kind: "text", sample: "2028-01-01", ofTicks: true,
        en: ["Not at or after", "Nothing is due at it or later."],
        zh: ["早于", "在此时刻及之后不会到期。"],
    },
    {
        name: "jitter", section: "when", kind: "text", sample: "0s", ofTicks: true,
        en: ["Jitter", "Each run starts later by a part of this, always the same part for the same job."],
        zh: ["抖动", "每次运行推迟其中的一部分启动，同一任务每次相同。"],
    },
    {
        name: "dst", section: "when", kind: "choice", choices: ["default", "skip", "both"], ofTicks: true,
        en: ["When the clock jumps", "What a fixed time does when the clock jumps."],
        zh: ["时钟跳变时", "时钟跳变时固定时间如何处理。"],
    },
    {
        name: "calendars", section: "when", kind: "names", sample: "holidays", ofTicks: true,
        en: ["Calendars", "It does not run on their dates."],
        zh: ["日历", "在这些日历的日期不运行。"],
    },
    {
        name: "command", section: "what", kind: "names", sample: "/usr/local/bin/backup", defines: true,
        en: ["Program and arguments", "The program and its arguments, started without a shell: $, | and > mean nothing."],
        zh: ["程序及参数", "程序及其参数，不经过 shell 启动：$、| 和 > 没有特殊含义。"],
    },
    {
        name: "shell", section: "what", kind: "area", defines: true,
        en: ["Script", "A script for bash, or for sh where there is no bash."],
        zh: ["脚本", "由 bash 执行的脚本；没有 bash 时由 sh 执行。"],
    },
    {
        name: "cwd", section: "what", kind: "text", sample: "/srv/app", defines: true,
        en: ["Folder", "Where it runs: an absolute path; unless given, the home of its user."],
        zh: ["目录", "运行所在的目录，绝对路径；不填则为其用户的主目录。"],
    },
    {
        name: "user", section: "what", kind: "text", defines: true,
        en: ["User", "As whom it runs. Needs an agent that runs as root, and a line in its allow_users, for root too."],
        zh: ["用户", "以哪个用户运行。要求代理以 root 运行，且其 allow_users 中列有该用户，root 也不例外。"],
    },
    {
        name: "env", section: "what", kind: "pairs", sample: "NAME=value", defines: true,
        en: ["Environment", "Variables, added to the few of the agent's. Values whose names say that they are secret are shown to those who may define the job."],
        zh: ["环境变量", "环境变量，加在代理自身的少数变量之上。名称表明是机密的值仅对可以定义任务的人显示。"],
    },
    {
        name: "stdin", section: "what", kind: "area", defines: true,
        en: ["Standard input", "A text that it reads from its standard input, shown to those who may define the job."],
        zh: ["标准输入", "从标准输入读取的文本，仅对可以定义任务的人显示。"],
    },
    {
        name: "umask", section: "limits", kind: "text", sample: "022", defines: true,
        en: ["Umask", "Permissions that new files do not get."],
        zh: ["Umask", "新文件不具有的权限。"],
    },
    {
        name: "nice", section: "limits", kind: "number", sample: "0", defines: true,
        en: ["Nice", "From -20, first, to 19, last."],
        zh: ["Nice", "从 -20（最优先）到 19（最靠后）。"],
    },
    {
        name: "limits.open_files", section: "limits", kind: "number", sample: "256", defines: true,
        en: ["Open files", "Open files of a process."],
        zh: ["打开文件数", "单个进程可打开的文件数。"],
    },
    {
        name: "limits.processes", section: "limits", kind: "number", sample: "100", defines: true,
        en: ["Processes of the user", "All processes of the user that it runs as."],
        zh: ["该用户进程数", "其运行用户的全部进程数。"],
    },
    {
        name: "limits.core", section: "limits", kind: "number", sample: "0", defines: true,
        en: ["Core dump", "Size of a core dump; 0: none is written."],
        zh: ["核心转储", "核心转储的大小；0：不写入。"],
    },
    {
        name: "limits.memory", section: "limits", kind: "number", sample: "2GiB", defines: true,
        en: ["Memory of a process", "Memory of each process."],
        zh: ["单个进程内存", "每个进程的内存。"],
    },
    {
        name: "limits.cpu_time", section: "limits", kind: "text", sample: "1h", defines: true,
        en: ["CPU time of a process", "CPU time of each process."],
        zh: ["单个进程 CPU 时间", "每个进程的 CPU 时间。"],
    },
    {
        name: "limits.file_size", section: "limits", kind: "number", sample: "10GiB", defines: true,
        en: ["Size of a file", "Size of each file that it writes."],
        zh: ["单个文件大小", "其写入的每个文件的大小。"],
    },
    {
        name: "overlap.policy", section: "how", kind: "choice", choices: ["skip", "allow", "queue", "replace"], alone: true,
        en: ["If the last run still goes on", "What happens to a tick while the last run still goes on."],
        zh: ["上一次仍在运行时", "上一次仍在运行时如何处理到期的时刻。"],
    },
    {
        name: "overlap.queue", section: "how", kind: "number", sample: "10",
        en: ["How many may wait", "How many runs may wait with the policy queue; those beyond are skipped."],
        zh: ["最多排队数", "策略为 queue 时最多排队的运行数；超出的会被跳过。"],
    },
    {
        name: "catch_up.policy", section: "how", kind: "choice", choices: ["last", "skip", "all"], ofTicks: true, alone: true,
        en: ["If no agent was there", "Which ticks run that fell due while no agent was there."],
        zh: ["当时没有代理时", "没有代理期间到期的时刻中，哪些补跑。"],
    },
    {
        name: "catch_up.window", section: "how", kind: "text", sample: "1d", ofTicks: true,
        en: ["How far back", "Ticks older than this are missed in any case."],
        zh: ["回溯多久", "早于此时长的时刻一律视为错过。"],
    },
    {
        name: "catch_up.limit", section: "how", kind: "number", sample: "100", ofTicks: true,
        en: ["How many at most", "How many ticks run at most with the policy all: the newest."],
        zh: ["最多补跑数", "策略为 all 时最多补跑的数量：取最近的。"],
    },
    {
        name: "timeout", section: "how", kind: "text", sample: "2h",
        en: ["Timeout", "A run that takes longer gets TERM, and KILL after the grace: 90s, 1h30m."],
        zh: ["超时", "运行超过此时长会收到 TERM，宽限之后收到 KILL：90s、1h30m。"],
    },
    {
        name: "grace", section: "how", kind: "text", sample: "10s",
        en: ["Grace", "Between TERM and KILL."],
        zh: ["宽限", "TERM 与 KILL 之间的时间。"],
    },
    {
        name: "deadline", section: "how", kind: "text", sample: "6h", ofTicks: true,
        en: ["Deadline", "A run that can't start that soon after its tick is missed."],
        zh: ["截止", "到期后未能在此时长内启动即视为错过。"],
    },
    {
        name: "where", section: "how", kind: "text", sample: "zone=eu,!gpu",
        en: ["Nodes", "Labels of the nodes that may run it: zone=eu,!gpu."],
        zh: ["节点", "可以运行它的节点的标签：zone=eu,!gpu。"],
    },
    {
        name: "paused", section: "how", kind: "switch",
        en: ["Paused", "Nothing is started until it is resumed."],
        zh: ["暂停", "恢复之前不会启动。"],
    },
    {
        name: "output_limit", section: "kept", kind: "number", sample: "1MiB",
        en: ["Output kept of a run", "So much of a run's output is kept from its beginning, and at least as much again from its end."],
        zh: ["每次运行保留的输出", "每次运行的输出从开头保留这么多，从结尾至少再保留同样多。"],
    },
    {
        name: "retention.runs", section: "kept", kind: "number", sample: "1000",
        en: ["Runs kept", "How many runs are kept."],
        zh: ["保留的运行数", "保留多少次运行。"],
    },
    {
        name: "retention.age", section: "kept", kind: "text", sample: "90d",
        en: ["Kept for", "Older runs are dropped."],
        zh: ["保留时长", "早于此时长的运行会被清除。"],
    },
    {
        name: "retention.bytes", section: "kept", kind: "number", sample: "100MiB",
        en: ["Output kept of all runs", "The oldest runs with output are dropped until the output of all fits."],
        zh: ["全部运行保留的输出", "清除最早的有输出的运行，直到全部输出不超过此大小。"],
    },
    {
        name: "notify.to", section: "notify", kind: "names", sample: "ops, billing", alone: true,
        en: ["Notify", "Channels that are told of its runs; an empty list: none."],
        zh: ["通知对象", "接收其运行通知的渠道；空列表：无。"],
    },
    {
        name: "notify.on", section: "notify", kind: "names", sample: "failure, lost, recovery",
        en: ["Notify on", "Which events are told."],
        zh: ["通知事件", "通知哪些事件。"],
    },
    {
        name: "notify.late", section: "notify", kind: "text", sample: "5m",
        en: ["Late after", "A start later than this, after its jitter, is late. Adds late to the events."],
        zh: ["超过多久算延迟", "抖动之后仍晚于此时长启动即为延迟。会把 late 加入通知事件。"],
    },
    {
        name: "labels", section: "kept", kind: "pairs", sample: "team=db",
        en: ["Labels", "Labels of the job, to find it by. Names of 1 to 63 letters, digits and . _ / -; values up to 255 bytes."],
        zh: ["标签", "任务的标签，用于查找。名称为 1 到 63 个字母、数字和 . _ / -；值最长 255 字节。"],
    },
    {
        name: "owner", section: "kept", kind: "text", sample: "team@example.org",
        en: ["Owner", "Whom to ask."],
        zh: ["负责人", "有问题找谁。"],
    },
    {
        name: "notes", section: "kept", kind: "area",
        en: ["Notes", "Anything that helps the next person."],
        zh: ["备注", "任何对后来者有用的信息。"],
    },
];
