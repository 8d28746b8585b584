/* Requests that outlive the agent that has made them, and requests in pieces. */
#include <stdlib.h>
#include <string.h>

#include "memory_world.h"

static const size_t sizes[] = {
    [STORE_CLAIM] = sizeof(struct store_claim),
    [STORE_TAKE] = sizeof(struct store_take),
    [STORE_BEGIN] = sizeof(struct store_begin),
    [STORE_FINISH] = sizeof(struct store_finish),
    [STORE_FORGET] = sizeof(struct store_forget),
    [STORE_PUT_JOB] = sizeof(struct store_put_job),
    [STORE_ADD_RUN] = sizeof(struct store_add_run),
    [STORE_ORDER] = sizeof(struct store_order),
    [STORE_SET_META] = sizeof(struct store_set_meta),
    [STORE_DRAIN] = sizeof(struct store_drain),
    [STORE_PUT_DOC] = sizeof(struct store_put_doc),
    [STORE_REWIND] = sizeof(struct store_rewind),
    [STORE_CONFIRM] = 0,
};

static void *copy(const void *from, size_t length)
{
    if (!from)
        return NULL;
    void *to = malloc(length ? length : 1);
    if (!to)
        abort();
    return memcpy(to, from, length);
}

static struct store_part *copy_parts(const struct store_parts *from)
{
    return copy(from->parts, from->count * sizeof(*from->parts));
}

static char *copy_text(const char *text)
{
    return text ? copy(text, strlen(text) + 1) : NULL;
}

static void copy_opening(struct store_opening *opening)
{
    opening->steps = copy(opening->steps, opening->count * sizeof(*opening->steps));
    opening->plan = copy_text(opening->plan);
}

static void free_opening(const struct store_opening *opening)
{
    free(opening->steps);
    free((char *)opening->plan);
}

static void copy_nexts(struct store_finish *finish)
{
    finish->links = copy(finish->links, finish->link_count * sizeof(*finish->links));
    finish->output = copy_text(finish->output);
    finish->nexts = copy(finish->nexts, finish->next_count * sizeof(*finish->nexts));
    for (size_t i = 0; i < finish->next_count; i++) {
        struct store_next *next = &finish->nexts[i];
        next->needs = copy(next->needs, next->need_count * sizeof(*next->needs));
    }
}

static void free_nexts(struct store_finish *finish)
{
    for (size_t i = 0; i < finish->next_count; i++)
        free(finish->nexts[i].needs);
    free(finish->nexts);
    free(finish->links);
    free((char *)finish->output);
}

struct store_request *request_copy(const struct store_request *request)
{
    struct store_request *new = copy(request, sizeof(*request));
    new->done = NULL;
    new->context = NULL;
    new->items.claims = copy(request->items.claims, request->count * sizes[request->op]);
    for (size_t i = 0; request->op == STORE_CLAIM && i < request->count; i++) {
        const struct store_claim *from = &request->items.claims[i];
        new->items.claims[i].passed =
            copy(from->passed, from->passed_count * sizeof(*from->passed));
        new->items.claims[i].parts.parts = copy_parts(&from->parts);
        new->items.claims[i].conditions =
            copy(from->conditions, from->condition_count * sizeof(*from->conditions));
        copy_opening(&new->items.claims[i].opening);
    }
    for (size_t i = 0; request->op == STORE_TAKE && i < request->count; i++) {
        new->items.takes[i].parts.parts = copy_parts(&request->items.takes[i].parts);
        copy_opening(&new->items.takes[i].opening);
    }
    for (size_t i = 0; request->op == STORE_FINISH && i < request->count; i++)
        copy_nexts(&new->items.finishes[i]);
    for (size_t i = 0; request->op == STORE_PUT_JOB && i < request->count; i++) {
        struct store_put_job *put = &new->items.puts[i];
        put->name = put->name ? copy(put->name, strlen(put->name) + 1) : NULL;
        put->json = put->json ? copy(put->json, strlen(put->json) + 1) : NULL;
        put->passed = copy(put->passed, put->passed_count * sizeof(*put->passed));
        put->wants = copy(put->wants, put->want_count * sizeof(*put->wants));
    }
    for (size_t i = 0; request->op == STORE_ADD_RUN && i < request->count; i++) {
        struct store_add_run *add = &new->items.adds[i];
        add->input = add->input ? copy(add->input, strlen(add->input) + 1) : NULL;
        add->delivery = add->delivery ? copy(add->delivery, strlen(add->delivery) + 1) : NULL;
        add->delivery_json =
            add->delivery_json ? copy(add->delivery_json, strlen(add->delivery_json) + 1) : NULL;
    }
    for (size_t i = 0; request->op == STORE_PUT_DOC && i < request->count; i++) {
        struct store_put_doc *put = &new->items.docs[i];
        put->json = put->json ? copy(put->json, strlen(put->json) + 1) : NULL;
    }
    return new;
}

struct store_request *request_free(struct store_request *request)
{
    if (!request)
        return NULL;
    for (size_t i = 0; request->op == STORE_CLAIM && i < request->count; i++) {
        free(request->items.claims[i].passed);
        free(request->items.claims[i].parts.parts);
        free(request->items.claims[i].conditions);
        free_opening(&request->items.claims[i].opening);
    }
    for (size_t i = 0; request->op == STORE_TAKE && i < request->count; i++) {
        free(request->items.takes[i].parts.parts);
        free_opening(&request->items.takes[i].opening);
    }
    for (size_t i = 0; request->op == STORE_FINISH && i < request->count; i++)
        free_nexts(&request->items.finishes[i]);
    for (size_t i = 0; request->op == STORE_PUT_JOB && i < request->count; i++) {
        free((char *)request->items.puts[i].name);
        free((char *)request->items.puts[i].json);
        free(request->items.puts[i].passed);
        free(request->items.puts[i].wants);
    }
    for (size_t i = 0; request->op == STORE_ADD_RUN && i < request->count; i++) {
        free((char *)request->items.adds[i].input);
        free((char *)request->items.adds[i].delivery);
        free((char *)request->items.adds[i].delivery_json);
    }
    for (size_t i = 0; request->op == STORE_PUT_DOC && i < request->count; i++)
        free((char *)request->items.docs[i].json);
    free(request->items.claims);
    free(request);
    return NULL;
}

struct store_request request_item(const struct store_request *request, size_t index)
{
    struct store_request one = {.op = request->op, .count = 1};
    one.items.claims = (void *)((char *)request->items.claims + index * sizes[request->op]);
    return one;
}
