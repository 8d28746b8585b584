/* Output is stored in pieces of a size that suits a database: small chunks are merged, large chunks
 * split. */
#include <string.h>

#include "history_columns.h"

static enum status flush(const struct id *run_id, struct piece *piece,
                         const struct piece_sink *sink)
{
    if (!piece->begun)
        return OK;
    enum status st = sink->put(sink->context, run_id, piece);
    piece->start += (int64_t)piece->length;
    piece->seq++;
    piece->length = 0;
    piece->begun = false;
    return st;
}

static bool fits(const struct piece *piece, const struct output_chunk *chunk)
{
    return piece->begun && piece->chunk.stream == chunk->stream && !chunk->gap_bytes &&
           chunk->at_ms - piece->chunk.at_ms <= PIECE_MS && chunk->at_ms >= piece->chunk.at_ms;
}

static enum status add_chunk(const struct id *run_id, struct piece *piece,
                             const struct output_chunk *chunk, const struct piece_sink *sink)
{
    enum status st = OK;
    if (!fits(piece, chunk)) {
        st = flush(run_id, piece, sink);
        piece->chunk = *chunk;
        piece->begun = true;
    }
    const char *bytes = chunk->bytes;
    for (size_t left = chunk->length; left && st == OK;) {
        if (piece->length == PIECE_BYTES) {
            st = flush(run_id, piece, sink);
            piece->chunk = *chunk;
            piece->chunk.gap_bytes = 0;
            piece->begun = true;
        }
        size_t room = PIECE_BYTES - piece->length;
        size_t length = left < room ? left : room;
        memcpy(piece->bytes + piece->length, bytes, length);
        piece->length += length;
        bytes += length;
        left -= length;
    }
    return st;
}

/* Ends at byte 0. */
static enum status add_input(const struct history_record *record, struct piece *piece,
                             const struct piece_sink *sink)
{
    struct output_chunk chunk = {.stream = OUTPUT_INPUT,
                                 .at_ms = record->run->tick_ms,
                                 .bytes = record->input,
                                 .length = record->input_length};
    piece->start = -(int64_t)record->input_length;
    piece->seq = -1 - (int)(record->input_length / PIECE_BYTES);
    enum status st = add_chunk(&record->run->id, piece, &chunk, sink);
    return st == OK ? flush(&record->run->id, piece, sink) : st;
}

enum status pieces_make(const struct history_record *record, bool is_first, struct piece *piece,
                        const struct piece_sink *sink)
{
    enum status st = OK;
    piece->length = 0;
    piece->begun = false;
    if (is_first && record->input_length)
        st = add_input(record, piece, sink);
    piece->start = 0;
    piece->seq = 0;
    for (size_t i = 0; i < record->chunk_count && st == OK; i++)
        st = add_chunk(&record->run->id, piece, &record->chunks[i], sink);
    return st == OK ? flush(&record->run->id, piece, sink) : st;
}
