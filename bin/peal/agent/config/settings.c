#include "config/settings.h"

#include <string.h>

#include "config/agent_config.h"

#define AT(member)   .offset = offsetof(struct agent_config, member)
#define BY(function) .kind = SETTING_OWN, .set = (function)

/* clang-format off */
const struct setting settings[] = {
    {"data", SETTING_PATH, AT(data), .option = "data", .sample = "/srv/peal",
     .help = {"the data folder, not writable by others; else /var/lib/peal of root, or "
              "~/.local/state/peal",
              "数据目录，不可由其他用户写入；默认 root 用 /var/lib/peal，其他用户用 "
              "~/.local/state/peal"}},
    {"log", SETTING_PATH, AT(log_file), .option = "log", .sample = "/var/log/peal.log",
     .help = {"the log; SIGHUP opens it again after it was moved away. Else stderr, or peal.log in "
              "the data folder of an agent in the background",
              "日志文件；移走之后 SIGHUP 会重新打开它。默认写到 stderr，后台 agent 写到数据目录中的 "
              "peal.log"}},
    {"log_format", BY(agent_config_set_log_format), .option = "log-format", .initial = "text",
     .sample = "json",
     .help = {"text, or json: each line an object with time, event and what the event has",
              "text 或 json：每行一个对象，含 time、event 及事件的各项内容"}},
    {"timezone", BY(agent_config_set_timezone), .reloads = true, .sample = "Europe/Berlin",
     .help = {"default of jobs; else $TZ (unless that is no name: timezone_unknown in the log), or "
              "the machine's",
              "任务的默认时区；否则用 $TZ（若不是时区名，日志中有 timezone_unknown），再否则用本机时区"}},
    {"max_running", SETTING_INT, AT(max_running), .reloads = true, .initial = "0",
     .sample = "100",
     .help = {"runs at the same time; 0: no limit", "同时进行的运行数；0 表示不限"}},

    {"retention.runs", SETTING_COUNT, AT(keep_runs), .reloads = true, .initial = "1000",
     .sample = "1000",
     .help = {"runs per job; the job's own `retention` takes precedence; 0: no limit",
              "每个任务保留的运行数；任务自己的 `retention` 优先；0 表示不限"}},
    {"retention.age", SETTING_SPAN, AT(keep_s), .reloads = true, .initial = "90d",
     .sample = "90d", .help = {"age of runs; 0s: no limit", "运行保留多久；0s 表示不限"}},
    {"retention.bytes", SETTING_SIZE, AT(keep_bytes), .reloads = true, .initial = "0",
     .sample = "100MiB",
     .help = {"output of each job; 0: no limit", "每个任务保留的输出大小；0 表示不限"}},
    {"retention.total", SETTING_SIZE, AT(total_bytes), .reloads = true, .initial = "0",
     .sample = "20GiB",
     .help = {"output of all jobs together; 0: no limit", "全部任务的输出总大小；0 表示不限"}},
    {"retention.audit", SETTING_SPAN, AT(audit_s), .reloads = true, .initial = "400d",
     .sample = "400d",
     .help = {"the audit log, with the versions of jobs; 0s: no limit",
              "审计日志以及任务的各个版本保留多久；0s 表示不限"}},
    {"retention.stats", SETTING_SPAN, AT(stats_s), .reloads = true, .initial = "400d",
     .sample = "400d",
     .help = {"statistics, per job and of all together; 0s: no limit",
              "统计数据（每个任务的和总的）保留多久；0s 表示不限"}},

    {"quotas.jobs", SETTING_COUNT, AT(quotas.jobs), .reloads = true, .initial = "1000000",
     .sample = "1000000",
     .help = {"jobs in all, without deleted ones; requests beyond a quota are refused "
              "(docs/SECURITY.md); 0: no limit",
              "任务总数，不含已删除的；超出配额的请求会被拒绝（docs/SECURITY.md）；0 表示不限"}},
    {"quotas.namespace_jobs", SETTING_COUNT, AT(quotas.namespace_jobs), .reloads = true,
     .initial = "100000", .sample = "100000",
     .help = {"per namespace, the first part of a name: team/backup and team/db/backup are in team",
              "每个命名空间的任务数；命名空间是名称的第一部分：team/backup 和 team/db/backup 都属于 "
              "team"}},
    {"quotas.namespaces", SETTING_PAIRS, .set = agent_config_set_namespace, .reloads = true,
     .sample = "{team: 500, team/db: 50}",
     .help = {"exceptions; 256 at most, which may have slashes",
              "例外；最多 256 个，可以含斜杠"}},
    {"quotas.definitions", SETTING_SIZE, AT(quotas.bytes), .reloads = true,
     .initial = "512MiB", .sample = "512MiB",
     .help = {"bytes of all definitions; deleted jobs count until they are removed",
              "全部定义的字节数；已删除的任务在清除之前仍计入"}},
    {"quotas.streams", SETTING_COUNT, AT(quotas.streams), .reloads = true, .initial = "500",
     .sample = "500",
     .help = {"open streams of events and output per account, with its tokens",
              "每个账户（含其令牌）打开的事件流和输出流"}},

    {"default_user", BY(agent_config_set_default_user), .option = "default-user",
     .sample = "peal-job",
     .help = {"the user of jobs that name none, if the agent is root; else such jobs are not started",
              "agent 以 root 运行时，未指定用户的任务以此用户运行；否则这类任务不会启动"}},
    {"allow_users", SETTING_PATH, AT(allow_file), .initial = "/etc/peal/users.allow",
     .sample = "/etc/peal/users.allow",
     .help = {"the users that jobs may name as `user`, if the agent is root (docs/SECURITY.md)",
              "agent 以 root 运行时，任务的 `user` 可以使用的用户（docs/SECURITY.md）"}},
    {"secrets_dir", SETTING_PATH, AT(secrets_dir), .sample = "/etc/peal/secrets",
     .help = {"files with secrets of jobs (docs/SECRETS.md); of a plain user: secrets in the data "
              "folder",
              "存放任务机密的文件（docs/SECRETS.md）；普通用户为数据目录中的 secrets"}},
    {"secret_key", SETTING_PATH, AT(secret_key), .sample = "/var/lib/peal/secret.key",
     .help = {"the key of secrets in the store; else secret.key in the data folder",
              "存储中机密的密钥；默认为数据目录中的 secret.key"}},
    {"sandbox", BY(agent_config_set_sandbox), .option = "sandbox", .initial = "on",
     .sample = "on",
     .help = {"on or off; off is for debuggers (docs/SECURITY.md)",
              "on 或 off；off 供调试器使用（docs/SECURITY.md）"}},
    {"history", BY(agent_config_set_history), .option = "history", .initial = "sqlite",
     .sample = "postgresql://peal@db.example/peal",
     .help = {"where finished runs are kept: sqlite is a file in the data folder; or postgresql://, "
              "mongodb:// (docs/HISTORY.md)",
              "已结束的运行保存在哪里：sqlite 是数据目录中的文件；或 postgresql://、mongodb://"
              "（docs/HISTORY.md）"}},
    {"history_spool", BY(agent_config_set_history_spool), .initial = "256MiB", .sample = "2GiB",
     .help = {"what waits in the data folder while that database is away; 1MiB or more "
              "(docs/HISTORY.md)",
              "该数据库不可用时在数据目录中最多暂存多少；至少 1MiB（docs/HISTORY.md）"}},
    {"listen", BY(agent_config_set_listen), .option = "listen", .initial = "127.0.0.1:7325",
     .sample = "127.0.0.1:7325",
     .help = {"the API on TCP; several, separated by commas; or none",
              "API 的 TCP 地址；多个用逗号分隔；或 none"}},
    {"hosts", SETTING_TEXT, AT(hosts), .sample = "peal.example.com",
     .help = {"host names that proxies and browsers use; several, separated by commas",
              "代理和浏览器使用的主机名；多个用逗号分隔"}},
    {"trusted_proxies", BY(agent_config_set_proxies), .sample = "10.0.0.5",
     .help = {"proxies whose X-Forwarded-For, -Proto and -Host are trusted: addresses or blocks "
              "(10.0.0.0/8), with commas; else none",
              "其 X-Forwarded-For、-Proto 和 -Host 可信的代理：地址或网段（10.0.0.0/8），用逗号分隔；"
              "默认没有"}},
    {"http_allow", BY(agent_config_set_http_allow), .reloads = true,
     .sample = "10.0.0.0/8, 127.0.0.1",
     .help = {"addresses that HTTP calls of jobs may reach besides public ones (docs/SECURITY.md); "
              "else none",
              "任务的 HTTP 调用除公网地址外还可以访问的地址（docs/SECURITY.md）；默认没有"}},
    {"public_url", BY(agent_config_set_public_url), .sample = "https://peal.example.com",
     .help = {"of the console, for links in messages (docs/NOTIFY.md); else no links",
              "控制台的地址，用于消息中的链接（docs/NOTIFY.md）；默认没有链接"}},
    {"heartbeat_url", BY(agent_config_set_heartbeat_url),
     .sample = "https://hc-ping.com/5f2b0c1e-0000-4000-8000-000000000000",
     .help = {"the leader POSTs to it, as long as there is one (docs/NOTIFY.md#pings); else nothing",
              "只要有 leader，就由它向此 URL 发送 POST（docs/NOTIFY.md#pings）；默认不发送"}},
    {"heartbeat_every", BY(agent_config_set_heartbeat_every), .initial = "1m", .sample = "1m",
     .help = {"how often: 10s to 1d", "间隔：10s 到 1d"}},
    {"notify_ca", SETTING_PATH, AT(notify_ca), .sample = "/etc/peal/ca.pem",
     .help = {"the CA of receivers of messages; else the system's CAs",
              "消息接收方的 CA；默认用系统的 CA"}},
    {"otlp.endpoint", BY(agent_config_set_otlp_endpoint), .sample = "http://127.0.0.1:4318",
     .standard = "OTEL_EXPORTER_OTLP_ENDPOINT",
     .help = {"a collector of OpenTelemetry, which gets a span of each run over HTTP "
              "(docs/WATCHING.md); else none",
              "OpenTelemetry 收集器，通过 HTTP 接收每次运行的 span（docs/WATCHING.md）；默认没有"}},
    {"otlp.headers", BY(agent_config_set_otlp_headers), .sample = "authorization=Bearer%20TOKEN",
     .standard = "OTEL_EXPORTER_OTLP_HEADERS", .is_secret = true,
     .help = {"headers for it, percent-encoded, with commas between; $PEAL_OTLP_HEADERS_FILE names a "
              "file with them",
              "发给它的请求头，值用百分号编码，以逗号分隔；$PEAL_OTLP_HEADERS_FILE 指定存放它们的文件"}},
    {"otlp.traces", BY(agent_config_set_otlp_traces), .initial = "on", .sample = "on",
     .help = {"on or off: whether spans are sent", "on 或 off：是否发送 span"}},
    {"otlp.metrics", SETTING_SPAN, AT(otlp_metrics_s), .initial = "0s", .sample = "60s",
     .help = {"how often the metrics of /metrics are sent there, too; 0s: never",
              "每隔多久把 /metrics 的指标也发送过去；0s 表示不发送"}},
    {"facades", BY(agent_config_set_facades), .option = "facade", .sample = "dkron,tutorial",
     .help = {"also serve the APIs of other programs (docs/FROM-OTHERS.md); else none",
              "同时提供其他程序的 API（docs/FROM-OTHERS.md）；默认没有"}},
    {"tls.cert", SETTING_PATH, AT(tls_cert), .sample = "/etc/peal/cert.pem",
     .help = {"the certificate of the API, with its chain; else that of `peal tls init`",
              "API 的证书及其证书链；默认用 `peal tls init` 的证书"}},
    {"tls.key", SETTING_PATH, AT(tls_key), .sample = "/etc/peal/key.pem",
     .help = {"its key", "证书的私钥"}},

    {"store", BY(agent_config_set_store), .option = "store", .initial = "sqlite",
     .sample = "etcds://etcd-1:2379,etcd-2:2379,etcd-3:2379/peal",
     .help = {"where jobs and claims are kept: sqlite, in the data folder, or that of a cluster "
              "(docs/CLUSTER.md)",
              "任务和认领保存在哪里：sqlite 在数据目录中，或集群的存储（docs/CLUSTER.md）"}},
    {"etcd.user", SETTING_TEXT, AT(etcd.user), .sample = "peal",
     .help = {"or in the URL: etcds://peal@etcd-1,...", "也可以写在 URL 中：etcds://peal@etcd-1,..."}},
    {"etcd.password_file", SETTING_PATH, AT(etcd.password_file),
     .sample = "/etc/peal/etcd.password",
     .help = {"its first line is the password; not readable by others. Or $PEAL_ETCD_PASSWORD",
              "第一行是密码；不可由其他用户读取。也可以用 $PEAL_ETCD_PASSWORD"}},
    {"etcd.ca", SETTING_PATH, AT(etcd.ca_file), .sample = "/etc/peal/etcd-ca.pem",
     .help = {"the CA of the servers' certificates; else the system's CAs",
              "服务器证书的 CA；默认用系统的 CA"}},
    {"etcd.cert", SETTING_PATH, AT(etcd.cert_file), .sample = "/etc/peal/etcd-client.pem",
     .help = {"if the servers require client certificates", "服务器要求客户端证书时使用"}},
    {"etcd.key", SETTING_PATH, AT(etcd.key_file), .sample = "/etc/peal/etcd-client.key",
     .help = {"its key", "证书的私钥"}},
    {"redis.user", SETTING_TEXT, AT(redis.user), .sample = "peal",
     .help = {"or in the URL: rediss://peal@redis-1", "也可以写在 URL 中：rediss://peal@redis-1"}},
    {"redis.password_file", SETTING_PATH, AT(redis.password_file),
     .sample = "/etc/peal/redis.password",
     .help = {"its first line is the password; not readable by others. Or $PEAL_REDIS_PASSWORD",
              "第一行是密码；不可由其他用户读取。也可以用 $PEAL_REDIS_PASSWORD"}},
    {"redis.ca", SETTING_PATH, AT(redis.ca_file), .sample = "/etc/peal/redis-ca.pem",
     .help = {"the CA of the servers' certificates; else the system's CAs",
              "服务器证书的 CA；默认用系统的 CA"}},
    {"redis.cert", SETTING_PATH, AT(redis.cert_file), .sample = "/etc/peal/redis-client.pem",
     .help = {"if the servers require client certificates", "服务器要求客户端证书时使用"}},
    {"redis.key", SETTING_PATH, AT(redis.key_file), .sample = "/etc/peal/redis-client.key",
     .help = {"its key", "证书的私钥"}},
    {"role", BY(agent_config_set_role), .option = "role", .initial = "api,worker",
     .sample = "api,worker",
     .help = {"api: serves the API only; worker: runs only", "api：只提供 API；worker：只运行任务"}},
    {"node_id", BY(agent_config_set_node_id), .option = "node-id", .sample = "web-1",
     .help = {"the node's name; else generated once from the host name",
              "节点名称；默认由主机名生成一次"}},
    {"labels", SETTING_PAIRS, .set = agent_config_add_label, .option = "label",
     .sample = "{zone: eu, disk: ssd}",
     .help = {"labels of the node, for a job's `where`", "节点的标签，供任务的 `where` 选择"}},
    {"capacity", BY(agent_config_set_capacity), .option = "capacity", .sample = "8",
     .help = {"the node's weight in the distribution of runs; else its processors",
              "分配运行时节点的权重；默认为处理器数"}},
    {"address", BY(agent_config_set_address), .option = "address",
     .sample = "web-1.example.org:8080",
     .help = {"the API's address for other machines", "供其他机器访问的 API 地址"}},
    {"peer_listen", BY(agent_config_set_peer_listen), .option = "peer-listen",
     .sample = "10.0.0.1:7326",
     .help = {"the port on which other nodes read its output and history; or none "
              "(docs/CLUSTER.md)",
              "其他节点读取本节点输出和历史的端口；或 none（docs/CLUSTER.md）"}},
    {0},
};
/* clang-format on */

