/* Accounts: the setup link, passwords, sessions, users, tokens, links; and how often one may be
 * wrong. */
#include "harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "auth/session.h"

#define HOST     "Host: localhost\r\n"
#define ORIGIN   "Origin: http://localhost\r\n"
#define PASSWORD "correct horse"

/* ---- short ways ---- */

static struct answer ask_cookie(struct world *world, const char *cookie, const char *line,
                                const char *body)
{
    char headers[600];
    snprintf(headers, sizeof(headers), HOST ORIGIN "Cookie: theme=dark; %s\r\n", cookie);
    return ask_tcp(world, line, headers, body);
}

static struct answer ask_token(struct world *world, const char *token, const char *line,
                               const char *body)
{
    char headers[200];
    snprintf(headers, sizeof(headers), HOST "Authorization: Bearer %s\r\n", token);
    return ask_tcp(world, line, headers, body);
}

static void expect_status(struct answer answer, int line, int status)
{
    if (answer.status != status)
        fail_msg("line %d: %d %s", line, answer.status, answer.text);
    answer_release(&answer);
}

#define BY_COOKIE(cookie, line, body, status)                                                      \
    expect_status(ask_cookie(world, cookie, line, body), __LINE__, status)
#define BY_TOKEN(token, line, body, status)                                                        \
    expect_status(ask_token(world, token, line, body), __LINE__, status)

/* "name=value" of this cookie, which the answer must set. */
static void take_one(const struct answer *answer, const char *name, char cookie[400])
{
    char line[400];
    snprintf(line, sizeof(line), "\r\nSet-Cookie: %s=", name);
    const char *header = strstr(answer->head, line);
    if (!header)
        fail_msg("no %s: %d %s", name, answer->status, answer->text);
    header += strlen("\r\nSet-Cookie: ");
    snprintf(line, sizeof(line), "%.*s", (int)strcspn(header, "\r"), header);
    snprintf(cookie, 400, "%.*s", (int)strcspn(line, ";"), line);
    assert_non_null(strstr(line, "; HttpOnly"));
    assert_non_null(strstr(line, "; SameSite=Strict"));
    assert_non_null(strstr(line, "; Path=/"));
    assert_null(strstr(line, "Secure")); /* which a browser would not send without TLS */
}

/* That of the session. */
static void take_cookie(const struct answer *answer, char cookie[400])
{
    take_one(answer, "peal_session", cookie);
}

static int log_in(struct world *world, const char *name, const char *password, char cookie[400])
{
    char body[200];
    snprintf(body, sizeof(body), "{\"name\":\"%s\",\"password\":\"%s\"}", name, password);
    struct answer answer = ask_tcp(world, "POST /login", HOST, body);
    int status = answer.status;
    if (status == 200)
        take_cookie(&answer, cookie);
    answer_release(&answer);
    return status;
}

static void add_user(struct world *world, const char *name, const char *role)
{
    char body[200];
    snprintf(body, sizeof(body), "{\"name\":\"%s\",\"password\":\"" PASSWORD "\",\"role\":\"%s\"}",
             name, role);
    EXPECT_STATUS(world, 201, "POST /users", body);
}

/* The last line of a file, without what is before the last slash. */
static void read_secret(struct world *world, char secret[128])
{
    char path[128], line[256] = "";
    snprintf(path, sizeof(path), "%s/setup-link", world->dir);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof(line), file));
    fclose(file);
    assert_non_null(strstr(line, "http://127.0.0.1:"));
    assert_non_null(strstr(line, "/#/setup/"));
    snprintf(secret, 128, "%.*s", (int)strcspn(strrchr(line, '/') + 1, "\n"),
             strrchr(line, '/') + 1);
}

/* ---- setup ---- */

