/* A claim of a file's queue:
 *
 *     ARRIVING -> WAITING -> HELD -> ENDED
 *          \_________\____________/
 */
#include "coord_file.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "clock.h"
#include "coord_file_internal.h"

enum {
    ENTER_AGAIN_MS = 5,   /* while another process takes its ticket */
    LOOK_AGAIN_MS = 500,  /* where the kernel tells of releases, too: it may not (NFS) */
    LOOK_OFTEN_MS = 50,   /* where it does not */
    STILL_THERE_MS = 1000 /* between looks whether a held file was removed */
};

/* ---- claims ---- */

enum claim_state {
    CLAIM_ARRIVING,
    CLAIM_WAITING,
    CLAIM_HELD,
    CLAIM_ENDED,
};

struct file_claim {
    struct coord_claim base;
    struct coord_file *file;
    enum claim_state state;
    coord_notify *notify;
    void *context;
    bool at_once, must_release;
    struct coord_holder self, told; /* told: the last holder that was announced */
    struct strbuf record;           /* path */
    struct file_queue queue;
    struct loop_timer *timer;
    struct file_bell *bell; /* NULL: the kernel does not tell */
    int64_t since_boot_ms;  /* of the arrival */
    int soon;               /* looks that follow a release, at growing distances */
};

static int64_t boot_ms(void)
{
    return clock_now().boot.ms;
}

static void end_claim(struct file_claim *claim, enum coord_event event, enum status st,
                      const char *message)
{
    claim->state = CLAIM_ENDED;
    claim->bell = file_bell_free(claim->bell);
    loop_timer_stop(claim->timer);
    file_queue_release(&claim->queue);
    claim->notify(claim->context,
                  &(struct coord_notice){
                      .event = event, .holder = &claim->self, .status = st, .message = message});
}

static void fail(struct file_claim *claim, enum status st, const char *what)
{
    char text[400];
    if (st == E_IO)
        snprintf(text, sizeof(text), "%s %s: %s", what, claim->record.text, strerror(errno));
    else
        snprintf(text, sizeof(text), "%s %s: %s", what, claim->record.text, status_text(st));
    end_claim(claim, COORD_FAILED, st, text);
}

static enum status read_holder(const char *record, struct coord_holder *ret)
{
    struct strbuf text;
    strbuf_init(&text);
    enum status st = file_record_read(record, &text);
    if (st == OK)
        st = coord_holder_parse(text.text, text.length, ret);
    strbuf_release(&text);
    return st;
}

/* A record that can't be read is no reason to count from 1 again: fences would repeat. */
static enum status write_holder(struct file_claim *claim)
{
    struct coord_holder last = {0};
    struct strbuf text;
    enum status st = read_holder(claim->record.text, &last);
    if (st != OK && st != E_NOT_FOUND)
        return st;
    strbuf_init(&text);
    claim->self.fence = last.fence + 1;
    claim->self.since_ms = clock_now().wall.ms;
    coord_holder_print(&claim->self, &text);
    st = strbuf_status(&text);
    if (st == OK)
        st = file_record_write(claim->record.text, text.text, text.length);
    strbuf_release(&text);
    return st;
}

/* Another one may hold meanwhile, whom the next announcement names. */
static void tell_waiting(struct file_claim *claim)
{
    struct coord_holder holder = {0};
    bool is_held;
    file_queue_count(claim->record.text, &is_held);
    if (!is_held || read_holder(claim->record.text, &holder) != OK ||
        holder.fence == claim->told.fence)
        return;
    claim->told = holder;
    claim->notify(
        claim->context,
        &(struct coord_notice){.event = COORD_WAITING, .holder = &claim->told, .message = ""});
}

static void hold(struct file_claim *claim)
{
    enum status st = write_holder(claim);
    if (st != OK) {
        fail(claim, st, "can't write the fence to");
        return;
    }
    claim->state = CLAIM_HELD;
    loop_timer_set(claim->timer, STILL_THERE_MS);
    claim->notify(claim->context, &(struct coord_notice){
                                      .event = COORD_HELD, .holder = &claim->self, .message = ""});
}

static void refuse(struct file_claim *claim)
{
    if (read_holder(claim->record.text, &claim->self) != OK)
        claim->self = (struct coord_holder){.id = "?"};
    end_claim(claim, COORD_FAILED, E_BUSY, status_text(E_BUSY));
}

/* The kernel tells of a closed file just before it lets its locks go. */
static void look_later(struct file_claim *claim)
{
    int64_t delay_ms = claim->bell ? LOOK_AGAIN_MS : LOOK_OFTEN_MS;
    if (claim->soon > 0) {
        delay_ms = 64 >> claim->soon;
        claim->soon--;
    }
    loop_timer_set(claim->timer, delay_ms);
}

static void look(struct file_claim *claim)
{
    enum status st =
        file_queue_is_current(&claim->queue) ? file_queue_hold(&claim->queue) : E_CONFLICT;
    if (st == OK) {
        hold(claim);
    } else if (st == E_BUSY && claim->at_once) {
        refuse(claim);
    } else if (st == E_BUSY) {
        look_later(claim);
        tell_waiting(claim); /* may free the claim */
    } else {
        fail(claim, st, "lost the queue of");
    }
}

static void on_bell(void *context)
{
    struct file_claim *claim = context;
    if (claim->state != CLAIM_WAITING || claim->must_release)
        return;
    claim->soon = 6;
    loop_timer_set(claim->timer, 0);
}

