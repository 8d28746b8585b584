#include "sandbox/descriptors.h"

#include <sys/resource.h>

enum { PLENTY = 16384 }; /* 10,000 subscribers, and some more */

int64_t descriptors_raise(struct agent_log *log)
{
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) != 0)
        return 0;
    rlim_t before = files.rlim_cur;
    files.rlim_cur = files.rlim_max;
    if (setrlimit(RLIMIT_NOFILE, &files) != 0)
        files.rlim_cur = before;
    if (files.rlim_cur < PLENTY)
        agent_log_event(log, "few_descriptors",
                        "limit=%llu detail=\"the API takes %llu connections at most; for more, "
                        "raise the hard limit: ulimit -Hn, or LimitNOFILE in the unit\"",
                        (unsigned long long)files.rlim_cur,
                        (unsigned long long)files.rlim_cur / 4 * 3);
    return before == RLIM_INFINITY ? 0 : (int64_t)before;
}