static void test_setup(void **state)
{
    struct world *world = *state;
    char secret[128], body[300], path[128], cookie[400];
    snprintf(path, sizeof(path), "%s/setup-link", world->dir);
    struct answer auth = ask_tcp(world, "GET /auth", HOST, NULL);
    assert_true(json_is_false(member(auth.body, "accounts")));
    assert_true(json_is_true(member(auth.body, "setup")));
    answer_release(&auth);
    read_secret(world, secret);
    static const struct {
        int line;
        const char *secret, *rest;
        int status;
    } cases[] = {
        {__LINE__, "wrong", "\"name\":\"anna\",\"password\":\"" PASSWORD "\"", 401},
        {__LINE__, "", "\"name\":\"anna\",\"password\":\"" PASSWORD "\"", 401},
        {__LINE__, NULL, "\"name\":\"an na\",\"password\":\"" PASSWORD "\"", 422},
        {__LINE__, NULL, "\"name\":\"anna\",\"password\":\"short\"", 422},
        {__LINE__, NULL, "\"name\":\"anna\"", 422},
        {__LINE__, NULL, "\"name\":\"anna\",\"password\":\"" PASSWORD "\"", 200},
        {__LINE__, NULL, "\"name\":\"otto\",\"password\":\"" PASSWORD "\"", 409},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        snprintf(body, sizeof(body), "{\"secret\":\"%s\",%s}",
                 cases[i].secret ? cases[i].secret : secret, cases[i].rest);
        struct answer answer = ask_tcp(world, "POST /setup", HOST, body);
        if (answer.status != cases[i].status)
            fail_msg("line %d: %d %s", cases[i].line, answer.status, answer.text);
        if (answer.status == 200)
            take_cookie(&answer, cookie);
        answer_release(&answer);
    }
    assert_int_not_equal(access(path, F_OK), 0);
    auth = ask_tcp(world, "GET /auth", HOST, NULL);
    assert_true(json_is_true(member(auth.body, "accounts")));
    assert_true(json_is_false(member(auth.body, "setup")));
    answer_release(&auth);
    struct answer me = ask_cookie(world, cookie, "GET /me", NULL);
    assert_string_equal(member_text(me.body, "name"), "anna");
    assert_string_equal(member_text(me.body, "kind"), "user");
    assert_string_equal(member_text(me.body, "role"), "admin");
    answer_release(&me);
}

/* ---- sessions ---- */

static void test_login(void **state)
{
    struct world *world = *state;
    char cookie[400], broken[400];
    add_user(world, "anna", "admin");
    assert_int_equal(log_in(world, "anna", "wrong", cookie), 401);
    assert_int_equal(log_in(world, "nobody", PASSWORD, cookie), 401);
    assert_int_equal(log_in(world, "anna", "", cookie), 401);
    expect_status(ask_tcp(world, "POST /login", HOST, "{}"), __LINE__, 422);
    assert_int_equal(log_in(world, "anna", PASSWORD, cookie), 200);
    BY_COOKIE(cookie, "GET /jobs", NULL, 200);
    BY_COOKIE(cookie, "POST /jobs:batch", "{}", 200);
    for (size_t i = strlen("peal_session="); cookie[i]; i++) { /* any letter of it */
        memcpy(broken, cookie, sizeof(broken));
        broken[i] = broken[i] == '0' ? '1' : '0';
        BY_COOKIE(broken, "GET /me", NULL, 401);
    }
    struct answer metrics = ask(world, "GET //metrics", NULL);
    assert_non_null(strstr(metrics.text, "peal_logins_total{result=\"ok\"} 1\n"));
    assert_non_null(strstr(metrics.text, "peal_logins_total{result=\"wrong\"} 3\n"));
    answer_release(&metrics);
}

