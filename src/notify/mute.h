/* A mute of a job: its messages are not sent until a time. Or an acknowledgement: they are not sent
 * until the job has succeeded. A document that all nodes share, with the job's uid as its name
 * (docs/NOTIFY.md). When one is over follows from its times alone: nobody has to end it. Pure. */
#ifndef PEAL_MUTE_H
#define PEAL_MUTE_H

#include <jansson.h>

#include "id.h"
#include "job.h"

#define MUTE_DOC "mute"

enum {
    MUTE_REASON_MAX = 200,              /* bytes */
    MUTE_KEPT_MS = 24 * 60 * 60 * 1000, /* after its end: until then it is shown as ended */
    MUTE_MAX_S = 366 * 24 * 60 * 60,
};

enum mute_kind {
    MUTE_MUTE, /* no message at all */
    MUTE_ACK,  /* none but that of a success */
    MUTE_KINDS,
};

enum mute_end {
    MUTE_GOES_ON,
    MUTE_RAN_OUT,   /* its time */
    MUTE_RECOVERED, /* of an acknowledgement: the job has succeeded */
    MUTE_TAKEN_BACK,
};

struct mute {
    char uid[ID_TEXT + 1]; /* of the job */
    int64_t revision;
    enum mute_kind kind;
    char job[JOB_NAME_SIZE]; /* its name then */
    int64_t from_ms;
    int64_t until_ms; /* 0: an acknowledgement without a time */
    int64_t ended_ms; /* when somebody took it back; 0: nobody did */
    char by[64], ended_by[64];
    char reason[MUTE_REASON_MAX + 1];
};

const char *mute_kind_name(enum mute_kind kind); /* "mute", "ack" */
const char *mute_end_name(enum mute_end end);    /* "time", "recovered", "unmuted"; NULL: goes on */

/* How it is at that time. `succeeded_ms`: when the job's last successful run ended; 0: never.
 * *ret_end_ms: when it ended, or is going to; 0: not known. */
enum mute_end mute_state(const struct mute *mute, int64_t succeeded_ms, int64_t now_ms,
                         int64_t *ret_end_ms);
bool mute_is_active(const struct mute *mute, int64_t succeeded_ms, int64_t now_ms);

/* Does it keep messages of this event from being sent, as long as it is active? */
bool mute_takes(const struct mute *mute, enum notify_event event);

/* NULL: out of memory. */
char *mute_encode(const struct mute *mute);
/* E_CORRUPT: it is none, or of a newer version. */
MUST_CHECK enum status mute_decode(const char *uid, const char *json, struct mute *ret);

#endif
