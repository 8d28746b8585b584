#include "client/documents.h"

#include <stdio.h>

#include "text/tr.h"

const struct option_row doc_output_options[] = {
    OPTION_OUTPUT(doc_request, output, OUTPUT_TEXT),
    OPTION_GROUP(doc_request, base, client_options),
    {0},
};

const struct option_row doc_delete_options[] = {
    OPTION_FLAG(doc_request, yes, 'y', "yes", DELETE_YES_TEXT),
    OPTION_GROUP(doc_request, base, client_options),
    {0},
};

static const struct doc_form *form_of(const struct doc_request *request)
{
    return request->base.command->documents;
}

const char *doc_path(const struct doc_request *request, const char *rest, struct strbuf *out)
{
    strbuf_reset(out);
    strbuf_addf(out, "/%ss/", form_of(request)->noun);
    url_escape(out, request->name);
    strbuf_adds(out, rest);
    return out->text;
}

enum exit_code doc_call(struct client *client, const struct doc_request *request,
                        struct client_request call, const char *rest, struct reply *ret)
{
    struct strbuf path;
    strbuf_init(&path);
    call.path = doc_path(request, rest, &path);
    enum exit_code code = client_call(client, &call, ret);
    if (code == EXIT_NOT_FOUND) {
        fprintf(stderr, tr("See: peal %s list"), form_of(request)->noun);
        fputc('\n', stderr);
    }
    strbuf_release(&path);
    return code;
}

enum exit_code doc_change(struct client *client, const struct doc_request *request,
                          const char *method, const json_t *body, const char *what)
{
    struct reply reply = {0};
    enum exit_code code = doc_call(
        client, request, (struct client_request){.method = method, .body = body}, "", &reply);
    if (code == EXIT_OK && form_of(request)->tell) {
        form_of(request)->tell(reply.body, what);
    } else if (code == EXIT_OK) {
        fprintf(stderr, tr("%s: %s"), request->name, tr(what));
        fputc('\n', stderr);
    }
    reply_release(&reply);
    return code;
}

enum exit_code doc_list(struct client *client, void *place)
{
    const struct doc_request *request = place;
    char path[32];
    snprintf(path, sizeof(path), "/%ss", form_of(request)->noun);
    return list_show(client, path, request->output, &form_of(request)->list);
}

enum exit_code doc_show(struct client *client, void *place)
{
    const struct doc_request *request = place;
    const struct doc_form *form = form_of(request);
    const char *const *member = form->not_in_yaml;
    struct reply reply = {0};
    enum exit_code code = doc_call(client, request, (struct client_request){0}, "", &reply);
    for (; code == EXIT_OK && request->output == OUTPUT_YAML && member && *member; member++)
        json_object_del(reply.body, *member);
    if (code == EXIT_OK && request->output == OUTPUT_NAME)
        printf("%s\n", request->name);
    else if (code == EXIT_OK && request->output <= OUTPUT_WIDE && form->print)
        form->print(reply.body);
    else if (code == EXIT_OK)
        code = output_print(reply.body, request->output == OUTPUT_JSON ? OUTPUT_JSON : OUTPUT_YAML);
    reply_release(&reply);
    return code;
}

enum exit_code doc_delete(struct client *client, void *place)
{
    const struct doc_request *request = place;
    const struct doc_form *form = form_of(request);
    enum exit_code code =
        confirm_deletion(request->yes, "Delete the %s %s%s?", tr(form->noun), request->name,
                         form->deleted_too ? tr(form->deleted_too) : "");
    return code == EXIT_OK ? doc_change(client, request, "DELETE", NULL, TR("deleted")) : code;
}
