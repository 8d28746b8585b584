/* The description and the API agree: every route is described and every description has its route,
 * and what is answered has the shape that is promised. */
#include "harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "definition/job_codec.h"
#include "definition/job_fields.h"
#include "routes.h"
#include "site/openapi.h"

#define JOB     "{\"schedule\":\"0 0 1 1 *\",\"command\":[\"true\"],\"overlap\":\"allow\"}"
#define CHANNEL "{\"type\":\"webhook\",\"url\":\"http://127.0.0.1:1/\",\"secret\":\"s\"}"

#define WORKFLOW                                                                                   \
    "{\"schedule\":\"@manual\",\"steps\":[{\"name\":\"a\",\"shell\":\"true\"},"                    \
    "{\"name\":\"b\",\"shell\":\"true\",\"after\":\"a\",\"when\":\"steps.a.state == 'ok'\"}]}"

/* ---- a small validator ---- */

struct check {
    json_t *description;
    char path[256];
    char problem[512]; /* empty: none */
};

static bool has_type(const json_t *value, const char *type)
{
    return strcmp(type, "string") == 0    ? json_is_string(value)
           : strcmp(type, "integer") == 0 ? json_is_integer(value)
           : strcmp(type, "number") == 0  ? json_is_number(value)
           : strcmp(type, "boolean") == 0 ? json_is_boolean(value)
           : strcmp(type, "array") == 0   ? json_is_array(value)
           : strcmp(type, "object") == 0  ? json_is_object(value)
                                          : json_is_null(value);
}

static bool has_one_of(const json_t *value, const json_t *types)
{
    if (json_is_string(types))
        return has_type(value, json_string_value(types));
    for (size_t i = 0; i < json_array_size(types); i++) {
        if (has_type(value, json_string_value(json_array_get(types, i))))
            return true;
    }
    return !types;
}

static bool is_in(const json_t *value, const json_t *choices)
{
    for (size_t i = 0; i < json_array_size(choices); i++) {
        if (json_equal(value, json_array_get(choices, i)))
            return true;
    }
    return !choices;
}

static bool complain(struct check *check, const char *what)
{
    if (!check->problem[0])
        snprintf(check->problem, sizeof(check->problem), "%.240s: %.200s", check->path, what);
    return false;
}

static bool validate(struct check *check, const json_t *value, const json_t *schema);

static bool validate_members(struct check *check, const json_t *value, const json_t *schema)
{
    const json_t *properties = json_object_get(schema, "properties");
    const json_t *required = json_object_get(schema, "required");
    const char *name;
    json_t *item;
    for (size_t i = 0; i < json_array_size(required); i++) {
        name = json_string_value(json_array_get(required, i));
        if (!json_object_get(value, name))
            return complain(check, name);
    }
    size_t length = strlen(check->path);
    json_object_foreach ((json_t *)(uintptr_t)value, name, item) {
        const json_t *known = json_object_get(properties, name);
        snprintf(check->path + length, sizeof(check->path) - length, "/%s", name);
        if (required && !known && !json_object_get(schema, "allOf"))
            return complain(check, "is not described");
        if (known && !validate(check, item, known))
            return false;
        check->path[length] = '\0';
    }
    return true;
}

static bool validate_any(struct check *check, const json_t *value, const json_t *choices)
{
    for (size_t i = 0; i < json_array_size(choices); i++) {
        struct check one = *check;
        if (validate(&one, value, json_array_get(choices, i)))
            return true;
        if (i + 1 == json_array_size(choices))
            *check = one;
    }
    return false;
}

static bool validate(struct check *check, const json_t *value, const json_t *schema)
{
    const char *name = json_string_value(json_object_get(schema, "$ref"));
    if (name) {
        const json_t *schemas =
            json_object_get(json_object_get(check->description, "components"), "schemas");
        schema = json_object_get(schemas, strrchr(name, '/') + 1);
        if (!schema)
            return complain(check, name);
    }
    if (!has_one_of(value, json_object_get(schema, "type")))
        return complain(check, "has another type");
    if (!is_in(value, json_object_get(schema, "enum")))
        return complain(check, "is none of the known values");
    const json_t *all = json_object_get(schema, "allOf");
    for (size_t i = 0; i < json_array_size(all); i++) {
        if (!validate(check, value, json_array_get(all, i)))
            return false;
    }
    if (json_object_get(schema, "anyOf") &&
        !validate_any(check, value, json_object_get(schema, "anyOf")))
        return false;
    if (json_is_object(value) && !json_object_get(schema, "anyOf"))
        return validate_members(check, value, schema);
    size_t length = strlen(check->path);
    for (size_t i = 0; i < json_array_size(value) && json_object_get(schema, "items"); i++) {
        snprintf(check->path + length, sizeof(check->path) - length, "/%zu", i);
        if (!validate(check, json_array_get(value, i), json_object_get(schema, "items")))
            return false;
        check->path[length] = '\0';
    }
    return true;
}

