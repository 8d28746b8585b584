/* Which events an end is, the words of each, and what becomes of output. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "notice_text.h"
#include "run_words.h"

#define TICK  INT64_C(1794711600000) /* 2026-11-15T03:00:00Z */
#define E(x)  (1 << NOTIFY_##x)
#define LATER (TICK + 61000)

static const struct {
    int line;
    enum run_state state;
    enum run_cause cause;
    int64_t started_ms;
    bool was_bad;
    unsigned want;
} ends[] = {
    {__LINE__, RUN_OK, CAUSE_TICK, TICK, false, E(SUCCESS)},
    {__LINE__, RUN_OK, CAUSE_TICK, TICK, true, E(SUCCESS) | E(RECOVERY)},
    {__LINE__, RUN_FAILED, CAUSE_TICK, TICK, true, E(FAILURE)},
    {__LINE__, RUN_TIMED_OUT, CAUSE_MANUAL, TICK, false, E(FAILURE)},
    {__LINE__, RUN_LOST, CAUSE_TICK, TICK, false, E(LOST)},
    {__LINE__, RUN_KILLED, CAUSE_TICK, TICK, true, 0},
    {__LINE__, RUN_SKIPPED, CAUSE_TICK, 0, true, 0},
    {__LINE__, RUN_MISSED, CAUSE_TICK, 0, false, E(LATE)},
    {__LINE__, RUN_OK, CAUSE_TICK, LATER, false, E(SUCCESS) | E(LATE)},
    {__LINE__, RUN_OK, CAUSE_TICK, LATER - 1000, false, E(SUCCESS)}, /* just in time */
    {__LINE__, RUN_FAILED, CAUSE_CATCH_UP, LATER, false, E(FAILURE) | E(LATE)},
    {__LINE__, RUN_OK, CAUSE_BACKFILL, LATER, false, E(SUCCESS)},
    {__LINE__, RUN_OK, CAUSE_MANUAL, LATER, false, E(SUCCESS)},
};

static void an_end_has_its_events(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        struct run run = {.tick_ms = TICK,
                          .attempt = 1,
                          .state = ends[i].state,
                          .cause = ends[i].cause,
                          .started_ms = ends[i].started_ms};
        unsigned got = run_events(&run, ends[i].was_bad, 60000, 0);
        if (got != ends[i].want)
            fail_msg("line %d: got %x", ends[i].line, got);
        run.started_ms += run.started_ms ? 5000 : 0;
        if (run_events(&run, ends[i].was_bad, 60000, 5000) != ends[i].want)
            fail_msg("line %d: the jitter was not taken off", ends[i].line);
    }
}

static const struct {
    int line;
    enum run_state state;
    enum run_reason reason;
    int attempt;
    bool retried, each;
    unsigned want;
} attempts[] = {
    {__LINE__, RUN_FAILED, REASON_EXIT_CODE, 1, false, false, E(FAILURE)},
    {__LINE__, RUN_FAILED, REASON_EXIT_CODE, 1, true, false, 0},
    {__LINE__, RUN_FAILED, REASON_EXIT_CODE, 1, true, true, E(FAILURE)},
    {__LINE__, RUN_LOST, REASON_NODE_DIED, 2, true, false, 0},
    {__LINE__, RUN_LOST, REASON_NODE_DIED, 2, true, true, E(LOST)},
    {__LINE__, RUN_FAILED, REASON_EXIT_CODE, 3, false, false, E(FAILURE)},
    {__LINE__, RUN_OK, REASON_NONE, 2, false, false, E(SUCCESS)},
    {__LINE__, RUN_OK, REASON_NONE, 2, false, true, E(SUCCESS) | E(RECOVERY)},
    {__LINE__, RUN_OK, REASON_NONE, 1, false, true, E(SUCCESS)},
    {__LINE__, RUN_SKIPPED, REASON_PAUSED, 2, false, false, E(FAILURE)}, /* nobody was told */
    {__LINE__, RUN_SKIPPED, REASON_PAUSED, 2, false, true, 0},
    {__LINE__, RUN_SKIPPED, REASON_NOT_NEEDED, 2, false, false, 0},
    {__LINE__, RUN_SKIPPED, REASON_PAUSED, 1, false, false, 0},
};

