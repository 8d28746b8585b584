/* Jobs of other programs as jobs of peal. docs/FROM-OTHERS.md says what is converted. */
#ifndef PEAL_FOREIGN_H
#define PEAL_FOREIGN_H

#include "definition/job_codec.h"

struct foreign_options {
    const char *prefix;     /* of the names of the jobs; NULL: none */
    const char *default_tz; /* of jobs that name no zone */
};

enum foreign_severity {
    FOREIGN_INFO,    /* converted in another form; nothing is lost */
    FOREIGN_WARNING, /* something could not be converted */
    FOREIGN_ERROR,   /* the task was not imported */
};
const char *foreign_severity_name(enum foreign_severity severity);

struct foreign_note {
    const char
        *file; /* of a listing in several files, whose paths outlive it; NULL: the only one */
    int line, column; /* from 1 */
    enum foreign_severity severity;
    char id[24];    /* of the task there; "": none, or the note is about the whole listing */
    char name[132]; /* of the task there, perhaps cut; "": likewise */
    char text[400];
    const char *why; /* the end of the text, in words of the API's table; NULL: a parser's */
};

struct foreign {
    struct job_list jobs;
    struct foreign_note *notes;
    size_t note_count;
    size_t lost; /* tasks that were not imported, and those that the listing does not have */
};
void foreign_init(struct foreign *foreign);
void foreign_release(struct foreign *foreign);

/* Reads the answer of gocron's GET /api/task, or only the list in it, or rows of its tables
 * (rows.h). A task that can't be imported becomes a note, and the others are still read. The jobs
 * come in the order of the tasks' ids, and have valid names that differ. E_INVALID: not such a
 * listing; *reterr says where and why. E_TOO_LARGE: beyond the limits of node.h. *ret, which the
 * caller has initialised, is to be released in any case. */
MUST_CHECK enum status gocron_import(const char *text, size_t length,
                                     const struct foreign_options *options, struct zone_db *zones,
                                     struct foreign *ret, struct parse_error *reterr);

#endif