_Static_assert(sizeof(settings) / sizeof(settings[0]) <= SETTINGS_MAX, "raise SETTINGS_MAX");

const char *const variables_besides[] = {
    "PEAL_CONFIG",
    "PEAL_URL",
    "PEAL_CA",
    "PEAL_TOKEN",
    "PEAL_TOKEN_FILE",
    "PEAL_LANG",
    "PEAL_ETCD_PASSWORD",
    "PEAL_REDIS_PASSWORD",
    "PEAL_OPTIONS",
    "PEAL_CGROUP",
    "PEAL_BIN",
    "PEAL_SOURCE",
    "PEAL_ADMIN_PASSWORD",
    "PEAL_ADMIN_PASSWORD_FILE",
    "PEAL_PUBLIC_NAME",
    "PEAL_IMAGE",
    "PEAL_JOB",
    "PEAL_RUN_ID",
    "PEAL_TICK",
    "PEAL_ATTEMPT",
    "PEAL_FENCE",
    "PEAL_NODE",
    "PEAL_GRACE",
    "PEAL_PART",
    "PEAL_PARTS",
    "PEAL_SHARD",
    "PEAL_SHARDS",
    "PEAL_OUTPUT",
    "PEAL_INPUT",
    "PEAL_INPUT_TYPE",
    "PEAL_STEP",
    "PEAL_WORKFLOW",
    "PEAL_INSTANCE",
    "PEAL_ITEM",
    "PEAL_INDEX",
    "PEAL_LOCK",
    "PEAL_ELECTION",
    "PEAL_AFTER_JOB",
    "PEAL_AFTER_RUN_ID",
    "PEAL_WEBHOOK",
    "PEAL_WEBHOOK_EVENT",
    "PEAL_WEBHOOK_DELIVERY",
    NULL,
};

