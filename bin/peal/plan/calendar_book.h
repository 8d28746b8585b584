/* Calendars by name: those of the agent, or of the files NAME.yaml, NAME.yml and NAME.json of a
 * folder. */
#ifndef PEAL_CALENDAR_BOOK_H
#define PEAL_CALENDAR_BOOK_H

#include "calendars.h"
#include "client/client.h"
#include "job.h"
#include "table.h"

struct calendar_book {
    struct table calendars; /* also those that were asked for and are nowhere */
    struct table lists;     /* of jobs, by their names */
};

void calendar_book_init(struct calendar_book *book);
void calendar_book_release(struct calendar_book *book);

MUST_CHECK enum exit_code calendar_book_of_agent(struct calendar_book *book, struct client *client);
MUST_CHECK enum exit_code calendar_book_of_folder(struct calendar_book *book, const char *folder);

/* The calendars of a job, which live as long as the book. One that is not there excludes nothing,
 * and is named on stderr, once. E_NOMEM. */
MUST_CHECK enum status calendar_book_of_job(struct calendar_book *book, const struct job *job,
                                            struct calendars *ret);

#endif