static void arrive(struct file_claim *claim)
{
    enum status st = claim->queue.fd < 0 ? file_queue_open(&claim->queue) : OK;
    if (st == OK)
        st = file_queue_take_ticket(&claim->queue);
    if (st == E_CONFLICT) /* removed meanwhile */
        st = file_queue_open(&claim->queue) == OK ? E_BUSY : E_IO;
    if (st == E_BUSY && boot_ms() - claim->since_boot_ms < claim->file->timeout_ms) {
        loop_timer_set(claim->timer, ENTER_AGAIN_MS);
    } else if (st == E_BUSY) {
        end_claim(claim, COORD_FAILED, E_UNREACHABLE,
                  "a process that was stopped while it entered the queue blocks it; continue or "
                  "end it");
    } else if (st != OK) {
        fail(claim, st, "can't enter the queue of");
    } else {
        claim->state = CLAIM_WAITING;
        claim->bell = file_bell_new(claim->file->loop, claim->queue.path.text, on_bell, claim);
        look(claim);
    }
}

static void on_timer(void *context)
{
    struct file_claim *claim = context;
    if (claim->must_release)
        end_claim(claim, COORD_RELEASED, OK, "");
    else if (claim->state == CLAIM_ARRIVING)
        arrive(claim);
    else if (claim->state == CLAIM_WAITING)
        look(claim);
    else if (claim->state == CLAIM_HELD && !file_queue_is_current(&claim->queue))
        end_claim(claim, COORD_LOST, E_NOT_FOUND,
                  "its file was removed, so another process may hold it, too");
    else if (claim->state == CLAIM_HELD)
        loop_timer_set(claim->timer, STILL_THERE_MS);
}

static void free_claim(struct coord_claim *base)
{
    struct file_claim *claim = (struct file_claim *)base;
    file_bell_free(claim->bell);
    loop_timer_free(claim->timer);
    file_queue_release(&claim->queue);
    strbuf_release(&claim->record);
    free(claim);
}

static enum status new_claim(struct coord *coord, const struct coord_want *want,
                             coord_notify *notify, void *context, struct coord_claim **ret)
{
    struct coord_file *file = (struct coord_file *)coord;
    struct file_claim *claim = calloc(1, sizeof(*claim));
    if (!claim)
        return E_NOMEM;
    claim->base.coord = coord;
    claim->file = file;
    claim->notify = notify;
    claim->context = context;
    claim->at_once = want->at_once;
    claim->since_boot_ms = boot_ms();
    coord_holder_self(want->id, &claim->self);
    strbuf_init(&claim->record);
    coord_file_record(file, coord_folder(want->kind), want->name, &claim->record);
    file_queue_init(&claim->queue, claim->record.text);
    enum status st = strbuf_status(&claim->record);
    if (st == OK)
        st = loop_timer_new(file->loop, on_timer, claim, &claim->timer);
    if (st != OK) {
        free_claim(&claim->base);
        return st;
    }
    loop_timer_set(claim->timer, 0);
    *ret = &claim->base;
    return OK;
}

/* What is held is free when this returns; only the notice comes later. */
static void release(struct coord_claim *base)
{
    struct file_claim *claim = (struct file_claim *)base;
    if (claim->state == CLAIM_ENDED)
        return;
    claim->must_release = true;
    file_queue_leave(&claim->queue);
    loop_timer_set(claim->timer, 0);
}

static int64_t held_until(const struct coord_claim *base)
{
    const struct file_claim *claim = (const struct file_claim *)base;
    return claim->state == CLAIM_HELD && !claim->must_release ? INT64_MAX : 0;
}

/* ---- the folder ---- */

void coord_file_record(const struct coord_file *file, const char *folder, const char *name,
                       struct strbuf *out)
{
    char encoded[COORD_NAME_SIZE];
    coord_name_encode(name, encoded);
    strbuf_addf(out, "%s/%s/%s", file->folder, folder, encoded);
}

static void free_file(struct coord *coord)
{
    struct coord_file *file = (struct coord_file *)coord;
    file_tasks_cancel(file);
    free(file->folder);
    free(file);
}

static const struct coord_ops ops = {
    .claim = new_claim,
    .release = release,
    .claim_free = free_claim,
    .held_until_boot_ms = held_until,
    .look = coord_file_look,
    .watch = coord_file_watch,
    .watch_free = coord_file_watch_free,
    .select = coord_file_select,
    .free = free_file,
};

static bool make_folder(const char *folder, const char *below, struct strbuf *why)
{
    struct strbuf path;
    strbuf_init(&path);
    strbuf_addf(&path, "%s%s", folder, below);
    bool is_made = mkdir(path.text, 0700) == 0 || errno == EEXIST;
    if (!is_made)
        strbuf_addf(why, "can't make the folder %s: %s", path.text, strerror(errno));
    strbuf_release(&path);
    return is_made;
}

enum status coord_file_open(struct loop *loop, const char *folder, int64_t timeout_ms,
                            struct coord **ret, struct strbuf *why)
{
    if (!make_folder(folder, "", why) || !make_folder(folder, "/locks", why) ||
        !make_folder(folder, "/elections", why) || !make_folder(folder, "/select", why))
        return E_IO;
    struct coord_file *file = calloc(1, sizeof(*file));
    if (!file)
        return E_NOMEM;
    file->base.ops = &ops;
    file->loop = loop;
    file->timeout_ms = timeout_ms;
    file->folder = strdup(folder);
    if (!file->folder) {
        free(file);
        return E_NOMEM;
    }
    *ret = &file->base;
    return OK;
}
