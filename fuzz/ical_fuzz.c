/* Any text as an iCalendar file, as `peal calendar set --ical` reads it: refused with words, or
 * dates and windows that a calendar takes, within its limits. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "calendar_codec.h"
#include "ical/ical_dates.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool truth)
{
    if (!truth)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ical_span span = {20000, 20000 + 3 * 366};
    struct calendar_definition definition;
    struct job_error err = {0};
    const char *why = "";
    json_t *value = NULL;
    char *text = malloc(size + 1);
    require(text != NULL);
    memcpy(text, data, size);
    text[size] = '\0';
    if (ical_dates_read(text, &span, &value, &why) != OK) {
        require(*why != '\0');
        free(text);
        return 0;
    }
    enum status st = calendar_decode_json(value, NULL, NULL, &definition, &err);
    require(st == OK || strstr(err.message, "bytes"));
    if (st == OK)
        calendar_definition_release(&definition);
    json_decref(value);
    free(text);
    return 0;
}
