"""Compiles peal._peal against the libpeal that pkg-config names: the compiler checks that the header
is the one that these declarations were written for."""
import os
import shlex
import subprocess
import sys

from cffi import FFI

DECLARATIONS = """
enum peal_error {
    PEAL_OK, PEAL_E_INVALID, PEAL_E_NOMEM, PEAL_E_EXISTS, PEAL_E_NOT_FOUND, PEAL_E_UNREACHABLE,
    PEAL_E_BUSY, PEAL_E_LOST, PEAL_E_FORKED, PEAL_E_STOPPED, PEAL_E_VERSION, PEAL_E_IO, ...
};
enum peal_level { PEAL_DEBUG, PEAL_INFO, PEAL_WARNING, PEAL_ERROR, ... };
enum peal_caller { PEAL_THREADS, PEAL_STEPS, ... };
enum peal_overlap { PEAL_SKIP, PEAL_ALLOW, PEAL_QUEUE, PEAL_REPLACE, ... };
enum peal_catch_up { PEAL_LAST, PEAL_NONE, PEAL_ALL, ... };

typedef struct peal_node peal_node;
typedef struct peal_run peal_run;
typedef int peal_function(peal_run *run, void *arg);
typedef struct { const char *file; int line; ...; } peal_place;
typedef struct {
    const char *store, *data, *program, *labels;
    int version, threads, timeout_ms;
    enum peal_caller caller;
    bool in_background, no_functions;
    void (*log)(void *context, enum peal_level level, const char *message);
    void *context;
    ...;
} peal_options;
typedef struct {
    const char *name, *schedule, *tz, *where, *more, *command, *http;
    peal_function *function;
    void *arg;
    int64_t interval_ms, start_ms, timeout_ms, deadline_ms, jitter_ms, retry_wait_ms;
    bool local;
    enum peal_overlap overlap;
    enum peal_catch_up catch_up;
    int retries;
    const peal_place *place;
    ...;
} peal_job;

#define PEAL_ID_SIZE ...
typedef struct peal_held peal_held;
typedef struct {
    const char *name, *id;
    int64_t wait_ms, ttl_ms, margin_ms;
    ...;
} peal_claim;

const char *peal_why(void);
enum peal_error peal_failure(void);
const char *peal_version(void);
peal_node *peal_open_sized(const peal_options *options, size_t size);
void peal_stop(peal_node *peal);
peal_node *peal_close(peal_node *peal);
int peal_wait(peal_node *peal);
int peal_fd(peal_node *peal);
int peal_timeout(peal_node *peal);
int peal_step(peal_node *peal);
int peal_add_sized(peal_node *peal, const peal_job *job, size_t size);
int peal_remove(peal_node *peal, const char *name);
int peal_delete(peal_node *peal, const char *name);
int peal_trigger(peal_node *peal, const char *name, const char *params, char *ret_id);
void peal_progress(peal_run *run, int percent, const char *what);
bool peal_cancelled(const peal_run *run);
int peal_sleep(peal_run *run, int64_t ms);
const char *peal_run_id(const peal_run *run);
const char *peal_run_job(const peal_run *run);
int64_t peal_run_tick(const peal_run *run);
int peal_run_attempt(const peal_run *run);
int64_t peal_run_fence(const peal_run *run);
const char *peal_run_traceparent(const peal_run *run);
const char *peal_param(const peal_run *run, const char *name);

int peal_lock_sized(peal_node *peal, peal_held **ret, const peal_claim *claim, size_t size);
int peal_elect_sized(peal_node *peal, peal_held **ret, const peal_claim *claim, size_t size);
bool peal_is_held(peal_held *held);
int64_t peal_fence(peal_held *held);
int peal_release(peal_held *held);
int peal_who_leads(peal_node *peal, const char *name, char *ret_id);
int peal_select(peal_node *peal, const char *service, const char *id, int64_t hold_ms,
                char *ret_id);

void log_line(peal_run *run, const char *text);
extern "Python" int call_function(peal_run *, void *);
extern "Python" void log_message(void *, enum peal_level, const char *);
"""

SOURCE = """
#include <peal.h>

static void log_line(peal_run *run, const char *text)
{
    peal_log(run, "%s", text);
}
"""

HOW_TO = """
peal.h was not found: this package is compiled against an installed libpeal.
  pkg-config said: %s
Install it with `make install` in peal's source tree, and if that is not below /usr or /usr/local,
say where: PKG_CONFIG_PATH=PREFIX/lib/pkgconfig pip install ...
"""


def _ask(*options: str) -> "list[str]":
    command = [*shlex.split(os.environ.get("PKG_CONFIG", "pkg-config")), *options, "peal"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as error:
        raise LookupError(str(error)) from error
    if done.returncode != 0:
        raise LookupError(done.stderr.strip())
    return shlex.split(done.stdout)


def _flags() -> "tuple[list[str], list[str]]":
    try:
        compile_flags, link_flags = _ask("--cflags"), _ask("--libs")
    except LookupError as error:
        if any(os.path.exists(f"{prefix}/include/peal.h") for prefix in ("/usr", "/usr/local")):
            return [], ["-lpeal"]
        sys.exit(HOW_TO % error)
    # A folder that the loader does not look into by itself is remembered.
    folders = [flag[2:] for flag in link_flags if flag.startswith("-L")]
    return compile_flags, link_flags + [f"-Wl,-rpath,{folder}" for folder in folders]


builder = FFI()
builder.cdef(DECLARATIONS)
_compile_flags, _link_flags = _flags()
builder.set_source("peal._peal", SOURCE, extra_compile_args=_compile_flags,
                   extra_link_args=_link_flags)
