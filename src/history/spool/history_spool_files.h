/* The files (segments) of a spool, used by one thread. DIR/spool/state-N holds ends of runs, ledger
 * entries and changes, output-N the output that they refer to. A segment is append-only and deleted
 * as a whole. Every frame has its length and a checksum, so that a torn write is detected. */
#ifndef PEAL_HISTORY_SPOOL_FILES_H
#define PEAL_HISTORY_SPOOL_FILES_H

#include "frame.h"
#include "history_columns.h"
#include "spool/history_spool.h"

/* ---- payloads of frames: history_spool_frame.c ---- */

/* The position of a record's output. */
struct output_ref {
    uint64_t segment; /* number of the output segment; 0: no output, or it was dropped */
    int64_t at;       /* offset in the segment's file */
    int64_t chunks;
    int64_t bytes; /* including gaps */
};

/* A record loaded from the spool. */
struct spooled {
    bool is_change;
    struct history_row row;      /* or */
    struct change_record change; /* owns its texts */
    struct output_ref ref;
    struct output_chunk *chunks;
    size_t chunk_count;
    const char *input; /* of the run; NULL: none */
    size_t input_length;
    char *payload; /* holds the bytes of the chunks, and the input */
    size_t bytes;  /* of output or definitions */
};

void payload_of_output(const struct history_record *record, struct strbuf *payload);
void payload_of_state(const struct history_record *record, const struct output_ref *ref,
                      struct strbuf *payload);

/* Decodes a state frame, without its output. E_CORRUPT: malformed. */
MUST_CHECK enum status state_of_payload(const char *payload, size_t length, struct spooled *ret);
/* The bytes of *ret_chunks point into the payload. */
MUST_CHECK enum status output_of_payload(const char *payload, size_t length,
                                         struct output_chunk **ret_chunks, size_t *ret_count);

/* ---- files: history_spool_files.c ---- */

struct segment {
    uint64_t number;
    int64_t size;          /* up to the end of the last whole frame */
    int64_t chunks, bytes; /* of output in the segment */
};

struct segment_list {
    struct segment *items; /* oldest first */
    size_t count, capacity;
    int fd; /* the last segment, open for writing; -1: not open */
};

/* The end of a list of segments at some time, to roll back to. */
struct segment_mark {
    uint64_t number; /* last segment; 0: there was none */
    int64_t size;
};

struct spool_files {
    char *dir; /* DIR/spool */
    int64_t max_bytes, segment_bytes;
    struct segment_list states, outputs;
    uint64_t next_number;
    int64_t at; /* offset of the first undelivered frame in the first state segment */
    struct segment_mark synced_states, synced_outputs;
    bool sync_failed; /* the fsync of a full segment failed: unsynced records are not on disk */
    int64_t unsynced_records;
    int64_t lacking_bytes; /* of the last append that did not fit, as far as it was tried */
    struct history_spool_stats stats;
};

/* ---- segments ---- */

enum { FILE_HEAD = 8, SEGMENT_MIN = 64 * 1024 };

/* Starts a new last segment unless the last one has room. */
MUST_CHECK enum status segments_ensure(struct spool_files *files, struct segment_list *list);
void segments_delete_first(struct spool_files *files, struct segment_list *list);
void segments_delete(const struct spool_files *files, const struct segment_list *list,
                     uint64_t number); /* deletes the file, leaves the list unchanged */
void segments_close_last(struct segment_list *list);
struct segment_mark segments_mark(const struct segment_list *list);

int segment_open(const struct spool_files *files, const struct segment_list *list, uint64_t number,
                 int flags);

/* ---- the spool ---- */

struct spool_batch {
    struct spooled *items;
    struct history_record *records; /* refer to the items, for an append */
    size_t count;
    int64_t end; /* offset of the batch's end in the first state segment */
};

MUST_CHECK enum status spool_files_open(const char *dir, int64_t max_bytes, struct spool_files *ret,
                                        struct strbuf *why);
void spool_files_close(struct spool_files *files);

/* history_spool_write.c. Writes all records of an append, or fails with E_TOO_LARGE or E_IO and
 * rolls this call back. Records are durable only after spool_files_sync; if the sync fails, all
 * records written since the last sync are rolled back. */
MUST_CHECK enum status spool_files_write(struct spool_files *files,
                                         const struct history_append *append);
MUST_CHECK enum status spool_files_sync(struct spool_files *files);
/* Would the last append that did not fit still not fit? */
bool spool_files_are_full(const struct spool_files *files);
/* Checks whether the disk can be written, with a file that is removed again. E_IO: see errno. */
MUST_CHECK enum status spool_files_try(const struct spool_files *files);

/* history_spool_load.c. The oldest waiting records, at most `limit`. E_NOT_FOUND: none waits. */
MUST_CHECK enum status spool_files_load(struct spool_files *files, size_t limit,
                                        struct spool_batch *ret);
/* All waiting records, oldest first, without their output; ends early with what `visit` returns
 * unless that is OK. The rest of a damaged segment is left out. */
typedef enum status spool_visit(void *context, const struct spooled *item);
MUST_CHECK enum status spool_files_each(struct spool_files *files, spool_visit *visit,
                                        void *context);
/* Adds its output; dropped output is a gap. */
MUST_CHECK enum status spool_files_load_output(struct spool_files *files, struct spooled *item);
void spooled_release(struct spooled *item);

/* The batch was delivered, or refused for good: deletes segments that are no longer needed. */
void spool_files_remove(struct spool_files *files, const struct spool_batch *batch);
void spool_batch_release(struct spool_batch *batch);

#endif
