/* A peer as JSON. Every node decodes every heartbeat, which is most of the work of an idle cluster.
 * Heartbeats are therefore written as plain JSON (one object without blanks, escapes or nesting),
 * and plain JSON is read without building a tree. Any other JSON is read by jansson. */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "columns.h"
#include "peer.h"

#define PEER(member, kind) COLUMN(peer, #member, kind, member, 0)

/* In the order of the encoded object. The INT64 is written in hex, the WORD as the text of
 * peer_refusal_word. The last ones are written for programs only. */
static const struct column fields[] = {
    PEER(instance, ID),         PEER(home, INT64),           PEER(address, TEXT),
    PEER(has_history, BOOL),    PEER(history_address, TEXT), PEER(fingerprint, TEXT),
    PEER(version, TEXT),        PEER(spawner_version, TEXT), PEER(labels, TEXT),
    PEER(roles, INT),           PEER(capacity, INT),         PEER(max_running, INT),
    PEER(running, INT),         PEER(refusal, WORD),         PEER(started_ms, MS),
    PEER(wall_ms, MS),          PEER(boot_ms, MS),           PEER(skew_ms, MS),
    PEER(lag_ms, MS),           PEER(beats_ms, MS),          PEER(cpu_pressure, INT),
    PEER(memory_pressure, INT), PEER(cpu_load, INT),         PEER(memory_used, INT),
    PEER(knows, INT),           PEER(program, TEXT),         PEER(program_version, INT),
    PEER(stands, BOOL),         PEER(lacks, TEXT),           PEER(via, TEXT),
    PEER(progress, TEXT),
};

enum { FIELDS = sizeof(fields) / sizeof(fields[0]), OF_PROGRAM = 6 };

static bool is_plain(char c)
{
    return c >= ' ' && c < 0x7f && c != '"' && c != '\\';
}

/* ---- encoding ---- */

static void add_number(struct strbuf *out, int64_t number)
{
    char text[24];
    int length = snprintf(text, sizeof(text), "%" PRId64, number);
    strbuf_add(out, text, (size_t)length);
}

static enum status add_text(struct strbuf *out, const char *text)
{
    size_t length = 0;
    while (is_plain(text[length]))
        length++;
    if (!text[length]) {
        strbuf_addc(out, '"');
        strbuf_add(out, text, length);
        strbuf_addc(out, '"');
        return OK;
    }
    json_t *json = json_string(text);
    char *escaped = json ? json_dumps(json, JSON_ENCODE_ANY) : NULL;
    json_decref(json);
    if (!escaped)
        return E_NOMEM;
    strbuf_adds(out, escaped);
    free(escaped);
    return OK;
}

static enum status add_field(const struct peer *peer, const struct column *field,
                             struct strbuf *out)
{
    char text[32];
    if (column_is_text(field))
        return add_text(out, column_field(field, peer));
    if (field->kind == COLUMN_WORD)
        return add_text(out, peer_refusal_word(peer));
    if (field->kind == COLUMN_ID) {
        id_format(column_field(field, peer), text);
        return add_text(out, text);
    }
    int64_t number = column_read_int(field, peer);
    if (field->kind == COLUMN_INT64) {
        snprintf(text, sizeof(text), "%016" PRIx64, (uint64_t)number);
        return add_text(out, text);
    }
    if (field->kind == COLUMN_BOOL)
        strbuf_adds(out, number ? "true" : "false");
    else
        add_number(out, number);
    return OK;
}

enum status peer_encode(const struct peer *peer, struct strbuf *out)
{
    enum status st = OK;
    size_t count = peer_is_program(peer) ? FIELDS : FIELDS - OF_PROGRAM;
    for (size_t i = 0; st == OK && i < count; i++) {
        strbuf_adds(out, i ? ",\"" : "{\"");
        strbuf_adds(out, fields[i].name);
        strbuf_adds(out, "\":");
        st = add_field(peer, &fields[i], out);
    }
    strbuf_addc(out, '}');
    return st == OK ? strbuf_status(out) : st;
}

/* ---- decoding ---- */

struct value {
    enum { VALUE_TEXT, VALUE_NUMBER, VALUE_TRUE, VALUE_OTHER } kind;
    const char *text;
    size_t length;
    int64_t number;
};

struct reading {
    struct peer peer;
    bool has_instance;
    size_t next; /* index of the field that is expected next */
};

static const struct column *find_field(struct reading *reading, const char *name, size_t length)
{
    for (size_t i = 0; i < FIELDS; i++) {
        const struct column *field = &fields[(reading->next + i) % FIELDS];
        if (strncmp(field->name, name, length) != 0 || field->name[length] != '\0')
            continue;
        reading->next += i + 1;
        return field;
    }
    return NULL;
}

/* A reason that only a newer version knows is PEER_OTHER; its word is kept to be shown. */
static void take_refusal(struct peer *peer, const char *name)
{
    peer->refusal = PEER_ACCEPTS;
    peer->refusal_word[0] = '\0';
    while (peer->refusal < PEER_OTHER && strcmp(name, peer_refusal_name(peer->refusal)) != 0)
        peer->refusal++;
    size_t length = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_-");
    if (peer->refusal == PEER_OTHER && !name[length] && length < sizeof(peer->refusal_word))
        memcpy(peer->refusal_word, name, length + 1);
}

