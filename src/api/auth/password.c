#include "auth/password.h"

#include <arpa/inet.h>
#include <openssl/crypto.h>
#include <stdlib.h>
#include <string.h>

#include "server.h"

static void fail_busy(struct call *call)
{
    call->api->metrics.throttled++;
    call_header(call, "Retry-After", "1");
    call_fail(call, 503, "too many passwords are being checked; try again in a moment");
}

/* False: the call has failed, and is gone. */
static bool submit(struct call *call, struct hash_work *work, const char *password, call_then *then)
{
    password_release(work);
    work->password = strdup(password);
    work->done = call_answer;
    work->context = call;
    enum status st = work->password ? hasher_submit(call->api->hasher, work) : E_NOMEM;
    if (st == OK)
        call_wait(call, then);
    else if (st == E_BUSY)
        fail_busy(call);
    else
        call_fail(call, 500, "out of memory");
    return st == OK;
}

/* The /48 around an IPv6 address; other addresses as they are. */
static void name_network(const char *address, char network[ADDRESS_SIZE])
{
    struct in6_addr bytes;
    snprintf(network, ADDRESS_SIZE, "%s", address);
    if (inet_pton(AF_INET6, address, &bytes) != 1 || IN6_IS_ADDR_V4MAPPED(&bytes))
        return;
    memset(bytes.s6_addr + 6, 0, 10);
    inet_ntop(AF_INET6, &bytes, network, ADDRESS_SIZE);
}

/* Counts the try; false: the call has failed. */
static bool may_try(struct call *call, const struct attempt *attempt, struct guess *ret)
{
    char address[ADDRESS_SIZE], network[ADDRESS_SIZE];
    int64_t wait_ms;
    call_address(call, address);
    name_network(address, network);
    struct guesser who = {attempt->name, address, network, attempt->device};
    switch (guesses_begin(&call->api->guesses, &who, clock_now().boot.ms, ret, &wait_ms)) {
    case GUESS_GO:
        return true;
    case GUESS_TOO_OFTEN:
        call_fail_later(call, wait_ms, "too many wrong logins");
        return false;
    case GUESS_BUSY:
        break;
    }
    fail_busy(call);
    return false;
}

void password_check(struct call *call, struct hash_work *work, struct guess *guess,
                    const struct attempt *attempt, call_then *then)
{
    struct guesses *guesses = &call->api->guesses;
    bool is_long = strlen(attempt->password) > PASSWORD_MAX; /* longer than any password */
    struct guess counted;
    if (!may_try(call, attempt, &counted))
        return;
    *guess = counted;
    work->is_stranger = !counted.is_known;
    work->is_check = true;
    work->matches = false;
    snprintf(work->hash, sizeof(work->hash), "%s", is_long ? "" : attempt->hash);
    if (!submit(call, work, is_long ? "" : attempt->password, then))
        guesses_undo(guesses, &counted);
}

void password_tried(struct call *call, const struct guess *guess, bool is_right)
{
    struct guesses *guesses = &call->api->guesses;
    if (is_right)
        guesses_right(guesses, guess, clock_now().boot.ms);
    else
        guesses_wrong(guesses, guess, clock_now().boot.ms);
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
    work->is_stranger = false;
    (void)submit(call, work, json_string_value(password), then);
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