/* ---- the table and the parts ---- */

static const char *method_name(enum http_method method)
{
    return method == HTTP_GET      ? "get"
           : method == HTTP_PUT    ? "put"
           : method == HTTP_POST   ? "post"
           : method == HTTP_DELETE ? "delete"
                                   : "patch";
}

static bool is_used(const char *word, bool is_param)
{
    for (size_t i = 0; i < api_route_count; i++) {
        if (word_in_list(is_param ? api_routes[i].params : api_routes[i].fields, word))
            return true;
    }
    return false;
}

static void check_words(json_t *known, const char *list, const char *what)
{
    char copy[256], *rest = copy;
    snprintf(copy, sizeof(copy), "%s", list);
    for (char *word; (word = strsep(&rest, " "));) {
        if (*word && strcmp(word, ANY_BODY) != 0 && !json_object_get(known, word))
            fail_msg("%s \"%s\" is not described", what, word);
    }
}

static void test_parts_match_routes(void **state)
{
    json_t *parts = json_loads(openapi_parts, JSON_REJECT_DUPLICATES, NULL);
    json_t *operations = json_object_get(parts, "operations");
    const char *name;
    json_t *value;
    (void)state;
    assert_non_null(parts);
    size_t described = 0;
    for (size_t i = 0; i < api_route_count; i++) {
        char key[128];
        if (api_routes[i].flags & ROUTE_PAGE)
            continue;
        described++;
        snprintf(key, sizeof(key), "%s %s", method_name(api_routes[i].method),
                 api_routes[i].pattern);
        if (!json_object_get(operations, key))
            fail_msg("%s is not described", key);
        check_words(json_object_get(parts, "parameters"), api_routes[i].params, "parameter");
        check_words(json_object_get(parts, "fields"), api_routes[i].fields, "field");
    }
    assert_int_equal(json_object_size(operations), described);
    json_object_foreach (json_object_get(parts, "parameters"), name, value) {
        if (!is_used(name, true))
            fail_msg("no route has the parameter \"%s\"", name);
    }
    json_object_foreach (json_object_get(parts, "fields"), name, value) {
        if (!is_used(name, false))
            fail_msg("no route has the field \"%s\"", name);
    }
    json_decref(parts);
}

/* ---- a job's fields ---- */

static void check_words_of(const struct field *field, const json_t *known)
{
    size_t count = 0;
    while (field->words[count])
        count++;
    assert_int_equal(json_array_size(known), count);
    for (size_t i = 0; i < count; i++)
        assert_string_equal(json_string_value(json_array_get(known, i)), field->words[i]);
}

/* A list may be one of its items, a group its first field. */
static const json_t *first_choice(const json_t *schema)
{
    const json_t *choices = json_object_get(schema, "anyOf");
    return choices ? json_array_get(choices, 0) : schema;
}

static void check_fields(const struct field *fields, const json_t *properties)
{
    size_t count = 0;
    for (const struct field *field = fields; field->name; field++) {
        const json_t *schema = json_object_get(properties, field->name);
        if (field->meta && schema)
            fail_msg("%s is described, but not for people", field->name);
        if (!field->meta && !schema)
            fail_msg("%s is not described", field->name);
        if (field->meta)
            continue;
        count++;
        if (field->words)
            check_words_of(field, json_object_get(first_choice(schema), "enum"));
        assert_true(!json_object_get(schema, "x-right") == !field->defines);
        if (field->kind == FIELD_GROUP) {
            const json_t *map =
                field->fields->alone ? json_array_get(json_object_get(schema, "anyOf"), 1) : schema;
            check_fields(field->fields, json_object_get(map, "properties"));
            continue;
        }
        assert_string_equal(json_string_value(json_object_get(schema, "description")),
                            field->about->help[0]);
        json_t *value = job_field_default(field);
        assert_true(!value == !json_object_get(schema, "default"));
        if (value && !json_equal(value, json_object_get(schema, "default")))
            fail_msg("%s has another default", field->name);
        json_decref(value);
    }
    assert_int_equal(json_object_size(properties), count);
}