/* A browser that another site has made ask. */
static void test_cookies_need_an_origin(void **state)
{
    struct world *world = *state;
    char cookie[400], headers[700];
    static const struct {
        int line;
        const char *more;
        int read, write;
    } cases[] = {
        {__LINE__, "", 200, 403},
        {__LINE__, "Origin: http://localhost\r\n", 200, 200},
        {__LINE__, "Origin: http://localhost:8000\r\n", 403, 403},
        {__LINE__, "Origin: http://evil.example\r\n", 403, 403},
        {__LINE__, "Origin: null\r\n", 403, 403},
        {__LINE__, "Sec-Fetch-Site: same-origin\r\n", 200, 200},
        {__LINE__, "Sec-Fetch-Site: same-site\r\n", 403, 403},
        {__LINE__, "Sec-Fetch-Site: same-site\r\nSec-Fetch-Mode: navigate\r\n", 200, 403},
        {__LINE__, "Sec-Fetch-Site: none\r\n", 200, 403},
    };
    add_user(world, "anna", "admin");
    assert_int_equal(log_in(world, "anna", PASSWORD, cookie), 200);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        snprintf(headers, sizeof(headers), HOST "Cookie: %s\r\n%s", cookie, cases[i].more);
        expect_status(ask_tcp(world, "GET /me", headers, NULL), cases[i].line, cases[i].read);
        expect_status(ask_tcp(world, "POST /jobs:batch", headers, "{}"), cases[i].line,
                      cases[i].write);
    }
}

static void test_logout(void **state)
{
    struct world *world = *state;
    char one[400], two[400], other[400];
    add_user(world, "anna", "viewer");
    add_user(world, "otto", "viewer");
    assert_int_equal(log_in(world, "anna", PASSWORD, one), 200);
    assert_int_equal(log_in(world, "anna", PASSWORD, two), 200);
    assert_int_equal(log_in(world, "otto", PASSWORD, other), 200);
    struct answer answer = ask_cookie(world, one, "POST /logout", NULL);
    char *header = answer_header(&answer, "Set-Cookie");
    assert_int_equal(answer.status, 200);
    assert_non_null(strstr(header, "peal_session=; "));
    assert_non_null(strstr(header, "Max-Age=0"));
    free(header);
    answer_release(&answer);
    BY_COOKIE(one, "GET /me", NULL, 401); /* a copy of the cookie is worth nothing */
    BY_COOKIE(two, "GET /me", NULL, 200);
    assert_int_equal(log_in(world, "anna", PASSWORD, one), 200);
    BY_COOKIE(two, "POST /logout", "{\"all\":true}", 200);
    BY_COOKIE(one, "GET /me", NULL, 401);
    BY_COOKIE(two, "GET /me", NULL, 401);
    BY_COOKIE(other, "GET /me", NULL, 200);
    BY_TOKEN("viewer", "POST /logout", NULL, 409);
}

/* Where no more can be kept apart, all end. */
static void test_many_logouts(void **state)
{
    struct world *world = *state;
    char stays[400], one[400];
    add_user(world, "anna", "viewer");
    assert_int_equal(log_in(world, "anna", PASSWORD, stays), 200);
    for (int i = 0; i < ENDED_MAX; i++) {
        assert_int_equal(log_in(world, "anna", PASSWORD, one), 200);
        BY_COOKIE(one, "POST /logout", NULL, 200);
        BY_COOKIE(one, "GET /me", NULL, 401);
    }
    BY_COOKIE(stays, "GET /me", NULL, 200);
    assert_int_equal(log_in(world, "anna", PASSWORD, one), 200);
    BY_COOKIE(one, "POST /logout", NULL, 200);
    BY_COOKIE(one, "GET /me", NULL, 401);
    BY_COOKIE(stays, "GET /me", NULL, 401);
}

