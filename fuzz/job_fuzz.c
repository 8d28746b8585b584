/* Any text as a job file: refused with words, or read, written and read again the same. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "definition/job_codec.h"
#include "definition/job_places.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool truth)
{
    if (!truth)
        abort();
}

static void check_job(const struct job *job, struct zone_db *zones)
{
    struct job_list jobs;
    struct job *again = NULL;
    struct job_error err;
    struct strbuf yaml;
    char *text = job_encode_text(job);
    strbuf_init(&yaml);
    require(text && job_encode_yaml(job, &yaml) == OK);
    require(jobs_decode_text(yaml.text, yaml.length, "UTC", zones, &jobs, &err) == OK);
    require(jobs.count == 1 && job_decode_stored(text, zones, &again, &err) == OK);
    char *from_yaml = job_encode_text(jobs.items[0]);
    char *from_text = job_encode_text(again);
    require(strcmp(text, from_yaml) == 0 && strcmp(text, from_text) == 0);
    free(from_yaml);
    free(from_text);
    free(text);
    job_free(again);
    job_list_release(&jobs);
    strbuf_release(&yaml);
}

/* Reading on after a mistake finds the first one, too, and where values stand. */
static void check_all(const char *text, size_t size, struct zone_db *zones, enum status first)
{
    struct job_list jobs;
    struct job_errors errors;
    struct job_places *places = NULL;
    int line = 0, column = 0;
    job_list_init(&jobs);
    job_errors_init(&errors);
    enum status st =
        jobs_decode_file(text, size, "Europe/Berlin", zones, NULL, NULL, &jobs, &errors);
    require((st == OK) == (first == OK) && (errors.count > 0) == (first != OK));
    if (job_places_new(text, size, &places) == OK) {
        for (size_t i = 0; i < jobs.count; i++)
            require(job_places_find(places, jobs.items[i]->name, "shell", "x", &line, &column));
    }
    job_places_free(places);
    job_errors_release(&errors);
    job_list_release(&jobs);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct zone_db *zones; /* lives as long as the fuzzer */
    if (!zones)
        require(zone_db_new(NULL, &zones) == OK);
    struct job_list jobs;
    struct job_error err = {0};
    enum status st =
        jobs_decode_text((const char *)data, size, "Europe/Berlin", zones, &jobs, &err);
    check_all((const char *)data, size, zones, st);
    if (st != OK) {
        require(err.message[0] != '\0');
        return 0;
    }
    for (size_t i = 0; i < jobs.count; i++)
        check_job(jobs.items[i], zones);
    job_list_release(&jobs);
    return 0;
}
