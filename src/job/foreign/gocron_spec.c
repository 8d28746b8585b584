/* The schedules of gocron, which are those of the library jakecoffman/cron. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "duration.h"
#include "foreign/gocron.h"

/* Go's durations: units in any order, with fractions: "1.5h", "90m", "1m500ms". Whole seconds, the
 * rest of which Go's library drops as well; -1: no duration. */
static int64_t read_go_duration(const char *text)
{
    static const struct {
        const char *name;
        double seconds;
    } units[] = {{"ns", 1e-9}, {"us", 1e-6}, {"\u00b5s", 1e-6}, {"\u03bcs", 1e-6},
                 {"ms", 1e-3}, {"s", 1},     {"m", 60},         {"h", 3600}};
    enum { UNITS = sizeof(units) / sizeof(units[0]) };
    double sum = 0;
    bool is_any = false;
    while (*text) {
        char *end;
        if (!isdigit((unsigned char)*text) && *text != '.')
            return -1;
        double value = strtod(text, &end);
        size_t letters = strcspn(end, "0123456789.");
        size_t unit = 0;
        while (unit < UNITS && (strlen(units[unit].name) != letters ||
                                strncmp(units[unit].name, end, letters) != 0))
            unit++;
        if (end == text || unit == UNITS)
            return -1;
        sum += value * units[unit].seconds;
        text = end + letters;
        is_any = true;
    }
    return is_any && sum < 1e10 ? (int64_t)(sum + 1e-9) : -1;
}

void foreign_every(const char *duration, struct strbuf *out)
{
    int64_t ours;
    int64_t theirs = read_go_duration(duration);
    bool is_same = duration_parse(duration, 1, &ours, NULL) == OK && ours == theirs;
    strbuf_adds(out, "@every ");
    if (is_same || theirs < 0)
        strbuf_adds(out, duration);
    else
        duration_print(theirs, out);
}

void gocron_schedule(const char *spec, struct strbuf *out)
{
    static const char every[] = "@every ";
    static const char blanks[] = " \t\r\n\v\f";
    int fields = 0;
    spec += strspn(spec, blanks);
    if (strncmp(spec, every, strlen(every)) == 0) {
        foreign_every(spec + strlen(every), out);
        return;
    }
    while (*spec) {
        size_t length = strcspn(spec, blanks);
        if (fields++)
            strbuf_addc(out, ' ');
        for (size_t i = 0; i < length; i++)
            strbuf_addc(out, spec[i] == '?' ? '*' : spec[i]);
        spec += length;
        spec += strspn(spec, blanks);
    }
    if (fields == 5)
        strbuf_adds(out, " *"); /* the day of the week is optional there, not the second */
}
