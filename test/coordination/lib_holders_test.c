/* Three processes take a lock in turns, and write what they do to a file. Those that hold it are
 * killed, and paused for longer than the lease. By their own file there is never a second holder:
 * fences never go back, except for a write between which and the question before it the process was
 * paused, which no lock can prevent, and which the process itself tells. The seed is printed;
 * PEAL_SEED repeats it. */
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "places.h"

enum { PARTIES = 3, LATE_MS = 300, FENCES_MAX = 100000 };

/* ---- a process: lines of the file are STAMP, LOST, TOLD, LATE, RELEASED, ERROR ---- */

static int out;

static void say(const char *word, int64_t fence, const char *more)
{
    char line[400];
    int length =
        snprintf(line, sizeof(line), "%s %" PRId64 " %d %s\n", word, fence, (int)getpid(), more);
    if (write(out, line, (size_t)length) != length)
        _exit(1);
}

static atomic_llong told_fence;

static void on_lost(void *context, const char *why)
{
    int64_t fence;
    while (!(fence = atomic_load((const _Atomic int64_t *)context))) /* lost so soon */
        place_pause();
    say("TOLD", fence, why);
    atomic_store(&told_fence, fence);
}

/* What the lock guards. */
static void work(peal_held *held, int64_t fence, unsigned steps)
{
    for (unsigned i = 0; i < steps; i++) {
        int64_t before_ms = now_ms();
        if (!peal_is_held(held)) {
            say("LOST", fence, "");
            while (atomic_load(&told_fence) != fence) /* the callback comes, too */
                place_pause();
            return;
        }
        say("STAMP", fence, "");
        if (now_ms() - before_ms > LATE_MS)
            say("LATE", fence, "");
        place_pause();
    }
}

static int be_party(unsigned seed)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    out = open(getenv("PEAL_FILE"), O_WRONLY | O_APPEND | O_CLOEXEC);
    if (out < 0)
        return 1;
    for (;;) {
        peal_held *held = NULL;
        _Atomic int64_t fence = 0;
        int error = peal_lock(NULL, &held, "shared", -1, .ttl_ms = TTL_MS, .margin_ms = MARGIN_MS,
                              .lost = on_lost, .context = (void *)&fence);
        if (error != PEAL_OK) {
            say("ERROR", 0, peal_why());
            place_pause();
            continue;
        }
        fence = peal_fence(held);
        work(held, fence, 5 + (unsigned)rand_r(&seed) % 30);
        error = peal_release(held);
        say(error == PEAL_OK ? "RELEASED" : "GONE", fence, error == PEAL_OK ? "" : peal_why());
    }
}

/* ---- their file, as it is read ---- */

struct record {
    FILE *file;
    int64_t last_fence; /* of a stamp */
    int holder;         /* the process of the last line, if that was a stamp; 0 */
    int64_t stamps, backward, late;
    char seen[FENCES_MAX]; /* per fence: 'L' lost, 'T' told, 'B' both, 'R' released */
};
static struct record record;

static void add_mark(int64_t fence, char mark)
{
    char *seen = &record.seen[fence < FENCES_MAX ? fence : FENCES_MAX - 1];
    *seen = (char)(*seen == 'L' || *seen == 'T' ? 'B' : mark);
}

static void take_line(const char *line)
{
    char word[16] = "";
    int64_t fence = 0;
    int pid = 0;
    if (sscanf(line, "%15s %" SCNd64 " %d", word, &fence, &pid) != 3)
        fail_msg("a line of the file: %s", line);
    record.holder = 0;
    if (strcmp(word, "STAMP") == 0) {
        record.stamps++;
        record.holder = pid;
        if (fence < record.last_fence) {
            record.backward++;
            print_message("fence %" PRId64 " after %" PRId64 "\n", fence, record.last_fence);
        } else {
            record.last_fence = fence;
        }
    } else if (strcmp(word, "LATE") == 0) {
        record.late++;
    } else if (strcmp(word, "ERROR") == 0) {
        print_message("%s", line);
    } else if (strcmp(word, "LOST") == 0 || strcmp(word, "TOLD") == 0) {
        add_mark(fence, word[0]);
    } else if (strcmp(word, "RELEASED") == 0) {
        add_mark(fence, 'R');
    }
}