static void test_definition_has_every_field(void **state)
{
    static const struct {
        int line;
        const char *definition;
        bool is_right;
    } cases[] = {
        {__LINE__, JOB, true},
        {__LINE__,
         "{\"name\":\"a\",\"schedules\":[\"@daily\",\"@hourly\"],\"shell\":\"true\",\"env\":{\"A\":"
         "1},"
         "\"overlap\":{\"policy\":\"queue\",\"queue\":3},\"catch_up\":\"all\",\"nice\":-5,"
         "\"limits\":{\"memory\":\"1GiB\",\"open_files\":9},\"notify\":[\"ops\"],\"umask\":"
         "\"027\"}",
         true},
        {__LINE__, "{\"after\":[{\"job\":\"b\",\"on\":\"always\"}],\"notify\":\"ops\"}", true},
        {__LINE__, "{\"notify\":{\"to\":\"ops\",\"on\":[\"late\"],\"late\":\"5m\"}}", true},
        {__LINE__,
         "{\"kind\":\"workflow\",\"steps\":[{\"name\":\"a\",\"shell\":\"x\",\"retries\":2},{"
         "\"name\":\"b\","
         "\"after\":[{\"step\":\"a\",\"on\":\"always\"}],\"join\":\"any\",\"each\":{\"from\":1,"
         "\"to\":5},"
         "\"job\":\"c\",\"with\":{\"n\":5,\"f\":true}}],\"finally\":[{\"name\":\"c\",\"each\":["
         "\"x\",1],"
         "\"http\":\"https://h/\",\"when\":\"steps.a.rows > 0\",\"after\":\"d\",\"join\":2}]}",
         true},
        {__LINE__, "{\"kind\":\"flow\"}", false},
        {__LINE__, "{\"steps\":[{\"shell\":\"x\"}]}", false},
        {__LINE__, "{\"steps\":[{\"name\":\"a\",\"schedule\":\"@daily\"}]}", false},
        {__LINE__, "{\"steps\":[{\"name\":\"a\",\"each\":{\"shards\":\"8\"}}]}", false},
        {__LINE__, "{\"notify\":{\"on\":[\"sometimes\"]}}", false},
        {__LINE__, "{\"overlap\":\"both\"}", false},
        {__LINE__, "{\"command\":\"true\"}", false},
        {__LINE__, "{\"timeout\":90}", false},
        {__LINE__, "{\"paused\":\"true\"}", false},
    };
    (void)state;
    struct check check = {.description = NULL};
    json_t *schema = openapi_definition();
    check_fields(job_fields, json_object_get(schema, "properties"));
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        json_t *definition = json_loads(cases[i].definition, 0, NULL);
        assert_non_null(definition);
        check.path[0] = check.problem[0] = '\0';
        if (validate(&check, definition, schema) != cases[i].is_right)
            fail_msg("line %d: %s", cases[i].line, check.problem);
        json_decref(definition);
    }
    json_decref(schema);
}

/* ---- what is answered ---- */

#define COMING                                                                                     \
    "{\"from\":\"2100-01-01T00:00:00Z\",\"to\":\"2100-01-02T00:00:00Z\",\"reason\":\"disks\"}"

