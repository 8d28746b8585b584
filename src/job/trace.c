#include "trace.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "hash.h"
#include "workflow/flow.h"

static const char digits[] = "0123456789abcdef";
static const char pattern[] = "00-00000000000000000000000000000000-0000000000000000-00";

enum {
    TRACE_AT = 3, /* in a traceparent */
    SPAN_AT = 36,
    FLAGS_AT = 53,
    FLAG_SAMPLED = 1,
    MEMBERS_MAX = 32,
    KEY_MAX = 256,
    VALUE_MAX = 256,
};

/* ---- of requests ---- */

static bool is_some(const char *text, size_t length)
{
    return strspn(text, "0") < length;
}

bool traceparent_is_valid(const char *text)
{
    for (size_t i = 0; i < sizeof(pattern) - 1; i++) {
        bool is_digit = text[i] && strchr(digits, text[i]);
        if (pattern[i] == '0' ? !is_digit : text[i] != '-')
            return false;
    }
    const char *rest = text + sizeof(pattern) - 1;
    bool is_first_version = strncmp(text, "00", 2) == 0;
    return is_some(text + TRACE_AT, TRACE_ID_SIZE - 1) &&
           is_some(text + SPAN_AT, SPAN_ID_SIZE - 1) && strncmp(text, "ff", 2) != 0 &&
           (is_first_version ? !*rest : !*rest || *rest == '-');
}

/* "KEY=VALUE", `length` bytes of it. */
static bool is_member(const char *text, size_t length)
{
    static const char first[] = "abcdefghijklmnopqrstuvwxyz0123456789";
    static const char others[] = "abcdefghijklmnopqrstuvwxyz0123456789_-*/@";
    size_t key = strspn(text, others);
    if (!key || key > KEY_MAX || !strchr(first, text[0]) || key >= length || text[key] != '=')
        return false;
    const char *value = text + key + 1;
    size_t value_length = length - key - 1;
    for (size_t i = 0; i < value_length; i++) {
        if (value[i] < ' ' || value[i] > '~' || value[i] == '=')
            return false;
    }
    return value_length > 0 && value_length <= VALUE_MAX && value[value_length - 1] != ' ';
}

bool tracestate_is_valid(const char *text)
{
    int count = 0;
    if (strlen(text) > TRACESTATE_MAX)
        return false;
    for (const char *at = text; *at;) {
        at += strspn(at, " \t");
        size_t length = strcspn(at, ","), kept = length;
        while (kept && (at[kept - 1] == ' ' || at[kept - 1] == '\t'))
            kept--;
        if (kept && (++count > MEMBERS_MAX || !is_member(at, kept)))
            return false;
        at += length;
        at += *at == ',';
    }
    return count > 0;
}

/* ---- of runs ---- */

/* Of all runs of a tick, and of their order. `salt` keeps the numbers of one id apart. */
static uint64_t tick_hash(const struct run *run, const char *salt)
{
    uint64_t hash = hash_text(0, salt);
    hash = hash_bytes(hash, run->job_uid.bytes, sizeof(run->job_uid.bytes));
    for (int shift = 0; shift < 64; shift += 8) {
        uint8_t byte = (uint8_t)((uint64_t)run->tick_ms >> shift);
        hash = hash_bytes(hash, &byte, 1);
    }
    return hash;
}

static void print_span(const struct run *run, int part, int attempt, char ret[SPAN_ID_SIZE])
{
    char which[40];
    snprintf(which, sizeof(which), "%d %d", part, attempt);
    uint64_t hash = hash_text(tick_hash(run, "peal span"), which);
    snprintf(ret, SPAN_ID_SIZE, "%016" PRIx64, hash ? hash : 1);
}

static void print_trace(const struct run *run, char ret[TRACE_ID_SIZE])
{
    uint64_t high = tick_hash(run, "peal trace 1"), low = tick_hash(run, "peal trace 2");
    snprintf(ret, TRACE_ID_SIZE, "%016" PRIx64 "%016" PRIx64, high, low ? low : 1);
}

/* The flags are two digits, the last of which has the bit. */
static bool has_sampled(const char *traceparent)
{
    const char *digit = strchr(digits, traceparent[FLAGS_AT + 1]);
    return digit && (digit - digits) & FLAG_SAMPLED;
}

/* An item of a fan-out is below its step, a step below its instance. */
static int parent_part(const struct run *step)
{
    return flow_part_is_item(step->part) ? flow_part_of(flow_step_of(step->part)) : FLOW_INSTANCE;
}

void run_trace_of(const struct run *run, struct run_trace *ret)
{
    bool is_given = traceparent_is_valid(run->traceparent);
    *ret = (struct run_trace){.is_sampled = !is_given || has_sampled(run->traceparent)};
    if (is_given)
        memcpy(ret->trace, run->traceparent + TRACE_AT, TRACE_ID_SIZE - 1);
    else
        print_trace(run, ret->trace);
    print_span(run, run->part, run->attempt, ret->span);
    if (run->attempt > 1)
        print_span(run, run->part, run->attempt - 1, ret->earlier);
    if (run_is_step(run))
        print_span(run, parent_part(run), 1, ret->parent);
    else if (is_given)
        memcpy(ret->parent, run->traceparent + SPAN_AT, SPAN_ID_SIZE - 1);
}

void run_trace_parent(const struct run *run, char ret[TRACEPARENT_SIZE])
{
    struct run_trace trace;
    run_trace_of(run, &trace);
    snprintf(ret, TRACEPARENT_SIZE, "00-%s-%s-%02x", trace.trace, trace.span,
             trace.is_sampled ? FLAG_SAMPLED : 0);
}
