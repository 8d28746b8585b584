/* Any payload of a spool's frame, whose checksum may be right all the same, is either refused or
 * read; what was read can be written and read again. The first byte says which kind it is. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "spool/history_spool_files.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

static void require(int holds)
{
    if (!holds)
        abort();
}

static void check_state(const char *payload, size_t length)
{
    struct spooled item, again;
    struct strbuf text;
    if (state_of_payload(payload, length, &item) != OK)
        return;
    struct history_record record = {0};
    if (item.is_change)
        record.change = &item.change;
    else if (item.row.is_entry)
        record.entry = &item.row.entry;
    else
        record.run = &item.row.run;
    enum run_state state = item.row.is_entry ? item.row.entry.state : item.row.run.state;
    require(item.is_change || run_state_is_end(state) ||
            !run_state_is_known(state)); /* of a newer peal */
    strbuf_init(&text);
    payload_of_state(&record, &item.ref, &text);
    require(strbuf_status(&text) == OK);
    require(state_of_payload(text.text, text.length, &again) == OK);
    require(again.is_change == item.is_change && again.row.is_entry == item.row.is_entry);
    require(again.ref.segment == item.ref.segment && again.ref.bytes == item.ref.bytes);
    strbuf_release(&text);
    if (item.is_change) {
        change_record_release(&item.change);
        change_record_release(&again.change);
    }
}

static void check_output(const char *payload, size_t length)
{
    struct output_chunk *chunks;
    size_t count, used = 0;
    if (output_of_payload(payload, length, &chunks, &count) != OK)
        return;
    for (size_t i = 0; i < count; i++) {
        const char *begin = chunks[i].bytes;
        require(begin >= payload && begin + chunks[i].length <= payload + length);
        used += chunks[i].length;
    }
    require(used <= length);
    free(chunks);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    if (!length)
        return 0;
    char *payload = malloc(length); /* of the exact size */
    require(payload != NULL);
    memcpy(payload, bytes + 1, length - 1);
    if (bytes[0] % 2)
        check_state(payload, length - 1);
    else
        check_output(payload, length - 1);
    free(payload);
    return 0;
}
