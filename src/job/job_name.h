/* Names of jobs, channels, calendars, groups and namespaces: letters and digits of any script, and
 * a few marks. Pure. */
#ifndef PEAL_JOB_NAME_H
#define PEAL_JOB_NAME_H

#include <stdbool.h>

enum { /* bytes */
       JOB_NAME_MAX = 128,
       JOB_NAME_SIZE = JOB_NAME_MAX + 1,
       CHANNEL_NAME_MAX = 63,
       CALENDAR_NAME_MAX = 63,
       GROUP_NAME_MAX = 63,
       NAMESPACE_MAX = 127,
};

/* What is wrong with a name; NULL: nothing. Names are compared by their bytes, so that of the ways
 * to write a letter in Unicode only the composed one (NFC) is allowed; so that two names that look
 * alike are not two jobs, nothing invisible is: no control characters, no marks of direction, no
 * fillers. */
const char *job_name_complaint(const char *name);
const char *channel_name_complaint(const char *name);
const char *calendar_name_complaint(const char *name);
const char *group_name_complaint(const char *name);
const char *namespace_complaint(const char *name);

/* Are both names in the same namespace? */
bool job_name_is_beside(const char *name, const char *other);

#endif
