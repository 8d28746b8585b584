/* Any text as rows of XXL-JOB's tables: every job that comes out is a valid one, and has a name of
 * its own. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "foreign/xxl.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool truth)
{
    if (!truth)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct zone_db *zones; /* lives as long as the fuzzer */
    struct foreign foreign;
    struct parse_error err;
    const struct foreign_options options = {.default_tz = "Asia/Shanghai"};
    if (!zones)
        require(zone_db_new(NULL, &zones) == OK);
    foreign_init(&foreign);
    enum status st = xxl_import((const char *)data, size, &options, zones, &foreign, &err);
    require(st == OK || st == E_INVALID || st == E_TOO_LARGE);
    for (size_t i = 0; i < foreign.jobs.count; i++) {
        struct job *again = NULL;
        struct job_error why;
        char *text = job_encode_text(foreign.jobs.items[i]);
        require(text && job_decode_stored(text, zones, &again, &why) == OK);
        for (size_t k = 0; k < i; k++)
            require(strcmp(foreign.jobs.items[k]->name, again->name) != 0);
        job_free(again);
        free(text);
    }
    foreign_release(&foreign);
    return 0;
}
