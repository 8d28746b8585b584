/* Any text as a calendar: refused with words, or read, written and read again the same, and no day
 * that it calls free is one of its own. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "calendar_codec.h"
#include "cron/cron_expr.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool truth)
{
    if (!truth)
        abort();
}

static void check_days(const struct calendar *calendar)
{
    for (int64_t day = 20000; day < 20400; day += 13) {
        int64_t from = calendar_free_from(calendar, day);
        int64_t until = calendar_free_until(calendar, day);
        require(from == NEVER ? until == NEVER_BEFORE : from >= day && until <= day);
        require(from == NEVER || (!calendar_has(calendar, from) && !calendar_has(calendar, until)));
        require((from == day) == !calendar_has(calendar, day));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct calendar_definition definition, again;
    struct job_error err = {0};
    if (calendar_decode_text((const char *)data, size, NULL, &definition, &err) != OK) {
        require(err.message[0] != '\0');
        return 0;
    }
    char *text = calendar_encode_text(&definition);
    require(text && calendar_decode_text(text, strlen(text), NULL, &again, &err) == OK);
    char *text_again = calendar_encode_text(&again);
    require(text_again && strcmp(text, text_again) == 0);
    check_days(&definition.calendar);
    free(text);
    free(text_again);
    calendar_definition_release(&definition);
    calendar_definition_release(&again);
    return 0;
}
