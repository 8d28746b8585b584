/* Authentication: a token, got with name and password before the first call, and again when the
 * server rejects it (it expires, or the server was restarted). */
#include <stdlib.h>
#include <string.h>

#include "etcd_internal.h"

static enum status decode_token(struct arena *arena, const uint8_t *bytes, size_t length,
                                struct kv_result *ret)
{
    Etcdpb__AuthenticateResponse *answer =
        etcd_unpack_answer(arena, &etcdpb__authenticate_response__descriptor, bytes, length, ret);
    if (!answer)
        return E_CORRUPT;
    ret->message = answer->token;
    return OK;
}

static const struct etcd_method authenticate = {
    .path = "/etcdserverpb.Auth/Authenticate",
    .decode = decode_token,
    .is_read = true,
    .without_token = true,
};

static void on_token(void *context, const struct kv_result *result)
{
    struct etcd_client *client = context;
    struct etcd_auth *auth = &client->auth;
    auth->is_asking = false;
    if (result->status == OK) {
        auth->token = strdup(result->message);
    } else if (result->code == GRPC_FAILED_PRECONDITION) {
        auth->is_needless = true; /* authentication is not enabled on the server */
    } else if (result->code != GRPC_NO_CODE && result->status != E_UNKNOWN &&
               result->status != E_UNREACHABLE) {
        etcd_calls_refuse(client, result);
    }
    etcd_calls_flush(client);
    etcd_streams_flush(client);
}

bool etcd_auth_ready(struct etcd_client *client)
{
    struct etcd_auth *auth = &client->auth;
    if (!auth->user || auth->token || auth->is_needless)
        return true;
    if (auth->is_asking)
        return false;
    Etcdpb__AuthenticateRequest request = ETCDPB__AUTHENTICATE_REQUEST__INIT;
    request.name = auth->user;
    request.password = auth->password;
    auth->is_asking = true; /* before the call, which flushes others */
    if (etcd_call_start(&client->base, &authenticate, &request.base,
                        &(struct kv_reply){.done = on_token, .context = client}, NULL) != OK)
        auth->is_asking = false;
    return false;
}

bool etcd_client_has_needless_user(const struct kv_client *client)
{
    return ((const struct etcd_client *)client)->auth.is_needless;
}

void etcd_auth_forget(struct etcd_client *client)
{
    free(client->auth.token);
    client->auth.token = NULL;
    client->auth.is_needless = false;
}

bool etcd_auth_is_stale(const struct etcd_client *client, int code, const char *message)
{
    return client->auth.user &&
           (code == GRPC_UNAUTHENTICATED ||
            (code == GRPC_INVALID_ARGUMENT &&
             (strstr(message, "user name is empty") || strstr(message, "auth store is old"))));
}

void etcd_auth_release(struct etcd_auth *auth)
{
    if (auth->password)
        explicit_bzero(auth->password, strlen(auth->password));
    free(auth->user);
    free(auth->password);
    free(auth->token);
}