static void of_attempts_the_last_is_told(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(attempts) / sizeof(attempts[0]); i++) {
        struct run run = {.tick_ms = TICK,
                          .attempt = attempts[i].attempt,
                          .state = attempts[i].state,
                          .reason = attempts[i].reason,
                          .retried = attempts[i].retried};
        unsigned events = run_events(&run, false, 60000, 0);
        if (attempt_events(&run, events, attempts[i].each) != attempts[i].want)
            fail_msg("line %d", attempts[i].line);
    }
}

/* ---- words ---- */

static struct notice sample(enum notify_event event, enum run_state state, enum run_reason reason)
{
    struct notice notice = {.event = event,
                            .state = state,
                            .reason = reason,
                            .job = "db/backup",
                            .tick_ms = TICK,
                            .last_tick_ms = TICK,
                            .count = 1,
                            .attempt = 1,
                            .exit_code = -1,
                            .node = "web-1"};
    return notice;
}

static const struct {
    int line;
    enum notify_event event;
    enum run_state state;
    enum run_reason reason;
    int exit_code, term_signal;
    int64_t count, held;
    const char *en, *zh;
} titles[] = {
    {__LINE__, NOTIFY_FAILURE, RUN_FAILED, REASON_EXIT_CODE, 3, 0, 1, 0,
     "db/backup failed: exit code 3", "db/backup 失败：退出码 3"},
    {__LINE__, NOTIFY_FAILURE, RUN_FAILED, REASON_SIGNAL, -1, 9, 1, 0, "db/backup failed: signal 9",
     "db/backup 失败：信号 9"},
    {__LINE__, NOTIFY_FAILURE, RUN_TIMED_OUT, REASON_TIMEOUT, -1, 15, 1, 12,
     "db/backup failed: timed out (and 12 more)", "db/backup 失败：超时（另有 12 次）"},
    {__LINE__, NOTIFY_FAILURE, RUN_FAILED, REASON_NO_START, -1, 0, 1, 0,
     "db/backup failed: the process could not be started", "db/backup 失败：进程无法启动"},
    {__LINE__, NOTIFY_FAILURE, RUN_FAILED, REASON_OOM, -1, 9, 1, 0,
     "db/backup failed: memory ran out: the kernel's OOM killer ended the process",
     "db/backup 失败：内存耗尽：进程被内核 OOM killer 终止"},
    {__LINE__, NOTIFY_FAILURE, RUN_FAILED, REASON_CPU_TIME, -1, 24, 1, 0,
     "db/backup failed: the process reached its limit of CPU time",
     "db/backup 失败：进程达到 CPU 时间上限"},
    {__LINE__, NOTIFY_LOST, RUN_LOST, REASON_NODE_DIED, -1, 0, 1, 0,
     "db/backup was lost with its node", "db/backup 随节点失联"},
    {__LINE__, NOTIFY_LOST, RUN_LOST, REASON_SPAWNER_DIED, -1, 0, 1, 0, "db/backup was lost",
     "db/backup 失联"},
    {__LINE__, NOTIFY_RECOVERY, RUN_OK, REASON_NONE, 0, 0, 1, 0, "db/backup recovered",
     "db/backup 已恢复"},
    {__LINE__, NOTIFY_SUCCESS, RUN_OK, REASON_NONE, 0, 0, 1, 0, "db/backup succeeded",
     "db/backup 成功"},
    {__LINE__, NOTIFY_LATE, RUN_OK, REASON_NONE, 0, 0, 1, 0, "db/backup started late",
     "db/backup 启动延迟"},
    {__LINE__, NOTIFY_LATE, RUN_MISSED, REASON_DEADLINE, -1, 0, 1, 0, "db/backup missed a tick",
     "db/backup 错过 1 次触发"},
    {__LINE__, NOTIFY_LATE, RUN_MISSED, REASON_CATCH_UP, -1, 0, 40, 0, "db/backup missed 40 ticks",
     "db/backup 错过 40 次触发"},
};

