/* One crontab of this machine, as a whole: read, and written back. */
#ifndef PEAL_CRONTAB_FILE_H
#define PEAL_CRONTAB_FILE_H

#include "cli/cli.h"
#include "strbuf.h"

/* Appends the text of a crontab: of `file`, or, if that is NULL, of a user by `crontab -l`, which
 * knows where its files are and may read them; `user` NULL: one's own. Failures have been told. */
MUST_CHECK enum exit_code crontab_read(const char *file, const char *user, struct strbuf *text);

/* Replaces it at once, with the owner and the mode that it had. */
MUST_CHECK enum exit_code crontab_write(const char *file, const char *user,
                                        const struct strbuf *text);

/* Keeps a copy beside the file, ".NAME.peal-backup", which no cron reads, or of a user's crontab
 * below the home of who asks: the first one stays. *path is where it is. */
MUST_CHECK enum exit_code crontab_back_up(const char *file, const char *user,
                                          const struct strbuf *text, struct strbuf *path);

#endif
