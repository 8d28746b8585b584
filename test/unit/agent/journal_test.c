/* Entries in the journal of systemd, as it gets them. */
#include "log/journal.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

struct place {
    char folder[32];
    struct sockaddr_un address;
    int listener;
    int file;        /* that the journal is said to read */
    char stream[64]; /* which is this one */
};

static int begin(void **state)
{
    static struct place place;
    struct stat file;
    strcpy(place.folder, "/tmp/peal-journal-XXXXXX");
    assert_non_null(mkdtemp(place.folder));
    place.address.sun_family = AF_UNIX;
    snprintf(place.address.sun_path, sizeof(place.address.sun_path), "%s/socket", place.folder);
    place.listener = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    assert_int_equal(bind(place.listener, (struct sockaddr *)&place.address, sizeof(place.address)),
                     0);
    place.file = open("/dev/null", O_WRONLY | O_CLOEXEC);
    assert_int_equal(fstat(place.file, &file), 0);
    snprintf(place.stream, sizeof(place.stream), "%llu:%llu", (unsigned long long)file.st_dev,
             (unsigned long long)file.st_ino);
    *state = &place;
    return 0;
}

static int end(void **state)
{
    struct place *place = *state;
    close(place->listener);
    close(place->file);
    unlink(place->address.sun_path);
    return rmdir(place->folder);
}

static void particulars_are_fields(void **state)
{
    static const struct {
        int line;
        const char *particulars, *want;
    } rows[] = {
        {__LINE__, "", "MESSAGE=event\n|PEAL_EVENT=event\n"},
        {__LINE__, "job=a/b code=3 detail=\"no \"x\" here\"",
         "MESSAGE=event job=a/b code=3 detail=\"no \"x\" here\"\n|PEAL_EVENT=event\n"
         "PEAL_JOB=a/b\nPEAL_CODE=3\nPEAL_DETAIL=no \"x\" here\n"},
        {__LINE__, "no name", "MESSAGE=event no name\n|PEAL_EVENT=event\n"},
        {__LINE__, "empty= b=\xe4\xbd\xa0",
         "MESSAGE=event empty= "
         "b=\xe4\xbd\xa0\n|PEAL_EVENT=event\nPEAL_EMPTY=\nPEAL_B=\xe4\xbd\xa0\n"},
        /* longer than the name of a field may be */
        {__LINE__, "a123456789012345678901234567890123456789012345678901234567890=1 b=2",
         "MESSAGE=event a123456789012345678901234567890123456789012345678901234567890=1 b=2\n"
         "|PEAL_EVENT=event\nPEAL_B=2\n"},
    };
    const struct place *place = *state;
    int journal = journal_connect(place->address.sun_path, place->stream, place->file);
    assert_true(journal >= 0);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char got[1024] = "", want[1024];
        const char *bar = strchr(rows[i].want, '|');
        assert_true(journal_send(journal, "event", rows[i].particulars));
        assert_true(read(place->listener, got, sizeof(got) - 1) > 0);
        snprintf(want, sizeof(want), "%.*sPRIORITY=6\nSYSLOG_IDENTIFIER=peal\n%s",
                 (int)(bar - rows[i].want), rows[i].want, bar + 1);
        if (strcmp(got, want) != 0)
            fail_msg("line %d: %s", rows[i].line, got);
    }
    close(journal);
}

static void only_what_leads_there_is_sent_there(void **state)
{
    const struct place *place = *state;
    const struct {
        int line;
        const char *path, *stream;
    } rows[] = {
        {__LINE__, place->address.sun_path, NULL},  {__LINE__, place->address.sun_path, ""},
        {__LINE__, place->address.sun_path, "1:2"}, {__LINE__, place->address.sun_path, "peal"},
        {__LINE__, place->folder, place->stream}, /* nobody listens */
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        int journal = journal_connect(rows[i].path, rows[i].stream, place->file);
        if (journal != -1)
            fail_msg("line %d", rows[i].line);
    }
}

/* An entry that is too large, or a journal that is gone, is a line after all. */
static void what_it_does_not_take_is_known(void **state)
{
    struct place *place = *state;
    int journal = journal_connect(place->address.sun_path, place->stream, place->file);
    size_t length = 32 * 1024 * 1024;
    char *large = malloc(length + 1);
    assert_non_null(large);
    memset(large, 'a', length);
    large[length] = '\0';
    assert_false(journal_send(journal, "event", large));
    free(large);
    assert_true(journal_send(journal, "event", ""));
    close(place->listener);
    assert_false(journal_send(journal, "event", ""));
    close(journal);
    place->listener = -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(particulars_are_fields, begin, end),
        cmocka_unit_test_setup_teardown(only_what_leads_there_is_sent_there, begin, end),
        cmocka_unit_test_setup_teardown(what_it_does_not_take_is_known, begin, end)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