static void titles_say_what_happened(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(titles) / sizeof(titles[0]); i++) {
        struct notice notice = sample(titles[i].event, titles[i].state, titles[i].reason);
        struct strbuf en, zh;
        strbuf_init(&en);
        strbuf_init(&zh);
        notice.exit_code = titles[i].exit_code;
        notice.term_signal = titles[i].term_signal;
        notice.count = titles[i].count;
        notice.held = titles[i].held;
        notice_title(&notice, LANGUAGE_EN, &en);
        notice_title(&notice, LANGUAGE_ZH, &zh);
        if (strcmp(en.text, titles[i].en) != 0 || strcmp(zh.text, titles[i].zh) != 0)
            fail_msg("line %d: got \"%s\" and \"%s\"", titles[i].line, en.text, zh.text);
        strbuf_release(&en);
        strbuf_release(&zh);
    }
}

static void facts_are_all_there(void **state)
{
    (void)state;
    struct zone_db *zones;
    struct strbuf en, zh, link;
    assert_int_equal(zone_db_new(NULL, &zones), OK);
    strbuf_init(&en);
    strbuf_init(&zh);
    strbuf_init(&link);
    struct notice_world world = {zones, "https://peal.example.com/"};
    struct notice notice = sample(NOTIFY_FAILURE, RUN_FAILED, REASON_EXIT_CODE);
    snprintf(notice.timezone, sizeof(notice.timezone), "Asia/Shanghai");
    snprintf(notice.detail, sizeof(notice.detail), "disk full");
    notice.started_ms = TICK + 5;
    notice.finished_ms = TICK + 12345;
    notice.exit_code = 3;
    notice.attempt = 2;
    notice.held = 4;
    notice_facts(&notice, LANGUAGE_EN, &world, &en);
    assert_string_equal(en.text, "Job: db/backup\n"
                                 "State: failed, the exit code was not 0\n"
                                 "Detail: disk full\n"
                                 "Tick: 2026-11-15T11:00:00+08:00\n"
                                 "Node: web-1\n"
                                 "Duration: 12.3 s\n"
                                 "Exit code: 3\n"
                                 "Attempt: 2\n"
                                 "Held back: 4 more like this");
    notice_facts(&notice, LANGUAGE_ZH, &world, &zh);
    assert_string_equal(zh.text, "任务：db/backup\n"
                                 "状态：失败，退出码不为 0\n"
                                 "详情：disk full\n"
                                 "触发时间：2026-11-15T11:00:00+08:00\n"
                                 "节点：web-1\n"
                                 "耗时：12.3 秒\n"
                                 "退出码：3\n"
                                 "尝试次数：2\n"
                                 "已合并：此前还有 4 条同类消息");
    notice_link(&notice, &world, &link);
    assert_string_equal(link.text, "https://peal.example.com/#/runs/00000000000000000000000000");
    strbuf_reset(&link);
    notice.is_entry = true;
    notice_link(&notice, &world, &link);
    assert_string_equal(link.text, "https://peal.example.com/#/jobs/db%2Fbackup");
    strbuf_release(&en);
    strbuf_release(&zh);
    strbuf_release(&link);
    zone_db_free(zones);
}

/* Every reason has words in both languages. */
static void every_reason_has_chinese_words(void **state)
{
    (void)state;
    for (int reason = REASON_NONE + 1; reason < REASONS; reason++) {
        struct notice notice = sample(NOTIFY_LATE, RUN_MISSED, (enum run_reason)reason);
        struct strbuf text;
        strbuf_init(&text);
        notice_facts(&notice, LANGUAGE_ZH, &(struct notice_world){0}, &text);
        if (strstr(text.text, run_reason_text((enum run_reason)reason, LANGUAGE_EN)))
            fail_msg("%s is in English", run_reason_name((enum run_reason)reason));
        strbuf_release(&text);
    }
}