/* Truncates texts that are too long, and ignores fields of another type. */
static void take_text(struct reading *reading, const struct column *field,
                      const struct value *value)
{
    struct peer *peer = &reading->peer;
    char text[64];
    size_t length = value->length < sizeof(text) ? value->length : sizeof(text) - 1;
    memcpy(text, value->text, length);
    text[length] = '\0';
    if (field->kind == COLUMN_ID)
        reading->has_instance = id_parse(text, &peer->instance) == OK;
    else if (field->kind == COLUMN_INT64)
        column_write_int(field, peer, (int64_t)strtoull(text, NULL, 16));
    else if (field->kind == COLUMN_WORD)
        take_refusal(peer, text);
    else if (column_is_text(field))
        column_write_text(field, peer, value->text, value->length);
}

static void take(struct reading *reading, const char *name, size_t length,
                 const struct value *value)
{
    const struct column *field = find_field(reading, name, length);
    if (!field)
        return;
    if (value->kind == VALUE_TEXT)
        take_text(reading, field, value);
    else if (value->kind == VALUE_NUMBER && (field->kind == COLUMN_INT || field->kind == COLUMN_MS))
        column_write_int(field, &reading->peer, value->number);
    else if (value->kind == VALUE_TRUE && field->kind == COLUMN_BOOL)
        column_write_int(field, &reading->peer, true);
}

static void take_tree(struct reading *reading, json_t *json)
{
    const char *name;
    json_t *item;
    json_object_foreach (json, name, item) {
        struct value value = {.kind = json_is_string(item)    ? VALUE_TEXT
                                      : json_is_integer(item) ? VALUE_NUMBER
                                      : json_is_true(item)    ? VALUE_TRUE
                                                              : VALUE_OTHER,
                              .text = json_string_value(item),
                              .length = json_string_length(item),
                              .number = json_integer_value(item)};
        take(reading, name, strlen(name), &value);
    }
}

/* ---- plain JSON ---- */

struct span {
    const char *at, *end;
};

static bool skip(struct span *span, const char *word)
{
    size_t length = strlen(word);
    if ((size_t)(span->end - span->at) < length || memcmp(span->at, word, length) != 0)
        return false;
    span->at += length;
    return true;
}

static bool read_text(struct span *span, const char **ret, size_t *ret_length)
{
    if (!skip(span, "\""))
        return false;
    *ret = span->at;
    while (span->at < span->end && is_plain(*span->at))
        span->at++;
    *ret_length = (size_t)(span->at - *ret);
    return skip(span, "\"");
}

/* 18 digits can't overflow; a longer number is not plain JSON. */
static bool read_number(struct span *span, int64_t *ret)
{
    bool is_negative = skip(span, "-");
    const char *first = span->at;
    int64_t number = 0;
    while (span->at < span->end && *span->at >= '0' && *span->at <= '9' && span->at - first < 18)
        number = 10 * number + (*span->at++ - '0');
    ptrdiff_t digits = span->at - first;
    *ret = is_negative ? -number : number;
    return digits == 1 || (digits > 1 && *first != '0');
}

static bool read_value(struct span *span, struct value *ret)
{
    *ret = (struct value){.kind = VALUE_OTHER};
    if (skip(span, "false"))
        return true;
    ret->kind = skip(span, "true")                         ? VALUE_TRUE
                : span->at < span->end && *span->at == '"' ? VALUE_TEXT
                                                           : VALUE_NUMBER;
    return ret->kind == VALUE_TRUE ||
           (ret->kind == VALUE_TEXT ? read_text(span, &ret->text, &ret->length)
                                    : read_number(span, &ret->number));
}

/* False: the text is not plain JSON, and the content of *reading is undefined. */
static bool take_plain(struct reading *reading, const char *text, size_t length)
{
    struct span span = {text, text + length};
    const char *name;
    size_t name_length;
    struct value value;
    if (!skip(&span, "{"))
        return false;
    do {
        if (!read_text(&span, &name, &name_length) || !skip(&span, ":") ||
            !read_value(&span, &value))
            return false;
        take(reading, name, name_length, &value);
    } while (skip(&span, ","));
    return skip(&span, "}") && span.at == span.end;
}

static int at_most(int most, int percent)
{
    return percent < 0 ? -1 : percent > most ? most : percent;
}

enum status peer_decode(const char *name, const char *text, size_t length, struct peer *ret)
{
    const struct reading empty = {.peer = {.lag_ms = -1,
                                           .cpu_pressure = -1,
                                           .memory_pressure = -1,
                                           .cpu_load = -1,
                                           .memory_used = -1}};
    struct reading reading = empty;
    if (!take_plain(&reading, text, length)) {
        json_t *json = json_loadb(text, length, 0, NULL);
        reading = empty;
        take_tree(&reading, json);
        json_decref(json);
    }
    struct peer *peer = &reading.peer;
    if (!reading.has_instance || strlen(name) >= sizeof(peer->name))
        return E_CORRUPT;
    memcpy(peer->name, name, strlen(name) + 1);
    peer->capacity = peer->capacity < 1 ? 1 : peer->capacity > 1000000 ? 1000000 : peer->capacity;
    peer->cpu_pressure = at_most(100, peer->cpu_pressure);
    peer->memory_pressure = at_most(100, peer->memory_pressure);
    peer->cpu_load = at_most(PEER_LOAD_MAX, peer->cpu_load);
    peer->memory_used = at_most(100, peer->memory_used);
    *ret = *peer;
    return OK;
}
