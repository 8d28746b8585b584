/* Any text as a calendar: refused with words, or read, written and read again the same, and no day
 * that it calls free is one of its own. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "calendar_codec.h"
#include "cron/cron_expr.h"
#include "window/held.h"

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

/* A stretch has its instant in it, and one answer. */
static void check_stretches(const struct calendar *calendar)
{
    int64_t at_s = INT64_C(1767225600);
    for (int i = 0; i < 50 && at_s < INT64_C(1800000000); i++) {
        struct held_stretch stretch = calendar_stretch(calendar, zone_utc(), at_s);
        require(stretch.from_s <= at_s && at_s < stretch.to_s);
        require(calendar_holds(calendar, zone_utc(), at_s) == stretch.is_held);
        require(calendar_holds(calendar, zone_utc(), stretch.to_s - 1) == stretch.is_held);
        require(stretch.is_held || !calendar_window_at(calendar, zone_utc(), at_s));
        at_s = stretch.to_s;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct calendar_definition definition, again;
    struct job_error err = {0};
    if (calendar_decode_text((const char *)data, size, NULL, NULL, &definition, &err) != OK) {
        require(err.message[0] != '\0');
        return 0;
    }
    char *text = calendar_encode_text(&definition);
    require(text && calendar_decode_text(text, strlen(text), NULL, NULL, &again, &err) == OK);
    char *text_again = calendar_encode_text(&again);
    require(text_again && strcmp(text, text_again) == 0);
    check_days(&definition.calendar);
    check_stretches(&definition.calendar);
    free(text);
    free(text_again);
    calendar_definition_release(&definition);
    calendar_definition_release(&again);
    return 0;
}
