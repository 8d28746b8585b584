/* Rows of XXL-JOB's tables: the forms in which they come, what becomes of each column, and what is
 * said of everything else. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "foreign/gocron.h"
#include "foreign/xxl.h"
#include "random_cron.h"

static struct zone_db *zones;

static int open_zones(void **state)
{
    (void)state;
    return zone_db_new(NULL, &zones) == OK ? 0 : -1;
}

static int close_zones(void **state)
{
    (void)state;
    zones = zone_db_free(zones);
    return 0;
}

typedef enum status reader(const char *text, size_t length, const struct foreign_options *options,
                           struct zone_db *zones, struct foreign *ret, struct parse_error *reterr);

/* The jobs as JSON and the notes, a line each; or what is wrong with the text. */
static void show(reader *read, const char *text, size_t length, struct strbuf *got)
{
    struct foreign foreign;
    struct parse_error err = {0};
    const struct foreign_options options = {.default_tz = "UTC"};
    foreign_init(&foreign);
    enum status st = read(text, length, &options, zones, &foreign, &err);
    if (st != OK)
        strbuf_addf(got, "%d:%d %s\n", err.line, err.column, err.message);
    for (size_t i = 0; i < foreign.jobs.count && st == OK; i++) {
        char *job = job_encode_definition(foreign.jobs.items[i]);
        strbuf_addf(got, "%s\n", job);
        free(job);
    }
    for (size_t i = 0; i < foreign.note_count && st == OK; i++) {
        const struct foreign_note *note = &foreign.notes[i];
        strbuf_addf(got, "%d:%d %s %s:%s %s\n", note->line, note->column,
                    foreign_severity_name(note->severity), note->id, note->name, note->text);
    }
    if (st == OK && foreign.lost)
        strbuf_addf(got, "lost %zu\n", foreign.lost);
    foreign_release(&foreign);
}

/* A row of JSON that runs a script; `more` are further columns. */
#define ROW(id, desc, more)                                                                        \
    "{\"id\":" id ",\"job_desc\":\"" desc                                                          \
    "\",\"schedule_type\":\"CRON\",\"schedule_conf\":\"0 0 3 * * ?\",\"glue_type\":"               \
    "\"GLUE_SHELL\",\"glue_source\":\"echo\",\"trigger_status\":1" more "}"
#define JOB(name)                                                                                  \
    "{\"name\":\"" name "\",\"schedule\":\"0 3 * * *\",\"timezone\":\"UTC\",\"shell\":\"echo\","
#define QUEUES "\"overlap\":\"queue\",\"catch_up\":\"skip\""

#define CREATE                                                                                     \
    "CREATE TABLE `xxl_job_info` (\n  `id` int(11) NOT NULL,\n  `job_desc` varchar(255) "          \
    "DEFAULT 'a,(b' COMMENT 'x'')',\n  `schedule_type` varchar(50),\n  `schedule_conf` "           \
    "varchar(128),\n  `glue_type` varchar(50),\n  `glue_source` mediumtext,\n  PRIMARY KEY "       \
    "(`id`),\n  KEY `k` (`job_desc`)\n) ENGINE=InnoDB;\n"

