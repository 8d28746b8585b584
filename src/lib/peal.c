/* The library's functions, as programs see them. */
#include "peal.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib_node.h"
#include "version.h"

enum { THREADS = 4 };

/* ---- failures ---- */

static _Thread_local char last_why[1024];

const char *peal_why(void)
{
    return last_why;
}

static enum peal_error error_of(enum status st)
{
    switch (st) {
    case OK:
        return PEAL_OK;
    case E_INVALID:
    case E_TOO_LARGE:
        return PEAL_E_INVALID;
    case E_NOMEM:
        return PEAL_E_NOMEM;
    case E_NOT_FOUND:
        return PEAL_E_NOT_FOUND;
    case E_CONFLICT:
        return PEAL_E_EXISTS;
    case E_UNREACHABLE:
    case E_UNKNOWN:
        return PEAL_E_UNREACHABLE;
    case E_BUSY:
        return PEAL_E_BUSY;
    case E_VERSION:
        return PEAL_E_VERSION;
    case E_IO:
    case E_CORRUPT:
    case E_ROLLED_BACK:
    case E_SET_ASIDE:
        break;
    }
    return PEAL_E_IO;
}

static int fail(enum status st, const char *why)
{
    if (st != OK)
        snprintf(last_why, sizeof(last_why), "%s", *why ? why : status_text(st));
    return error_of(st);
}

const char *peal_version(void)
{
    return PEAL_VERSION;
}

/* ---- the node of this process ---- */

static pthread_mutex_t default_lock = PTHREAD_MUTEX_INITIALIZER;
static struct peal_node *default_node; /* made by its first use, opened by peal_run_forever */

/* ---- making and opening ---- */

static char *copy(const char *text)
{
    return text ? strdup(text) : NULL;
}

static const char *program_name(const peal_options *options)
{
    return options->program ? options->program : program_invocation_short_name;
}

static struct peal_node *release(struct peal_node *peal)
{
    functions_release(&peal->functions);
    store_url_release(&peal->url);
    free((char *)peal->options.store);
    free((char *)peal->options.labels);
    free(peal->data);
    strbuf_release(&peal->why);
    pthread_cond_destroy(&peal->changed);
    pthread_mutex_destroy(&peal->lock);
    free(peal);
    return NULL;
}

static enum status find_places(struct peal_node *peal, const peal_options *options,
                               struct strbuf *why)
{
    struct parse_error error = {0};
    struct strbuf folder;
    const char *store = options->store ? options->store : getenv("PEAL_STORE");
    strbuf_init(&folder);
    enum status st = store_url_parse(store && *store ? store : "sqlite", &peal->url, &error);
    if (st != OK)
        strbuf_addf(why, "the store \"%s\": %s", store, error.message);
    if (st == OK) {
        st = data_folder_find(options->data, &folder);
        if (st != OK)
            strbuf_adds(why, "no folder for data: set .data, PEAL_DATA or HOME");
    }
    strbuf_adds(&folder, "/programs");
    if (st == OK)
        st = strbuf_status(&folder);
    if (st == OK && !(peal->data = strdup(folder.text)))
        st = E_NOMEM;
    strbuf_release(&folder);
    return st;
}

