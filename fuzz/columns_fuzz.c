/* Any numbers and texts in the columns of a history's row become a row that can be shown, matched
 * and counted. All databases read their rows this way. The first byte chooses the table; then a
 * number of 8 bytes or a text of up to 16 for each column. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "history_columns.h"
#include "run_words.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

static void require(int holds)
{
    if (!holds)
        abort();
}

static void fill(enum record_table table, const uint8_t *bytes, size_t length, void *record)
{
    const struct column_set columns = table_columns(table);
    for (const struct column *column = NULL; (column = column_next(&columns, column));) {
        size_t taken = length < 8 ? length : 8;
        int64_t number = 0;
        memcpy(&number, bytes, taken);
        if (column_is_text(column))
            column_write_text(column, record, bytes, length < 16 ? length : 16);
        else
            column_write_int(column, record, number);
        bytes += taken;
        length -= taken;
    }
}

static size_t show(const struct history_row *row)
{
    const struct run *run = &row->run;
    const struct ledger_entry *entry = &row->entry;
    return row->is_entry
               ? strlen(run_state_name(entry->state)) + strlen(run_reason_name(entry->reason)) +
                     strlen(run_reason_text(entry->reason, LANGUAGE_ZH))
               : strlen(run_state_name(run->state)) + strlen(run_reason_name(run->reason)) +
                     strlen(run_cause_name(run->cause));
}

static void check_row(enum record_table table, const uint8_t *bytes, size_t length)
{
    struct history_row row = {.is_entry = table == TABLE_ENTRIES};
    struct history_query query = {.states = 1u << RUN_OK, .min_duration_ms = 5, .text = "x"};
    fill(table, bytes, length, row_record(&row));
    require(show(&row) > 0);
    history_query_matches(&query, &row);
    query = (struct history_query){.min_duration_ms = 5};
    history_query_matches(&query, &row);
    int stray = row_stray(&row);
    require(stray >= -STRAY_FARTHEST && stray <= STRAY_BOTH);
}

static void check_change(const uint8_t *bytes, size_t length)
{
    struct change_record change = {0};
    struct change_query query = {.actions = 1, .text = "x"};
    fill(TABLE_CHANGES, bytes, length, &change);
    require(strlen(change_action_name(change.action)) + strlen(change_via_name(change.via)) +
                strlen(change_target_name(change.target_kind)) >
            0);
    history_change_matches(&query, &change);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    if (!length)
        return 0;
    enum record_table table = bytes[0] % ALL_TABLES;
    if (table == TABLE_CHANGES)
        check_change(bytes + 1, length - 1);
    else
        check_row(table, bytes + 1, length - 1);
    return 0;
}