static const struct {
    int line;
    const char *text, *want;
} imports[] = {
    /* forms */
    {__LINE__, "[" ROW("1", "a", "") "]", JOB("a") QUEUES "}\n"},
    {__LINE__, "{\"recordsTotal\":1,\"data\":[" ROW("1", "a", "") "]}", JOB("a") QUEUES "}\n"},
    {__LINE__, "{\"xxl_job_info\":[" ROW("1", "a", "") "]}", JOB("a") QUEUES "}\n"},
    {__LINE__,
     "[{\"type\":\"header\"},{\"type\":\"table\",\"name\":\"xxl_job_info\",\"data\":[" ROW(
         "1", "a", "") "]}]",
     JOB("a") QUEUES "}\n"},
    {__LINE__,
     "[{\"id\":1,\"jobDesc\":\"a\",\"scheduleType\":\"CRON\",\"scheduleConf\":\"0 0 3 * * ?\","
     "\"glueType\":\"GLUE_SHELL\",\"glueSource\":\"echo\",\"triggerStatus\":1}]",
     JOB("a") QUEUES "}\n"},
    {__LINE__,
     "id,job_desc,schedule_type,schedule_conf,glue_type,glue_source,author\r\n"
     "1,a,CRON,0 0 3 * * ?,GLUE_SHELL,\"echo \"\"x\"\"\n\",NULL\r\n",
     "{\"name\":\"a\",\"schedule\":\"0 3 * * *\",\"timezone\":\"UTC\",\"shell\":\"echo "
     "\\\"x\\\"\\n\"," QUEUES "}\n"},
    {__LINE__,
     "-- dump\n/*!40101 SET x */;\n" CREATE
     "INSERT INTO `xxl_job_info` VALUES (1,'a','CRON','0 0 3 * * ?','GLUE_SHELL','echo "
     "\\'x\\''';\\n'"
     "),\n(2,'b','NONE',NULL,'GLUE_SHELL',_binary 'x');\nINSERT INTO `other` VALUES "
     "(1,');');\n",
     "{\"name\":\"a\",\"schedule\":\"0 3 * * *\",\"timezone\":\"UTC\",\"shell\":\"echo "
     "'x'';\\n\"," QUEUES "}\n{\"name\":\"b\",\"schedule\":\"@manual\",\"timezone\":\"UTC\","
     "\"shell\":\"x\",\"overlap\":"
     "\"queue\"}\n"},
    {__LINE__,
     "insert into db.xxl_job_info (id, job_desc, schedule_type, schedule_conf, glue_type, "
     "glue_source, add_time) values (1, 'a', 'CRON', '0 0 3 * * ?', 'GLUE_SHELL', 'echo', "
     "NOW());",
     JOB("a") QUEUES "}\n"},
    /* what is no such text */
    {__LINE__, "",
     "0:0 expected rows of xxl_job_info: INSERTs of mysqldump, CSV with a header, or "
     "JSON\n"},
    {__LINE__, "{\"a\":1}", "1:1 expected rows of xxl_job_info, found a map\n"},
    {__LINE__, "[1]", "1:2 expected a row of xxl_job_info, with id and job_desc\n"},
    {__LINE__, "INSERT INTO xxl_job_info VALUES (1);",
     "1:13 the names of the columns are missing: export them with mysqldump --complete-insert, "
     "or "
     "with the tables' definitions\n"},
    {__LINE__, "INSERT INTO xxl_job_info (id) VALUES (1,2);",
     "1:41 the row has more values than there are columns\n"},
    {__LINE__, "INSERT INTO xxl_job_info (id,job_desc) VALUES\n (1);",
     "2:2 the row has fewer values than there are columns\n"},
    {__LINE__, "INSERT INTO xxl_job_info (id,job_desc) VALUES (1,'a",
     "1:50 the quote that starts here has no end\n"},
    {__LINE__, "--\nCOPY public.xxl_job_info (id) FROM stdin;\n1\n",
     "2:1 COPY is not read: export the rows with pg_dump --inserts\n"},
    {__LINE__, "id,job_desc\n1\n", "2:1 the line has fewer fields than the first one\n"},
    {__LINE__, "id,job_desc\n1,2,3\n", "2:5 the line has more fields than the first one\n"},
    /* when */
    {__LINE__,
     "[" ROW("1", "a", ",\"misfire_strategy\":\"FIRE_ONCE_NOW\",\"trigger_status\":0") "]",
     "1:178 \"trigger_status\" is given twice; the first is in line 1\n"},
    {__LINE__,
     "[{\"id\":1,\"job_desc\":\"a\",\"schedule_type\":\"FIX_RATE\",\"schedule_conf\":\"90\","
     "\"misfire_strategy\":\"FIRE_ONCE_NOW\",\"trigger_status\":0,\"glue_type\":\"GLUE_SHELL\","
     "\"glue_source\":\"x\"}]",
     "{\"name\":\"a\",\"schedule\":\"@every "
     "1m30s\",\"timezone\":\"UTC\",\"shell\":\"x\",\"overlap\":"
     "\"queue\",\"paused\":true}\n"},
    {__LINE__,
     "[{\"id\":1,\"job_desc\":\"a\",\"job_cron\":\"0 0 10 ? * "
     "6L\",\"glue_type\":\"GLUE_SHELL\","
     "\"glue_source\":\"x\"}]",
     "{\"name\":\"a\",\"schedule\":\"0 10 * * 5L\",\"timezone\":\"UTC\",\"shell\":\"x\"," QUEUES
     "}\n"},
    {__LINE__,
     "[{\"id\":1,\"job_desc\":\"a\",\"schedule_type\":\"CRON\",\"schedule_conf\":\"0 0 25 * * "
     "?\"},"
     "{\"id\":2,\"job_desc\":\"b\",\"schedule_type\":\"WEEKLY\"},"
     "{\"id\":3,\"job_desc\":\"c\",\"schedule_type\":\"FIX_RATE\",\"schedule_conf\":\"x\"},"
     "{\"id\":4,\"job_desc\":\"d\",\"schedule_type\":\"CRON\",\"schedule_conf\":\"\"}]",
     "1:64 error 1:a schedule_conf: hour 25 is out of range 0-23 (at column 5 of the text)\n"
     "1:119 error 2:b schedule_type: \"WEEKLY\" is not known: CRON, FIX_RATE or NONE\n"
     "1:195 error 3:c schedule_conf: expected a number, found a text\n"
     "1:262 error 4:d schedule_conf: the schedule is empty\nlost 4\n"},
    /* what */
    {__LINE__,
     "{\"xxl_job_info\":[{\"id\":1,\"job_group\":7,\"job_desc\":\"a\",\"schedule_type\":"
     "\"NONE\","
     "\"glue_type\":\"BEAN\",\"executor_handler\":\"demo\",\"executor_param\":\"p\"}],"
     "\"xxl_job_group\":[{\"id\":7,\"app_name\":\"billing\"}]}",
     "{\"name\":\"a\",\"schedule\":\"@manual\",\"timezone\":\"UTC\",\"function\":{\"program\":"
     "\"billing\",\"name\":\"demo\"},\"overlap\":\"queue\",\"labels\":{\"executor\":"
     "\"billing\"}}\n"
     "1:116 warning 1:a the handler \"demo\" is a method of the executor: register it as a "
     "function "
     "of the program \"billing\", or give the job a command or an HTTP call\n"
     "1:140 warning 1:a executor_param \"p\" is not converted: a function has parameters by "
     "name\n"},
    {__LINE__,
     "[{\"id\":1,\"job_desc\":\"a\",\"glue_type\":\"GLUE_PYTHON\",\"glue_source\":\"print(1)\","
     "\"executor_param\":\"p\"},{\"id\":2,\"job_desc\":\"b\",\"glue_type\":\"GLUE_SHELL\","
     "\"glue_source\":\"echo $1\",\"executor_param\":\"q r\"}]",
     "{\"name\":\"a\",\"schedule\":\"@manual\",\"timezone\":\"UTC\",\"command\":[\"python3\","
     "\"-\",\"p\"],"
     "\"stdin\":\"print(1)\",\"overlap\":\"queue\"}\n"
     "{\"name\":\"b\",\"schedule\":\"@manual\",\"timezone\":\"UTC\",\"command\":[\"bash\",\"-"
     "c\",\"echo "
     "$1\",\"glue\",\"q r\"],\"overlap\":\"queue\"}\n"},
    {__LINE__,
     "[{\"id\":1,\"job_desc\":\"a\",\"glue_type\":\"GLUE_GROOVY\"},{\"id\":2,\"job_desc\":"
     "\"b\"},"
     "{\"id\":3,\"job_desc\":\"c\",\"glue_type\":\"GLUE_SHELL\"}]",
     "1:37 error 1:a glue_type: \"GLUE_GROOVY\" runs only inside of an executor\n"
     "1:52 error 2:b executor_handler is missing: which method of the executor is it?\n"
     "1:76 error 3:c its script is empty\nlost 3\n"},
    /* how */
    {__LINE__,
     "[" ROW("1", "a",
             ",\"executor_block_strategy\":\"COVER_EARLY\",\"executor_route_strategy\":"
             "\"SHARDING_BROADCAST\",\"executor_timeout\":60,\"executor_fail_retry_count\":3,"
             "\"author\":\"li\",\"alarm_email\":\"a@b\",\"weight\":5") "]",
     JOB("a") "\"overlap\":\"replace\",\"catch_up\":\"skip\",\"timeout\":\"1m\",\"retries\":3,"
              "\"spread\":\"all\",\"owner\":\"li\"}\n"
              "1:209 warning 1:a SHARDING_BROADCAST: each node has a run, whose number and "
              "count are PEAL_PART "
              "and PEAL_PARTS instead of the executor's shard index and total\n"
              "1:310 warning 1:a XXL-JOB mails failures to a@b: make a channel with `peal "
              "channel set`, and "
              "name it in the job's notify\n"
              "1:316 warning 1:a unknown field \"weight\" is not converted\n"},
    {__LINE__,
     "[" ROW("1", "a",
             ",\"executor_block_strategy\":\"DISCARD_LATER\",\"executor_route_strategy\":"
             "\"FIRST\"") "]",
     JOB("a") "\"catch_up\":\"skip\"}\n"
              "1:211 info 1:a the route strategy FIRST is not converted: peal chooses the "
              "node, and another "
              "one when that is gone\n"},
    /* names and children */
    {__LINE__,
     "[" ROW("1", "备份 (夜)", ",\"child_jobid\":\"2, 3,9,1\"") "," ROW(
         "2", "b", "") ",{\"id\":3,"
                       "\"job_desc\":\"c\",\"schedule_type\":\"NONE\",\"glue_type\":\"GLUE_"
                       "SHELL\",\"glue_source\":"
                       "\"x\"}]",
     JOB("备份-夜") QUEUES "}\n" JOB("b") QUEUES
     "}\n"
     "{\"name\":\"b-after-1\",\"after\":[{\"job\":\"备份-夜\"}],\"shell\":\"echo\","
     "\"overlap\":\"queue\"}\n"
     "{\"name\":\"c\",\"after\":[{\"job\":\"备份-夜\"}],\"shell\":\"x\",\"overlap\":"
     "\"queue\"}\n"
     "1:21 info 1:备份 (夜) the job is named \"备份-夜\"\n"
     "1:162 warning 1:备份 (夜) it is its own child, which is left out\n"
     "1:162 warning 1:备份 (夜) its child task \"9\" is not in this listing\n"
     "1:174 info 2:b 2 things start it, its schedule or other tasks: there is a job for each "
     "of "
     "them\n"},
    {__LINE__, "[" ROW("1", "a", "") "," ROW("1", "b", "") "]",
     JOB("a") QUEUES "}\n1:144 error 1:b is in the listing twice; this one is left out\nlost 1\n"},
};