/* A request for a route, with things that are there; false: none that ends by itself. */
static bool make_request(const struct route *route, const char *run_id, char line[300],
                         const char **body)
{
    static const struct {
        const char *pattern, *query, *body;
    } needs[] = {
        {V1 "/schedule/explain", "?spec=@hourly", NULL},
        {V1 "/schedule/next", "?spec=@hourly", NULL},
        {V1 "/schedule/validate", "?spec=99", NULL},
        {V1 "/timeline", "?herd=true", NULL},
        {V1 "/runs", "?ledger=true", NULL},
        {V1 "/jobs", "", "{\"name\":\"posted\",\"schedule\":\"@daily\",\"command\":[\"true\"]}"},
        {V1 "/jobs:batch", "", "{\"delete\":[\"b\"]}"},
        {V1 "/jobs:act", "?q=a", "{\"action\":\"resume\",\"dry_run\":true}"},
        {"/v1/jobs", "",
         "{\"name\":\"a\",\"schedule\":\"@daily\",\"executor\":\"shell\","
         "\"executor_config\":{\"command\":\"true\"}}"},
        {V1 "/jobs:causes", "?names=a", NULL},
        {V1 "/jobs:recent", "?names=a", NULL},
        {V1 "/jobs:decode", "", "{\"text\":\"schedule: 99 * * * *\"}"},
        {V1 "/jobs:import", "", "{\"text\":\"0 4 * * * a%b\\nx\"}"},
        {V1 "/jobs/{name}/rollback", "", "{\"revision\":1}"},
        {V1 "/jobs/{name}/mute", "", "{\"for\":\"1h\",\"reason\":\"a test\"}"},
        {V1 "/jobs/{name}/rename", "", "{\"name\":\"c\",\"dry_run\":true}"},
        {V1 "/calendars/{name}", "", "{\"dates\":[\"12-25\"],\"notes\":\"Closed.\"}"},
        {V1 "/maintenance", "", COMING},
        {V1 "/login", "", "{\"name\":\"a\",\"password\":\"correct horse\"}"},
        {V1 "/tokens", "", "{\"label\":\"t\",\"role\":\"viewer\"}"},
        {V1 "/users", "", "{\"name\":\"b\",\"role\":\"viewer\"}"},
        {V1 "/channels/{name}", "", CHANNEL},
        {V1 "/channels/{name}/test", "", CHANNEL},
        {V1 "/secrets/{name}", "", "{\"value\":\"hunter2\"}"},
        {V1 "/groups/{name}", "", "{\"cluster\":2}"},
        {V1 "/jobs/{name}/backfill", "", "{\"from\":\"2020-01-01\",\"to\":\"2021-02-02\"}"},
    };
    const char *open = strchr(route->pattern, '{'), *query = "";
    *body = NULL;
    if (route->flags & (ROUTE_STREAM | ROUTE_PAGE))
        return false;
    if (strcmp(route->fields, ANY_BODY) == 0)
        *body = JOB;
    for (size_t i = 0; i < sizeof(needs) / sizeof(needs[0]); i++) {
        if (strcmp(needs[i].pattern, route->pattern) == 0) {
            query = needs[i].query;
            *body = *route->fields ? needs[i].body : NULL;
        }
    }
    if (strcmp(route->fields, "share") == 0) /* a secret's value is set by PUT alone */
        *body = "{\"share\":[\"team\"]}";
    char method[8];
    snprintf(method, sizeof(method), "%s", method_name(route->method));
    for (char *at = method; *at; at++)
        *at = (char)(*at - 'a' + 'A');
    if (open)
        snprintf(line, 300, "%s /%.*s%s%s%s", method, (int)(open - route->pattern), route->pattern,
                 strstr(route->pattern, "/nodes/")    ? "here"
                 : strstr(route->pattern, "/tokens/") ? "team-viewer"
                 : open[1] == 'i'                     ? run_id
                                                      : "a",
                 strchr(open, '}') + 1, query);
    else
        snprintf(line, 300, "%s /%s%s", method, route->pattern, query);
    char *second = strstr(line, "{revision}"); /* the first one has the number 1 */
    if (second)
        memmove(second + 1, second + strlen("{revision}"),
                strlen(second + strlen("{revision}")) + 1);
    if (second)
        *second = '1';
    return true;
}

static const json_t *schema_of(json_t *description, const struct route *route, int status)
{
    char code[8];
    snprintf(code, sizeof(code), "%d", status);
    json_t *responses = json_object_get(
        json_object_get(json_object_get(json_object_get(description, "paths"), route->pattern),
                        method_name(route->method)),
        "responses");
    const json_t *response = json_object_get(responses, code);
    if (!response && status == 201) /* a put that makes what it else replaces */
        response = json_object_get(responses, "200");
    if (!response)
        response = json_object_get(responses, "default");
    const json_t *content = json_object_get(response, "content");
    const json_t *media = json_object_get(content, json_object_get(content, "application/json")
                                                       ? "application/json"
                                                       : "application/problem+json");
    return json_object_get(media, "schema");
}

/* Routes that get no good answer below, each for its reason. */
static bool is_left_out(const struct route *route)
{
    static const struct {
        const char *method, *pattern;
    } left_out[] = {
        {"get", "/"}, /* the console, which is no part of the API */
        {"get", "/assets/{name}"},
        {"get", V1 "/events"}, /* have no end */
        {"get", V1 "/runs/{id}/log/stream"},
        {"post", "/hooks/{id}"},                 /* nobody has signed it */
        {"post", V1 "/setup"},                   /* there is an account */
        {"post", V1 "/logout"},                  /* on the UNIX socket there are no sessions */
        {"post", V1 "/cluster/advance-cursors"}, /* the store was not restored */
        {"post", V1 "/jobs/{name}/ack"},         /* it has not failed */
        {"get", "/v1/isleader"},
        {"get", "/v1/leader"}, /* the only node was told to drain, and leads no more */
    };
    for (size_t i = 0; i < sizeof(left_out) / sizeof(left_out[0]); i++) {
        if (strcmp(left_out[i].method, method_name(route->method)) == 0 &&
            strcmp(left_out[i].pattern, route->pattern) == 0)
            return true;
    }
    return false;
}

