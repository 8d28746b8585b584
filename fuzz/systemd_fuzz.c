/* Any text as units of systemd: every job that comes out is a valid one, and can be written as
 * units again, or has a reason why not. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "systemd/systemd.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool truth)
{
    if (!truth)
        abort();
}

static void check_export(const struct job *job, struct zone_db *zones)
{
    struct systemd_units units;
    const char *why = NULL;
    strbuf_init(&units.timer);
    strbuf_init(&units.service);
    require(systemd_export(job, 1798761600, zones, &units, &why) == OK);
    require(why || units.service.length);
    strbuf_release(&units.timer);
    strbuf_release(&units.service);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct zone_db *zones; /* lives as long as the fuzzer */
    struct foreign foreign;
    struct parse_error err;
    char *text = malloc(size + 1); /* a NUL at its end, as the files of the command have */
    const struct systemd_options options = {.foreign = {.default_tz = "Europe/Berlin"}};
    require(text != NULL);
    memcpy(text, data, size);
    text[size] = '\0';
    const struct systemd_file file = {"units", text, size};
    if (!zones)
        require(zone_db_new(NULL, &zones) == OK);
    foreign_init(&foreign);
    enum status st = systemd_import(&file, 1, &options, zones, &foreign, &err);
    require(st == OK || st == E_INVALID);
    for (size_t i = 0; i < foreign.jobs.count; i++) {
        struct job *again = NULL;
        struct job_error why;
        char *stored = job_encode_text(foreign.jobs.items[i]);
        require(stored && job_decode_stored(stored, zones, &again, &why) == OK);
        check_export(again, zones);
        job_free(again);
        free(stored);
    }
    foreign_release(&foreign);
    free(text);
    return 0;
}
