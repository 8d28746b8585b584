/* The text that Prometheus reads, as metrics of OTLP: what /metrics has is what is sent. The text
 * is peal's own: labels have no escapes, and a histogram has no labels but "le". */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "document/json_quote.h"
#include "otlp.h"

enum { CUMULATIVE = 2, BUCKETS_MAX = 64 };

/* A metric of the text, from its HELP on. */
struct family {
    char name[96], type[16];
    struct strbuf help;
    size_t points;
    uint64_t buckets[BUCKETS_MAX]; /* of a histogram, cumulative as in the text */
    char bounds[BUCKETS_MAX][24];
    size_t bucket_count;
    char sum[40];
};

struct conversion {
    struct strbuf *out;
    struct family family;
    int64_t started_ms, now_ms;
    size_t count; /* of metrics */
};

/* A line of the text: "NAME{LABELS} VALUE". */
struct sample {
    const char *name, *labels, *value;
    size_t name_length, labels_length, value_length;
};

static bool ends_with(const char *text, size_t length, const char *end)
{
    size_t end_length = strlen(end);
    return length >= end_length && memcmp(text + length - end_length, end, end_length) == 0;
}

/* ---- points ---- */

static void print_labels(struct strbuf *out, const struct sample *sample)
{
    const char *at = sample->labels, *end = at + sample->labels_length;
    strbuf_adds(out, "\"attributes\":[");
    while (at < end) {
        char key[64], value[512];
        const char *equals = memchr(at, '=', (size_t)(end - at));
        const char *close = equals && equals + 2 <= end
                                ? memchr(equals + 2, '"', (size_t)(end - equals - 2))
                                : NULL;
        if (!close)
            break;
        snprintf(key, sizeof(key), "%.*s", (int)(equals - at), at);
        snprintf(value, sizeof(value), "%.*s", (int)(close - equals - 2), equals + 2);
        otlp_print_text(out, key, value);
        at = close + 1;
        at += at < end && *at == ',';
    }
    strbuf_adds(out, "]");
}

static void print_times(const struct conversion *c, bool is_counted, struct strbuf *out)
{
    if (is_counted)
        strbuf_addf(out, ",\"startTimeUnixNano\":\"%" PRId64 "000000\"", c->started_ms);
    strbuf_addf(out, ",\"timeUnixNano\":\"%" PRId64 "000000\"", c->now_ms);
}

static const char *unit_of(const char *name)
{
    size_t length = strlen(name);
    if (ends_with(name, length, "_seconds"))
        return "s";
    return ends_with(name, length, "_bytes") ? "By" : "";
}

/* What stands before the first point. */
static void open_family(struct conversion *c)
{
    const struct family *family = &c->family;
    bool is_counter = strcmp(family->type, "counter") == 0;
    if (c->count++)
        strbuf_addc(c->out, ',');
    strbuf_addf(c->out, "{\"name\":\"%s\",\"description\":", family->name);
    if (!json_quote(c->out, family->help.text))
        strbuf_adds(c->out, "\"\"");
    strbuf_addf(c->out, ",\"unit\":\"%s\",\"%s\":{", unit_of(family->name),
                is_counter                               ? "sum"
                : strcmp(family->type, "histogram") == 0 ? "histogram"
                                                         : "gauge");
    if (strcmp(family->type, "gauge") != 0)
        strbuf_addf(c->out, "\"aggregationTemporality\":%d,", CUMULATIVE);
    if (is_counter)
        strbuf_adds(c->out, "\"isMonotonic\":true,");
    strbuf_adds(c->out, "\"dataPoints\":[");
}

static void begin_point(struct conversion *c)
{
    if (!c->family.points++)
        open_family(c);
    else
        strbuf_addc(c->out, ',');
    strbuf_addc(c->out, '{');
}

static void add_number(struct conversion *c, const struct sample *sample)
{
    bool is_counter = strcmp(c->family.type, "counter") == 0;
    char value[40];
    snprintf(value, sizeof(value), "%.*s", (int)sample->value_length, sample->value);
    if (!isfinite(strtod(value, NULL)))
        return;
    begin_point(c);
    print_labels(c->out, sample);
    print_times(c, is_counter, c->out);
    strbuf_addf(c->out, is_counter ? ",\"asInt\":\"%s\"}" : ",\"asDouble\":%s}", value);
}

/* ---- histograms ---- */