static void a_row_becomes_a_job(void **state)
{
    bool failed = false;
    (void)state;
    for (size_t i = 0; i < sizeof(imports) / sizeof(imports[0]); i++) {
        struct strbuf got;
        strbuf_init(&got);
        show(xxl_import, imports[i].text, strlen(imports[i].text), &got);
        if (strcmp(got.text, imports[i].want) != 0) {
            print_error("line %d: got\n%swanted\n%s", imports[i].line, got.text, imports[i].want);
            failed = true;
        }
        strbuf_release(&got);
    }
    assert_false(failed);
}

/* gocron's tables give the jobs that its listing gives. */
static void gocron_has_tables_too(void **state)
{
    static const char listing[] =
        "[{\"id\":1,\"name\":\"a\",\"spec\":\"0 0 3 * * *\",\"protocol\":2,\"command\":\"x 'y'\","
        "\"status\":1,\"hosts\":[{\"name\":\"10.0.0.5\",\"port\":5921,\"alias\":\"db\"}]},"
        "{\"id\":3,\"name\":\"c\",\"spec\":\"@daily\",\"protocol\":2,\"command\":\"z\",\"status\":"
        "0,"
        "\"hosts\":[]}]";
    static const char dump[] =
        "DROP TABLE IF EXISTS `g_task`;\nCREATE TABLE `g_task` (`id` int, `name` varchar(32), "
        "`spec` "
        "varchar(64), `protocol` tinyint, `command` varchar(256), `status` tinyint, `deleted` "
        "datetime);\nINSERT INTO `g_task` VALUES (1,'a','0 0 3 * * *',2,'x \\'y\\'',1,NULL),"
        "(2,'b','@daily',2,'gone',1,'2020-01-01 00:00:00'),(3,'c','@daily',2,'z',0,'0001-01-01');\n"
        "INSERT INTO `g_task_host` (`id`,`task_id`,`host_id`) VALUES (1,1,9);\n"
        "INSERT INTO g_host (id,name,port,alias) VALUES (9,'10.0.0.5',5921,'db');\n";
    static const char csv[] =
        "id;name;spec;protocol;command;status\n1;a;0 0 3 * * *;2;\"x 'y'\";1\n";
    struct strbuf ours, theirs;
    (void)state;
    strbuf_init(&ours);
    strbuf_init(&theirs);
    show(gocron_import, listing, strlen(listing), &theirs);
    show(gocron_import, dump, strlen(dump), &ours);
    const char *a = strstr(ours.text, "\n"), *b = strstr(theirs.text, "\n");
    assert_non_null(a);
    assert_non_null(b);
    assert_int_equal(a - ours.text, b - theirs.text);
    assert_memory_equal(ours.text, theirs.text, (size_t)(a - ours.text));
    assert_non_null(strstr(ours.text, "gocron runs it on the host db (10.0.0.5:5921)"));
    assert_non_null(strstr(ours.text, "\"name\":\"c\""));
    assert_null(strstr(ours.text, "gone"));
    strbuf_reset(&ours);
    show(gocron_import, csv, strlen(csv), &ours);
    assert_non_null(strstr(ours.text, "\"shell\":\"x 'y'\""));
    strbuf_release(&ours);
    strbuf_release(&theirs);
}

