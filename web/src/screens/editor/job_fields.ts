// The fields of a job. Made from the table in src/job/definition/job_fields.c, and not to be edited:
//     PEAL_WRITE=1 ctest -R unit.job_reference
import type { JobField } from "./fields";

export const jobFields: readonly JobField[] = [
    {
        name: "kind", section: "name", kind: "text",
        en: ["Kind", "workflow: a job with steps. It may be left out where steps are given."],
        zh: ["类型", "workflow：由步骤组成的任务；给出 steps 时可省略。"],
    },
    {
        name: "name", section: "name", kind: "text", sample: "billing/invoices",
        en: ["Name", "Letters and digits of any script and . _ / -; slashes form groups, as in billing/invoices."],
        zh: ["名称", "可使用中文等任何文字的字母、数字和 . _ / -；斜杠用于分组，如 billing/invoices。"],
    },
    {
        name: "schedule", section: "when", kind: "text", sample: "30 2 * * *", ofTicks: true,
        en: ["Schedule", "Cron, like 30 2 * * *, or @daily, @every 90s, @after 10m, @manual. H picks a time that differs from job to job."],
        zh: ["计划", "cron 表达式，如 30 2 * * *，或 @daily、@every 90s、@after 10m、@manual。H 会为每个任务选取不同的时间，以错开负载。"],
    },
    {
        name: "schedules", section: "when", kind: "names", ofTicks: true,
        en: ["Schedules", "The job is due whenever any of them is, once per instant."],
        zh: ["多个计划", "其中任意一个触发时任务即触发，同一时刻只触发一次。"],
    },
    {
        name: "after", section: "when", kind: "names", sample: "extract",
        en: ["After other jobs", "Instead of a schedule: the job runs once each of these jobs has ended as required since the previous run; by default with success."],
        zh: ["在其他任务之后", "代替计划：上次运行之后，所列任务均以指定结果（默认为成功）结束时，本任务运行一次。"],
    },
    {
        name: "timezone", section: "when", kind: "text", sample: "Europe/Berlin", ofTicks: true,
        en: ["Time zone", "The time zone of the schedules; empty: the agent's."],
        zh: ["时区", "计划所用的时区；留空则为 agent 的时区。"],
    },
    {
        name: "start", section: "when", kind: "text", sample: "2027-01-31 08:00", ofTicks: true,
        en: ["Active from", "No ticks before this time."],
        zh: ["生效时间", "在此之前不会触发。"],
    },
    {
        name: "end", section: "when", kind: "text", sample: "2028-01-01", ofTicks: true,
        en: ["Active until", "No ticks at this time or later."],
        zh: ["失效时间", "在此时间及之后不会触发。"],
    },
    {
        name: "jitter", section: "when", kind: "text", sample: "0s", ofTicks: true,
        en: ["Jitter", "Delays every start by a fixed part of this, different for each job."],
        zh: ["抖动", "每次启动都推迟一段固定时间，不超过此值，各任务不同。"],
    },
    {
        name: "dst", section: "when", kind: "choice", choices: ["default", "skip", "both"], ofTicks: true,
        en: ["Daylight saving time", "The policy for fixed times that a clock change skips or repeats."],
        zh: ["夏令时切换", "时钟切换跳过或重复固定时间时的处理策略。"],
    },
    {
        name: "calendars", section: "when", kind: "names", sample: "holidays", ofTicks: true,
        en: ["Calendars", "The job does not run on the dates of these calendars."],
        zh: ["日历", "在这些日历的日期不运行。"],
    },
    {
        name: "only_on", section: "when", kind: "names", sample: "trading-days", ofTicks: true,
        en: ["Only on", "The job runs only on the dates of these calendars."],
        zh: ["仅在这些日期", "仅在这些日历的日期运行。"],
    },
    {
        name: "only_if.jobs", section: "when", kind: "names", sample: "etl/load", ofTicks: true, alone: true,
        en: ["Only if", "A tick runs only if each of these jobs has ended so before; else it is skipped."],
        zh: ["前提任务", "仅当这些任务此前都已这样结束时，触发才会运行；否则跳过。"],
    },
    {
        name: "only_if.on", section: "when", kind: "choice", choices: ["success", "failure", "always"], ofTicks: true,
        en: ["Only if: end", "How they have to have ended. success: once since then is enough."],
        zh: ["前提结果", "它们须以何种结果结束。success：此后成功过一次即可。"],
    },
    {
        name: "only_if.within", section: "when", kind: "text", sample: "6h", ofTicks: true,
        en: ["Only if: within", "How long before the tick at most; else on its day."],
        zh: ["前提时限", "距触发最多多久；否则须在当天。"],
    },
    {
        name: "only_if.wait", section: "when", kind: "text", sample: "2h", ofTicks: true,
        en: ["Only if: wait", "How long a due tick waits for that, before it is skipped."],
        zh: ["前提等待", "到期的触发最多等待多久，之后跳过。"],
    },
    {
        name: "command", section: "what", kind: "names", sample: "/usr/local/bin/backup", defines: true,
        en: ["Program and arguments", "The program and its arguments, started without a shell: $, | and > have no special meaning."],
        zh: ["程序及参数", "程序及其参数，不经过 shell 启动：$、| 和 > 没有特殊含义。"],
    },
    {
        name: "shell", section: "what", kind: "area", defines: true,
        en: ["Script", "A script for bash, or for sh where there is no bash."],
        zh: ["脚本", "由 bash 执行的脚本；没有 bash 时由 sh 执行。"],
    },
    {
        name: "http.url", section: "http", kind: "text", sample: "https://example.org/beat", defines: true, alone: true,
        en: ["URL", "The http:// or https:// address to call, instead of a program."],
        zh: ["URL", "要调用的 http:// 或 https:// 地址，代替程序。"],
    },
    {
        name: "http.method", section: "http", kind: "text", sample: "POST", defines: true,
        en: ["Method", "GET, HEAD, POST, PUT, PATCH, DELETE or OPTIONS of the HTTP request."],
        zh: ["方法", "HTTP 请求方法：GET、HEAD、POST、PUT、PATCH、DELETE 或 OPTIONS。"],
    },
    {
        name: "http.headers", section: "http", kind: "pairs", sample: "Content-Type=application/json", defines: true,
        en: ["Headers", "Headers of the HTTP request. Values with secret names are shown only with the right to define the job."],
        zh: ["请求头", "HTTP 请求头。名称表明是机密的值仅对有 define 权限的用户显示。"],
    },
    {
        name: "http.body", section: "http", kind: "area", defines: true,
        en: ["Request body", "The body of the HTTP request, shown only with the right to define the job."],
        zh: ["请求正文", "HTTP 请求正文，仅对有 define 权限的用户显示。"],
    },
    {
        name: "http.status", section: "http", kind: "names", sample: "200-299, 304", defines: true,
        en: ["Expected status", "The HTTP statuses that are a success: numbers and ranges."],
        zh: ["预期状态码", "视为成功的 HTTP 状态码：数字或范围。"],
    },
    {
        name: "http.match", section: "http", kind: "text", sample: "\"ok\":true", defines: true,
        en: ["Body must hold", "A text that the body of the HTTP answer must hold."],
        zh: ["正文须包含", "HTTP 响应正文必须包含的文本。"],
    },
    {
        name: "http.no_match", section: "http", kind: "text", sample: "error", defines: true,
        en: ["Body must not hold", "A text that the body of the HTTP answer must not hold."],
        zh: ["正文不得包含", "HTTP 响应正文不得包含的文本。"],
    },
    {
        name: "http.redirects", section: "http", kind: "number", sample: "0", defines: true,
        en: ["Redirects", "How many redirects are followed; one more is an error. 0: a redirect is an answer like any other."],
        zh: ["重定向次数", "最多跟随的重定向次数，超出即为错误。0：重定向按普通响应处理。"],
    },
    {
        name: "http.connect_timeout", section: "http", kind: "text", sample: "10s", defines: true,
        en: ["Connect timeout", "The time for name lookup, connection and TLS together."],
        zh: ["连接超时", "域名解析、连接和 TLS 握手合计的时间。"],
    },
    {
        name: "http.ca", section: "http", kind: "text", sample: "/etc/peal/ca.pem", defines: true,
        en: ["Certificate authorities", "A file on the node with the authorities, in PEM, that may have signed the server's certificate."],
        zh: ["CA 证书", "节点上的 PEM 文件，内含可签发服务器证书的 CA。"],
    },
    {
        name: "http.cert", section: "http", kind: "text", sample: "/etc/peal/client.pem", defines: true,
        en: ["Client certificate", "A file on the node with the client's certificate, in PEM."],
        zh: ["客户端证书", "节点上的客户端证书文件，PEM 格式。"],
    },
    {
        name: "http.key", section: "http", kind: "text", sample: "/etc/peal/client.key", defines: true,
        en: ["Client key", "A file on the node with the key of the client's certificate, in PEM."],
        zh: ["客户端私钥", "节点上的客户端证书私钥文件，PEM 格式。"],
    },
    {
        name: "function.program", section: "function", kind: "text", sample: "billing", defines: true, alone: true,
        en: ["Program", "The program whose function is called, instead of starting a process. It runs on the nodes of that program alone."],
        zh: ["程序", "调用该程序中的函数，代替启动进程。只在该程序的节点上运行。"],
    },
    {
        name: "function.name", section: "function", kind: "text", sample: "cleanup", defines: true,
        en: ["Function", "The name under which the program has registered the function."],
        zh: ["函数", "程序注册该函数时所用的名称。"],
    },
    {
        name: "function.digest", section: "function", kind: "text", defines: true,
        en: ["Registered definition", "The digest of the definition as the program has registered it, written by the library."],
        zh: ["注册的定义", "程序注册的定义的摘要，由库写入。"],
    },
    {
        name: "function.version", section: "function", kind: "number", sample: "0", defines: true,
        en: ["Version of the program", "The version of the program that has registered the definition, written by the library."],
        zh: ["程序版本", "注册该定义的程序版本，由库写入。"],
    },
    {
        name: "cwd", section: "what", kind: "text", sample: "/srv/app", defines: true, ofProcess: true,
        en: ["Working directory", "An absolute path; empty: the home directory of the user."],
        zh: ["工作目录", "绝对路径；留空则为运行用户的主目录。"],
    },
    {
        name: "user", section: "what", kind: "text", defines: true, ofProcess: true,
        en: ["User", "The user of the process. Needs an agent that runs as root, and a line in its allow_users, for root too."],
        zh: ["运行用户", "进程的运行用户。要求 agent 以 root 运行，且其 allow_users 中列有该用户，root 也不例外。"],
    },
    {
        name: "env", section: "what", kind: "pairs", sample: "NAME=value", defines: true,
        en: ["Environment variables", "Added to the few variables of the agent. Values with secret names are shown only with the right to define the job."],
        zh: ["环境变量", "加在 agent 自身的少数变量之上。名称表明是机密的值仅对有 define 权限的用户显示。"],
    },
    {
        name: "secrets", section: "what", kind: "names", sample: "db-password", defines: true,
        en: ["Secrets", "Secrets that the run has as variables: db-password as DB_PASSWORD, or PGPASSWORD=db-password. Headers and the body of an HTTP call have them as ${DB_PASSWORD}. Their values are masked in its output."],
        zh: ["机密", "以环境变量提供给运行的机密：db-password 对应 DB_PASSWORD，也可写成 PGPASSWORD=db-password。HTTP 调用的头和正文以 ${DB_PASSWORD} 引用。其值在输出中会被遮盖。"],
    },
    {
        name: "params", section: "what", kind: "params", sample: "day", defines: true,
        en: ["Parameters", "Values that a request for a run may choose: PEAL_PARAM_NAME in the environment, ${NAME} in the words of a command and in an HTTP call."],
        zh: ["参数", "请求运行时可以选择的值：环境变量 PEAL_PARAM_NAME，以及命令参数和 HTTP 调用中的 ${NAME}。"],
    },
    {
        name: "stdin", section: "what", kind: "area", defines: true, ofProcess: true,
        en: ["Standard input", "The text of the standard input, shown only with the right to define the job."],
        zh: ["标准输入", "标准输入的文本，仅对有 define 权限的用户显示。"],
    },
    {
        name: "umask", section: "limits", kind: "text", sample: "022", defines: true, ofProcess: true,
        en: ["Umask", "Permissions that new files do not get."],
        zh: ["Umask", "新文件不具有的权限。"],
    },
    {
        name: "nice", section: "limits", kind: "number", sample: "0", defines: true, ofProcess: true,
        en: ["Nice", "From -20, highest priority, to 19, lowest."],
        zh: ["Nice", "从 -20（优先级最高）到 19（最低）。"],
    },
    {
        name: "ionice.class", section: "limits", kind: "choice", choices: ["default", "best-effort", "idle"], defines: true, ofProcess: true, alone: true,
        en: ["I/O priority", "idle: only when nobody else needs the disk."],
        zh: ["I/O 优先级", "idle：仅在磁盘空闲时。"],
    },
    {
        name: "ionice.level", section: "limits", kind: "number", sample: "4", defines: true, ofProcess: true,
        en: ["I/O level", "0 goes first, 7 last."],
        zh: ["I/O 级别", "0 最先，7 最后。"],
    },
    {
        name: "limits.open_files", section: "limits", kind: "number", sample: "256", defines: true, ofProcess: true,
        en: ["Open files", "Open files per process."],
        zh: ["打开文件数", "单个进程可打开的文件数。"],
    },
    {
        name: "limits.processes", section: "limits", kind: "number", sample: "100", defines: true, ofProcess: true,
        en: ["Processes per user", "All processes of the job's user."],
        zh: ["每个用户的进程数", "运行用户的全部进程数。"],
    },
    {
        name: "limits.core", section: "limits", kind: "number", sample: "0", defines: true, ofProcess: true,
        en: ["Core dump size", "Size of a core dump; 0: none is written."],
        zh: ["核心转储大小", "核心转储的大小；0：不写入。"],
    },
    {
        name: "limits.memory", section: "limits", kind: "number", sample: "2GiB", defines: true, ofProcess: true,
        en: ["Memory per process", "Memory of each process."],
        zh: ["单个进程内存", "每个进程的内存。"],
    },
    {
        name: "limits.cpu_time", section: "limits", kind: "text", sample: "1h", defines: true, ofProcess: true,
        en: ["CPU time per process", "CPU time of each process."],
        zh: ["单个进程 CPU 时间", "每个进程的 CPU 时间。"],
    },
    {
        name: "limits.file_size", section: "limits", kind: "number", sample: "10GiB", defines: true, ofProcess: true,
        en: ["File size", "Size of each file that the job writes."],
        zh: ["单个文件大小", "任务写入的每个文件的大小。"],
    },
    {
        name: "limits.total_memory", section: "limits", kind: "number", sample: "512MiB", defines: true, ofProcess: true,
        en: ["Memory of the run", "Of all its processes together; a run that needs more is ended (oom)."],
        zh: ["整次运行内存", "全部进程合计；超出则终止（oom）。"],
    },
    {
        name: "limits.cpus", section: "limits", kind: "text", sample: "1.5", defines: true, ofProcess: true,
        en: ["Processors of the run", "Of all its processes together."],
        zh: ["整次运行处理器", "全部进程合计。"],
    },
    {
        name: "limits.total_processes", section: "limits", kind: "number", sample: "100", defines: true, ofProcess: true,
        en: ["Processes of the run", "With their threads."],
        zh: ["整次运行进程数", "含线程。"],
    },
    {
        name: "limits.io_weight", section: "limits", kind: "number", defines: true, ofProcess: true,
        en: ["I/O weight of the run", "Others have 100."],
        zh: ["整次运行 I/O 权重", "其他进程为 100。"],
    },
    {
        name: "overlap.policy", section: "how", kind: "choice", choices: ["skip", "allow", "queue", "replace"], alone: true,
        en: ["If the previous run is still running", "The policy for a tick while the previous run is still running."],
        zh: ["上一次仍在运行时", "上一次仍在运行时，新触发的处理策略。"],
    },
    {
        name: "overlap.queue", section: "how", kind: "number", sample: "10",
        en: ["Queue limit", "The maximum number of waiting runs with the policy queue; further ones are skipped."],
        zh: ["队列上限", "策略为 queue 时最多排队的运行数；超出的会被跳过。"],
    },
    {
        name: "overlap.at_once", section: "how", kind: "number", sample: "3",
        en: ["Runs at once", "The maximum number of runs under way with the policy allow; further ticks are skipped."],
        zh: ["同时运行数上限", "策略为 allow 时同时进行的最大运行数；超出的触发会被跳过。"],
    },
    {
        name: "catch_up.policy", section: "how", kind: "choice", choices: ["last", "skip", "all"], ofTicks: true, alone: true,
        en: ["Ticks missed while no agent ran", "Which of the ticks that were due while no agent ran are run later."],
        zh: ["没有 agent 运行而错过的触发", "没有 agent 运行期间错过的触发中，哪些补跑。"],
    },
    {
        name: "catch_up.window", section: "how", kind: "text", sample: "1d", ofTicks: true,
        en: ["Catch-up window", "Ticks older than this are missed in any case."],
        zh: ["补跑时间窗口", "早于此时长的触发一律记为错过。"],
    },
    {
        name: "catch_up.limit", section: "how", kind: "number", sample: "100", ofTicks: true,
        en: ["Catch-up limit", "The maximum number of ticks with the policy all: the newest ones."],
        zh: ["补跑次数上限", "策略为 all 时最多补跑的数量：取最近的。"],
    },
    {
        name: "timeout", section: "how", kind: "text", sample: "2h",
        en: ["Timeout", "A run that takes longer gets SIGTERM, and SIGKILL after the grace period: 90s, 1h30m."],
        zh: ["超时时间", "运行超过此时长会收到 SIGTERM，宽限期过后收到 SIGKILL：90s、1h30m。"],
    },
    {
        name: "grace", section: "how", kind: "text", sample: "10s",
        en: ["Grace period", "Time between SIGTERM and SIGKILL."],
        zh: ["宽限期", "SIGTERM 与 SIGKILL 之间的时间。"],
    },
    {
        name: "deadline", section: "how", kind: "text", sample: "6h", ofTicks: true,
        en: ["Start deadline", "A tick whose run can't start within this time is missed."],
        zh: ["启动时限", "触发后超过此时长仍无法启动，记为错过。"],
    },
    {
        name: "retries.count", section: "how", kind: "number", sample: "3", alone: true,
        en: ["Retries", "The number of further attempts at a tick whose run has failed."],
        zh: ["重试次数", "一次触发的运行失败后，最多再尝试的次数。"],
    },
    {
        name: "retries.wait", section: "how", kind: "text", sample: "10s",
        en: ["Wait before a retry", "Time between the end of an attempt and the next one."],
        zh: ["重试间隔", "一次尝试结束到下一次尝试之间的时间。"],
    },
    {
        name: "retries.backoff", section: "how", kind: "choice", choices: ["fixed", "exponential"],
        en: ["Backoff", "fixed: every wait is the same. exponential: each wait is twice as long as the one before."],
        zh: ["退避方式", "fixed：每次间隔相同。exponential：每次间隔是前一次的两倍。"],
    },
    {
        name: "retries.max_wait", section: "how", kind: "text", sample: "1h",
        en: ["Longest wait", "The upper limit of a wait with exponential backoff."],
        zh: ["最长间隔", "指数退避时间隔的上限。"],
    },
    {
        name: "retries.jitter", section: "how", kind: "number", sample: "0",
        en: ["Random part of a wait, in percent", "Each wait is longer by a random part, up to this percentage of it, so that many jobs do not retry together."],
        zh: ["随机延长（百分比）", "每次间隔随机延长，最多为其本身的该百分比，避免大量任务同时重试。"],
    },
    {
        name: "retries.on", section: "how", kind: "names", sample: "exit 75, timed_out, lost",
        en: ["Retry on", "The ends that are retried: failed, timed_out, lost, no_start, exit 75,100-120, signal KILL, no_response, http 429,500-599."],
        zh: ["哪些结果重试", "哪些结果会重试：failed、timed_out、lost、no_start、exit 75,100-120、signal KILL、no_response、http 429,500-599。"],
    },
    {
        name: "retries.within", section: "how", kind: "text", sample: "30m",
        en: ["Retry within", "No attempt starts later than this after the tick."],
        zh: ["重试时限", "触发后超过此时长不再尝试。"],
    },
    {
        name: "retries.notify", section: "how", kind: "choice", choices: ["last", "each"],
        en: ["Notify of attempts", "last: channels are notified of the last attempt alone. each: of every failed attempt."],
        zh: ["尝试的通知", "last：仅在最后一次尝试后通知。each：每次尝试失败都通知。"],
    },
    {
        name: "groups", section: "how", kind: "names", sample: "db-backup",
        en: ["Groups", "Each run needs a slot in all of these groups, whose limits an admin sets; it waits while one of them is full."],
        zh: ["并发组", "每次运行需要在所有这些并发组中各占一个名额，上限由管理员设置；任一组已满时等待。"],
    },
    {
        name: "priority", section: "how", kind: "number", sample: "10",
        en: ["Priority", "Of the runs that wait for a slot of a group, those with the highest priority go first."],
        zh: ["优先级", "等待并发组名额的运行中，优先级高的先运行。"],
    },
    {
        name: "expect.matches", section: "expect", kind: "text", sample: "^[1-9][0-9]* rows", defines: true, ofProcess: true,
        en: ["Output matches", "A pattern, as grep -E takes it, that a line of the output must match."],
        zh: ["输出须匹配", "输出中须有一行匹配该模式（同 grep -E）。"],
    },
    {
        name: "expect.not_matches", section: "expect", kind: "text", sample: "ERROR|FATAL", defines: true, ofProcess: true,
        en: ["Output does not match", "A pattern that no line of the output may match."],
        zh: ["输出不得匹配", "输出中不得有任何一行匹配该模式。"],
    },
    {
        name: "expect.exit", section: "expect", kind: "names", sample: "0, 3-5", defines: true, ofProcess: true,
        en: ["Exit codes of a success", "The exit codes that are a success: numbers and ranges."],
        zh: ["成功的退出码", "视为成功的退出码：数字或范围。"],
    },
    {
        name: "expect.file", section: "expect", kind: "text", sample: "/srv/dump.sql.gz", defines: true, ofProcess: true,
        en: ["File", "A file that must be there when the run has ended, looked at on its node as its user."],
        zh: ["文件", "运行结束时必须存在的文件，在其节点上以运行用户的身份查看。"],
    },
    {
        name: "expect.newer_than", section: "expect", kind: "text", sample: "1h", defines: true, ofProcess: true,
        en: ["Age of the file", "run: the file was changed since the run started. A duration: within that time before its end. any: whenever."],
        zh: ["文件新旧", "run：文件在运行开始之后修改过。时长：在运行结束前的这段时间内修改过。any：不限。"],
    },
    {
        name: "expect.min_bytes", section: "expect", kind: "number", sample: "1", defines: true, ofProcess: true,
        en: ["Size of the file", "The file has at least this many bytes; 0: it may be empty."],
        zh: ["文件大小", "文件至少有这么多字节；0：可以为空。"],
    },
    {
        name: "expect.min_duration", section: "expect", kind: "text", sample: "5s", defines: true, ofProcess: true,
        en: ["Shortest duration", "A run that is over sooner has not done its work."],
        zh: ["最短运行时长", "运行短于此时长即视为未完成工作。"],
    },
    {
        name: "expect.max_duration", section: "expect", kind: "text", sample: "2h", defines: true, ofProcess: true,
        en: ["Longest duration", "A run that took longer is no success; unlike timeout, it is not ended."],
        zh: ["最长运行时长", "运行长于此时长即不算成功；与 timeout 不同，不会终止运行。"],
    },
    {
        name: "expect.duration", section: "expect", kind: "choice", choices: ["any", "auto"], defines: true, ofProcess: true,
        en: ["Usual duration", "auto: both, where not given, are learned from the last 50 good runs."],
        zh: ["通常时长", "auto：未给出时根据最近 50 次成功运行学习。"],
    },
    {
        name: "where", section: "how", kind: "text", sample: "zone=eu,!gpu",
        en: ["Nodes", "Labels that a node must have: zone=eu,!gpu."],
        zh: ["节点要求", "节点必须具有的标签：zone=eu,!gpu。"],
    },
    {
        name: "spread", section: "how", kind: "text", sample: "all",
        en: ["Runs per tick", "one: on one node. all: one run on each node. A number: on so many nodes. shards 8: eight runs, each with its number in PEAL_SHARD, on any of the nodes."],
        zh: ["每次触发的运行", "one：在一个节点上运行。all：在每个节点上各运行一次。数字：在这么多个节点上运行。shards 8：分为八个分片运行，PEAL_SHARD 为分片编号，可在任意节点上运行。"],
    },
    {
        name: "rolling.at_once", section: "how", kind: "number", sample: "1", alone: true,
        en: ["Runs of a tick at once", "With spread: so many runs of a tick are under way at the same time; the others wait for their turn, in the order of the nodes' names. 0: all at once."],
        zh: ["同时进行的运行数", "配合 spread：一次触发中同时进行的运行数，其余按节点名称顺序依次等待。0：全部同时进行。"],
    },
    {
        name: "rolling.stop_on_failure", section: "how", kind: "switch",
        en: ["Stop at the first failure", "With rolling: once a run of the tick does not succeed, those that wait are skipped."],
        zh: ["失败即停止", "配合 rolling：一次触发中有运行未成功后，等待中的运行全部跳过。"],
    },
    {
        name: "place", section: "how", kind: "choice", choices: ["even", "sticky", "least_loaded"],
        en: ["Choice of node", "The node that goes first. even: by the nodes' capacities. sticky: the node of the last run, while it takes runs. least_loaded: by what is free of their capacities."],
        zh: ["节点选择", "优先由哪个节点运行。even：按节点容量分配。sticky：沿用上次运行的节点，只要它接受运行。least_loaded：按节点的空闲容量分配。"],
    },
    {
        name: "paused", section: "how", kind: "switch",
        en: ["Paused", "No runs start until the job is resumed."],
        zh: ["暂停", "恢复之前不会启动运行。"],
    },
    {
        name: "output", section: "kept", kind: "choice", choices: ["separate", "merged"], ofProcess: true,
        en: ["Output of a run", "separate: stdout and stderr are told apart. merged: they are kept in exactly the order in which they were written, as a terminal shows them, and not told apart."],
        zh: ["运行输出", "separate：区分 stdout 与 stderr。merged：完全按写入顺序保存，与终端显示一致，但不再区分两者。"],
    },
    {
        name: "linger", section: "kept", kind: "text", sample: "10s", ofProcess: true,
        en: ["Wait for background processes", "How long a run waits, after the end of its main process, for processes in the background that still have its output open."],
        zh: ["等待后台进程", "主进程结束后，后台进程仍占用输出时，运行最多等待的时间。"],
    },
    {
        name: "output_limit", section: "kept", kind: "number", sample: "1MiB",
        en: ["Output limit of a run", "So much of a run's output is kept from its beginning, and at least as much again from its end."],
        zh: ["单次运行输出上限", "每次运行的输出从开头保留这么多，从结尾至少再保留同样多。"],
    },
    {
        name: "retention.runs", section: "kept", kind: "number", sample: "1000",
        en: ["Runs to keep", "The number of runs to keep."],
        zh: ["保留的运行数", "保留的运行次数。"],
    },
    {
        name: "retention.age", section: "kept", kind: "text", sample: "90d",
        en: ["Keep runs for", "Older runs are dropped."],
        zh: ["保留时长", "早于此时长的运行会被清除。"],
    },
    {
        name: "retention.bytes", section: "kept", kind: "number", sample: "100MiB",
        en: ["Output of all runs", "The oldest runs with output are dropped until the output of all fits."],
        zh: ["全部运行的输出上限", "清除最早的有输出的运行，直到全部输出不超过此大小。"],
    },
    {
        name: "delete_after", section: "kept", kind: "text", sample: "1d",
        en: ["Delete after", "The job is deleted this long after its last change, once no run of it is under way. It can be restored as any deleted job."],
        zh: ["自动删除", "距最后一次更改超过此时长且没有运行在进行时，任务会被删除；可像其他已删除的任务一样恢复。"],
    },
    {
        name: "notify.to", section: "notify", kind: "names", sample: "ops, billing", alone: true,
        en: ["Notify", "The channels to notify; an empty list: none."],
        zh: ["通知对象", "接收通知的渠道；空列表：不通知。"],
    },
    {
        name: "notify.on", section: "notify", kind: "names", sample: "failure, lost, recovery",
        en: ["Notify on", "The events to notify on."],
        zh: ["通知事件", "通知哪些事件。"],
    },
    {
        name: "notify.late", section: "notify", kind: "text", sample: "5m",
        en: ["Late after", "A start delay, without jitter, beyond this is late. Adds late to the events."],
        zh: ["延迟阈值", "启动延迟（不含抖动）超过此时长即为延迟。会把 late 加入通知事件。"],
    },
    {
        name: "notify.too_long", section: "notify", kind: "text", sample: "2h",
        en: ["Too long", "A run that is still under way after this is told of, once. auto: learned from the last 50 good runs. Adds too_long to the events."],
        zh: ["运行过长", "运行超过此时长仍未结束时通知一次。auto：根据最近 50 次成功运行学习。会把 too_long 加入通知事件。"],
    },
    {
        name: "notify.too_short", section: "notify", kind: "text", sample: "5s",
        en: ["Too short", "A success that took less is told of. auto: learned likewise. Adds too_short to the events."],
        zh: ["运行过短", "成功的运行短于此时长时通知。auto：同样通过学习得出。会把 too_short 加入通知事件。"],
    },
    {
        name: "notify.success_by", section: "notify", kind: "text", sample: "06:00",
        en: ["Success by", "A time of day in the job's zone: if a tick was due since the same time of the day before, and none has succeeded, that is told of. Adds overdue to the events."],
        zh: ["须在此时间前成功", "任务时区内的一天中的时间：自前一天同一时间起有触发而没有成功时通知。会把 overdue 加入通知事件。"],
    },
    {
        name: "notify.success_within", section: "notify", kind: "text", sample: "26h",
        en: ["Success within", "The longest time from one success to the next; then that is told of, once. Adds overdue to the events."],
        zh: ["成功间隔上限", "两次成功之间的最长间隔，超过时通知一次。会把 overdue 加入通知事件。"],
    },
    {
        name: "notify.title", section: "notify", kind: "text",
        en: ["Title of messages", "A template, instead of the channel's."],
        zh: ["消息标题", "模板，代替渠道的标题。"],
    },
    {
        name: "notify.text", section: "notify", kind: "text",
        en: ["Text of messages", "A template, instead of the channel's."],
        zh: ["消息正文", "模板，代替渠道的正文。"],
    },
    {
        name: "ping", section: "notify", kind: "text", sample: "https://hc-ping.com/UUID", defines: true,
        en: ["Ping", "An http:// or https:// address for a service outside that misses runs: POST to it with /start, without, or with the exit code or /fail behind it. Shown only with the right to define the job."],
        zh: ["心跳地址", "外部监控服务的 http:// 或 https:// 地址：启动时向其 /start、成功时向其本身、失败时向其 /退出码 或 /fail 发送 POST。仅对有 define 权限的用户显示。"],
    },
    {
        name: "labels", section: "kept", kind: "pairs", sample: "team=db",
        en: ["Labels", "Labels of the job, to find it by. Names of 1 to 63 letters, digits and . _ / -; values up to 255 bytes."],
        zh: ["标签", "任务的标签，用于查找。名称为 1 到 63 个字母、数字和 . _ / -；值最长 255 字节。"],
    },
    {
        name: "owner", section: "kept", kind: "text", sample: "team@example.org",
        en: ["Owner", "Contact for this job."],
        zh: ["负责人", "任务的联系人。"],
    },
    {
        name: "notes", section: "kept", kind: "area",
        en: ["Notes", "Purpose, runbook, known problems."],
        zh: ["备注", "用途、处理手册、已知问题等。"],
    },
    {
        name: "steps", section: "steps", kind: "steps", defines: true,
        en: ["Steps", "What a workflow runs instead of a command: steps that wait for each other, each of them a command, a script, an HTTP call, a function, a job or a workflow."],
        zh: ["步骤", "工作流代替命令运行的内容：按先后关系执行的步骤，每一步是命令、脚本、HTTP 调用、函数、任务或工作流。"],
    },
    {
        name: "finally", section: "steps", kind: "steps", defines: true,
        en: ["Final steps", "Steps that run after all others, however those have ended."],
        zh: ["收尾步骤", "在其他步骤全部结束之后运行的步骤，无论其结果如何。"],
    },
];
