/* The thread that makes the program's callbacks. */
#include "coordinator_internal.h"

static void *make_calls(void *context)
{
    struct coordinator *coordinator = context;
    pthread_mutex_lock(&coordinator->lock);
    while (!coordinator->is_closing && !coordinator->is_exiting) {
        if (!claims_call(coordinator) && !observers_call(coordinator))
            pthread_cond_wait(&coordinator->changed, &coordinator->lock);
    }
    pthread_mutex_unlock(&coordinator->lock);
    return NULL;
}

enum status caller_start(struct coordinator *coordinator)
{
    if (coordinator->has_caller)
        return OK;
    enum status st = coordinator_thread(&coordinator->caller, make_calls, coordinator);
    coordinator->has_caller = st == OK;
    return st;
}

bool is_caller(const struct coordinator *coordinator)
{
    return coordinator->has_caller && pthread_equal(coordinator->caller, pthread_self());
}
