/* Documents of users and tokens, and cookies of sessions, are refused or read; what was read can be
 * written and read again with the same rights. The first byte chooses which it is. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "auth/account.h"
#include "auth/session.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

static void require(int holds)
{
    if (!holds)
        abort();
}

static void check_user(const char *text)
{
    struct user user, again;
    if (user_decode("anna", text, &user) != OK)
        return;
    require(user.ended_count <= ENDED_MAX && user.scope.grant_count <= NAMESPACES_MAX);
    char *json = user_encode(&user);
    require(json && user_decode("anna", json, &again) == OK);
    require(again.scope.rights == user.scope.rights &&
            again.scope.grant_count == user.scope.grant_count);
    free(json);
}

static void check_token(const char *text)
{
    struct token token;
    if (token_decode("01ARZ3NDEKTSV4RRFFQ69G5FAV", text, &token) == OK)
        require(token.scope.grant_count <= NAMESPACES_MAX);
}

static void check_cookie(const char *text)
{
    static const uint8_t secret[SESSION_SECRET] = {1};
    struct session session;
    char value[SESSION_TEXT];
    if (cookie_find(text, "peal_session", value, sizeof(value)))
        require(strlen(value) < sizeof(value));
    require(!session_read(text, secret, 1800000000, &session)); /* nobody else can sign it */
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    if (!length)
        return 0;
    char *text = malloc(length); /* of the exact size */
    require(text != NULL);
    memcpy(text, bytes + 1, length - 1);
    text[length - 1] = '\0';
    if (bytes[0] % 3 == 0)
        check_user(text);
    else if (bytes[0] % 3 == 1)
        check_token(text);
    else
        check_cookie(text);
    free(text);
    return 0;
}