static void read_on(void)
{
    char line[500];
    long at = ftell(record.file);
    while (fgets(line, sizeof(line), record.file) && line[strlen(line) - 1] == '\n') {
        take_line(line);
        at = ftell(record.file);
    }
    fseek(record.file, at, SEEK_SET);
}

static bool has_mark(int64_t fence, char mark)
{
    read_on();
    return record.seen[fence] == mark;
}

static bool is_beyond(int64_t fence)
{
    read_on();
    return record.last_fence > fence;
}

/* ---- the one that kills and pauses ---- */

static pid_t parties[PARTIES];
static unsigned seed;

static void start_party(int index)
{
    char text[16];
    snprintf(text, sizeof(text), "%d", rand_r(&seed) % 1000000);
    parties[index] = fork();
    if (parties[index] == 0) {
        execl("/proc/self/exe", "party", text, (char *)NULL);
        _exit(1);
    }
    assert_true(parties[index] > 0);
}

static int index_of(pid_t pid)
{
    for (int i = 0; i < PARTIES; i++) {
        if (parties[i] == pid)
            return i;
    }
    return -1;
}

/* Stopped, and with the lock: nothing follows its stamp. */
static bool catch_holder(pid_t *ret)
{
    int status;
    read_on();
    pid_t pid = record.holder;
    if (!pid || index_of(pid) < 0)
        return false;
    kill(pid, SIGSTOP);
    assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
    assert_true(WIFSTOPPED(status));
    read_on();
    if (record.holder == pid) {
        *ret = pid;
        return true;
    }
    kill(pid, SIGCONT);
    return false;
}

static void kill_holder(pid_t pid)
{
    int64_t fence = record.last_fence;
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    start_party(index_of(pid));
    wait_until(is_beyond(fence));
}

/* With a server another has it meanwhile, and the paused one finds that out before it writes. In a
 * folder it keeps it. */
static void pause_holder(pid_t pid)
{
    int64_t fence = record.last_fence;
    if (place.has_server) {
        wait_until(is_beyond(fence));
        kill(pid, SIGCONT);
        wait_until(has_mark(fence, 'B'));
        return;
    }
    for (int i = 0; i < 300; i++) {
        assert_false(is_beyond(fence));
        place_pause();
    }
    kill(pid, SIGCONT);
    wait_until(has_mark(fence, 'R'));
    wait_until(is_beyond(fence));
}

static void there_is_one_holder_at_a_time(void **state)
{
    char path[200];
    int rounds = place.has_server ? 6 : 20;
    const char *given = getenv("PEAL_SEED");
    (void)state;
    seed = given ? (unsigned)strtoul(given, NULL, 10) : (unsigned)time(NULL);
    print_message("PEAL_SEED=%u\n", seed);
    snprintf(path, sizeof(path), "%s.log", place.data);
    FILE *fresh = fopen(path, "we");
    assert_non_null(fresh);
    fclose(fresh);
    record = (struct record){.file = fopen(path, "re")};
    assert_non_null(record.file);
    setenv("PEAL_FILE", path, 1);
    setenv("PEAL_STORE", place.store, 1);
    setenv("PEAL_DATA", place.data, 1);
    for (int i = 0; i < PARTIES; i++)
        start_party(i);
    int first = rand_r(&seed) % 2;
    for (int round = 0; round < rounds; round++) {
        pid_t pid;
        int64_t fence = record.last_fence + rand_r(&seed) % 4;
        wait_until(is_beyond(fence)); /* a while without trouble */
        wait_until(catch_holder(&pid));
        bool is_kill = round < 2 ? round == first : rand_r(&seed) % 2;
        if (is_kill)
            kill_holder(pid);
        else
            pause_holder(pid);
    }
    for (int i = 0; i < PARTIES; i++) {
        kill(parties[i], SIGKILL);
        waitpid(parties[i], NULL, 0);
    }
    read_on();
    print_message("%" PRId64 " stamps, last fence %" PRId64 ", late %" PRId64 "\n", record.stamps,
                  record.last_fence, record.late);
    fclose(record.file);
    assert_true(record.backward <= record.late);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(there_is_one_holder_at_a_time, place_setup, place_teardown),
    };
    if (argc == 2)
        return be_party((unsigned)strtoul(argv[1], NULL, 10));
    return places_run("processes", tests, sizeof(tests) / sizeof(tests[0]));
}