static void test_own_password(void **state)
{
    struct world *world = *state;
    char cookie[400], elsewhere[400];
    add_user(world, "anna", "viewer");
    add_user(world, "otto", "viewer");
    assert_int_equal(log_in(world, "anna", PASSWORD, cookie), 200);
    assert_int_equal(log_in(world, "anna", PASSWORD, elsewhere), 200);
    BY_COOKIE(cookie, "PATCH /users/anna", "{\"password\":\"another one\"}", 422);
    BY_COOKIE(cookie, "PATCH /users/anna",
              "{\"password\":\"another one\",\"old_password\":\"wrong\"}", 403);
    BY_COOKIE(cookie, "PATCH /users/anna", "{\"role\":\"admin\"}", 403);
    BY_COOKIE(cookie, "PATCH /users/anna", "{\"disabled\":false}", 403);
    BY_COOKIE(cookie, "PATCH /users/otto",
              "{\"password\":\"another one\",\"old_password\":\"" PASSWORD "\"}", 403);
    struct answer changed =
        ask_cookie(world, cookie, "PATCH /users/anna",
                   "{\"password\":\"another one\",\"old_password\":\"" PASSWORD "\"}");
    assert_int_equal(changed.status, 200);
    take_cookie(&changed, cookie);
    answer_release(&changed);
    BY_COOKIE(cookie, "GET /me", NULL, 200);
    BY_COOKIE(elsewhere, "GET /me", NULL, 401);
    assert_int_equal(log_in(world, "anna", PASSWORD, elsewhere), 401);
    assert_int_equal(log_in(world, "anna", "another one", elsewhere), 200);
}

/* ---- users ---- */

static void test_users(void **state)
{
    struct world *world = *state;
    char cookie[400];
    static const struct {
        int line;
        const char *request, *body;
        int status;
    } cases[] = {
        {__LINE__, "POST /users", "{\"name\":\"anna\",\"role\":\"admin\"}", 201},
        {__LINE__, "POST /users", "{\"name\":\"anna\",\"role\":\"admin\"}", 409},
        {__LINE__, "POST /users", "{\"name\":\"otto\"}", 422},
        {__LINE__, "POST /users", "{\"name\":\"otto\",\"role\":\"king\"}", 422},
        {__LINE__, "POST /users", "{\"name\":\"\",\"role\":\"viewer\"}", 422},
        {__LINE__, "POST /users", "{\"name\":\"a/b\",\"role\":\"viewer\"}", 422},
        {__LINE__, "POST /users", "{\"name\":\"otto\",\"role\":\"viewer\",\"define\":true}", 422},
        {__LINE__, "POST /users", "{\"name\":\"otto\",\"role\":\"admin\",\"define\":false}", 422},
        {__LINE__, "POST /users",
         "{\"name\":\"otto\",\"namespaces\":[{\"namespace\":\"team\",\"role\":\"admin\"}]}", 422},
        {__LINE__, "POST /users",
         "{\"name\":\"otto\",\"namespaces\":[{\"namespace\":\"team/\",\"role\":\"viewer\"}]}", 422},
        {__LINE__, "POST /users", "{\"name\":\"otto\",\"namespaces\":[{\"namespace\":\"t\"}]}",
         422},
        {__LINE__, "POST /users",
         "{\"name\":\"otto\",\"namespaces\":[{\"namespace\":\"team\",\"role\":\"editor\","
         "\"define\":false}]}",
         201},
        {__LINE__, "GET /users/otto", NULL, 200},
        {__LINE__, "GET /users/nobody", NULL, 404},
        {__LINE__, "DELETE /users/anna", NULL, 409}, /* the last admin */
        {__LINE__, "PATCH /users/anna", "{\"role\":\"editor\"}", 409},
        {__LINE__, "PATCH /users/anna", "{\"disabled\":true}", 409},
        {__LINE__, "PATCH /users/otto", "{\"role\":\"admin\"}", 200},
        {__LINE__, "PATCH /users/anna", "{\"disabled\":true}", 200},
        {__LINE__, "DELETE /users/otto", NULL, 409},
        {__LINE__, "DELETE /users/anna", NULL, 200},
        {__LINE__, "DELETE /users/anna", NULL, 404},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct answer answer = ask(world, cases[i].request, cases[i].body);
        if (answer.status != cases[i].status)
            fail_msg("line %d: %d %s", cases[i].line, answer.status, answer.text);
        assert_null(strstr(answer.text, "argon2"));
        answer_release(&answer);
    }
    json_t *users = EXPECT(world, 200, "GET /users", NULL);
    assert_int_equal(member_count(users, "items"), 1);
    assert_string_equal(member_text(users, "items.0.namespaces.0.namespace"), "team");
    assert_true(json_is_false(member(users, "items.0.namespaces.0.define")));
    assert_true(json_is_false(member(users, "items.0.has_password")));
    json_decref(users);
    assert_int_equal(log_in(world, "otto", "", cookie), 401); /* without a password none is right */
}

