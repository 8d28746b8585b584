#include "herd/herd_json.h"

#include "duration.h"
#include "runs/encode.h"
#include "timestamp.h"

static json_t *instant(int64_t at_s)
{
    struct strbuf text;
    strbuf_init(&text);
    timestamp_print_utc(at_s, &text);
    json_t *value = strbuf_status(&text) == OK ? json_string(text.text) : NULL;
    strbuf_release(&text);
    return value;
}

/* Appends and takes over; false: out of memory. */
static bool append(json_t *list, json_t *item)
{
    return json_array_append_new(list, item) == 0;
}

/* [{"from","to","seconds"}] without the classes that have no seconds. */
static json_t *classes_json(const struct crowd_classes *classes)
{
    json_t *list = json_array();
    bool fits = list != NULL;
    for (int i = 0; i < CROWD_CLASSES && fits; i++) {
        if (classes->seconds[i])
            fits = append(list, json_pack("{s:I, s:I, s:I}", "from", (json_int_t)1 << i, "to",
                                          ((json_int_t)1 << (i + 1)) - 1, "seconds",
                                          (json_int_t)classes->seconds[i]));
    }
    if (fits)
        return list;
    json_decref(list);
    return NULL;
}

static json_t *crowd_json(const struct crowd *crowd)
{
    struct crowd_second worst = crowd_worst(crowd);
    struct crowd_classes classes = crowd_classes_of(crowd);
    return json_pack("{s:I, s:o, s:I, s:o}", "starts", (json_int_t)classes.starts, "worst_at",
                     worst.starts ? instant(worst.at_s) : json_null(), "worst",
                     (json_int_t)worst.starts, "classes", classes_json(&classes));
}

static json_t *names_json(const struct herd *herd, int64_t at_s)
{
    const char *names[HERD_NAMES];
    size_t count = herd_names(herd, at_s, HERD_NAMES, names);
    json_t *list = json_array();
    bool fits = list != NULL;
    for (size_t i = 0; i < count && fits; i++)
        fits = append(list, json_words(names[i]));
    if (fits)
        return list;
    json_decref(list);
    return NULL;
}

static json_t *seconds_json(const struct herd *herd, const struct herd_view *view)
{
    struct crowd_second worst[HERD_SECONDS_MAX];
    size_t count = crowd_worst_many(&herd->now, 2, view->seconds, worst);
    json_t *list = json_array();
    bool fits = list != NULL;
    for (size_t i = 0; i < count && fits; i++)
        fits = append(list, json_pack("{s:o, s:I, s:I, s:I, s:o}", "at", instant(worst[i].at_s),
                                      "starts", (json_int_t)worst[i].starts, "then",
                                      (json_int_t)crowd_at(&herd->then, worst[i].at_s), "skipped",
                                      (json_int_t)herd_skipped(herd, worst[i].at_s), "jobs",
                                      names_json(herd, worst[i].at_s)));
    if (fits)
        return list;
    json_decref(list);
    return NULL;
}

static json_t *jitter_json(int64_t jitter_s)
{
    struct strbuf text;
    strbuf_init(&text);
    duration_print(jitter_s, &text);
    json_t *value = strbuf_status(&text) == OK ? json_string(text.text) : NULL;
    strbuf_release(&text);
    return value;
}

static json_t *proposal_json(const struct herd_job *job)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:I, s:I}", "job", json_words(job->name), "before",
                     json_words(job->when.schedule), "schedule",
                     job->schedule ? json_words(job->schedule) : json_null(), "jitter",
                     job->jitter_s ? jitter_json(job->jitter_s) : json_null(), "worst",
                     (json_int_t)job->worst, "then", (json_int_t)job->new_worst);
}

static json_t *proposals_json(const struct herd *herd, const struct herd_view *view)
{
    json_t *list = json_array();
    bool fits = list != NULL;
    for (size_t i = 0; i < herd->count && fits && json_array_size(list) < view->proposals; i++) {
        if (herd->jobs[i].new_ticks)
            fits = append(list, proposal_json(&herd->jobs[i]));
    }
    if (fits)
        return list;
    json_decref(list);
    return NULL;
}

/* {"label": 3}: jobs in crowded seconds that are left alone, by reason. */
static json_t *kept_json(const struct herd *herd, const struct herd_view *view)
{
    size_t counts[HERD_NO_USE + 1] = {0};
    json_t *object = json_object();
    int failed = object ? 0 : -1;
    for (size_t i = 0; i < herd->count; i++) {
        const struct herd_job *job = &herd->jobs[i];
        counts[job->keep] += job->keep != HERD_FREE && job->worst > view->wish.at_most;
    }
    for (int i = 0; i <= HERD_NO_USE && !failed; i++) {
        if (counts[i])
            failed = json_object_set_new(object, herd_keep_name((enum herd_keep)i),
                                         json_integer((json_int_t)counts[i]));
    }
    if (!failed)
        return object;
    json_decref(object);
    return NULL;
}

static json_t *window_json(const struct herd_window *window)
{
    const struct maintenance *item = window->item;
    return json_pack("{s:s, s:s, s:o, s:o, s:o, s:o, s:I}", "id", item->id, "kind",
                     item->is_pause ? "pause" : "maintenance", "namespace",
                     json_words_or_null(item->space), "from", instant(item->from_ms / 1000), "to",
                     item->to_ms ? instant(item->to_ms / 1000) : json_null(), "reason",
                     json_words_or_null(item->reason), "starts", (json_int_t)window->starts);
}

/* Those in which something would start. */
static json_t *windows_json(const struct herd *herd)
{
    json_t *list = json_array();
    bool fits = list != NULL;
    for (size_t i = 0; i < herd->window_count && fits; i++)
        if (herd->windows[i].starts)
            fits = append(list, window_json(&herd->windows[i]));
    if (fits)
        return list;
    json_decref(list);
    return NULL;
}

static json_t *limit_json(const struct herd *herd, const struct herd_limit *limit)
{
    const char *where = herd->limits->nodes[limit->nodes].where;
    return json_pack(
        "{s:s, s:o, s:i, s:I, s:o, s:I, s:I}", "group", limit->group->name, "where",
        json_words_or_null(where), "most", limit->most, "starts",
        (json_int_t)limit->excess.worst.starts, "at", instant(limit->excess.worst.at_s), "seconds",
        (json_int_t)limit->excess.seconds, "waiting", (json_int_t)limit->excess.waiting);
}

/* Those that make something wait. */
static json_t *limits_json(const struct herd *herd)
{
    json_t *list = json_array();
    bool fits = list != NULL;
    for (size_t i = 0; herd->limits && i < herd->limits->count && fits; i++)
        if (herd->limits->items[i].excess.seconds)
            fits = append(list, limit_json(herd, &herd->limits->items[i]));
    if (fits)
        return list;
    json_decref(list);
    return NULL;
}

json_t *herd_json(const struct herd *herd, const struct herd_view *view)
{
    return json_pack("{s:o, s:o, s:I, s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:I, s:o, s:o}", "from",
                     instant(herd->groups.from_s), "until", instant(herd->groups.until_s), "jobs",
                     (json_int_t)herd->count, "at_most", (json_int_t)view->wish.at_most, "within_s",
                     (json_int_t)view->wish.within_s, "now", crowd_json(&herd->now), "spread",
                     crowd_json(&herd->then), "seconds", seconds_json(herd, view), "maintenance",
                     windows_json(herd), "groups", limits_json(herd), "proposed",
                     (json_int_t)herd->proposed, "proposals", proposals_json(herd, view), "kept",
                     kept_json(herd, view));
}
