#include "password.h"

#include <openssl/crypto.h>
#include <stdlib.h>
#include <string.h>

#include "server.h"

static void submit(struct call *call, struct hash_work *work, const char *password, call_then *then)
{
    password_release(work);
    work->password = strdup(password);
    work->done = call_answer;
    work->context = call;
    enum status st = work->password ? hasher_submit(call->api->hasher, work) : E_NOMEM;
    if (st == OK) {
        call_wait(call, then);
    } else if (st == E_BUSY) {
        call_header(call, "Retry-After", "1");
        call_fail(call, 503, "too many passwords are being checked; try again in a moment");
    } else {
        call_fail(call, 500, "out of memory");
    }
}

void password_check(struct call *call, struct hash_work *work, const char *password,
                    const char *hash, call_then *then)
{
    bool is_long = strlen(password) > PASSWORD_MAX; /* which no password is */
    work->is_check = true;
    work->matches = false;
    snprintf(work->hash, sizeof(work->hash), "%s", is_long ? "" : hash);
    submit(call, work, is_long ? "" : password, then);
}

void password_make(struct call *call, struct hash_work *work, const json_t *password,
                   call_then *then)
{
    size_t length = json_string_length(password);
    if (!json_is_string(password) || length < PASSWORD_MIN || length > PASSWORD_MAX) {
        call_fail_at(call, "/password", "password: expected %d to %d bytes", PASSWORD_MIN,
                     PASSWORD_MAX);
        return;
    }
    work->is_check = false;
    submit(call, work, json_string_value(password), then);
}

void password_release(struct hash_work *work)
{
    if (work->password)
        OPENSSL_cleanse(work->password, strlen(work->password));
    free(work->password);
    work->password = NULL;
}

bool check_user_name(struct call *call, const char *name)
{
    const char *complaint = name ? user_name_complaint(name) : "is missing";
    if (complaint)
        call_fail_at(call, "/name", "name: %s", message_in(call->language, complaint));
    return !complaint;
}