/* What is taken away is gone at once. */
static void test_changes_hold_at_once(void **state)
{
    struct world *world = *state;
    char cookie[400];
    add_user(world, "anna", "admin");
    add_user(world, "otto", "operator");
    assert_int_equal(log_in(world, "otto", PASSWORD, cookie), 200);
    BY_COOKIE(cookie, "POST /jobs/a/run", NULL, 404);
    EXPECT_STATUS(world, 200, "PATCH /users/otto", "{\"role\":\"viewer\"}");
    BY_COOKIE(cookie, "POST /jobs/a/run", NULL, 403);
    EXPECT_STATUS(world, 200, "PATCH /users/otto", "{\"disabled\":true}");
    BY_COOKIE(cookie, "GET /me", NULL, 401);
    assert_int_equal(log_in(world, "otto", PASSWORD, cookie), 401);
    EXPECT_STATUS(world, 200, "DELETE /users/otto", NULL);
    add_user(world, "otto", "admin"); /* somebody else by the same name */
    BY_COOKIE(cookie, "GET /me", NULL, 401);
}

/* ---- tokens ---- */

static void make_token(struct world *world, const char *cookie, const char *body, char token[80],
                       char id[40])
{
    struct answer answer = *cookie ? ask_cookie(world, cookie, "POST /tokens", body)
                                   : ask(world, "POST /tokens", body);
    if (answer.status != 201)
        fail_msg("%s: %d %s", body, answer.status, answer.text);
    snprintf(token, 80, "%s", member_text(answer.body, "token"));
    snprintf(id, 40, "%s", member_text(answer.body, "id"));
    assert_int_equal(strncmp(token, "peal_", 5), 0);
    assert_int_equal(strlen(token), 48);
    answer_release(&answer);
}

static void test_tokens(void **state)
{
    struct world *world = *state;
    char anna[400], otto[400], token[80], id[40], other[80], other_id[40], line[100];
    add_user(world, "anna", "admin");
    add_user(world, "otto", "operator");
    assert_int_equal(log_in(world, "anna", PASSWORD, anna), 200);
    assert_int_equal(log_in(world, "otto", PASSWORD, otto), 200);
    make_token(world, otto, "{\"label\":\"all\"}", token, id);
    make_token(world, otto, "{\"label\":\"ci\",\"role\":\"viewer\",\"expires_in\":\"never\"}",
               other, other_id);
    BY_TOKEN(token, "POST /jobs/a/run", NULL, 404);
    BY_TOKEN(token, "DELETE /jobs/a", NULL, 403);
    BY_TOKEN(other, "POST /jobs/a/run", NULL, 403);
    BY_TOKEN(other, "POST /tokens", "{\"label\":\"more\"}", 403);
    BY_COOKIE(otto, "POST /tokens", "{\"label\":\"x\",\"user\":\"anna\"}", 403);
    BY_COOKIE(otto, "POST /tokens", "{\"label\":\"\"}", 422);
    BY_COOKIE(otto, "POST /tokens", "{\"label\":\"x\",\"expires_in\":\"soon\"}", 422);
    BY_COOKIE(otto, "POST /tokens", "{\"label\":\"x\",\"role\":\"none\"}", 422);
    EXPECT_STATUS(world, 422, "POST /tokens", "{\"label\":\"x\"}"); /* nobody's: needs a role */
    struct answer list = ask_cookie(world, otto, "GET /tokens", NULL);
    assert_int_equal(member_count(list.body, "items"), 2);
    assert_null(strstr(list.text, "digest"));
    assert_null(strstr(list.text, token));
    assert_string_not_equal(member_text(list.body, "items.0.used_at"), "(no text)");
    answer_release(&list);
    list = ask_token(world, token, "GET /tokens", NULL);
    assert_int_equal(member_count(list.body, "items"), 1);
    answer_release(&list);

    /* More than its owner may, it never may. */
    EXPECT_STATUS(world, 200, "PATCH /users/otto", "{\"role\":\"viewer\"}");
    BY_TOKEN(token, "POST /jobs/a/run", NULL, 403);
    snprintf(line, sizeof(line), "DELETE /tokens/%s", other_id);
    BY_TOKEN(token, line, NULL, 404);
    BY_COOKIE(otto, line, NULL, 200);
    BY_COOKIE(otto, line, NULL, 404);
    BY_TOKEN(other, "GET /me", NULL, 401);
    EXPECT_STATUS(world, 200, "DELETE /users/otto", NULL);
    BY_TOKEN(token, "GET /me", NULL, 401);
    add_user(world, "otto", "admin");
    BY_TOKEN(token, "GET /me", NULL, 401);
}

