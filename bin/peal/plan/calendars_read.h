/* Reads the calendars of the agent, or of the files NAME.yaml, NAME.yml and NAME.json of a folder.
 * One that a job names and that is not among them is named on stderr. */
#ifndef PEAL_CALENDARS_READ_H
#define PEAL_CALENDARS_READ_H

#include "client/client.h"
#include "herd/calendar_book.h"

MUST_CHECK enum exit_code calendars_of_agent(struct calendar_book *book, struct client *client,
                                             struct zone_db *zones);

/* `folder` NULL: there are none. */
MUST_CHECK enum exit_code calendars_of_folder(struct calendar_book *book, const char *folder,
                                              struct zone_db *zones);

#endif
