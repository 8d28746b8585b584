/* The log: whatever the words in it are, and whoever chose them, an event is one line. */
#include "agent_log.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static void an_event_is_one_line(void **state)
{
    static const struct {
        const char *particulars, *want;
    } rows[] = {
        {"node=a", " event node=a\n"},
        {"target=\"a\n2027-01-01T00:00:00.000Z stopped\"",
         " event target=\"a 2027-01-01T00:00:00.000Z stopped\"\n"},
        {"a\rb\tc\x1b[31m\x7f", " event a b c [31m \n"},
        {"caf\xc3\xa9 \xe4\xbd\xa0", " event caf\xc3\xa9 \xe4\xbd\xa0\n"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char path[] = "/tmp/peal-log-XXXXXX", text[256] = "";
        struct agent_log *log;
        int fd = mkstemp(path);
        assert_true(fd >= 0);
        assert_int_equal(agent_log_open(path, false, &log), OK);
        agent_log_write(log, "event", rows[i].particulars);
        agent_log_close(log);
        assert_true(read(fd, text, sizeof(text) - 1) > 0);
        close(fd);
        unlink(path);
        const char *after_time = strchr(text, ' ');
        if (!after_time || strcmp(after_time, rows[i].want) != 0)
            fail_msg("row %zu: %s", i, text);
    }
}

static void an_event_is_an_object(void **state)
{
    static const struct {
        const char *particulars, *want;
    } rows[] = {
        {"", "\"event\":\"event\"}\n"},
        {"node=a running=3", "\"event\":\"event\",\"node\":\"a\",\"running\":3}\n"},
        {"offset=-12 id=007 big=12345678901234567890",
         "\"event\":\"event\",\"offset\":-12,\"id\":\"007\",\"big\":\"12345678901234567890\"}\n"},
        /* values with blanks, with quotes and without */
        {"data=/srv/my data pid=1", "\"event\":\"event\",\"data\":\"/srv/my data\",\"pid\":1}\n"},
        {"detail=\"no \"x\" here\" job=a",
         "\"event\":\"event\",\"detail\":\"no \\\"x\\\" here\",\"job\":\"a\"}\n"},
        {"error=\"open", "\"event\":\"event\",\"error\":\"\\\"open\"}\n"},
        {"empty= next=1", "\"event\":\"event\",\"empty\":\"\",\"next\":1}\n"},
        {"no name", "\"event\":\"event\",\"detail\":\"no name\"}\n"},
        /* from outside: one line, and UTF-8 */
        {"who=\"a\nb\x1b\" back=a\\b",
         "\"event\":\"event\",\"who\":\"a b \",\"back\":\"a\\\\b\"}\n"},
        {"who=\xff\xfe", "\"event\":\"event\",\"who\":\"??\"}\n"},
        {"who=\xe4\xbd\xa0", "\"event\":\"event\",\"who\":\"\xe4\xbd\xa0\"}\n"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char path[] = "/tmp/peal-log-XXXXXX", text[256] = "";
        struct agent_log *log;
        int fd = mkstemp(path);
        assert_true(fd >= 0);
        assert_int_equal(agent_log_open(path, true, &log), OK);
        agent_log_write(log, "event", rows[i].particulars);
        agent_log_close(log);
        assert_true(read(fd, text, sizeof(text) - 1) > 0);
        close(fd);
        unlink(path);
        const char *after_time = strstr(text, "Z\",");
        if (strncmp(text, "{\"time\":\"2", 10) != 0 || !after_time ||
            strcmp(after_time + 3, rows[i].want) != 0)
            fail_msg("row %zu: %s", i, text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(an_event_is_one_line),
                                       cmocka_unit_test(an_event_is_an_object)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