static void test_expired_token(void **state)
{
    struct world *world = *state;
    int64_t now_ms = clock_now().wall.ms;
    static const struct {
        int line;
        int64_t expires_in_ms;
        int status;
    } cases[] = {{__LINE__, 3600000, 200}, {__LINE__, -1, 401}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct token token = {.scope.rights = ROLE_VIEWER,
                              .expires_ms = now_ms + cases[i].expires_in_ms};
        secret_digest("some", token.digest);
        char *json = token_encode(&token);
        world_put_doc(world, TOKEN_DOC, "some", json);
        free(json);
        expect_status(ask_token(world, "some", "GET /me", NULL), cases[i].line, cases[i].status);
    }
}

/* Two that take each other's last admin away, neither of which has seen the other: one is told. */
static void test_one_admin_stays(void **state)
{
    static const char *const requests[] = {
        "DELETE /api/v1/users/anna HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
        "DELETE /api/v1/users/otto HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
    };
    struct world *world = *state;
    int statuses[2];
    add_user(world, "anna", "admin");
    add_user(world, "otto", "admin");
    ask_at_once(world, requests, 2, statuses);
    if (statuses[0] + statuses[1] != 200 + 409)
        fail_msg("%d and %d", statuses[0], statuses[1]);
    bool anna_stays = statuses[0] == 409;
    EXPECT_STATUS(world, 409, anna_stays ? "DELETE /users/anna" : "DELETE /users/otto", NULL);

    /* One who is made anew is no longer on the way out. */
    add_user(world, anna_stays ? "otto" : "anna", "admin");
    EXPECT_STATUS(world, 200, "PATCH /users/anna", "{\"role\":\"viewer\"}");
    EXPECT_STATUS(world, 409, "PATCH /users/otto", "{\"disabled\":true}");
    EXPECT_STATUS(world, 200, "PATCH /users/anna", "{\"role\":\"admin\"}");
    EXPECT_STATUS(world, 200, "PATCH /users/otto", "{\"disabled\":true}");
    EXPECT_STATUS(world, 200, "DELETE /users/otto", NULL);
    EXPECT_STATUS(world, 409, "DELETE /users/anna", NULL);
}

/* Somebody takes an admin's role away who is about to change their own account: what lost the race
 * is not made again with rights that are gone. */
static void test_a_lost_role_is_not_taken_back(void **state)
{
    struct world *world = *state;
    char cookie[400];
    add_user(world, "anna", "admin");
    add_user(world, "otto", "admin");
    assert_int_equal(log_in(world, "anna", PASSWORD, cookie), 200);
    world->api_store.rivals = 1;
    world->api_store.rival_json = "{\"role\":\"viewer\",\"password\":\"\",\"generation\":1}";
    BY_COOKIE(cookie, "PATCH /users/anna", "{\"role\":\"admin\"}", 409);
    json_t *anna = EXPECT(world, 200, "GET /users/anna", NULL);
    assert_string_equal(member_text(anna, "role"), "viewer");
    json_decref(anna);
}

