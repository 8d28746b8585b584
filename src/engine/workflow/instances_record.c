/* What a step has written goes to the history with its run, for a later instance that goes on from
 * there. */
#include "params/run_input.h"
#include "workflow/instances.h"

static void add_items(const struct instances *instances, const struct run *run, struct strbuf *out)
{
    bool has_any = false;
    strbuf_adds(out, "{\"items\":[");
    for (int i = 0; i < run->joins.made && out->length <= INPUT_DOC_MAX; i++) {
        const char *text = instances_output(instances, &run->instance, FLOW_ITEMS * run->part + i);
        has_any |= text != NULL;
        strbuf_addf(out, "%s%s", i ? "," : "", text ? text : "null");
    }
    strbuf_adds(out, "]}");
    if (!has_any)
        strbuf_truncate(out, 0);
}

enum status instances_record(const struct instances *instances, const struct run *run, char **ret)
{
    struct strbuf out;
    const char *text = instances_output(instances, &run->instance, run->part);
    *ret = NULL;
    strbuf_init(&out);
    if (run->joins.made)
        add_items(instances, run, &out);
    else if (text)
        strbuf_addf(&out, "{\"values\":%s}", text);
    enum status st = strbuf_status(&out);
    if (st == OK && out.length && out.length <= INPUT_DOC_MAX)
        *ret = strbuf_detach(&out);
    strbuf_release(&out);
    return st;
}