/* ---- output ---- */

static const struct {
    int line;
    const char *bytes, *want;
} outputs[] = {
    {__LINE__, "one\ntwo\n", "one\ntwo"},
    {__LINE__, "\033[31mred\033[0m plain\n", "red plain"},
    {__LINE__, "\033]0;title\atext", "text"},
    {__LINE__, "50%\r100%\n", "50%100%"},
    {__LINE__, "a\x01z\x80-\n", "az\xEF\xBF\xBD-"},
    {__LINE__, "cut \033[", "cut"},
    {__LINE__, "\n\n  \n", NULL},
    {__LINE__, "世界", "世界"},
};

static void output_is_made_text(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(outputs) / sizeof(outputs[0]); i++) {
        struct notice notice = {0};
        notice_set_output(&notice, outputs[i].bytes, strlen(outputs[i].bytes), false);
        bool is_same = outputs[i].want
                           ? notice.output && strcmp(notice.output, outputs[i].want) == 0
                           : !notice.output;
        if (!is_same)
            fail_msg("line %d: got \"%s\"", outputs[i].line, notice.output);
        notice_release(&notice);
    }
}

static void long_output_ends_with_its_last_lines(void **state)
{
    (void)state;
    struct strbuf text;
    struct notice notice = {0};
    strbuf_init(&text);
    for (int i = 0; i < 200; i++)
        strbuf_addf(&text, "line %d\n", i);
    notice_set_output(&notice, text.text, text.length, false);
    assert_true(notice.output_is_cut);
    assert_true(strlen(notice.output) <= NOTICE_OUTPUT_MAX);
    assert_int_equal(strncmp(notice.output, "line ", 5), 0);
    assert_non_null(strstr(notice.output, "line 199"));
    strbuf_reset(&text);
    for (int i = 0; i < 2000; i++) /* one line, of three bytes a letter */
        strbuf_adds(&text, "世");
    notice_set_output(&notice, text.text, text.length, false);
    assert_int_equal(strncmp(notice.output, "世", 3), 0);
    notice_release(&notice);
    strbuf_release(&text);
}

static void what_is_on_disk_is_read_back(void **state)
{
    (void)state;
    char key[NOTICE_KEY_MAX + 1], again_key[NOTICE_KEY_MAX + 1];
    struct notice notice = sample(NOTIFY_LOST, RUN_LOST, REASON_NODE_DIED), again;
    snprintf(notice.channel, sizeof(notice.channel), "ops");
    notice.id = id_make((struct wall_ms){TICK}, (const uint8_t[10]){1, 2, 3});
    notice.held = 7;
    notice.not_before_ms = TICK + 1;
    notice_set_output(&notice, "a\nb", 3, true);
    notice_set_templates(&notice, &(struct job_notify){.title = (char *)"${job}"});
    json_t *value = notice_encode(&notice);
    assert_non_null(value);
    assert_int_equal(notice_decode(value, &again), OK);
    assert_string_equal(again.title, "${job}");
    assert_null(again.text);
    json_t *once_more = notice_encode(&again);
    assert_true(json_equal(value, once_more));
    notice_key(&notice, key);
    notice_key(&again, again_key);
    assert_string_equal(key, again_key);
    assert_non_null(strstr(key, "-lost-ops"));
    json_object_set_new(value, "state", json_string("gone"));
    struct notice untouched = {0};
    assert_int_equal(notice_decode(value, &untouched), E_CORRUPT);
    json_decref(value);
    json_decref(once_more);
    notice_release(&notice);
    notice_release(&again);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_end_has_its_events),
        cmocka_unit_test(of_attempts_the_last_is_told),
        cmocka_unit_test(titles_say_what_happened),
        cmocka_unit_test(facts_are_all_there),
        cmocka_unit_test(every_reason_has_chinese_words),
        cmocka_unit_test(output_is_made_text),
        cmocka_unit_test(long_output_ends_with_its_last_lines),
        cmocka_unit_test(what_is_on_disk_is_read_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
