/* The library's functions, as programs see them. */
#include "peal.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "failure.h"
#include "lib_node.h"
#include "monotonic.h"
#include "version.h"

enum { THREADS = 4, THREADS_MAX = 1024 };

const char *peal_version(void)
{
    return PEAL_VERSION;
}

/* ---- making a node ---- */

static char *copy(const char *text)
{
    return text ? strdup(text) : NULL;
}

static char *variable(const char *server, const char *what)
{
    char name[40];
    snprintf(name, sizeof(name), "PEAL_%s_%s", server, what);
    return copy(getenv(name));
}

static void find_access(const char *server, struct server_access *access)
{
    access->ca_file = variable(server, "CA");
    access->cert_file = variable(server, "CERT");
    access->key_file = variable(server, "KEY");
    access->password_file = variable(server, "PASSWORD_FILE");
}

static void release_access(struct server_access *access)
{
    free(access->ca_file);
    free(access->cert_file);
    free(access->key_file);
    free(access->password_file);
}

static struct peal_node *release(struct peal_node *peal)
{
    lib_coord_close(peal);
    lib_node_release(peal);
    asks_release(&peal->asks);
    functions_release(&peal->shared.functions);
    functions_release(&peal->local.functions);
    store_url_release(&peal->url);
    release_access(&peal->etcd);
    release_access(&peal->redis);
    free((char *)peal->options.labels);
    tools_release(&peal->tools);
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
    const char *given = options->store ? options->store : getenv("PEAL_STORE");
    const char *store = given && *given ? given : "sqlite";
    strbuf_init(&folder);
    enum status st = store_url_parse(store, &peal->url, &error);
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

static enum status check(const peal_options *options, struct strbuf *why)
{
    if (options->threads < 0 || options->threads > THREADS_MAX)
        strbuf_addf(why, ".threads is %d; it may be 1 to %d, or 0 for %d", options->threads,
                    THREADS_MAX, THREADS);
    else if (options->timeout_ms < 0)
        strbuf_addf(why, ".timeout_ms is negative");
    else if (options->caller != PEAL_THREADS && options->caller != PEAL_STEPS)
        strbuf_addf(why, ".caller is none of its values");
    return why->length ? E_INVALID : OK;
}

/* Labels as a node has them, from "zone=eu,disk=ssd". */
static enum status read_labels(const char *text, char labels[512], struct strbuf *why)
{
    enum status st = OK;
    labels[0] = '\0';
    for (const char *at = text ? text : ""; st == OK && *at;) {
        at += strspn(at, " ");
        size_t length = strcspn(at, ",");
        char *label = strndup(at, length);
        st = label ? peer_add_label(labels, label) : E_NOMEM;
        if (st == E_INVALID)
            strbuf_addf(why,
                        ".labels: \"%.60s\": a label is NAME=VALUE of letters, digits and ._/-, "
                        "like zone=eu",
                        label);
        else if (st != OK && st != E_NOMEM)
            strbuf_adds(why, ".labels take at most 511 letters");
        free(label);
        at += length + (at[length] == ',');
    }
    return st;
}

static enum status make(const peal_options *options, struct peal_node **ret, struct strbuf *why)
{
    char labels[512];
    const char *program = options->program ? options->program : program_invocation_short_name;
    struct peal_node *peal = calloc(1, sizeof(*peal));
    enum status st = peal ? check(options, why) : E_NOMEM;
    if (st == OK)
        st = read_labels(options->labels, labels, why);
    if (st == OK)
        st = tools_find(options->bin, &peal->tools);
    if (st == OK)
        st = functions_init(&peal->shared.functions, program, options->version, &peal->tools, why);
    if (st != OK) {
        if (peal)
            tools_release(&peal->tools);
        free(peal);
        return st;
    }
    st = functions_init(&peal->local.functions, program, options->version, &peal->tools, why);
    peal->pid = getpid();
    peal->lock_fd = -1;
    peal->shared.peal = peal->local.peal = peal;
    peal->options = *options;
    peal->options.store = peal->options.data = peal->options.program = NULL; /* all taken */
    peal->options.bin = NULL;
    peal->options.labels = options->labels ? strdup(labels) : NULL;
    peal->options.threads = options->threads ? options->threads : THREADS;
    if (options->caller == PEAL_STEPS)
        peal->options.threads = 1;
    find_access("ETCD", &peal->etcd);
    find_access("REDIS", &peal->redis);
    asks_init(&peal->asks);
    strbuf_init(&peal->why);
    pthread_mutex_init(&peal->lock, NULL);
    monotonic_cond_init(&peal->changed);
    if (st == OK)
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
    if (lib_node_was_forked()) {
        lib_fail_forked();
        return NULL;
    }
    memcpy(&known, options, size < sizeof(known) ? size : sizeof(known));
    strbuf_init(&why);
    enum status st = make(&known, &peal, &why);
    if (st == OK && !known.no_functions)
        st = lib_node_open(peal, &why);
    if (st != OK) {
        lib_fail(st, why.text);
        peal = peal ? release(peal) : NULL;
    }
    strbuf_release(&why);
    return peal;
}

/* ---- the node of this process ---- */

static pthread_mutex_t default_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t forks_are_handled = PTHREAD_ONCE_INIT;
static struct peal_node
    *default_node; /* made by its first use, opened by the first that needs it */

/* A child must find none of the locks held by a thread that it does not have. A fork waits for the
 * node that is just being opened. */
static void before_fork(void)
{
    pthread_mutex_lock(&default_lock);
    if (default_node) {
        pthread_mutex_lock(&default_node->shared.functions.lock);
        pthread_mutex_lock(&default_node->local.functions.lock);
    }
}

static void after_fork(void)
{
    if (default_node) {
        pthread_mutex_unlock(&default_node->local.functions.lock);
        pthread_mutex_unlock(&default_node->shared.functions.lock);
    }
    pthread_mutex_unlock(&default_lock);
}

static void handle_forks(void)
{
    pthread_atfork(before_fork, after_fork, after_fork);
}

/* With the lock. */
static enum status make_default(struct strbuf *why)
{
    if (default_node)
        default_node->pid = getpid(); /* a daemon registers, forks, and opens it then */
    return default_node ? OK : make(&(peal_options){0}, &default_node, why);
}

/* The node that is meant, open if `must_be_open`; NULL: *ret_error. */
static struct peal_node *the(struct peal_node *peal, bool must_be_open, int *ret_error)
{
    struct strbuf why;
    *ret_error = PEAL_OK;
    if (peal && peal->pid == getpid())
        return peal;
    if (peal || lib_node_was_forked()) {
        *ret_error = lib_fail_forked();
        return NULL;
    }
    strbuf_init(&why);
    pthread_once(&forks_are_handled, handle_forks);
    pthread_mutex_lock(&default_lock);
    enum status st = make_default(&why);
    if (st == OK && must_be_open && default_node->state == LIB_NEW)
        st = lib_node_open(default_node, &why);
    *ret_error = lib_fail(st, why.text);
    peal = st == OK ? default_node : NULL;
    pthread_mutex_unlock(&default_lock);
    strbuf_release(&why);
    return peal;
}

struct peal_node *lib_the(struct peal_node *peal, int *ret_error)
{
    return the(peal, false, ret_error);
}

/* ---- functions ---- */

static enum status add(struct peal_node *peal, const peal_job *job, struct strbuf *why)
{
    struct side *side = job->local ? &peal->local : &peal->shared;
    struct side *other = job->local ? &peal->shared : &peal->local;
    if (job->name && functions_has(&other->functions, job->name)) {
        strbuf_addf(why, "%s:%d: there is a function \"%s\" already, which is %slocal",
                    job->place ? job->place->file : "", job->place ? job->place->line : 0,
                    job->name, job->local ? "not " : "");
        return E_CONFLICT;
    }
    return functions_add(&side->functions, job, why);
}

int peal_add_sized(peal_node *node, const peal_job *job, size_t size)
{
    peal_job known = {0};
    struct strbuf why;
    int error;
    struct peal_node *peal = the(node, false, &error);
    if (!peal)
        return error;
    memcpy(&known, job, size < sizeof(known) ? size : sizeof(known));
    if (peal->options.no_functions)
        return lib_fail(E_INVALID, "this node was opened with .no_functions");
    strbuf_init(&why);
    enum status st = add(peal, &known, &why);
    error = lib_fail(st, why.text);
    bool has_fresh = functions_have_fresh(&peal->shared.functions) ||
                     functions_have_fresh(&peal->local.functions);
    if (error == PEAL_OK && peal->turns && has_fresh)
        turns_ask(peal->turns);
    if (error != PEAL_OK)
        lib_log(peal, PEAL_ERROR, "%s", peal_why());
    strbuf_release(&why);
    return error;
}

int peal_remove(peal_node *node, const char *name)
{
    int error;
    struct peal_node *peal = the(node, false, &error);
    if (!peal)
        return error;
    enum status st = functions_remove(&peal->shared.functions, name);
    if (st == E_NOT_FOUND)
        st = functions_remove(&peal->local.functions, name);
    return lib_fail(st, "this process has no such function");
}

static int ask(peal_node *node, enum ask_kind kind, const char *name, const char *params,
               char *ret_id)
{
    struct strbuf why;
    int error;
    struct peal_node *peal = the(node, true, &error);
    if (!peal)
        return error;
    if (peal->options.no_functions)
        return lib_fail(E_INVALID, "this node was opened with .no_functions");
    if (pthread_equal(pthread_self(), peal->thread))
        return lib_fail(E_INVALID, "this can't be asked from within the log callback");
    strbuf_init(&why);
    enum status st =
        asks_ask(&peal->asks, kind, name, params, lib_timeout_ms(peal), peal->turns, ret_id, &why);
    error = lib_fail(st, why.text);
    strbuf_release(&why);
    return error;
}

int peal_trigger(peal_node *node, const char *name, const char *params, char *ret_id)
{
    return ask(node, ASK_TRIGGER, name, params, ret_id);
}

int peal_delete(peal_node *node, const char *name)
{
    int error = ask(node, ASK_DELETE, name, NULL, NULL);
    if (error == PEAL_OK && peal_remove(node, name) != PEAL_OK)
        return PEAL_OK; /* another process's function */
    return error;
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
    int error;
    struct peal_node *peal = the(node, true, &error);
    if (!peal)
        return error;
    strbuf_init(&why);
    enum status st = lib_node_wait(peal, &why);
    error = lib_fail(st, why.text);
    strbuf_release(&why);
    return error;
}

peal_node *peal_close(peal_node *node)
{
    struct peal_node *peal = node;
    struct strbuf why;
    if (!peal || peal->pid != getpid())
        return NULL;
    strbuf_init(&why);
    lib_node_stop(peal);
    if (lib_node_wait(peal, &why) != OK)
        lib_log(peal, PEAL_WARNING, "%s", why.text);
    strbuf_release(&why);
    return release(peal);
}

static void stop_default(int signal_number)
{
    int before = errno;
    (void)signal_number;
    peal_stop(NULL);
    errno = before;
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
    int error;
    struct peal_node *peal = the(NULL, false, &error);
    if (!peal)
        return 1;
    bool has_interrupt = take_signal(SIGINT, &interrupt);
    bool has_terminate = take_signal(SIGTERM, &terminate);
    error = peal_wait(NULL);
    if (error != PEAL_OK)
        lib_log(peal, PEAL_ERROR, "%s", peal_why());
    if (has_interrupt)
        sigaction(SIGINT, &interrupt, NULL);
    if (has_terminate)
        sigaction(SIGTERM, &terminate, NULL);
    return error == PEAL_OK ? 0 : 1;
}

/* ---- the program's own loop ---- */

static struct call_pool *pool_of_steps(struct peal_node *node, int *ret_error)
{
    struct peal_node *peal = the(node, true, ret_error);
    if (!peal)
        return NULL;
    if (peal->options.caller == PEAL_STEPS)
        return peal->pool;
    *ret_error = lib_fail(E_INVALID, "the node was not opened with .caller = PEAL_STEPS");
    return NULL;
}

int peal_fd(peal_node *node)
{
    int error;
    struct call_pool *pool = pool_of_steps(node, &error);
    return pool ? call_pool_fd(pool) : error;
}

int peal_timeout(peal_node *node)
{
    int error;
    struct call_pool *pool = pool_of_steps(node, &error);
    return pool ? call_pool_timeout(pool) : error;
}

int peal_step(peal_node *node)
{
    int error;
    struct call_pool *pool = pool_of_steps(node, &error);
    return pool ? call_pool_step(pool) : error;
}
