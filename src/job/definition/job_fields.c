#include "definition/job_fields.h"

#include <string.h>

#include "definition/job_http.h"
#include "definition/job_internal.h"
#include "definition/retry.h"
#include "definition/selector.h"
#include "expect/job_expect.h"
#include "expect/message_template.h"
#include "expect/notify_terms.h"
#include "function/job_function.h"
#include "function/run_limits.h"
#include "params/secret_use.h"
#include "run.h"
#include "workflow/steps.h"

#define AT(member)  .offset = offsetof(struct job, member)
#define DAY_S       INT64_C(86400)
#define LONG_S      (36500 * DAY_S)
#define SIZE_LIMIT  (INT64_C(1) << 50)
#define COUNT_LIMIT 1000000000

static const char label_letters[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._/-";

static const char *const kind_names[] = {"job", "workflow", NULL};

static const char *label_complaint(const char *name)
{
    size_t length = strlen(name);
    if (length < 1 || length > 63)
        return "a label's name has 1 to 63 characters";
    if (name[strspn(name, label_letters)])
        return "a label's name may hold letters, digits and . _ / - only";
    return NULL;
}

static const char *variable_complaint(const char *name)
{
    if (!*name)
        return "the name of a variable is empty";
    return strchr(name, '=') ? "the name of a variable can't hold '='" : NULL;
}

static const char *path_complaint(const char *path)
{
    return *path == '/' ? NULL : "must be an absolute path, like /srv/app";
}

static const char *user_complaint(const char *user)
{
    return user[strcspn(user, ":/ \t\r\n")] ? "is not the name of a user" : NULL;
}

static const char *ping_complaint(const char *url)
{
    if (strchr(url, '$') || strchr(url, '#'))
        return "holds $ or #, which an address for pings can't have";
    return http_url_complaint(url);
}

static const struct field limit_fields[] = {
    {"open_files", FIELD_INT64, AT(limits.open_files), 0, COUNT_LIMIT, -1,
     ABOUT(SECTION_LIMITS, "Open files", "打开文件数", "Open files per process.",
           "单个进程可打开的文件数。", .unset = "not limited", .sample = "256")},
    {"processes", FIELD_INT64, AT(limits.processes), 0, COUNT_LIMIT, -1,
     ABOUT(SECTION_LIMITS, "Processes per user", "每个用户的进程数",
           "All processes of the job's user.", "运行用户的全部进程数。", .unset = "not limited",
           .sample = "100")},
    {"core", FIELD_SIZE, AT(limits.core_bytes), 0, SIZE_LIMIT, -1,
     ABOUT(SECTION_LIMITS, "Core dump size", "核心转储大小",
           "Size of a core dump; 0: none is written.", "核心转储的大小；0：不写入。",
           .unset = "not limited", .sample = "0")},
    {"memory", FIELD_SIZE, AT(limits.memory_bytes), 0, SIZE_LIMIT, -1,
     ABOUT(SECTION_LIMITS, "Memory per process", "单个进程内存", "Memory of each process.",
           "每个进程的内存。", .unset = "not limited", .sample = "2GiB")},
    {"cpu_time", FIELD_DURATION, AT(limits.cpu_s), 1, LONG_S, -1,
     ABOUT(SECTION_LIMITS, "CPU time per process", "单个进程 CPU 时间", "CPU time of each process.",
           "每个进程的 CPU 时间。", .unset = "not limited", .sample = "1h")},
    {"file_size", FIELD_SIZE, AT(limits.file_bytes), 0, SIZE_LIMIT, -1,
     ABOUT(SECTION_LIMITS, "File size", "单个文件大小", "Size of each file that the job writes.",
           "任务写入的每个文件的大小。", .unset = "not limited", .sample = "10GiB")},
    {"total_memory", FIELD_SIZE, AT(limits.total_memory_bytes), TOTAL_MEMORY_MIN, SIZE_LIMIT, -1,
     ABOUT(SECTION_LIMITS, "Memory of the run", "整次运行内存",
           "Of all its processes together; a run that needs more is ended (oom).",
           "全部进程合计；超出则终止（oom）。", .unset = "not limited", .sample = "512MiB",
           .see = "#limits-of-a-whole-run", .option = "memory", .value = "SIZE")},
    {"cpus", FIELD_TEXT, AT(limits.cpus), 1, 40, .complain = limit_cpus_complaint, .numbers = true,
     ABOUT(SECTION_LIMITS, "Processors of the run", "整次运行处理器",
           "Of all its processes together.", "全部进程合计。", .unset = "not limited",
           .sample = "1.5", .see = "#limits-of-a-whole-run", .option = "cpus", .value = "N")},
    {"total_processes", FIELD_INT64, AT(limits.total_processes), 1, TOTAL_PROCESSES_MAX, -1,
     ABOUT(SECTION_LIMITS, "Processes of the run", "整次运行进程数", "With their threads.",
           "含线程。", .unset = "not limited", .sample = "100", .see = "#limits-of-a-whole-run")},
    {"io_weight", FIELD_INT64, AT(limits.io_weight), 1, 10000, -1,
     ABOUT(SECTION_LIMITS, "I/O weight of the run", "整次运行 I/O 权重", "Others have 100.",
           "其他进程为 100。", .unset = "100", .see = "#limits-of-a-whole-run")},
    {0},
};

static const char *const ionice_names[] = {"default", "best-effort", "idle", NULL};

static const struct field ionice_fields[] = {
    {"class", FIELD_CHOICE, AT(ionice.class), .initial = IONICE_DEFAULT, .words = ionice_names,
     .alone = true,
     ABOUT(SECTION_LIMITS, "I/O priority", "I/O 优先级",
           "idle: only when nobody else needs the disk.", "idle：仅在磁盘空闲时。",
           .see = "#limits-of-a-process", .option = "ionice", .value = "CLASS")},
    {"level", FIELD_INT, AT(ionice.level), 0, IONICE_LEVELS - 1, 4,
     ABOUT(SECTION_LIMITS, "I/O level", "I/O 级别", "0 goes first, 7 last.", "0 最先，7 最后。",
           .see = "#limits-of-a-process")},
    {0},
};

static const struct field http_fields[] = {
    {"url", FIELD_TEXT, AT(http.url), 1, 8192, .complain = http_url_complaint, .alone = true,
     ABOUT(SECTION_HTTP, "URL", "URL",
           "The http:// or https:// address to call, instead of a program.",
           "要调用的 http:// 或 https:// 地址，代替程序。", .unset = "none",
           .sample = "https://example.org/beat", .see = "#http-calls", .option = "http",
           .value = "URL")},
    {"method", FIELD_TEXT, AT(http.method), 1, 16, .complain = http_method_complaint,
     ABOUT(SECTION_HTTP, "Method", "方法",
           "GET, HEAD, POST, PUT, PATCH, DELETE or OPTIONS of the HTTP request.",
           "HTTP 请求方法：GET、HEAD、POST、PUT、PATCH、DELETE 或 OPTIONS。",
           .unset = "GET, or POST with a body", .sample = "POST", .see = "#http-calls",
           .option = "method", .value = "M")},
    {"headers", FIELD_PAIRS, AT(http.headers), 0, 8192, .complain = http_header_complaint,
     .secret = true,
     ABOUT(SECTION_HTTP, "Headers", "请求头",
           "Headers of the HTTP request. Values with secret names are shown only with the right to "
           "define the job.",
           "HTTP 请求头。名称表明是机密的值仅对有 define 权限的用户显示。", .unset = "none",
           .sample = "Content-Type=application/json", .see = "#http-calls", .option = "header",
           .value = "K=V")},
    {"body", FIELD_TEXT, AT(http.body), 0, 1024 * 1024, .secret = true,
     ABOUT(SECTION_HTTP, "Request body", "请求正文",
           "The body of the HTTP request, shown only with the right to define the job.",
           "HTTP 请求正文，仅对有 define 权限的用户显示。", .unset = "none", .see = "#http-calls",
           .option = "body", .value = "TEXT")},
    {"status", FIELD_NAMES, AT(http.status), 1, 20, .complain = http_status_complaint,
     .numbers = true,
     ABOUT(SECTION_HTTP, "Expected status", "预期状态码",
           "The HTTP statuses that are a success: numbers and ranges.",
           "视为成功的 HTTP 状态码：数字或范围。", .unset = "200-299", .sample = "200-299, 304",
           .see = "#http-calls", .option = "status", .value = "N")},
    {"match", FIELD_TEXT, AT(http.match), 1, 1024,
     ABOUT(SECTION_HTTP, "Body must hold", "正文须包含",
           "A text that the body of the HTTP answer must hold.", "HTTP 响应正文必须包含的文本。",
           .unset = "not asked", .sample = "\"ok\":true", .see = "#http-calls", .option = "match",
           .value = "TEXT")},
    {"no_match", FIELD_TEXT, AT(http.no_match), 1, 1024,
     ABOUT(SECTION_HTTP, "Body must not hold", "正文不得包含",
           "A text that the body of the HTTP answer must not hold.",
           "HTTP 响应正文不得包含的文本。", .unset = "not asked", .sample = "error",
           .see = "#http-calls")},
    {"redirects", FIELD_INT, AT(http.redirects), 0, 20,
     ABOUT(SECTION_HTTP, "Redirects", "重定向次数",
           "How many redirects are followed; one more is an error. 0: a redirect is an answer like "
           "any other.",
           "最多跟随的重定向次数，超出即为错误。0：重定向按普通响应处理。", .see = "#http-calls")},
    {"connect_timeout", FIELD_DURATION, AT(http.connect_s), 1, 600, 10,
     ABOUT(SECTION_HTTP, "Connect timeout", "连接超时",
           "The time for name lookup, connection and TLS together.",
           "域名解析、连接和 TLS 握手合计的时间。", .see = "#http-calls")},
    {"ca", FIELD_TEXT, AT(http.ca), 1, 4095, .complain = path_complaint,
     ABOUT(SECTION_HTTP, "Certificate authorities", "CA 证书",
           "A file on the node with the authorities, in PEM, that may have signed the server's "
           "certificate.",
           "节点上的 PEM 文件，内含可签发服务器证书的 CA。", .unset = "the node's authorities",
           .sample = "/etc/peal/ca.pem", .see = "#http-calls")},
    {"cert", FIELD_TEXT, AT(http.cert), 1, 4095, .complain = path_complaint,
     ABOUT(SECTION_HTTP, "Client certificate", "客户端证书",
           "A file on the node with the client's certificate, in PEM.",
           "节点上的客户端证书文件，PEM 格式。", .unset = "none", .sample = "/etc/peal/client.pem",
           .see = "#http-calls")},
    {"key", FIELD_TEXT, AT(http.key), 1, 4095, .complain = path_complaint,
     ABOUT(SECTION_HTTP, "Client key", "客户端私钥",
           "A file on the node with the key of the client's certificate, in PEM.",
           "节点上的客户端证书私钥文件，PEM 格式。", .unset = "in the file of cert",
           .sample = "/etc/peal/client.key", .see = "#http-calls")},
    {0},
};

static const char *digest_complaint(const char *digest)
{
    return digest[strspn(digest, "0123456789abcdef")] ? "is not a digest" : NULL;
}

static const struct field function_fields[] = {
    {"program", FIELD_TEXT, AT(function.program), 1, PROGRAM_MAX, .complain = program_complaint,
     .alone = true,
     ABOUT(SECTION_FUNCTION, "Program", "程序",
           "The program whose function is called, instead of starting a process. It runs on the "
           "nodes of that program alone.",
           "调用该程序中的函数，代替启动进程。只在该程序的节点上运行。", .unset = "none",
           .sample = "billing", .see = "#functions-of-a-program")},
    {"name", FIELD_TEXT, AT(function.name), 1, JOB_NAME_SIZE - 1, .complain = job_name_complaint,
     ABOUT(SECTION_FUNCTION, "Function", "函数",
           "The name under which the program has registered the function.",
           "程序注册该函数时所用的名称。", .unset = "the job's name", .sample = "cleanup",
           .see = "#functions-of-a-program")},
    {"digest", FIELD_TEXT, AT(function.digest), 1, 64, .complain = digest_complaint,
     ABOUT(SECTION_FUNCTION, "Registered definition", "注册的定义",
           "The digest of the definition as the program has registered it, written by the library.",
           "程序注册的定义的摘要，由库写入。", .unset = "none", .see = "#functions-of-a-program")},
    {"version", FIELD_INT64, AT(function.version), 0, COUNT_LIMIT,
     ABOUT(SECTION_FUNCTION, "Version of the program", "程序版本",
           "The version of the program that has registered the definition, written by the library.",
           "注册该定义的程序版本，由库写入。", .see = "#functions-of-a-program")},
    {0},
};

static const struct field overlap_fields[] = {
    {"policy", FIELD_CHOICE, AT(overlap), .initial = OVERLAP_SKIP, .words = overlap_names,
     .alone = true,
     ABOUT(SECTION_HOW, "If the previous run is still running", "上一次仍在运行时",
           "The policy for a tick while the previous run is still running.",
           "上一次仍在运行时，新触发的处理策略。", .see = "#overlap", .option = "overlap",
           .value = "P")},
    {"queue", FIELD_INT, AT(queue_limit), 1, 10000, 10,
     ABOUT(SECTION_HOW, "Queue limit", "队列上限",
           "The maximum number of waiting runs with the policy queue; further ones are skipped.",
           "策略为 queue 时最多排队的运行数；超出的会被跳过。", .see = "#overlap")},
    {"at_once", FIELD_INT, AT(overlap_at_once), 0, 10000,
     ABOUT(SECTION_HOW, "Runs at once", "同时运行数上限",
           "The maximum number of runs under way with the policy allow; further ticks are skipped.",
           "策略为 allow 时同时进行的最大运行数；超出的触发会被跳过。", .unset = "any number",
           .sample = "3", .see = "#overlap", .option = "at-once", .value = "N")},
    {0},
};

static const struct field catch_up_fields[] = {
    {"policy", FIELD_CHOICE, AT(catch_up), .initial = CATCH_UP_LAST, .words = catch_up_names,
     .alone = true,
     ABOUT(SECTION_HOW, "Ticks missed while no agent ran", "没有 agent 运行而错过的触发",
           "Which of the ticks that were due while no agent ran are run later.",
           "没有 agent 运行期间错过的触发中，哪些补跑。", .see = "#catching-up",
           .option = "catch-up", .value = "P")},
    {"window", FIELD_DURATION, AT(catch_up_window_s), 0, LONG_S, DAY_S,
     ABOUT(SECTION_HOW, "Catch-up window", "补跑时间窗口",
           "Ticks older than this are missed in any case.", "早于此时长的触发一律记为错过。",
           .see = "#catching-up")},
    {"limit", FIELD_INT, AT(catch_up_limit), 1, 10000, 100,
     ABOUT(SECTION_HOW, "Catch-up limit", "补跑次数上限",
           "The maximum number of ticks with the policy all: the newest ones.",
           "策略为 all 时最多补跑的数量：取最近的。", .see = "#catching-up")},
    {0},
};

static const struct field retry_fields[] = {
    {"count", FIELD_INT, AT(retries.count), 0, 100, .alone = true,
     ABOUT(SECTION_HOW, "Retries", "重试次数",
           "The number of further attempts at a tick whose run has failed.",
           "一次触发的运行失败后，最多再尝试的次数。", .sample = "3", .see = "#retries",
           .option = "retries", .value = "N")},
    {"wait", FIELD_DURATION, AT(retries.wait_s), 0, DAY_S, 10,
     ABOUT(SECTION_HOW, "Wait before a retry", "重试间隔",
           "Time between the end of an attempt and the next one.",
           "一次尝试结束到下一次尝试之间的时间。", .see = "#retries", .option = "retry-wait",
           .value = "D")},
    {"backoff", FIELD_CHOICE, AT(retries.backoff), .initial = BACKOFF_FIXED,
     .words = retry_backoff_names,
     ABOUT(SECTION_HOW, "Backoff", "退避方式",
           "fixed: every wait is the same. exponential: each wait is twice as long as the one "
           "before.",
           "fixed：每次间隔相同。exponential：每次间隔是前一次的两倍。", .see = "#retries")},
    {"max_wait", FIELD_DURATION, AT(retries.max_wait_s), 1, LONG_S, 3600,
     ABOUT(SECTION_HOW, "Longest wait", "最长间隔",
           "The upper limit of a wait with exponential backoff.", "指数退避时间隔的上限。",
           .see = "#retries")},
    {"jitter", FIELD_INT, AT(retries.jitter_percent), 0, 100,
     ABOUT(SECTION_HOW, "Random part of a wait, in percent", "随机延长（百分比）",
           "Each wait is longer by a random part, up to this percentage of it, so that many jobs "
           "do not retry together.",
           "每次间隔随机延长，最多为其本身的该百分比，避免大量任务同时重试。", .see = "#retries")},
    {"on", FIELD_NAMES, AT(retries.on), 0, 20, .complain = retry_on_complaint,
     ABOUT(SECTION_HOW, "Retry on", "哪些结果重试",
           "The ends that are retried: failed, timed_out, lost, no_start, exit 75,100-120, signal "
           "KILL, no_response, http 429,500-599.",
           "哪些结果会重试：failed、timed_out、lost、no_start、exit 75,100-120、signal "
           "KILL、no_response、http 429,500-599。",
           .unset = "failed, timed_out", .sample = "exit 75, timed_out, lost", .see = "#retries",
           .option = "retry-on", .value = "END")},
    {"within", FIELD_DURATION, AT(retries.within_s), 0, LONG_S,
     ABOUT(SECTION_HOW, "Retry within", "重试时限",
           "No attempt starts later than this after the tick.", "触发后超过此时长不再尝试。",
           .unset = "no limit", .sample = "30m", .see = "#retries")},
    {"notify", FIELD_CHOICE, AT(retries.notify), .initial = RETRY_NOTIFY_LAST,
     .words = retry_notify_names,
     ABOUT(SECTION_HOW, "Notify of attempts", "尝试的通知",
           "last: channels are notified of the last attempt alone. each: of every failed attempt.",
           "last：仅在最后一次尝试后通知。each：每次尝试失败都通知。", .see = "#retries")},
    {0},
};

static const struct field expect_fields[] = {
    {"matches", FIELD_TEXT, AT(expect.matches), 1, EXPECT_PATTERN_MAX,
     ABOUT(SECTION_EXPECT, "Output matches", "输出须匹配",
           "A pattern, as grep -E takes it, that a line of the output must match.",
           "输出中须有一行匹配该模式（同 grep -E）。", .unset = "not asked",
           .sample = "^[1-9][0-9]* rows", .see = "#what-a-run-must-show", .option = "expect-output",
           .value = "RE")},
    {"not_matches", FIELD_TEXT, AT(expect.not_matches), 1, EXPECT_PATTERN_MAX,
     ABOUT(SECTION_EXPECT, "Output does not match", "输出不得匹配",
           "A pattern that no line of the output may match.", "输出中不得有任何一行匹配该模式。",
           .unset = "not asked", .sample = "ERROR|FATAL", .see = "#what-a-run-must-show",
           .option = "expect-no-output", .value = "RE")},
    {"exit", FIELD_NAMES, AT(expect.exit), 1, EXPECT_EXITS_MAX, .complain = expect_exit_complaint,
     .numbers = true,
     ABOUT(SECTION_EXPECT, "Exit codes of a success", "成功的退出码",
           "The exit codes that are a success: numbers and ranges.",
           "视为成功的退出码：数字或范围。", .unset = "0", .sample = "0, 3-5",
           .see = "#what-a-run-must-show", .option = "expect-exit", .value = "N")},
    {"file", FIELD_TEXT, AT(expect.file), 1, 4095, .complain = path_complaint,
     ABOUT(SECTION_EXPECT, "File", "文件",
           "A file that must be there when the run has ended, looked at on its node as its user.",
           "运行结束时必须存在的文件，在其节点上以运行用户的身份查看。", .unset = "none",
           .sample = "/srv/dump.sql.gz", .see = "#what-a-run-must-show", .option = "expect-file",
           .value = "PATH")},
    {"newer_than", FIELD_TEXT, AT(expect.newer_than), 1, 40, .complain = expect_newer_complaint,
     ABOUT(SECTION_EXPECT, "Age of the file", "文件新旧",
           "run: the file was changed since the run started. A duration: within that time before "
           "its end. any: whenever.",
           "run：文件在运行开始之后修改过。时长：在运行结束前的这段时间内修改过。any：不限。",
           .unset = "run", .sample = "1h", .see = "#what-a-run-must-show")},
    {"min_bytes", FIELD_SIZE, AT(expect.min_bytes), 0, SIZE_LIMIT, 1,
     ABOUT(SECTION_EXPECT, "Size of the file", "文件大小",
           "The file has at least this many bytes; 0: it may be empty.",
           "文件至少有这么多字节；0：可以为空。", .see = "#what-a-run-must-show")},
    {"min_duration", FIELD_DURATION, AT(expect.min_s), 0, LONG_S,
     ABOUT(SECTION_EXPECT, "Shortest duration", "最短运行时长",
           "A run that is over sooner has not done its work.", "运行短于此时长即视为未完成工作。",
           .unset = "not asked", .sample = "5s", .see = "#what-a-run-must-show")},
    {"max_duration", FIELD_DURATION, AT(expect.max_s), 0, LONG_S,
     ABOUT(SECTION_EXPECT, "Longest duration", "最长运行时长",
           "A run that took longer is no success; unlike timeout, it is not ended.",
           "运行长于此时长即不算成功；与 timeout 不同，不会终止运行。", .unset = "not asked",
           .sample = "2h", .see = "#what-a-run-must-show")},
    {"duration", FIELD_CHOICE, AT(expect.duration), .words = expect_duration_names,
     ABOUT(SECTION_EXPECT, "Usual duration", "通常时长",
           "auto: both, where not given, are learned from the last 50 good runs.",
           "auto：未给出时根据最近 50 次成功运行学习。", .see = "#what-a-run-must-show")},
    {0},
};

static const struct field rolling_fields[] = {
    {"at_once", FIELD_INT, AT(rolling.at_once), 0, RUN_PARTS_MAX, .alone = true,
     ABOUT(SECTION_HOW, "Runs of a tick at once", "同时进行的运行数",
           "With spread: so many runs of a tick are under way at the same time; the others wait "
           "for their turn, in the order of the nodes' names. 0: all at once.",
           "配合 spread：一次触发中同时进行的运行数，其余按节点名称顺序依次等待。0：全部同时进行。",
           .unset = "all of them", .sample = "1", .see = "#one-node-after-the-other",
           .option = "rolling", .value = "N")},
    {"stop_on_failure", FIELD_BOOL, AT(rolling.stop_on_failure),
     ABOUT(SECTION_HOW, "Stop at the first failure", "失败即停止",
           "With rolling: once a run of the tick does not succeed, those that wait are skipped.",
           "配合 rolling：一次触发中有运行未成功后，等待中的运行全部跳过。",
           .see = "#one-node-after-the-other", .option = "stop-on-failure")},
    {0},
};

static const struct field retention_fields[] = {
    {"runs", FIELD_INT64, AT(keep_runs), 0, COUNT_LIMIT,
     ABOUT(SECTION_KEPT, "Runs to keep", "保留的运行数", "The number of runs to keep.",
           "保留的运行次数。", .unset = "the agent's setting", .sample = "1000")},
    {"age", FIELD_DURATION, AT(keep_s), 0, LONG_S,
     ABOUT(SECTION_KEPT, "Keep runs for", "保留时长", "Older runs are dropped.",
           "早于此时长的运行会被清除。", .unset = "the agent's setting", .sample = "90d")},
    {"bytes", FIELD_SIZE, AT(keep_bytes), 0, SIZE_LIMIT,
     ABOUT(SECTION_KEPT, "Output of all runs", "全部运行的输出上限",
           "The oldest runs with output are dropped until the output of all fits.",
           "清除最早的有输出的运行，直到全部输出不超过此大小。", .unset = "the agent's setting",
           .sample = "100MiB")},
    {0},
};

static const struct field notify_fields[] = {
    {"to", FIELD_NAMES, AT(notify.to), 0, 20, .complain = channel_name_complaint, .alone = true,
     ABOUT(SECTION_NOTIFY, "Notify", "通知对象", "The channels to notify; an empty list: none.",
           "接收通知的渠道；空列表：不通知。", .unset = "the channels with default: true",
           .sample = "ops, billing", .see = "NOTIFY.md", .option = "notify", .value = "NAME")},
    {"on", FIELD_SET, AT(notify.on), .words = notify_event_names,
     ABOUT(SECTION_NOTIFY, "Notify on", "通知事件", "The events to notify on.", "通知哪些事件。",
           .unset = "the channel's events, else failure, lost and recovery",
           .sample = "failure, lost, recovery", .see = "#who-is-told")},
    {"late", FIELD_DURATION, AT(notify.late_s), 1, LONG_S,
     ABOUT(SECTION_NOTIFY, "Late after", "延迟阈值",
           "A start delay, without jitter, beyond this is late. Adds late to the events.",
           "启动延迟（不含抖动）超过此时长即为延迟。会把 late 加入通知事件。",
           .unset = "1m where on names late", .sample = "5m", .see = "#who-is-told")},
    {"too_long", FIELD_TEXT, AT(notify.too_long), 1, 40, .complain = notify_limit_complaint,
     ABOUT(SECTION_NOTIFY, "Too long", "运行过长",
           "A run that is still under way after this is told of, once. auto: learned from the last "
           "50 good runs. Adds too_long to the events.",
           "运行超过此时长仍未结束时通知一次。auto：根据最近 50 次成功运行学习。会把 too_long "
           "加入通知事件。",
           .unset = "not asked", .sample = "2h", .see = "NOTIFY.md#lengths-and-deadlines")},
    {"too_short", FIELD_TEXT, AT(notify.too_short), 1, 40, .complain = notify_limit_complaint,
     ABOUT(SECTION_NOTIFY, "Too short", "运行过短",
           "A success that took less is told of. auto: learned likewise. Adds too_short to the "
           "events.",
           "成功的运行短于此时长时通知。auto：同样通过学习得出。会把 too_short 加入通知事件。",
           .unset = "not asked", .sample = "5s", .see = "NOTIFY.md#lengths-and-deadlines")},
    {"success_by", FIELD_TEXT, AT(notify.success_by), 1, 5, .complain = notify_clock_complaint,
     ABOUT(SECTION_NOTIFY, "Success by", "须在此时间前成功",
           "A time of day in the job's zone: if a tick was due since the same time of the day "
           "before, and none has succeeded, that is told of. Adds overdue to the events.",
           "任务时区内的一天中的时间：自前一天同一时间起有触发而没有成功时通知。会把 overdue "
           "加入通知事件。",
           .unset = "not asked", .sample = "06:00", .see = "NOTIFY.md#lengths-and-deadlines")},
    {"success_within", FIELD_DURATION, AT(notify.success_within_s), 1, LONG_S,
     ABOUT(SECTION_NOTIFY, "Success within", "成功间隔上限",
           "The longest time from one success to the next; then that is told of, once. Adds "
           "overdue to the events.",
           "两次成功之间的最长间隔，超过时通知一次。会把 overdue 加入通知事件。",
           .unset = "not asked", .sample = "26h", .see = "NOTIFY.md#lengths-and-deadlines")},
    {"title", FIELD_TEXT, AT(notify.title), 1, MESSAGE_TITLE_MAX,
     .complain = message_title_complaint,
     ABOUT(SECTION_NOTIFY, "Title of messages", "消息标题", "A template, instead of the channel's.",
           "模板，代替渠道的标题。", .unset = "the channel's", .see = "NOTIFY.md#templates")},
    {"text", FIELD_TEXT, AT(notify.text), 1, MESSAGE_TEXT_MAX,
     ABOUT(SECTION_NOTIFY, "Text of messages", "消息正文", "A template, instead of the channel's.",
           "模板，代替渠道的正文。", .unset = "the channel's", .see = "NOTIFY.md#templates")},
    {0},
};

static const struct field only_if_fields[] = {
    {"jobs", FIELD_NAMES, AT(only_if.jobs), 1, ONLY_IF_MAX, .complain = job_name_complaint,
     .alone = true,
     ABOUT(SECTION_WHEN, "Only if", "前提任务",
           "A tick runs only if each of these jobs has ended so before; else it is skipped.",
           "仅当这些任务此前都已这样结束时，触发才会运行；否则跳过。", .unset = "no condition",
           .sample = "etl/load", .see = "#only-if", .option = "only-if", .value = "JOB")},
    {"on", FIELD_CHOICE, AT(only_if.on), .initial = AFTER_SUCCESS, .words = after_on_names,
     ABOUT(SECTION_WHEN, "Only if: end", "前提结果",
           "How they have to have ended. success: once since then is enough.",
           "它们须以何种结果结束。success：此后成功过一次即可。", .see = "#only-if",
           .option = "only-if-on", .value = "END")},
    {"within", FIELD_DURATION, AT(only_if.within_s), 0, LONG_S,
     ABOUT(SECTION_WHEN, "Only if: within", "前提时限",
           "How long before the tick at most; else on its day.", "距触发最多多久；否则须在当天。",
           .unset = "since midnight", .sample = "6h", .see = "#only-if", .option = "only-if-within",
           .value = "D")},
    {"wait", FIELD_DURATION, AT(only_if.wait_s), 0, LONG_S,
     ABOUT(SECTION_WHEN, "Only if: wait", "前提等待",
           "How long a due tick waits for that, before it is skipped.",
           "到期的触发最多等待多久，之后跳过。", .unset = "not at all", .sample = "2h",
           .see = "#only-if", .option = "only-if-wait", .value = "D")},
    {0},
};

const struct field job_fields[] = {
    {"uid", FIELD_ID, AT(uid), .meta = true},
    {"revision", FIELD_INT64, AT(revision), 0, INT64_MAX, .meta = true},
    {"kind", FIELD_KIND, AT(kind), .words = kind_names, .also = "type",
     ABOUT(SECTION_NAME, "Kind", "类型",
           "workflow: a job with steps. It may be left out where steps are given.",
           "workflow：由步骤组成的任务；给出 steps 时可省略。", .unset = "job",
           .see = "WORKFLOWS.md")},
    {"name", FIELD_TEXT, AT(name), 0, INT64_MAX, .complain = job_name_complaint,
     ABOUT(SECTION_NAME, "Name", "名称",
           "Letters and digits of any script and . _ / -; slashes form groups, as in "
           "billing/invoices.",
           "可使用中文等任何文字的字母、数字和 . _ / -；斜杠用于分组，如 billing/invoices。",
           .unset = "required", .sample = "billing/invoices")},
    {"schedule", FIELD_SCHEDULE, AT(schedules), .of_ticks = true, .moves_ticks = true,
     .also = "cron when",
     ABOUT(SECTION_WHEN, "Schedule", "计划",
           "Cron, like 30 2 * * *, or @daily, @every 90s, @after 10m, @manual. H picks a time that "
           "differs from job to job.",
           "cron 表达式，如 30 2 * * *，或 @daily、@every 90s、@after 10m、@manual。H "
           "会为每个任务选取不同的时间，以错开负载。",
           .unset = "required, or schedules, or after", .sample = "30 2 * * *",
           .see = "SCHEDULES.md")},
    {"schedules", FIELD_SCHEDULES, AT(schedules), 1, JOB_SCHEDULES_MAX, .of_ticks = true,
     .moves_ticks = true,
     ABOUT(SECTION_WHEN, "Schedules", "多个计划",
           "The job is due whenever any of them is, once per instant.",
           "其中任意一个触发时任务即触发，同一时刻只触发一次。", .unset = "none",
           .see = "SCHEDULES.md")},
    {"after", FIELD_AFTER, AT(after), 1, JOB_AFTER_MAX, .moves_ticks = true,
     .also = "depends_on needs parent_job dependencies",
     ABOUT(SECTION_WHEN, "After other jobs", "在其他任务之后",
           "Instead of a schedule: the job runs once each of these jobs has ended as required "
           "since the previous run; by default with success.",
           "代替计划：上次运行之后，所列任务均以指定结果（默认为成功）结束时，本任务运行一次。",
           .unset = "none", .sample = "extract", .see = "#after-other-jobs", .option = "after",
           .value = "JOB")},
    {"timezone", FIELD_ZONE, AT(timezone), 1, 100, .of_ticks = true, .moves_ticks = true,
     .also = "tz time_zone",
     ABOUT(SECTION_WHEN, "Time zone", "时区", "The time zone of the schedules; empty: the agent's.",
           "计划所用的时区；留空则为 agent 的时区。", .unset = "the agent's",
           .sample = "Europe/Berlin", .option = "tz", .value = "ZONE")},
    {"start", FIELD_TIME, AT(start_s), .initial = TIME_UNSET, .of_ticks = true, .moves_ticks = true,
     ABOUT(SECTION_WHEN, "Active from", "生效时间", "No ticks before this time.",
           "在此之前不会触发。", .unset = "none", .sample = "2027-01-31 08:00")},
    {"end", FIELD_TIME, AT(end_s), .initial = TIME_UNSET, .of_ticks = true, .moves_ticks = true,
     ABOUT(SECTION_WHEN, "Active until", "失效时间", "No ticks at this time or later.",
           "在此时间及之后不会触发。", .unset = "none", .sample = "2028-01-01")},
    {"jitter", FIELD_DURATION, AT(jitter_s), 0, DAY_S, .of_ticks = true,
     ABOUT(SECTION_WHEN, "Jitter", "抖动",
           "Delays every start by a fixed part of this, different for each job.",
           "每次启动都推迟一段固定时间，不超过此值，各任务不同。", .option = "jitter",
           .value = "D")},
    {"dst", FIELD_CHOICE, AT(dst), .words = dst_policy_names, .of_ticks = true, .moves_ticks = true,
     ABOUT(SECTION_WHEN, "Daylight saving time", "夏令时切换",
           "The policy for fixed times that a clock change skips or repeats.",
           "时钟切换跳过或重复固定时间时的处理策略。", .see = "SCHEDULES.md#when-the-clock-jumps")},
    {"calendars", FIELD_CALENDARS, AT(calendars), 1, JOB_CALENDARS_MAX, .of_ticks = true,
     .also = "calendar holidays exclude",
     ABOUT(SECTION_WHEN, "Calendars", "日历",
           "The job does not run on the dates of these calendars.", "在这些日历的日期不运行。",
           .unset = "none", .sample = "holidays", .see = "#calendars", .option = "calendar",
           .value = "NAME")},
    {"only_on", FIELD_NAMES, AT(only_on), 1, JOB_CALENDARS_MAX, .of_ticks = true,
     .complain = calendar_name_complaint, .also = "trading_days required_days include",
     ABOUT(SECTION_WHEN, "Only on", "仅在这些日期",
           "The job runs only on the dates of these calendars.", "仅在这些日历的日期运行。",
           .unset = "any date", .sample = "trading-days", .see = "#calendars", .option = "only-on",
           .value = "NAME")},
    {"only_if", FIELD_GROUP, .fields = only_if_fields, .of_ticks = true,
     .also = "condition requires depends if"},
    {"command", FIELD_ARGV, AT(command), 1, 4096, .of = OF_STEP, .defines = true, .also = "cmd run",
     ABOUT(SECTION_WHAT, "Program and arguments", "程序及参数",
           "The program and its arguments, started without a shell: $, | and > have no special "
           "meaning.",
           "程序及其参数，不经过 shell 启动：$、| 和 > 没有特殊含义。",
           .unset = "required, or shell, http, function", .sample = "/usr/local/bin/backup")},
    {"shell", FIELD_SCRIPT, AT(script), 1, 131071, /* one argument, of which Linux takes no more */
     .of = OF_STEP, .defines = true, .also = "script",
     ABOUT(SECTION_WHAT, "Script", "脚本", "A script for bash, or for sh where there is no bash.",
           "由 bash 执行的脚本；没有 bash 时由 sh 执行。",
           .unset = "required, or command, http, function", .option = "shell", .value = "SCRIPT")},
    {"http", FIELD_GROUP, .of = OF_STEP, .fields = http_fields, .defines = true,
     .also = "url webhook request"},
    {"function", FIELD_GROUP, .of = OF_STEP, .fields = function_fields, .defines = true,
     .also = "program call"},
    {"cwd", FIELD_TEXT, AT(cwd), 1, 4095, .of = OF_EITHER, .complain = path_complaint,
     .defines = true, .of_process = true, .also = "workdir working_directory dir",
     ABOUT(SECTION_WHAT, "Working directory", "工作目录",
           "An absolute path; empty: the home directory of the user.",
           "绝对路径；留空则为运行用户的主目录。",
           .unset = "the home of the job's user, or / if that can't be entered",
           .sample = "/srv/app", .option = "cwd", .value = "DIR")},
    {"user", FIELD_TEXT, AT(user), 1, 255, .of = OF_EITHER, .complain = user_complaint,
     .defines = true, .of_process = true,
     ABOUT(
         SECTION_WHAT, "User", "运行用户",
         "The user of the process. Needs an agent that runs as root, and a line in its "
         "allow_users, for root too.",
         "进程的运行用户。要求 agent 以 root 运行，且其 allow_users 中列有该用户，root 也不例外。",
         .unset = "the agent's user; of an agent of root its default_user, without which the job "
                  "is not started",
         .see = "SECURITY.md#whom-jobs-run-as", .option = "user", .value = "USER")},
    {"env", FIELD_PAIRS, AT(env), 0, 128 * 1024 - 1, .of = OF_EITHER, .in_reference = true,
     .complain = variable_complaint, .defines = true, .secret = true, .also = "environment",
     ABOUT(SECTION_WHAT, "Environment variables", "环境变量",
           "Added to the few variables of the agent. Values with secret names are shown only with "
           "the right to define the job.",
           "加在 agent 自身的少数变量之上。名称表明是机密的值仅对有 define 权限的用户显示。",
           .unset = "none", .sample = "NAME=value", .option = "env", .value = "K=V")},
    {"secrets", FIELD_NAMES, AT(secrets), 0, SECRETS_MAX, .of = OF_STEP, .defines = true,
     .complain = secret_use_complaint, .also = "secret credentials",
     ABOUT(SECTION_WHAT, "Secrets", "机密",
           "Secrets that the run has as variables: db-password as DB_PASSWORD, or "
           "PGPASSWORD=db-password. Headers and the body of an HTTP call have them as "
           "${DB_PASSWORD}. Their values are masked in its output.",
           "以环境变量提供给运行的机密：db-password 对应 DB_PASSWORD，也可写成 "
           "PGPASSWORD=db-password。HTTP 调用的头和正文以 ${DB_PASSWORD} "
           "引用。其值在输出中会被遮盖。",
           .unset = "none", .sample = "db-password", .see = "SECRETS.md", .option = "secret",
           .value = "NAME")},
    {"params", FIELD_PARAMS, AT(params), 0, PARAMS_MAX, .defines = true,
     .also = "parameters inputs arguments",
     ABOUT(SECTION_WHAT, "Parameters", "参数",
           "Values that a request for a run may choose: PEAL_PARAM_NAME in the environment, "
           "${NAME} in the words of a command and in an HTTP call.",
           "请求运行时可以选择的值：环境变量 PEAL_PARAM_NAME，以及命令参数和 HTTP 调用中的 "
           "${NAME}。",
           .unset = "none", .sample = "day", .see = "#parameters", .option = "param",
           .value = "NAME")},
    {"stdin", FIELD_TEXT, AT(stdin_text), 0, 1024 * 1024, .of = OF_STEP, .defines = true,
     .of_process = true, .secret = true,
     ABOUT(SECTION_WHAT, "Standard input", "标准输入",
           "The text of the standard input, shown only with the right to define the job.",
           "标准输入的文本，仅对有 define 权限的用户显示。", .unset = "empty")},
    {"umask", FIELD_UMASK, AT(umask_bits), 0, 0777, -1, .of = OF_STEP, .defines = true,
     .of_process = true,
     ABOUT(SECTION_LIMITS, "Umask", "Umask", "Permissions that new files do not get.",
           "新文件不具有的权限。", .unset = "\"022\"", .sample = "022")},
    {"nice", FIELD_INT, AT(nice), -20, 19, .of = OF_STEP, .defines = true, .of_process = true,
     ABOUT(SECTION_LIMITS, "Nice", "Nice", "From -20, highest priority, to 19, lowest.",
           "从 -20（优先级最高）到 19（最低）。")},
    {"ionice", FIELD_GROUP, .of = OF_STEP, .fields = ionice_fields, .defines = true,
     .of_process = true, .also = "ioprio io_priority"},
    {"limits", FIELD_GROUP, .of = OF_STEP, .fields = limit_fields, .defines = true,
     .of_process = true, .also = "resources cgroup rlimits"},
    {"overlap", FIELD_GROUP, .fields = overlap_fields, .also = "concurrency"},
    {"catch_up", FIELD_GROUP, .fields = catch_up_fields, .of_ticks = true, .also = "misfire"},
    {"timeout", FIELD_DURATION, AT(timeout_s), 0, LONG_S, .of = OF_EITHER, .in_reference = true,
     ABOUT(SECTION_HOW, "Timeout", "超时时间",
           "A run that takes longer gets SIGTERM, and SIGKILL after the grace period: 90s, 1h30m.",
           "运行超过此时长会收到 SIGTERM，宽限期过后收到 SIGKILL：90s、1h30m。", .unset = "none",
           .sample = "2h", .option = "timeout", .value = "D")},
    {"grace", FIELD_DURATION, AT(grace_s), 0, DAY_S, 10, .of = OF_STEP,
     ABOUT(SECTION_HOW, "Grace period", "宽限期", "Time between SIGTERM and SIGKILL.",
           "SIGTERM 与 SIGKILL 之间的时间。")},
    {"deadline", FIELD_DURATION, AT(deadline_s), 0, LONG_S, .of_ticks = true,
     ABOUT(SECTION_HOW, "Start deadline", "启动时限",
           "A tick whose run can't start within this time is missed.",
           "触发后超过此时长仍无法启动，记为错过。", .unset = "none", .sample = "6h")},
    {"retries", FIELD_GROUP, .of = OF_STEP, .in_reference = true, .fields = retry_fields,
     .also = "retry retry_count attempts backoff"},
    {"groups", FIELD_NAMES, AT(groups), 0, JOB_GROUPS_MAX, .of = OF_STEP,
     .complain = group_name_complaint, .also = "group pool pools concurrency_group semaphore mutex",
     ABOUT(SECTION_HOW, "Groups", "并发组",
           "Each run needs a slot in all of these groups, whose limits an admin sets; it waits "
           "while one of them is full.",
           "每次运行需要在所有这些并发组中各占一个名额，上限由管理员设置；任一组已满时等待。",
           .unset = "none", .sample = "db-backup", .see = "GROUPS.md", .option = "group",
           .value = "NAME")},
    {"priority", FIELD_INT, AT(priority), -JOB_PRIORITY_MAX, JOB_PRIORITY_MAX, .of = OF_STEP,
     ABOUT(SECTION_HOW, "Priority", "优先级",
           "Of the runs that wait for a slot of a group, those with the highest priority go first.",
           "等待并发组名额的运行中，优先级高的先运行。", .sample = "10", .see = "GROUPS.md",
           .option = "priority", .value = "N")},
    {"expect", FIELD_GROUP, .of = OF_STEP, .fields = expect_fields, .defines = true,
     .of_process = true, .also = "success assert verify check"},
    {"where", FIELD_SELECTOR, AT(where), 1, 500, .of = OF_EITHER, .in_reference = true,
     .also = "selector nodes",
     ABOUT(SECTION_HOW, "Nodes", "节点要求", "Labels that a node must have: zone=eu,!gpu.",
           "节点必须具有的标签：zone=eu,!gpu。", .unset = "all nodes", .sample = "zone=eu,!gpu",
           .see = "#which-nodes", .option = "where", .value = "LABELS")},
    {"spread", FIELD_TEXT, AT(spread), 1, 20, .of = OF_NEITHER, .complain = spread_complaint,
     .numbers = true, .also = "broadcast shards replicas parallelism",
     ABOUT(SECTION_HOW, "Runs per tick", "每次触发的运行",
           "one: on one node. all: one run on each node. A number: on so many nodes. shards 8: "
           "eight runs, each with its number in PEAL_SHARD, on any of the nodes.",
           "one：在一个节点上运行。all：在每个节点上各运行一次。数字：在这么多个节点上运行。"
           "shards 8：分为八个分片运行，PEAL_SHARD 为分片编号，可在任意节点上运行。",
           .unset = "one", .sample = "all", .see = "#runs-on-several-nodes", .option = "spread",
           .value = "S")},
    {"rolling", FIELD_GROUP, .of = OF_NEITHER, .fields = rolling_fields,
     .also = "rolling_update serial max_unavailable batch_size"},
    {"place", FIELD_CHOICE, AT(place), .of = OF_STEP, .initial = PLACE_EVEN, .words = place_names,
     .also = "placement strategy affinity routing",
     ABOUT(SECTION_HOW, "Choice of node", "节点选择",
           "The node that goes first. even: by the nodes' capacities. sticky: the node of the last "
           "run, while it takes runs. least_loaded: by what is free of their capacities.",
           "优先由哪个节点运行。even：按节点容量分配。sticky：沿用上次运行的节点，只要它接受运行。"
           "least_loaded：按节点的空闲容量分配。",
           .see = "#which-node-goes-first", .option = "place", .value = "P")},
    {"paused", FIELD_BOOL, AT(paused), .also = "enabled disabled suspend",
     ABOUT(SECTION_HOW, "Paused", "暂停", "No runs start until the job is resumed.",
           "恢复之前不会启动运行。", .option = "paused")},
    {"output", FIELD_CHOICE, AT(output), .of = OF_STEP, .initial = OUTPUT_SEPARATE,
     .words = output_mode_names, .of_process = true,
     ABOUT(SECTION_KEPT, "Output of a run", "运行输出",
           "separate: stdout and stderr are told apart. merged: they are kept in exactly the order "
           "in which they were written, as a terminal shows them, and not told apart.",
           "separate：区分 stdout 与 stderr。merged：完全按写入顺序保存，与终端显示一致，但不再"
           "区分两者。",
           .see = "#output")},
    {"linger", FIELD_DURATION, AT(linger_s), 0, 3600, 10, .of = OF_STEP, .of_process = true,
     ABOUT(SECTION_KEPT, "Wait for background processes", "等待后台进程",
           "How long a run waits, after the end of its main process, for processes in the "
           "background that still have its output open.",
           "主进程结束后，后台进程仍占用输出时，运行最多等待的时间。", .see = "#output")},
    {"output_limit", FIELD_SIZE, AT(output_limit), 0, 1024 * 1024 * 1024, 1024 * 1024,
     .of = OF_STEP,
     ABOUT(SECTION_KEPT, "Output limit of a run", "单次运行输出上限",
           "So much of a run's output is kept from its beginning, and at least as much again from "
           "its end.",
           "每次运行的输出从开头保留这么多，从结尾至少再保留同样多。")},
    {"retention", FIELD_GROUP, .fields = retention_fields},
    {"delete_after", FIELD_DURATION, AT(delete_after_s), 1, LONG_S, .also = "expires ttl",
     ABOUT(
         SECTION_KEPT, "Delete after", "自动删除",
         "The job is deleted this long after its last change, once no run of it is under way. It "
         "can be restored as any deleted job.",
         "距最后一次更改超过此时长且没有运行在进行时，任务会被删除；可像其他已删除的任务一样恢复。",
         .unset = "the job stays", .sample = "1d", .see = "#deleted-by-itself",
         .option = "delete-after", .value = "D")},
    {"notify", FIELD_GROUP, .fields = notify_fields,
     .also = "notification alert mailto on_failure"},
    {"ping", FIELD_TEXT, AT(ping), 1, 2048, .complain = ping_complaint, .defines = true,
     .secret = true, .also = "healthcheck heartbeat",
     ABOUT(
         SECTION_NOTIFY, "Ping", "心跳地址",
         "An http:// or https:// address for a service outside that misses runs: POST to it with "
         "/start, without, or with the exit code or /fail behind it. Shown only with the right to "
         "define the job.",
         "外部监控服务的 http:// 或 https:// 地址：启动时向其 /start、成功时向其本身、失败时向其 "
         "/退出码 或 /fail 发送 POST。仅对有 define 权限的用户显示。",
         .unset = "none", .sample = "https://hc-ping.com/UUID", .see = "NOTIFY.md#pings",
         .option = "ping", .value = "URL")},
    {"labels", FIELD_PAIRS, AT(labels), 0, 255, .complain = label_complaint, .also = "tags",
     ABOUT(SECTION_KEPT, "Labels", "标签",
           "Labels of the job, to find it by. Names of 1 to 63 letters, digits and . _ / -; values "
           "up to 255 bytes.",
           "任务的标签，用于查找。名称为 1 到 63 个字母、数字和 . _ / -；值最长 255 字节。",
           .unset = "none", .sample = "team=db", .option = "label", .value = "K=V")},
    {"owner", FIELD_TEXT, AT(owner), 0, 255,
     ABOUT(SECTION_KEPT, "Owner", "负责人", "Contact for this job.", "任务的联系人。",
           .unset = "none", .sample = "team@example.org", .option = "owner", .value = "WHO")},
    {"notes", FIELD_TEXT, AT(notes), 0, 64 * 1024, .also = "description",
     ABOUT(SECTION_KEPT, "Notes", "备注", "Purpose, runbook, known problems.",
           "用途、处理手册、已知问题等。", .unset = "none", .option = "notes", .value = "TEXT")},
    {"steps", FIELD_STEPS, AT(steps), 1, STEPS_MAX, .defines = true, .also = "tasks dag",
     ABOUT(SECTION_STEPS, "Steps", "步骤",
           "What a workflow runs instead of a command: steps that wait for each other, each of "
           "them a command, a script, an HTTP call, a function, a job or a workflow.",
           "工作流代替命令运行的内容：按先后关系执行的步骤，每一步是命令、脚本、HTTP "
           "调用、函数、任务或工作流。",
           .unset = "none", .see = "WORKFLOWS.md#steps")},
    {"finally", FIELD_FINALLY, AT(steps), 1, STEPS_MAX, .defines = true, .also = "cleanup",
     ABOUT(SECTION_STEPS, "Final steps", "收尾步骤",
           "Steps that run after all others, however those have ended.",
           "在其他步骤全部结束之后运行的步骤，无论其结果如何。", .unset = "none",
           .see = "WORKFLOWS.md#finally")},
    {"created_ms", FIELD_INT64, AT(created_ms), 0, INT64_MAX, .meta = true},
    {"updated_ms", FIELD_INT64, AT(updated_ms), 0, INT64_MAX, .meta = true},
    {"applied_ms", FIELD_INT64, AT(applied_ms), 0, INT64_MAX, .meta = true},
    {"paused_ms", FIELD_INT64, AT(paused_ms), 0, INT64_MAX, .meta = true},
    {"resumed_ms", FIELD_INT64, AT(resumed_ms), 0, INT64_MAX, .meta = true},
    {"skip_until_ms", FIELD_INT64, AT(skip_until_ms), 0, INT64_MAX, .meta = true},
    {"deleted_ms", FIELD_INT64, AT(deleted_ms), 0, INT64_MAX, .meta = true},
    {"former_names", FIELD_PAIRS, AT(former_names), 0, 20, .complain = job_name_complaint,
     .meta = true},
    {"hash_name", FIELD_TEXT, AT(hash_name), 1, JOB_NAME_SIZE - 1, .complain = job_name_complaint,
     .meta = true},
    {0},
};
