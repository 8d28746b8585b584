/* Any answer and any question of another node is refused or read; what was read can be written and
 * read again. The first byte chooses which it is. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "gather_wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

static void require(int holds)
{
    if (!holds)
        abort();
}

static const enum history_request_kind kinds[] = {HISTORY_READ, HISTORY_LOG, HISTORY_STATS,
                                                  HISTORY_CHANGES};

static size_t print_rows(const struct history_read *read)
{
    size_t printed = 0;
    for (size_t i = 0; i < read->count; i++) {
        const struct history_row *row = &read->rows[i];
        printed += row->is_entry ? strlen(run_reason_name(row->entry.reason)) +
                                       strlen(run_state_name(row->entry.state))
                                 : strlen(run_reason_name(row->run.reason)) +
                                       strlen(run_state_name(row->run.state)) +
                                       strlen(run_cause_name(row->run.cause));
    }
    return printed;
}

static size_t print_changes(const struct history_changes *changes)
{
    size_t printed = 0;
    for (size_t i = 0; i < changes->count; i++)
        printed += strlen(change_action_name(changes->items[i].action)) +
                   strlen(change_via_name(changes->items[i].via)) +
                   strlen(change_target_name(changes->items[i].target_kind));
    return printed;
}

static void check_answer(enum history_request_kind kind, const char *text, size_t length)
{
    union gather_answer answer, again;
    struct strbuf out;
    if (wire_decode_answer(kind, text, length, &answer) != OK)
        return;
    if (kind == HISTORY_READ)
        require(print_rows(&answer.read) < 1 << 24);
    if (kind == HISTORY_CHANGES)
        require(print_changes(&answer.changes) < 1 << 24);
    strbuf_init(&out);
    require(wire_encode_answer(kind, &answer, &out) == OK);
    require(wire_decode_answer(kind, out.text, out.length, &again) == OK);
    strbuf_release(&out);
    gather_answer_release(kind, &answer);
    gather_answer_release(kind, &again);
}

static void check_question(enum history_request_kind kind, const char *text, size_t length)
{
    union gather_answer question;
    struct strbuf out;
    json_t *json = json_loadb(text, length, JSON_ALLOW_NUL, NULL);
    memset(&question, 0, sizeof(question));
    strbuf_init(&out);
    if (json && wire_decode_question(kind, json, &question) == OK)
        require(wire_encode_question(kind, &question, &out) == OK);
    strbuf_release(&out);
    json_decref(json);
}

static void check_output(const char *text, size_t length)
{
    struct live_read read = {0}, again = {0};
    struct strbuf out;
    strbuf_init(&out);
    if (wire_decode_output_question(text, length, &read) == OK)
        require(wire_encode_output_question(&read, &out) == OK);
    strbuf_reset(&out);
    if (wire_decode_output(text, length, &read) == OK) {
        require(wire_encode_output(&read, &out) == OK);
        require(wire_decode_output(out.text, out.length, &again) == OK);
        require(again.count == read.count);
        live_read_release(&read);
        live_read_release(&again);
    }
    strbuf_release(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    if (!length)
        return 0;
    char *text = malloc(length); /* of the exact size */
    require(text != NULL);
    memcpy(text, bytes + 1, length - 1);
    enum history_request_kind kind = kinds[bytes[0] % 4];
    if (bytes[0] & 8)
        check_output(text, length - 1);
    else if (bytes[0] & 4)
        check_question(kind, text, length - 1);
    else
        check_answer(kind, text, length - 1);
    free(text);
    return 0;
}