/* Every route is asked, with what is there and what is not: the answers, problems too, are as the
 * description says. */
static void test_answers_have_their_shape(void **state)
{
    struct world *world = *state;
    struct check check = {.description = EXPECT(world, 200, "GET //openapi.json", NULL)};
    char run_id[32], ended_id[32] = "", instance_id[32], coming_id[32];
    EXPECT_STATUS(world, 201, "PUT /jobs/w", WORKFLOW);
    struct answer instance = ask(world, "POST /jobs/w/run", NULL);
    snprintf(instance_id, sizeof(instance_id), "%s", member_text(instance.body, "run_id"));
    answer_release(&instance);
    struct answer coming = ask(world, "POST /maintenance", COMING);
    snprintf(coming_id, sizeof(coming_id), "%s", member_text(coming.body, "id"));
    answer_release(&coming);
    EXPECT_STATUS(world, 201, "PUT /jobs/a", JOB);
    EXPECT_STATUS(world, 201, "PUT /jobs/b", JOB);
    EXPECT_STATUS(world, 201, "PUT /calendars/a", "{\"weekdays\":[\"sat\"]}");
    EXPECT_STATUS(world, 201, "POST /users",
                  "{\"name\":\"a\",\"password\":\"correct horse\",\"role\":\"viewer\"}");
    EXPECT_STATUS(world, 201, "PUT /channels/a", CHANNEL);
    EXPECT_STATUS(world, 201, "PUT /secrets/a", "{\"value\":\"hunter2\"}");
    EXPECT_STATUS(world, 201, "PUT /groups/a", "{\"cluster\":2}");
    fake_executor_set_instant(world->executor, true);
    for (size_t i = 0; i < api_route_count; i++) {
        char line[300];
        const char *body;
        int status = 0;
        struct answer run = ask(world, "POST /jobs/a/run", NULL);
        snprintf(run_id, sizeof(run_id), "%s", member_text(run.body, "run_id"));
        answer_release(&run);
        const char *asked_id = strstr(api_routes[i].pattern, "/retry")          ? ended_id
                               : strstr(api_routes[i].pattern, "/maintenance/") ? coming_id
                               : strstr(api_routes[i].pattern, "/steps")        ? instance_id
                                                                                : run_id;
        if (strstr(api_routes[i].pattern, "/undelete"))
            EXPECT_STATUS(world, 200, "DELETE /jobs/a", NULL);
        if (make_request(&api_routes[i], asked_id, line, &body)) {
            struct answer answer = ask(world, line, body);
            snprintf(check.path, sizeof(check.path), "%.200s (%d)", line, answer.status);
            if (!(api_routes[i].flags & ROUTE_TEXT) &&
                !validate(&check, answer.body,
                          schema_of(check.description, &api_routes[i], answer.status)))
                fail_msg("%s\n%s", check.problem, answer.text);
            status = answer.status;
            answer_release(&answer);
        }
        if ((status >= 200 && status < 300) == is_left_out(&api_routes[i]))
            fail_msg("%s %s: %d", method_name(api_routes[i].method), api_routes[i].pattern, status);
        if (api_routes[i].method == HTTP_DELETE && strstr(api_routes[i].pattern, "/jobs/") &&
            !strstr(api_routes[i].pattern, "/webhook"))
            EXPECT_STATUS(world, 201, "PUT /jobs/a", JOB);
        snprintf(ended_id, sizeof(ended_id), "%s", run_id);
    }
    json_decref(check.description);
}

static void test_description(void **state)
{
    struct world *world = *state;
    json_t *description = EXPECT(world, 200, "GET //openapi.json", NULL);
    assert_string_equal(member_text(description, "openapi"), "3.1.0");
    assert_string_equal(member_text(description, "info.version"), "1.2.3");
    json_t *livez = json_object_get(member(description, "paths"), "/livez");
    assert_int_equal(member_count(livez, "get.security"), 0);
    assert_string_equal(member_text(livez, "get.x-right"), "none");
    json_decref(description);
    struct answer page = ask(world, "GET //api", NULL);
    char *type = answer_header(&page, "Content-Type");
    assert_int_equal(page.status, 200);
    assert_string_equal(type, "text/html; charset=utf-8");
    assert_non_null(strstr(page.text, "/api/v1/jobs/{name}/run"));
    assert_null(strstr(page.text, "<script"));
    free(type);
    answer_release(&page);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, world_set_up, world_tear_down)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parts_match_routes),
        cmocka_unit_test(test_definition_has_every_field),
        TEST(test_answers_have_their_shape),
        TEST(test_description),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
