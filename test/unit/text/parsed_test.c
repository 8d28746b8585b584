/* What the parsers say is there in both languages: their sources are searched for it. A message is
 * found again by its English text, whatever its arguments are. */
#include "text/parsed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
/* cmocka wants the above first */
#include <cmocka.h>

#include "sources.h"

static const struct message *const tables[] = {
    parsed_wrappings, parsed_complaints, parsed_messages, started_messages,
    foreign_messages, history_messages,  parsed_words};
enum { TABLES = sizeof(tables) / sizeof(tables[0]) };

static void translates_to(const char *english, const char *chinese, int line)
{
    struct strbuf out;
    strbuf_init(&out);
    bool is_known = message_translate(LANGUAGE_ZH, english, &out);
    if (strcmp(out.text, chinese) != 0 || is_known != (strcmp(english, chinese) != 0))
        fail_msg("line %d: \"%s\" is \"%s\", not \"%s\"", line, english, out.text, chinese);
    strbuf_release(&out);
}

static void a_message_is_translated(void **state)
{
    static const struct {
        int line;
        const char *en, *zh;
    } cases[] = {
        {__LINE__, "expected 5 to 7 fields, found 2", "应有 5 到 7 个字段，实际为 2 个"},
        {__LINE__, "day of month 32 is out of range 1-31", "日期 32 超出范围 1-31"},
        {__LINE__, "schedules[1]: minute 61 is out of range 0-59",
         "schedules[1]：分钟 61 超出范围 0-59"},
        {__LINE__, "schedule: a value is missing after '/' (at column 3 of the text)",
         "schedule：'/' 之后缺少值（文本第 3 列）"},
        {__LINE__, "schedule 2: unknown macro; did you mean @daily?",
         "第 2 个计划：未知的宏；是否指 @daily？"},
        {__LINE__, "unknown time zone \"Europe/Berlim\"; did you mean \"Europe/Berlin\"?",
         "未知时区“Europe/Berlim”；是否指 \"Europe/Berlin\"？"},
        {__LINE__, "/zones/Mars: its footer, column 4: a month is 1 to 12",
         "/zones/Mars：文件尾第 4 列：月份应为 1 到 12"},
        {__LINE__, "name: \"a b\" may hold letters, digits and . _ / - only",
         "name：“a b”只能包含字母、数字和 . _ / -"},
        {__LINE__, "name: \"\" is empty", "name：“”不能为空"},
        {__LINE__, "overlap: \"x\" is not one of skip, queue or replace",
         "overlap：“x”不是 skip, queue 或 replace 之一"},
        {__LINE__, "command: expected a list like [backup, --full], found a map",
         "command：应为：[backup, --full] 这样的列表；实际为映射"},
        {__LINE__, "timeout: 99w is out of range 0s to 52w", "timeout：99w 超出范围 0s 到 52w"},
        {__LINE__, "nice: -21 is out of range -20 to 19", "nice：-21 超出范围 -20 到 19"},
        {__LINE__, "not a date; write it like 2027-01-31T08:00:00Z",
         "不是日期；请写作 2027-01-31T08:00:00Z 的形式"},
        {__LINE__, "CRON_TZ: unknown time zone \"x\"; the lines below keep the zone before it",
         "CRON_TZ：未知时区“x”；以下各行沿用此前的时区"},
        {__LINE__, "no sign of the lease for its TTL of 10 s",
         "租约在其 10 秒的 TTL 内没有任何应答"},
        {__LINE__, "url: a channel of type slack has a URL that starts with https:// or http://",
         "url：slack类型的渠道的 URL 应以 https:// 或 http:// 开头"},
        {__LINE__,
         "PostgreSQL at peal@db/peal is away: Connection refused. Start it, or check host and port "
         "in the history's address. peal tries again by itself; what is to be recorded waits "
         "meanwhile. 1,204 records wait on disk for the database. To make room, 12 bytes of output "
         "were dropped. /d/spool is full: what ends now is kept by the store until there is room.",
         "peal@db/peal 处的 PostgreSQL 不可用：连接被拒绝。请启动它，或检查历史地址中的主机和端口。"
         "peal 会自行重试；待记录的内容会在此期间等待。1,204 条记录在磁盘上等待写入数据库。"
         "为腾出空间，已丢弃 12 字节的输出。/d/spool 已满：此后结束的运行由存储保留，直到有空间。"},
        {__LINE__, "no node that takes runs has the labels of its where: gpu,ssd; none has ssd",
         "没有可接受运行的节点具有 where 要求的标签：gpu,ssd；没有节点具有 ssd"},
        {__LINE__, "no node that takes runs has the labels of its where: gpu",
         "没有可接受运行的节点具有 where 要求的标签：gpu"},
        {__LINE__, "after: there is no job \"x\"", "after：没有任务“x”"},
        {__LINE__, "title: there is no field ${jobb}; did you mean ${job}?",
         "title：没有字段 ${jobb}；是否指 ${job}？"},
        /* of an agent that does not start */
        {__LINE__, "/etc/peal.yaml:2:1: unknown key \"lisen\"; did you mean listen?",
         "/etc/peal.yaml:2:1：未知的键“lisen”；是否指 listen？"},
        {__LINE__,
         "can't open the store etcd://h:1/peal: no etcd endpoint can be used: h:1 (Connection "
         "refused)\nCheck it: peal doctor --store etcd://h:1/peal",
         "无法打开存储 etcd://h:1/peal：没有可用的 etcd 端点：h:1 (Connection "
         "refused)\n请检查：peal doctor --store etcd://h:1/peal"},
        {__LINE__,
         "can't listen on 127.0.0.1:7325: Address already in use; choose another with --listen, or "
         "--listen none",
         "无法监听 127.0.0.1:7325：地址已被占用；请用 --listen 选择其他地址，或使用 "
         "--listen none"},
        /* the user's words are not translated */
        {__LINE__, "unknown field \"minute\"", "未知字段“minute”"},
        {__LINE__, "job \"is empty\" has both \"command\" and \"shell\"",
         "任务“is empty”同时有 \"command\" 和 \"shell\""},
        /* without a row */
        {__LINE__, "", ""},
        {__LINE__, "something else: number too large!", "something else: number too large!"},
        {__LINE__, "something else (at column 3 of the text)",
         "something else (at column 3 of the text)"},
        {__LINE__, "\"x\" is unheard of", "\"x\" is unheard of"},
        {__LINE__, "expected some fields, found -", "应为：some fields；实际为-"},
        {__LINE__, "应有 5 到 7 个字段，实际为 2 个", "应有 5 到 7 个字段，实际为 2 个"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        translates_to(cases[i].en, cases[i].zh, cases[i].line);
    struct strbuf out;
    strbuf_init(&out);
    assert_false(message_translate(LANGUAGE_EN, "number too large", &out));
    assert_string_equal(out.text, "number too large");
    strbuf_release(&out);
}

/* ---- the rows ---- */

enum { PIECES_MAX = 8 };

/* A conversion of a format, and what stands before it. */
struct part {
    char kind;
    int place; /* from 1 */
    long most; /* -1: no precision, or '*' */
    bool has_most, is_quoted;
    const char *rest;
};

/* False: the format has no more conversions. */
static bool next_part(const char *format, int *inout_count, struct part *ret)
{
    const char *at = format;
    while ((at = strchr(at, '%')) && at[1] == '%')
        at += 2;
    if (!at)
        return false;
    *ret = (struct part){.most = -1, .place = ++*inout_count};
    ret->is_quoted = at > format && (at[-1] == '"' || at[-1] == '\'');
    char *end;
    long place = strtol(++at, &end, 10);
    if (*end == '$') {
        ret->place = (int)place;
        at = end + 1;
    }
    at += strspn(at, "0123456789");
    if (*at == '.') {
        ret->has_most = true;
        ret->most = at[1] == '*' ? -1 : strtol(at + 1, NULL, 10);
        at += 1 + strspn(at + 1, "*0123456789");
    }
    at += strspn(at, "lz");
    ret->kind = *at == 'u' ? 'd' : *at;
    ret->rest = at + 1;
    assert_non_null(strchr("sdXc", ret->kind));
    return true;
}

static void a_row_has_the_same_conversions(void **state)
{
    (void)state;
    for (int t = 0; t < TABLES; t++) {
        for (const struct message *row = tables[t]; row->en; row++) {
            struct part part;
            int en = 0, zh = 0;
            unsigned seen = 0;
            for (const char *at = row->en; next_part(at, &en, &part);)
                at = part.rest;
            for (const char *at = row->zh; next_part(at, &zh, &part);) {
                at = part.rest;
                seen |= 1U << part.place;
                if (part.kind != 's' || part.has_most)
                    fail_msg("\"%s\" has other conversions than %%s", row->zh);
            }
            if (en != zh || en > PIECES_MAX || seen != ((1U << en) - 1) << 1)
                fail_msg("\"%s\" and \"%s\" have other conversions", row->en, row->zh);
        }
    }
}

/* "%.60s" and "%s", "%lld" and "%d" are the same here. */
static bool is_same(const char *a, const char *b)
{
    for (; *a && *a == *b; a++, b++) {
        if (*a != '%')
            continue;
        a += strspn(a + 1, ".*0123456789lz");
        b += strspn(b + 1, ".*0123456789lz");
    }
    return *a == *b;
}

static const struct message *find_row(const char *english)
{
    for (int t = 0; t < TABLES; t++) {
        for (const struct message *row = tables[t]; row->en; row++) {
            if (is_same(row->en, english))
                return row;
        }
    }
    return NULL;
}

static void a_text_is_translated_once(void **state)
{
    (void)state;
    for (int t = 0; t < TABLES; t++) {
        for (const struct message *row = tables[t]; row->en; row++) {
            if (find_row(row->en) != row)
                fail_msg("\"%s\" is there twice", row->en);
        }
    }
}

/* ---- the sources ---- */

static const struct text_call calls[] = {
    {"parse_fail(", 2, LAST_ARGUMENT, true, NULL},
    {"parse_error_set(", 2, LAST_ARGUMENT, true, NULL},
    {"FAIL(", 2, LAST_ARGUMENT, true, NULL},
    {"spot_fail(", 2, LAST_ARGUMENT, true, NULL},
    {"spot_set(", 2, LAST_ARGUMENT, true, NULL},
    {"set_at(", 4, LAST_ARGUMENT, true, NULL},
    {"fail_at(", 2, LAST_ARGUMENT, true, NULL},
    {"fail_here(", 1, 1, true, NULL},
    {"read_number(", 4, 4, true, NULL},
    {"corrupt(", 1, 1, true, NULL},
    {"fail(", 1, 1, true, "zone/posix_tz.c"},
    {"parse_number(", 3, 3, true, "zone/posix_tz.c"},
    {"parse_time(", 2, 2, true, "zone/posix_tz.c"},
    {"p->had = ", 0, 0, true, NULL},
    {"expected(", 2, 2, true, NULL},
    {"get_scalar(", 2, 2, true, NULL},
    {"unexpected(", 1, 1, true, NULL},
    {"add_note(", 3, LAST_ARGUMENT, true, NULL},
    {"foreign_note(", 4, LAST_ARGUMENT, true, NULL},
    {"foreign_fail_field(", 4, LAST_ARGUMENT, true, NULL},
    {"systemd_note(", 4, LAST_ARGUMENT, true, NULL},
    {"note(", 4, LAST_ARGUMENT, true, "foreign/xxl_job.c"},
    {"fail_here(", 2, 2, true, "foreign/rows_sql.c"},
    {"fail_here(", 2, 2, true, "foreign/rows_csv.c"},
    {"source->refused(", 3, 3, true, NULL},
    {"rules->why = ", 0, 0, true, NULL},
    {"rules.why = ", 0, 0, true, NULL},
    {"*ret_why = ", 0, 0, true, NULL},
    {"return ", 0, 0, true, "export/export.c"},
    {"return ", 0, 0, true, "systemd/systemd_export.c"},
    {"lose(", 4, 4, true, "foreign/gocron_task.c"},
    {"types[] = {", 0, LAST_ARGUMENT, true, "foreign/gocron_task.c"},
    {"{NULL, ", 1, 1, true, "document/node_yaml.c"},
    {"return ", 0, 0, true, "job_name.c"},
    {"alphabet = {", 0, LAST_ARGUMENT, true, "job_name.c"},
    {"return ", 0, 0, true, "definition/job_fields.c"},
    {"return ", 0, 0, true, "definition/job_http.c"},
    {"return ", 0, 0, true, "expect/job_expect.c"},
    {"return ", 0, 0, true, "expect/notify_terms.c"},
    {"return ", 0, 0, true, "expect/message_template.c"},
    {"return ", 0, 0, true, "function/run_limits.c"},
    {"fail(", 2, 2, true, "expect/pattern.c"},
    {"return ", 0, 0, true, "function/job_function.c"},
    {"return ", 0, 0, true, "document/node.c"},
    {"return ", 0, 0, true, "params/params.c"},
    {"return ", 0, 0, true, "params/secret_use.c"},
    {"return ", 0, 0, true, "workflow/refs.c"},
    {"return ", 0, 0, true, "workflow/steps.c"},
    {"return ", 0, 0, true, "workflow/step_fields.c"},
    {"return ", 0, 0, true, "workflow/steps_outputs.c"},
    {"return ", 0, 0, true, "workflow/steps_refs.c"},
    {"snprintf(place->why, ", 1, 1, true, "workflow/steps_refs.c"},
    {"expected(", 1, 1, true, "workflow/when.c"},
    {"fail(", 2, 2, true, "params/run_input.c"},
    {"fail_env(", 2, 2, true, "params/run_input.c"},
    {"snprintf(why, ", 1, 1, true, "params/run_input.c"},
    {"fail_body(", 1, 1, true, "params/run_input.c"},
    {"snprintf(reterr->message, ", 1, LAST_ARGUMENT, true, NULL},
    {"snprintf(error.message, ", 1, LAST_ARGUMENT, true, NULL},
    {"return ", 0, 0, true, "channel.c"},
    {"complain(", 2, LAST_ARGUMENT, true, "channel.c"},
    {"lose(", 2, 2, true, "coord_kv_claim.c"},
    {"fail(", 2, 2, true, "coord_kv_claim.c"},
    {"end_claim(claim, COORD_LOST, ", 1, 1, true, "coord_file.c"},
    /* of an agent that does not start */
    {"complain(", 2, 2, true, "agent_config_file.c"},
    {"strbuf_addf(why,", 0, 0, true, "agent_config_file.c"},
    {"strbuf_addf(why,", 0, LAST_ARGUMENT, true, "agent_data.c"},
    {"strbuf_addf(why,", 0, LAST_ARGUMENT, true, "server_tls.c"},
    {"strbuf_addf(why,", 0, LAST_ARGUMENT, true, "store_sqlite_schema.c"},
    {"strbuf_addf(why,", 0, 0, true, "history_sqlite_file.c"},
    {"strbuf_adds(why,", 0, 0, true, "node_store.c"},
    {0},
};

/* Put together from parts, or words of a table. */
static const char *const built[] = {
    "no sign of the lease for its TTL of %d s",
    "the lease has expired or was revoked",
    "unknown time zone \"%s\"",
    "unknown time zone \"%s\"; did you mean %s?",
    "time zone \"%s\" cannot be looked up: no time zone data in %s; install the package tzdata",
    "in YAML a text that starts with '*' must be in quotes: schedule: \"*/5 * * * *\"",
    "in YAML a text that starts with '&' must be in quotes",
    "the quote that starts here has no end",
    "\"%.40s\" is not a number",
    "\"%.40s\" is not true or false",
    "\"%.40s\" is not allowed; choose %s",
    "second",
    "day of month",
    "day of week",
    "weekday",
    "%s to %s",
    "%s or %s",
    "did you mean \"%s\"?",
    "make it with `peal calendar set`",
    "make it with `peal group set`",
    "a channel (a map with type and url)",
    "its schedule can't be read",
    "calendar \"%s\" is not there; it runs as without it",
    "no node that takes runs has the labels of its where: %s",
    "no node that takes runs has the labels of its where: %s; none has %s",
    "no node that takes runs has the labels that its limits need: %s",
    "no node that takes runs has the labels that its limits need: %s; none has %s",
    "no agent that runs jobs is there; processes of programs run functions",
    "no node has the labels of its where: %s",
    "no process of the program %s that is running has the function %s",
    "no process of the program %s has the labels of its where: %s",
    "no process of the program %s is there",
    "ahead of the clock: went up to %s; continues from now once the clock is trusted",
    "the clock is not trusted: nothing is started until %s, or until it is corrected",
    "can't open the store %s: %s\nCheck it: peal doctor%s",
    "no etcd endpoint can be used: %s",
    "can't read %s's password from %s: %s",
    "every user can read %s, which holds a password: chmod 600 it",
    "%s holds no password: write it on the first line",
    ("etcd's user %s needs a password: etcd.password_file in the configuration, or "
     "PEAL_ETCD_PASSWORD"),
    "can't listen on %s: %s",
    ("\"%s\" is no address to listen on; expected one like 127.0.0.1, 0.0.0.0:7325, [::1]:7325 or "
     "localhost, or none"),
    ("the path of the API's socket is too long: %s has %zu bytes, and the system takes %zu; choose "
     "a "
     "shorter data folder with --data"),
    "%s is in the way of the API's socket and is no socket; move it away",
    "another agent serves %s; stop it first, or use another --data",
    "can't remove the old socket %s: %s",
    "can't listen on %s: %s; choose another with --listen, or --listen none",
    ("can't open the port for other nodes, %s: %s; choose another address with --peer-listen, or "
     "--peer-listen none"),
    "No such file or directory",
    "Permission denied",
    "Address already in use",
    "Cannot assign requested address",
    "Connection refused",
    "No space left on device",
    "Not a directory",
    "Is a directory",
    "Read-only file system",
    "Operation not permitted",
    "Too many open files",
    "can't open the log %s: %s",
    "can't use the spawner's folder %s: %s",
    "can't take signals: %s",
    "can't set up the event loop: %s",
    "can't start a thread: the system's limit on processes is reached",
    "the store has not let it in in time",
    ("node id %s was in use by another agent when the store answered last: give this one another "
     "--node-id, or stop the other one\n%s"),
    "node %s could not join the cluster, and is not started: %s",
    "node id %s is in use by another agent%s: give this one another --node-id",
    ("peal knows no history at \"%.*s:\". Name one that starts with postgresql:// or mongodb://, "
     "or "
     "none: then it is kept in a file of peal's own."),
    ("this is no address of a history. Name one that starts with postgresql:// or mongodb://, or "
     "none: then it is kept in a file of peal's own."),
    ("this peal was built without %s: there is no %s. `make build` makes it, and `make install` "
     "puts "
     "it there"),
    "peal's part for %s can't be loaded: %s. Install what it names",
    /* of the histories in a server: put together from tables in their *_words.c */
    ("PostgreSQL at %s is away: %s. peal tries again by itself; what is to be recorded waits "
     "meanwhile.%s"),
    ("PostgreSQL at %s is away: %s. %s peal tries again by itself; what is to be recorded waits "
     "meanwhile.%s"),
    ("PostgreSQL at %s: %s. %s peal tries again by itself; what is to be recorded waits "
     "meanwhile.%s"),
    ("MongoDB at %s is away: %s. %s peal tries again by itself; what is to be recorded waits "
     "meanwhile.%s"),
    ("MongoDB at %s: %s. %s peal tries again by itself; what is to be recorded waits meanwhile.%s"),
    (" %s record waits on disk for the database."),
    (" %s records wait on disk for the database."),
    (" %s records wait on disk for the database. To make room, %s bytes of output were dropped."),
    (" %s records wait on disk for the database. %s is full: what ends now is kept by the store "
     "until there is room."),
    (" %s records wait on disk for the database. To make room, %s bytes of output were dropped. %s "
     "is full: what ends now is kept by the store until there is room."),
    (" %s records wait on disk for the database. %s cannot be written: %s. Check the room on its "
     "disk; what ends now is kept by the store until then."),
    (" %s records wait on disk for the database. To make room, %s bytes of output were dropped. %s "
     "cannot be written: %s. Check the room on its disk; what ends now is kept by the store until "
     "then."),
    (" %s is full: what ends now is kept by the store until there is room."),
    (" %s cannot be written: %s. Check the room on its disk; what ends now is kept by the store "
     "until then."),
    ("Put the right password into ~/.pgpass, PGPASSWORD or the history's address, or change it: "
     "ALTER ROLE ... PASSWORD ..."),
    ("Put the password into ~/.pgpass, PGPASSWORD or the history's address."),
    ("Let this machine and user in, in the server's pg_hba.conf."),
    ("Make the role: CREATE ROLE ... LOGIN."),
    ("Make the database: CREATE DATABASE ...; or name another one in the history's address."),
    ("Grant it: GRANT CONNECT ON DATABASE ..."),
    ("Raise max_connections of the server: each node of peal takes two."),
    ("Check sslmode and sslrootcert in the history's address."),
    ("Check the host in the history's address."),
    ("Start it, or check host and port in the history's address."),
    ("Its disk is full: make room there."),
    ("The server lacks a resource: see its log."),
    ("It is read-only: name the primary in the history's address (several hosts and "
     "target_session_attrs=read-write find it), or unset default_transaction_read_only."),
    ("Grant the rights on the schema and its tables to peal's role."),
    ("It took too long: see what else keeps the server busy."),
    ("Another session holds a lock on peal's tables: end it."),
    ("Others were in the way."),
    ("A partition is missing."),
    ("Its data are damaged: restore a backup."),
    ("An index is damaged: REINDEX it."),
    ("See the server's log."),
    ("Check tls=true, tlsCAFile and the server's certificate in the history's address."),
    ("Check tlsCAFile in the history's address."),
    ("Check the name in the history's address, and its SRV record in the DNS."),
    ("See what keeps it from answering."),
    ("Put the right user and password into the history's address or its password_file, and "
     "authSource=admin if the user was made there."),
    ("Grant peal's user the role readWrite on the database."),
    ("It is a secondary, which is read-only: name all members and replicaSet=NAME in the history's "
     "address, without directConnection."),
    ("The primary has changed."),
    ("It is shutting down."),
    ("The user's quota is used up: make room there."),
    ("Most members of the replica set have not confirmed it in time: see which are down."),
    ("Too few members of the replica set are up: see which are down."),
};

static const char *const folders[] = {
    "schedule", "job",    "base",         "api",
    "node",     "http",   "store/sqlite", "history/sqlite",
    "coord",    "notify", "redis",        "../bin/peal/agent/config"};

static struct source *sources;
static size_t source_count;
static struct found_list found;

static void read_folder(const char *name)
{
    char folder[300];
    const char *root = getenv("PEAL_SOURCE");
    struct source *more;
    snprintf(folder, sizeof(folder), "%s/src/%s", root ? root : ".", name);
    size_t count = sources_read(folder, &more);
    sources = reallocarray(sources, source_count + count, sizeof(*sources));
    assert_non_null(sources);
    memcpy(sources + source_count, more, count * sizeof(*sources));
    source_count += count;
    free(more);
}

static int read_all(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
        read_folder(folders[i]);
    sources_search(sources, source_count, calls, &found);
    for (size_t i = 0; i < sizeof(built) / sizeof(built[0]); i++)
        found_add(&found, built[i], "", true);
    return 0;
}

static int free_all(void **state)
{
    (void)state;
    found_free(&found);
    sources_free(sources, source_count);
    return 0;
}

/* The same in all languages, but for the "or" in it. */
static bool is_same_in_all(const char *text)
{
    return strcmp(text, "LW") == 0 || strcmp(text, "\",\" or \"}\"") == 0 ||
           strcmp(text, "\",\" or \"]\"") == 0 || strcmp(text, "%s: out of memory") == 0;
}

/* A message about a file has its path before it. */
static const char *without_path(const char *text)
{
    static const char path[] = "%s/%s: ";
    return strncmp(text, path, strlen(path)) == 0 ? text + strlen(path) : text;
}

static void every_message_has_a_row(void **state)
{
    size_t missing = 0;
    (void)state;
    assert_true(found.count > 150); /* it does find them */
    for (size_t i = 0; i < found.count; i++) {
        if (find_row(without_path(found.items[i].text)) || is_same_in_all(found.items[i].text))
            continue;
        print_message("%s: no Chinese: \"%s\"\n", found.items[i].path, found.items[i].text);
        missing++;
    }
    print_message("%zu messages without Chinese, of %zu\n", missing, found.count);
    assert_int_equal(missing, 0);
}

static bool is_used(const char *english)
{
    for (size_t i = 0; i < found.count; i++) {
        if (is_same(without_path(found.items[i].text), english))
            return true;
    }
    /* without a word in it */
    return strcmp(english, "\"%.60s\" %s") == 0 || strcmp(english, "%s:%d:%d: %s") == 0 ||
           strcmp(english, "${%.80s} %s") == 0;
}

static void every_row_is_used(void **state)
{
    (void)state;
    for (int t = 0; t < TABLES; t++) {
        for (const struct message *row = tables[t]; row->en; row++) {
            if (!is_used(row->en))
                fail_msg("nobody says \"%s\"", row->en);
        }
    }
}

/* ---- round trips ---- */

static uint64_t random_state;

static size_t below(size_t limit)
{
    random_state = random_state * 6364136223846793005U + 1442695040888963407U;
    return (size_t)(random_state >> 33) % limit;
}

/* A row of a table without conversions, of limited length. */
static const struct message *plain_row(const struct message *table, size_t most)
{
    size_t count = 0;
    while (table[++count].en)
        ;
    for (;;) {
        const struct message *row = &table[below(count)];
        if (!strchr(row->en, '%') && strlen(row->en) <= most)
            return row;
    }
}

struct argument {
    char en[128], zh[128];
};

/* What users write. `is_first`: the message starts with it, so that it looks like no label. */
static void wild_text(char *out, size_t size, bool is_first)
{
    static const char *const bits[] = {"a",  "7",    "每天", "é", "%",   "%s",
                                       "%%", "100%", "'",    "[", "\"",  "?",
                                       ";",  ", ",   ": ",   " ", "\\n", " (at column 3"};
    size_t count = sizeof(bits) / sizeof(bits[0]) - (is_first ? 8 : 0);
    size_t used = 0;
    *out = '\0';
    for (size_t i = below(5); i > 0; i--) {
        bool is_message = !is_first && below(4) == 0;
        const char *bit = is_message ? plain_row(parsed_messages, size)->en : bits[below(count)];
        if (used + strlen(bit) < size)
            used += (size_t)snprintf(out + used, size - used, "%s", bit);
    }
}

/* Whether its texts are messages: those of the others are words. */
static bool is_wrapping(const struct message *table)
{
    return table == parsed_wrappings || table == parsed_complaints;
}

static void fill(const struct part *part, const struct message *table, bool is_first,
                 struct argument *ret)
{
    size_t size = part->most >= 0 && (size_t)part->most < sizeof(ret->en) ? (size_t)part->most + 1
                                                                          : sizeof(ret->en);
    const struct message *words = NULL;
    if (part->kind == 'd')
        snprintf(ret->en, sizeof(ret->en), "%d", (int)below(2000) - 300);
    else if (part->kind == 'X')
        snprintf(ret->en, sizeof(ret->en), "%02X", (unsigned)below(255));
    else if (part->kind == 'c')
        snprintf(ret->en, sizeof(ret->en), "%c", "%'\"#aW"[below(6)]);
    else if (part->is_quoted || (part->has_most && !is_wrapping(table)))
        wild_text(ret->en, size, is_first);
    else
        words = is_wrapping(table) ? plain_row(parsed_messages, size - 1 < 100 ? size - 1 : 100)
                                   : plain_row(parsed_words, 12); /* "day of month" */
    if (words)
        snprintf(ret->en, sizeof(ret->en), "%s", words->en);
    snprintf(ret->zh, sizeof(ret->zh), "%s", words ? words->zh : ret->en);
}

/* Prints a format by printf, with texts for all of its conversions. */
static void print_format(const char *format, const struct argument *arguments, bool is_chinese,
                         char *out, size_t size)
{
    const char *texts[PIECES_MAX];
    struct strbuf placed;
    struct part part;
    int count = 0;
    strbuf_init(&placed);
    for (const char *at = format;; at = part.rest) {
        if (!next_part(at, &count, &part)) {
            strbuf_adds(&placed, at);
            break;
        }
        const char *percent = part.rest;
        while (*--percent != '%')
            ;
        strbuf_add(&placed, at, (size_t)(percent - at));
        strbuf_addf(&placed, "%%%d$s", part.place);
    }
    for (int i = 0; i < PIECES_MAX; i++)
        texts[i] = is_chinese ? arguments[i].zh : arguments[i].en;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(out, size, placed.text, texts[0], texts[1], texts[2], texts[3], texts[4], texts[5],
             texts[6], texts[7]);
#pragma GCC diagnostic pop
    strbuf_release(&placed);
}

/* Whether an argument has the literal behind it in itself: then nobody knows where it ends. */
static bool is_ambiguous(const char *rest, const char *argument)
{
    char text[512], literal[256];
    size_t length = strcspn(rest, "%");
    snprintf(literal, sizeof(literal), "%.*s", (int)length, rest);
    snprintf(text, sizeof(text), "%s%s", argument, literal);
    return rest[length] && strstr(text, literal) != text + strlen(argument);
}

/* Whether the text may be of the format, too: its literals come in it in their order. */
static bool may_be_of(const char *format, const char *text)
{
    struct part part;
    int count = 0;
    for (const char *at = format;; at = part.rest) {
        char literal[512];
        bool is_last = !next_part(at, &count, &part);
        size_t length = is_last ? strlen(at) : strcspn(at, "%");
        snprintf(literal, sizeof(literal), "%.*s", (int)length, at);
        const char *place = strstr(text, literal);
        if (!place || (at == format && place != text))
            return false;
        if (is_last)
            return strlen(text) >= length && strcmp(text + strlen(text) - length, literal) == 0;
        text = place + length;
    }
}

/* Nor can anybody tell two messages apart that begin alike, if the arguments of one have what is
 * in the other. */
static bool is_of_another(const struct message *row, const char *english)
{
    size_t length = strcspn(row->en, "%");
    for (int t = 0; length && tables[t] != parsed_words; t++) {
        for (const struct message *other = tables[t]; other->en; other++) {
            if (other != row && strcspn(other->en, "%") == length &&
                strncmp(other->en, row->en, length) == 0 && may_be_of(other->en, english))
                return true;
        }
    }
    return false;
}

static void round_trip(const struct message *table, const struct message *row)
{
    struct argument arguments[PIECES_MAX] = {0};
    char english[2048], chinese[2048];
    struct part part;
    int count = 0;
    for (const char *at = row->en; next_part(at, &count, &part); at = part.rest) {
        struct argument *argument = &arguments[count - 1];
        do
            fill(&part, table, row->en[0] == '%' && count == 1, argument);
        while (is_ambiguous(part.rest, argument->en));
    }
    print_format(row->en, arguments, false, english, sizeof(english));
    print_format(row->zh, arguments, true, chinese, sizeof(chinese));
    if (is_of_another(row, english))
        return;
    translates_to(english, chinese, __LINE__);
}

static void a_message_is_found_whatever_its_arguments_are(void **state)
{
    const char *given = getenv("PEAL_SEED");
    (void)state;
    random_state = given ? strtoull(given, NULL, 10) : (uint64_t)time(NULL);
    print_message("PEAL_SEED=%llu\n", (unsigned long long)random_state);
    for (int i = 0; i < 5; i++) {
        for (int t = 0; tables[t] != parsed_words; t++) {
            for (const struct message *row = tables[t]; row->en; row++)
                round_trip(tables[t], row);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_message_is_translated),
        cmocka_unit_test(a_row_has_the_same_conversions),
        cmocka_unit_test(a_text_is_translated_once),
        cmocka_unit_test(every_message_has_a_row),
        cmocka_unit_test(every_row_is_used),
        cmocka_unit_test(a_message_is_found_whatever_its_arguments_are),
    };
    return cmocka_run_group_tests(tests, read_all, free_all);
}
