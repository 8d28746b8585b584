/* Calendars by name, and the lists of them that jobs have; what it gives lives as long as the
 * book, whatever becomes of the calendars elsewhere. */
#ifndef PEAL_CALENDAR_BOOK_H
#define PEAL_CALENDAR_BOOK_H

#include "calendar_codec.h"
#include "calendars.h"
#include "job.h"
#include "table.h"

struct calendar_book {
    struct calendar_book *base;        /* has what this one has not; NULL: there is none */
    struct table calendars;            /* also those that were asked for and are nowhere */
    struct table lists;                /* of jobs, by their names */
    void (*missing)(const char *name); /* is told of each of those, once; NULL: nobody */
};

void calendar_book_init(struct calendar_book *book);
void calendar_book_release(struct calendar_book *book);

bool calendar_book_has(const struct calendar_book *book, const char *name);

/* Takes the definition over, also when it fails. */
MUST_CHECK enum status calendar_book_add(struct calendar_book *book, const char *name,
                                         struct calendar_definition *definition);

/* As if the base did not have it. */
MUST_CHECK enum status calendar_book_hide(struct calendar_book *book, const char *name);

/* The calendars of a job. One that is not there excludes nothing. E_NOMEM. */
MUST_CHECK enum status calendar_book_of_job(struct calendar_book *book, const struct job *job,
                                            struct calendars *ret);

#endif