static void test_namespaced_user(void **state)
{
    struct world *world = *state;
    char cookie[400], token[80], id[40];
    EXPECT_STATUS(world, 201, "POST /users",
                  "{\"name\":\"otto\",\"password\":\"" PASSWORD
                  "\",\"namespaces\":[{\"namespace\":\"team\",\"role\":\"operator\"},"
                  "{\"namespace\":\"shared\",\"role\":\"viewer\"}]}");
    assert_int_equal(log_in(world, "otto", PASSWORD, cookie), 200);
    BY_COOKIE(cookie, "POST /jobs/team%2Fa/run", NULL, 404);
    BY_COOKIE(cookie, "POST /jobs/shared%2Fa/run", NULL, 403);
    BY_COOKIE(cookie, "GET /jobs/shared%2Fa", NULL, 404);
    BY_COOKIE(cookie, "GET /jobs/a", NULL, 403);
    make_token(world, cookie,
               "{\"label\":\"t\",\"namespaces\":[{\"namespace\":\"team/x\",\"role\":\"editor\"},"
               "{\"namespace\":\"other\",\"role\":\"editor\"}]}",
               token, id);
    BY_TOKEN(token, "POST /jobs/team%2Fx%2Fa/run", NULL, 404);
    BY_TOKEN(token, "DELETE /jobs/team%2Fx%2Fa", NULL, 403); /* its owner may not */
    BY_TOKEN(token, "GET /jobs/team%2Fa", NULL, 403);
    BY_TOKEN(token, "GET /jobs/other%2Fa", NULL, 403);
}

/* ---- links ---- */

static void take_link(struct world *world, const char *body, char secret_body[200])
{
    json_t *link = EXPECT(world, 201, "POST /links", body);
    const char *url = member_text(link, "url");
    assert_non_null(strstr(url, "/#/login/"));
    snprintf(secret_body, 200, "{\"link\":\"%s\"}", strrchr(url, '/') + 1);
    json_decref(link);
}

static void test_links(void **state)
{
    struct world *world = *state;
    char body[200], cookie[400];
    take_link(world, NULL, body);
    struct answer answer = ask_tcp(world, "POST /login", HOST, body);
    assert_int_equal(answer.status, 200);
    assert_string_equal(member_text(answer.body, "kind"), "link");
    assert_string_equal(member_text(answer.body, "role"), "admin");
    take_cookie(&answer, cookie);
    answer_release(&answer);
    BY_COOKIE(cookie, "GET /jobs", NULL, 200);
    expect_status(ask_tcp(world, "POST /login", HOST, body), __LINE__, 401); /* once */
    BY_COOKIE(cookie, "POST /links", NULL, 403);
    BY_COOKIE(cookie, "POST /logout", NULL, 200);
    BY_COOKIE(cookie, "GET /me", NULL, 401);

    add_user(world, "anna", "viewer");
    EXPECT_STATUS(world, 404, "POST /links", "{\"name\":\"otto\"}");
    take_link(world, "{\"name\":\"anna\"}", body);
    answer = ask_tcp(world, "POST /login", HOST, body);
    assert_string_equal(member_text(answer.body, "name"), "anna");
    assert_string_equal(member_text(answer.body, "role"), "viewer");
    answer_release(&answer);
}

/* ---- too often ---- */