static void note_bucket(struct family *family, const struct sample *sample)
{
    size_t i = family->bucket_count;
    if (i == BUCKETS_MAX)
        return;
    snprintf(family->bounds[i], sizeof(family->bounds[i]), "%.*s",
             (int)strcspn(sample->labels + strlen("le=\""), "\""),
             sample->labels + strlen("le=\""));
    family->buckets[i] = strtoull(sample->value, NULL, 10);
    family->bucket_count++;
}

/* The last bucket has no bound. */
static void add_histogram(struct conversion *c)
{
    const struct family *family = &c->family;
    const struct sample no_labels = {.labels = ""};
    uint64_t before = 0;
    if (!family->bucket_count)
        return;
    begin_point(c);
    print_labels(c->out, &no_labels);
    print_times(c, true, c->out);
    strbuf_addf(c->out, ",\"count\":\"%" PRIu64 "\",\"sum\":%s,\"bucketCounts\":[",
                family->buckets[family->bucket_count - 1], family->sum);
    for (size_t i = 0; i < family->bucket_count; i++) {
        strbuf_addf(c->out, "%s\"%" PRIu64 "\"", i ? "," : "", family->buckets[i] - before);
        before = family->buckets[i];
    }
    strbuf_adds(c->out, "],\"explicitBounds\":[");
    for (size_t i = 0; i + 1 < family->bucket_count; i++)
        strbuf_addf(c->out, "%s%s", i ? "," : "", family->bounds[i]);
    strbuf_adds(c->out, "]}");
}

static void add_part(struct conversion *c, const struct sample *sample)
{
    struct family *family = &c->family;
    if (ends_with(sample->name, sample->name_length, "_bucket"))
        note_bucket(family, sample);
    else if (ends_with(sample->name, sample->name_length, "_sum"))
        snprintf(family->sum, sizeof(family->sum), "%.*s", (int)sample->value_length,
                 sample->value);
    else
        add_histogram(c); /* its count comes last */
}

/* ---- lines ---- */

static void close_family(struct conversion *c)
{
    if (c->family.points)
        strbuf_adds(c->out, "]}}");
    strbuf_release(&c->family.help);
    c->family = (struct family){.points = 0};
    strbuf_init(&c->family.help);
}

/* "# HELP NAME TEXT", "# TYPE NAME TYPE". */
static void take_comment(struct conversion *c, const char *line, size_t length)
{
    enum { HEAD = sizeof("# HELP ") - 1 };
    struct family *family = &c->family;
    const char *space = length > HEAD ? memchr(line + HEAD, ' ', length - HEAD) : NULL;
    if (!space)
        return;
    int rest = (int)(length - (size_t)(space + 1 - line));
    if (strncmp(line, "# HELP ", HEAD) == 0) {
        close_family(c);
        snprintf(family->name, sizeof(family->name), "%.*s", (int)(space - line - HEAD),
                 line + HEAD);
        strbuf_add(&family->help, space + 1, (size_t)rest);
    } else {
        snprintf(family->type, sizeof(family->type), "%.*s", rest, space + 1);
    }
}

static void take_sample(struct conversion *c, const char *line, size_t length)
{
    struct sample sample = {.name = line, .labels = ""};
    const char *brace = memchr(line, '{', length);
    const char *close = brace ? memrchr(line, '}', length) : NULL;
    const char *space = memrchr(line, ' ', length);
    if (!space || (brace && !close))
        return;
    sample.name_length = (size_t)((brace ? brace : space) - line);
    if (brace) {
        sample.labels = brace + 1;
        sample.labels_length = (size_t)(close - brace - 1);
    }
    sample.value = space + 1;
    sample.value_length = length - (size_t)(space + 1 - line);
    if (strcmp(c->family.type, "histogram") == 0)
        add_part(c, &sample);
    else
        add_number(c, &sample);
}

void otlp_print_metrics(const char *text, int64_t started_ms, int64_t now_ms, struct strbuf *out)
{
    struct conversion c = {.out = out, .started_ms = started_ms, .now_ms = now_ms};
    strbuf_init(&c.family.help);
    strbuf_addc(out, '[');
    while (*text) {
        size_t length = strcspn(text, "\n");
        if (*text == '#')
            take_comment(&c, text, length);
        else if (length)
            take_sample(&c, text, length);
        text += length;
        text += *text == '\n';
    }
    close_family(&c);
    strbuf_release(&c.family.help);
    strbuf_addc(out, ']');
}