static enum status make(const peal_options *options, struct peal_node **ret, struct strbuf *why)
{
    pthread_condattr_t attributes;
    struct peal_node *peal = calloc(1, sizeof(*peal));
    if (!peal)
        return E_NOMEM;
    enum status st = functions_init(&peal->functions, program_name(options), options->version, why);
    if (st != OK) {
        free(peal);
        return st;
    }
    peal->pid = getpid();
    peal->lock_fd = -1;
    peal->options = *options;
    peal->options.store = copy(options->store);
    peal->options.labels = copy(options->labels);
    peal->options.threads = options->threads > 0 ? options->threads : THREADS;
    strbuf_init(&peal->why);
    pthread_mutex_init(&peal->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&peal->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    st = find_places(peal, options, why);
    if (st != OK)
        peal = release(peal);
    *ret = peal;
    return st;
}

peal_node *peal_open_sized(const peal_options *options, size_t size)
{
    peal_options known = {0};
    struct peal_node *peal = NULL;
    struct strbuf why;
    memcpy(&known, options, size < sizeof(known) ? size : sizeof(known));
    strbuf_init(&why);
    enum status st = make(&known, &peal, &why);
    if (st == OK)
        st = lib_node_open(peal, &why);
    if (st != OK) {
        fail(st, why.text);
        peal = peal ? release(peal) : NULL;
    }
    strbuf_release(&why);
    return peal;
}

/* The node that is meant; NULL: *ret_error. */
static struct peal_node *the(struct peal_node *peal, int *ret_error)
{
    struct strbuf why;
    if (peal && peal->pid != getpid()) {
        snprintf(last_why, sizeof(last_why),
                 "this node belongs to the parent process: open "
                 "another one after fork()");
        *ret_error = PEAL_E_FORKED;
        return NULL;
    }
    if (peal)
        return peal;
    strbuf_init(&why);
    pthread_mutex_lock(&default_lock);
    if (default_node && default_node->pid != getpid())
        default_node = NULL; /* the parent's; its threads are not here */
    if (!default_node)
        *ret_error = fail(make(&(peal_options){0}, &default_node, &why), why.text);
    peal = default_node;
    pthread_mutex_unlock(&default_lock);
    strbuf_release(&why);
    return peal;
}

/* ---- functions ---- */

int peal_add_sized(peal_node *node, const peal_job *job, size_t size)
{
    peal_job known = {0};
    struct strbuf why;
    int error = PEAL_OK;
    struct peal_node *peal = the(node, &error);
    if (!peal)
        return error;
    memcpy(&known, job, size < sizeof(known) ? size : sizeof(known));
    strbuf_init(&why);
    error = fail(functions_add(&peal->functions, &known, &why), why.text);
    if (error == PEAL_OK && peal->has_thread)
        turns_ask(peal->turns);
    if (error != PEAL_OK)
        lib_log(peal, PEAL_ERROR, "%s", last_why);
    strbuf_release(&why);
    return error;
}

int peal_remove(peal_node *node, const char *name)
{
    int error = PEAL_OK;
    struct peal_node *peal = the(node, &error);
    return peal ? fail(functions_remove(&peal->functions, name), "there is no such function")
                : error;
}

/* ---- running ---- */

void peal_stop(peal_node *node)
{
    struct peal_node *peal = node ? node : default_node;
    if (peal && peal->pid == getpid())
        lib_node_stop(peal);
}

int peal_wait(peal_node *node)
{
    struct strbuf why;
    int error = PEAL_OK;
    struct peal_node *peal = the(node, &error);
    if (!peal)
        return error;
    strbuf_init(&why);
    error = fail(lib_node_join(peal, &why), why.text);
    strbuf_release(&why);
    return error;
}

peal_node *peal_close(peal_node *peal)
{
    struct strbuf why;
    if (!peal || peal->pid != getpid())
        return NULL;
    strbuf_init(&why);
    lib_node_stop(peal);
    if (lib_node_join(peal, &why) != OK)
        lib_log(peal, PEAL_WARNING, "%s", why.text);
    strbuf_release(&why);
    return release(peal);
}

static void stop_default(int signal_number)
{
    (void)signal_number;
    peal_stop(NULL);
}

/* Takes the signal where the program has left it to the system. True: to be given back. */
static bool take_signal(int number, struct sigaction *before)
{
    struct sigaction stop = {.sa_handler = stop_default};
    sigemptyset(&stop.sa_mask);
    return sigaction(number, NULL, before) == 0 && !(before->sa_flags & SA_SIGINFO) &&
           before->sa_handler == SIG_DFL && sigaction(number, &stop, NULL) == 0;
}

int peal_run_forever(void)
{
    struct sigaction interrupt, terminate;
    struct strbuf why;
    int error = PEAL_OK;
    struct peal_node *peal = the(NULL, &error);
    if (!peal)
        return error;
    bool has_interrupt = take_signal(SIGINT, &interrupt);
    bool has_terminate = take_signal(SIGTERM, &terminate);
    strbuf_init(&why);
    error = fail(lib_node_open(peal, &why), why.text);
    if (error == PEAL_OK)
        error = peal_wait(peal);
    if (error != PEAL_OK)
        lib_log(peal, PEAL_ERROR, "%s", last_why);
    strbuf_release(&why);
    if (has_interrupt)
        sigaction(SIGINT, &interrupt, NULL);
    if (has_terminate)
        sigaction(SIGTERM, &terminate, NULL);
    return error == PEAL_OK ? 0 : 1;
}

/* ---- the program's own loop ---- */

int peal_fd(peal_node *peal)
{
    return peal && peal->pid == getpid() && peal->calls ? calls_fd(peal->calls) : -1;
}

int peal_step(peal_node *peal)
{
    int error = PEAL_OK;
    if (!the(peal, &error) || !peal->calls || peal->options.caller != PEAL_STEPS)
        return error;
    return calls_step(peal->calls);
}