static void test_wrong_passwords_cost_time(void **state)
{
    struct world *world = *state;
    char cookie[400];
    add_user(world, "anna", "admin");
    add_user(world, "otto", "viewer");
    for (int i = 0; i < 6; i++)
        assert_int_equal(log_in(world, "anna", "wrong", cookie), 401);
    struct answer answer =
        ask_tcp(world, "POST /login", HOST, "{\"name\":\"anna\",\"password\":\"" PASSWORD "\"}");
    char *after = answer_header(&answer, "Retry-After");
    assert_int_equal(answer.status, 429);
    assert_string_equal(after, "1");
    free(after);
    answer_release(&answer);
    assert_int_equal(log_in(world, "otto", PASSWORD, cookie), 200); /* others are not shut out */
}

/* A device that has logged in has a room of its own, which lets nobody in. */
static void test_known_devices(void **state)
{
    static const char right[] = "{\"name\":\"anna\",\"password\":\"" PASSWORD "\"}";
    static const char wrong[] = "{\"name\":\"anna\",\"password\":\"wrong\"}";
    struct world *world = *state;
    char session[400], device[400], again[400], headers[600];
    add_user(world, "anna", "admin");
    struct answer answer = ask_tcp(world, "POST /login", HOST, right);
    take_one(&answer, "peal_session", session);
    take_one(&answer, "peal_device", device);
    answer_release(&answer);
    for (int i = 0; i < 6; i++)
        assert_int_equal(log_in(world, "anna", "wrong", again), 401);
    assert_int_equal(log_in(world, "anna", PASSWORD, again), 429);
    snprintf(headers, sizeof(headers), HOST "Cookie: %s\r\n", device);
    expect_status(ask_tcp(world, "GET /me", headers, NULL), __LINE__, 401);
    answer = ask_tcp(world, "POST /login", headers, right);
    assert_int_equal(answer.status, 200);
    take_one(&answer, "peal_device", again); /* the same one, for longer */
    const char *id = device + strlen("peal_device=1.d.");
    assert_memory_equal(strchr(id, '.'), strchr(again + strlen("peal_device=1.d."), '.'),
                        DEVICE_ID + 1);
    answer_release(&answer);
    for (int i = 0; i < 6; i++)
        expect_status(ask_tcp(world, "POST /login", headers, wrong), __LINE__, 401);
    expect_status(ask_tcp(world, "POST /login", headers, right), __LINE__, 429);
}

/* Two tokens of one name are two who ask. */
static void test_keys_are_of_a_credential(void **state)
{
    struct world *world = *state;
    char cookie[400], headers[300];
    add_user(world, "anna", "admin");
    assert_int_equal(log_in(world, "anna", PASSWORD, cookie), 200);
    EXPECT_STATUS(world, 201, "PUT /jobs/a", "{\"schedule\":\"@yearly\",\"command\":[\"true\"]}");
    for (int i = 0; i < 4; i++) {
        static char tokens[2][80], ids[2][40];
        if (i < 2)
            make_token(world, cookie, "{\"label\":\"ci\",\"role\":\"admin\"}", tokens[i], ids[i]);
        snprintf(headers, sizeof(headers),
                 HOST "Authorization: Bearer %s\r\nIdempotency-Key: k\r\n", tokens[i % 2]);
        struct answer answer = ask_tcp(world, "POST /jobs/a/pause", headers, "{}");
        char *replayed = answer_header(&answer, "Idempotency-Replayed");
        assert_int_equal(answer.status, 200);
        assert_int_equal(replayed != NULL, i >= 2);
        free(replayed);
        answer_release(&answer);
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, world_set_up, world_tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_setup),
        TEST(test_login),
        TEST(test_cookies_need_an_origin),
        TEST(test_logout),
        TEST(test_many_logouts),
        TEST(test_own_password),
        TEST(test_users),
        TEST(test_changes_hold_at_once),
        TEST(test_tokens),
        TEST(test_expired_token),
        TEST(test_one_admin_stays),
        TEST(test_a_lost_role_is_not_taken_back),
        TEST(test_namespaced_user),
        TEST(test_links),
        TEST(test_wrong_passwords_cost_time),
        TEST(test_known_devices),
        TEST(test_keys_are_of_a_credential),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
