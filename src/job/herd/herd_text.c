#include "herd/herd_text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define BLANK " \t\r\n"

enum { FIELDS_MAX = 7, HOUR_MIN = 60 };

struct field_text {
    const char *text;
    size_t length;
};

static bool is_word(const char *text, size_t length, const char *word)
{
    return strlen(word) == length && strncmp(text, word, length) == 0;
}

/* What a macro stands for; NULL: no macro that has a constant minute. */
static const char *macro_fields(const char *text, size_t length)
{
    static const char *const macros[][2] = {
        {"@hourly", "0 * * * *"},   {"@daily", "0 0 * * *"},   {"@midnight", "0 0 * * *"},
        {"@weekly", "0 0 * * 0"},   {"@monthly", "0 0 1 * *"}, {"@yearly", "0 0 1 1 *"},
        {"@annually", "0 0 1 1 *"},
    };
    for (size_t i = 0; i < sizeof(macros) / sizeof(macros[0]); i++) {
        if (is_word(text, length, macros[i][0]))
            return macros[i][1];
    }
    return NULL;
}

static size_t split(const char *text, struct field_text fields[FIELDS_MAX + 1])
{
    size_t count = 0;
    for (text += strspn(text, BLANK); *text && count <= FIELDS_MAX; text += strspn(text, BLANK)) {
        size_t length = strcspn(text, BLANK);
        fields[count++] = (struct field_text){text, length};
        text += length;
    }
    return count;
}

static bool is_number(const struct field_text *field)
{
    for (size_t i = 0; i < field->length; i++) {
        if (!isdigit((unsigned char)field->text[i]))
            return false;
    }
    return field->length > 0;
}

/* A step over all minutes that comes out even: `*` followed by a slash and 5. */
static int even_step(const struct field_text *field)
{
    const struct field_text number = {field->text + 2, field->length - 2};
    if (field->length < 3 || field->length > 4 || strncmp(field->text, "*/", 2) != 0 ||
        !is_number(&number))
        return 0;
    int step = atoi(number.text);
    return step > 1 && step < HOUR_MIN && HOUR_MIN % step == 0 ? step : 0;
}

bool herd_text(const char *schedule, enum herd_form form, struct strbuf *out)
{
    struct field_text fields[FIELDS_MAX + 1];
    const char *text = schedule + strspn(schedule, BLANK);
    size_t length = strcspn(text, BLANK), zone = 0;
    if (strncmp(text, "TZ=", 3) == 0 || strncmp(text, "CRON_TZ=", 8) == 0) {
        zone = length;
        text += length + strspn(text + length, BLANK);
        length = strcspn(text, BLANK);
    }
    const char *zone_text = schedule + strspn(schedule, BLANK);
    const char *macro = macro_fields(text, length);
    size_t count = split(macro ? macro : text, fields);
    if (*text == '@' && !macro)
        return false;
    bool has_seconds = count > 5;
    const struct field_text zero = {"0", 1};
    const struct field_text *second = has_seconds ? &fields[0] : &zero;
    const struct field_text *minute = &fields[has_seconds];
    int step = count >= 5 && count <= FIELDS_MAX ? even_step(minute) : 0;
    if (count < 5 || count > FIELDS_MAX || !is_number(second) || (!is_number(minute) && !step))
        return false;

    if (zone)
        strbuf_addf(out, "%.*s ", (int)zone, zone_text);
    if (form == HERD_SECOND)
        strbuf_adds(out, "H ");
    else if (has_seconds)
        strbuf_addf(out, "%.*s ", (int)second->length, second->text);
    if (step)
        strbuf_addf(out, "H/%d", step);
    else
        strbuf_adds(out, "H");
    for (size_t i = has_seconds ? 2 : 1; i < count; i++)
        strbuf_addf(out, " %.*s", (int)fields[i].length, fields[i].text);
    return true;
}