/* Damage anywhere: an answer, never a crash. */
static void any_damage_is_survived(void **state)
{
    enum { ROUNDS = 3000 };
    struct random random = random_new(random_seed());
    (void)state;
    print_message("PEAL_SEED=%llu\n", (unsigned long long)random.state);
    for (int i = 0; i < ROUNDS * random_rounds(); i++) {
        const char *text = imports[random_between(&random, 0, 8)].text;
        size_t length = strlen(text);
        char *copy = malloc(length + 1); /* not terminated */
        memcpy(copy, text, length);
        for (int k = random_between(&random, 1, 4); k > 0 && length; k--)
            copy[random_between(&random, 0, (int)length - 1)] =
                "'\"`(),;\\\n#-/*[]{}:x0"[random_between(&random, 0, 20)];
        if (length && random_chance(&random, 30))
            length = (size_t)random_between(&random, 0, (int)length);
        char *exact = malloc(length ? length : 1);
        memcpy(exact, copy, length);
        struct strbuf got;
        strbuf_init(&got);
        show(xxl_import, exact, length, &got);
        strbuf_release(&got);
        free(exact);
        free(copy);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_row_becomes_a_job),
        cmocka_unit_test(gocron_has_tables_too),
        cmocka_unit_test(any_damage_is_survived),
    };
    return cmocka_run_group_tests(tests, open_zones, close_zones);
}