const struct setting *setting_find(const char *name)
{
    for (const struct setting *each = settings; each->name; each++) {
        if (strcmp(each->name, name) == 0)
            return each;
    }
    return NULL;
}

const struct setting *setting_of_option(const char *option)
{
    for (const struct setting *each = settings; each->name; each++) {
        if (each->option && strcmp(each->option, option) == 0)
            return each;
    }
    return NULL;
}

size_t setting_index(const struct setting *setting)
{
    return (size_t)(setting - settings);
}

const char *setting_leaf(const struct setting *setting)
{
    const char *dot = strrchr(setting->name, '.');
    return dot ? dot + 1 : setting->name;
}

void setting_variable(const struct setting *setting, char variable[SETTING_VARIABLE_SIZE])
{
    size_t length = strlen("PEAL_");
    memcpy(variable, "PEAL_", length);
    for (const char *at = setting->name; *at && length + 1 < SETTING_VARIABLE_SIZE; at++)
        variable[length++] = *at == '.' ? '_' : (char)(*at >= 'a' && *at <= 'z' ? *at - 32 : *at);
    variable[length] = '\0';
}

const struct setting *setting_of_variable(const char *variable)
{
    char name[SETTING_VARIABLE_SIZE];
    for (const struct setting *each = settings; each->name; each++) {
        setting_variable(each, name);
        if (strcmp(name, variable) == 0)
            return each;
    }
    return NULL;
}
