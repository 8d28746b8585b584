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
        assert_int_equal(agent_log_open(path, &log), OK);
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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(an_event_is_one_line)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
