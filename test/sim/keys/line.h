/* Connections of clients to one server that is played, over the network of the stage. Each keeps
 * the order of what it carries, in each direction. What is sent while the way is cut waits; when
 * the client gives its end up meanwhile, some of what was on its way to the server still arrives,
 * later, and nothing comes back. */
#ifndef PEAL_SIM_LINE_H
#define PEAL_SIM_LINE_H

#include "net.h"

struct line;
struct lines;
struct line_item;
TAILQ_HEAD(line_items, line_item);

struct line_ops {
    size_t size; /* of what begins with struct line */
    /* At the server, which may make the line busy: then what comes after it waits. The command is
     * its own. */
    void (*take)(struct line *line, void *command);
    void (*woken)(struct line *line);  /* the time of line_busy has come */
    void (*took)(struct lines *lines); /* after each command */
    void (*gone)(struct line *line);   /* it is freed; NULL: nothing else is */
    /* At the client: the answer is its own. `paused` follows what came at the same time. It may
     * give its end up in `paused` and in `closed`. */
    void (*opened)(struct line *line);
    void (*tell)(struct line *line, void *answer);
    void (*paused)(struct line *line);
    void (*closed)(struct line *line, const char *why);
    void (*free_command)(void *command);
    void (*free_answer)(void *answer);
};

/* It lives on when the client has given it up, as long as something is on its way to the server. */
struct line {
    struct lines *all;
    void *near; /* the client's end; NULL: it was given up */
    struct loop *loop;
    int machine;
    int64_t id;
    struct line_items up, down;
    int64_t last_up_ms, last_down_ms; /* what is sent later arrives later */
    struct task up_task, down_task, busy_task;
    bool is_ended, is_stuck, is_busy;
    bool goes_on;    /* what it is busy with is done though the client has given it up */
    bool reads_feed; /* what is played as stuck */
    TAILQ_ENTRY(line) entry;
};
TAILQ_HEAD(line_list, line);

struct lines {
    const struct line_ops *ops;
    struct stage *stage;
    struct net *net;
    struct line_list list;
    int64_t made;
    int64_t frozen_until_ms, down_until_ms; /* the server */
};

void lines_init(struct lines *lines, struct stage *stage, struct net *net,
                const struct line_ops *ops);
void lines_release(struct lines *lines);
/* The server runs: its member of the network does, and most of them do. */
bool lines_are_served(const struct lines *lines);
void lines_end(struct lines *lines, const char *why);                /* all of them */
void lines_reset(struct lines *lines, int machine, const char *why); /* those of a machine */
void lines_stick(struct lines *lines, int machine); /* those that read the feed tell nothing more */
struct line *lines_find(struct lines *lines, int64_t id); /* NULL: there is none */

/* ---- the client's ---- */

struct line *line_new(struct lines *lines, struct loop *loop, void *near);
void line_send(struct line *line, void *command); /* takes it */
/* It is given up. Some of what is on its way arrives all the same. */
void line_leave(struct line *line);

/* ---- the server's ---- */

void line_answer(struct line *line, void *answer); /* takes it */
/* What is on its way to the server is dropped. */
void line_end(struct line *line, const char *why);
/* It takes nothing more until line_go_on; `woken` is called then. */
void line_busy(struct line *line, int64_t until_ms);
void line_go_on(struct line *line); /* it may be gone then */

#endif
