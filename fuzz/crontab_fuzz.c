/* Any text as a crontab: every job that comes out is a valid one, and can be written as a crontab
 * that is read without a new error. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "crontab/crontab.h"
#include "export/crontab_export.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool truth)
{
    if (!truth)
        abort();
}

static void check_export(const struct crontab *crontab, bool system, struct zone_db *zones)
{
    struct crontab again;
    struct parse_error err;
    struct crontab_options options = {.system = system};
    struct strbuf text;
    strbuf_init(&text);
    require(crontab_export(crontab->jobs.items, crontab->jobs.count, system, zones, &text) == OK);
    if (text.length < 1000000) { /* more than a crontab may have is refused */
        require(crontab_import(text.text, text.length, &options, zones, &again, &err) == OK);
        require(again.jobs.count <= crontab->jobs.count);
        for (size_t i = 0; i < again.note_count; i++)
            require(again.notes[i].severity != CRONTAB_ERROR);
        crontab_release(&again);
    }
    strbuf_release(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct zone_db *zones; /* lives as long as the fuzzer */
    if (!zones)
        require(zone_db_new(NULL, &zones) == OK);
    for (int system = 0; system < 2; system++) {
        struct crontab crontab;
        struct parse_error err;
        struct crontab_options options = {.system = system, .default_tz = "Europe/Berlin"};
        if (crontab_import((const char *)data, size, &options, zones, &crontab, &err) != OK)
            continue;
        for (size_t i = 0; i < crontab.jobs.count; i++) {
            struct job *again = NULL;
            struct job_error why;
            char *text = job_encode_text(crontab.jobs.items[i]);
            require(text && job_decode_stored(text, zones, &again, &why) == OK);
            job_free(again);
            free(text);
        }
        check_export(&crontab, system, zones);
        crontab_release(&crontab);
    }
    return 0;
}
