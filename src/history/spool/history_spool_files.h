/* The files of a spool, used by one thread. DIR/spool/state-N holds ends of runs, ledger
 * entries and changes, output-N the output that they refer to; both are only appended to, and
 * deleted as a whole. Every frame has its length and a checksum, so that a write that was cut short
 * is seen. */
#ifndef PEAL_HISTORY_SPOOL_FILES_H
#define PEAL_HISTORY_SPOOL_FILES_H

#include "frame.h"
#include "history_columns.h"
#include "spool/history_spool.h"

/* ---- payloads of frames: history_spool_frame.c ---- */

/* Where the output of a record is. */
struct output_ref {
    uint64_t segment; /* 0: there is none, or it was dropped */
    int64_t at;       /* in the segment's file */
    int64_t chunks;
    int64_t bytes; /* with what was missing in it already */
};

/* A record that was loaded. */
struct spooled {
    bool is_change;
    struct history_row row;      /* or */
    struct change_record change; /* with texts of its own */
    struct output_ref ref;
    struct output_chunk *chunks;
    size_t chunk_count;
    char *payload; /* what the chunks point to */
    size_t bytes;  /* of output or definitions */
};

void payload_of_output(const struct history_record *record, struct strbuf *payload);
void payload_of_state(const struct history_record *record, const struct output_ref *ref,
                      struct strbuf *payload);

/* E_CORRUPT: it does not say what it should. The output itself is not there yet. */
MUST_CHECK enum status state_of_payload(const char *payload, size_t length, struct spooled *ret);
/* *ret_chunks point into the payload. */
MUST_CHECK enum status output_of_payload(const char *payload, size_t length,
                                         struct output_chunk **ret_chunks, size_t *ret_count);

/* ---- files: history_spool_files.c ---- */

struct segment {
    uint64_t number;
    int64_t size;          /* as far as it is whole */
    int64_t chunks, bytes; /* of output in it */
};

struct segment_list {
    struct segment *items; /* oldest first */
    size_t count, capacity;
    int fd; /* of the last one, while it is written; -1: none is */
};

/* Where a list of segments ended, for what is to be undone. */
struct segment_mark {
    uint64_t number; /* 0: there was none */
    int64_t size;
};

struct spool_files {
    char *dir; /* DIR/spool */
    int64_t max_bytes, segment_bytes;
    struct segment_list states, outputs;
    uint64_t next_number;
    int64_t at; /* in the first state segment: the first that was not delivered */
    struct segment_mark synced_states, synced_outputs;
    bool sync_failed; /* that of a segment that was full; what was written since is not on disk */
    int64_t unsynced_records;
    struct history_spool_stats stats;
};

/* ---- segments, for the parts below ---- */

enum { FILE_HEAD = 8, SEGMENT_MIN = 64 * 1024 };

/* A new last segment, unless the last one has room. */
MUST_CHECK enum status segments_ensure(struct spool_files *files, struct segment_list *list);
void segments_delete_first(struct spool_files *files, struct segment_list *list);
void segments_delete(const struct spool_files *files, const struct segment_list *list,
                     uint64_t number); /* the file alone */
void segments_close_last(struct segment_list *list);
struct segment_mark segments_mark(const struct segment_list *list);

int segment_open(const struct spool_files *files, const struct segment_list *list, uint64_t number,
                 int flags);

/* ---- the spool ---- */

struct spool_batch {
    struct spooled *items;
    struct history_record *records; /* the same, for an append */
    size_t count;
    int64_t end; /* where in the first state segment it ends */
};

MUST_CHECK enum status spool_files_open(const char *dir, int64_t max_bytes, struct spool_files *ret,
                                        struct strbuf *why);
void spool_files_close(struct spool_files *files);

/* history_spool_write.c. Appends: all of them, or E_TOO_LARGE or E_IO and none of this call. On
 * disk after the sync alone; if that fails, all that was written since the last one is gone. */
MUST_CHECK enum status spool_files_write(struct spool_files *files,
                                         const struct history_append *append);
MUST_CHECK enum status spool_files_sync(struct spool_files *files);
/* Whether the disk takes something: a file of its own, which is removed again. E_IO: errno says
 * why not. */
MUST_CHECK enum status spool_files_try(const struct spool_files *files);

/* history_spool_load.c. The oldest that wait, up to `limit` records. E_NOT_FOUND: none does. */
MUST_CHECK enum status spool_files_load(struct spool_files *files, size_t limit,
                                        struct spool_batch *ret);
/* They were delivered, or refused for good: deletes what nobody needs any more. */
void spool_files_remove(struct spool_files *files, const struct spool_batch *batch);
void spool_batch_release(struct spool_batch *batch);

#endif
