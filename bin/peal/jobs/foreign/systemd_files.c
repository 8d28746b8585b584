#include "jobs/foreign/systemd_files.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "array.h"
#include "systemd/systemd.h"
#include "text/tr.h"
#include "text/tr_parsed.h"

struct writer {
    const struct reading *reading;
    const char *folder; /* NULL: stdout */
    char **names;       /* of the units so far */
    size_t count;
    int64_t from_s;
};

static bool is_taken(const struct writer *writer, const char *name)
{
    for (size_t i = 0; i < writer->count; i++) {
        if (strcmp(writer->names[i], name) == 0)
            return true;
    }
    return false;
}

/* "team/a" and "team-a" would have the same units. */
static enum status choose_name(struct writer *writer, const char *job, struct strbuf *name)
{
    systemd_unit_name(job, name);
    size_t length = name->length;
    for (int number = 2; is_taken(writer, name->text) && !name->failed; number++) {
        strbuf_truncate(name, length);
        strbuf_addf(name, "-%d", number);
    }
    enum status st = strbuf_status(name);
    if (st == OK)
        st = array_grow(&writer->names, writer->count, sizeof(char *));
    if (st == OK && !(writer->names[writer->count] = strdup(name->text)))
        st = E_NOMEM;
    writer->count += st == OK;
    return st;
}

static enum exit_code write_file(const char *path, const struct strbuf *text)
{
    FILE *file = fopen(path, "we");
    bool is_good = file && fwrite(text->text, 1, text->length, file) == text->length;
    int why = errno;
    if (file && fclose(file) != 0) {
        is_good = false;
        why = errno;
    }
    if (is_good)
        return EXIT_OK;
    cli_error("can't write %s: %s", path, strerror(why));
    return EXIT_ERROR;
}

static enum exit_code write_unit(const struct writer *writer, const char *name, const char *type,
                                 const struct strbuf *text)
{
    struct strbuf path;
    enum exit_code code = EXIT_OK;
    if (!text->length)
        return EXIT_OK;
    strbuf_init(&path);
    strbuf_addf(&path, "%s/%s%s", writer->folder ? writer->folder : "/etc/systemd/system", name,
                type);
    if (path.failed)
        code = cli_fail(E_NOMEM);
    else if (writer->folder)
        code = write_file(path.text, text);
    else
        printf("# %s\n%s\n", path.text, text->text);
    strbuf_release(&path);
    return code;
}

static enum exit_code write_job(struct writer *writer, const struct job *job)
{
    struct systemd_units units;
    struct strbuf name;
    const char *why = NULL;
    strbuf_init(&units.timer);
    strbuf_init(&units.service);
    strbuf_init(&name);
    enum status st = systemd_export(job, writer->from_s, writer->reading->zones, &units, &why);
    enum exit_code code = EXIT_OK;
    if (st == OK && why) {
        struct strbuf reason;
        strbuf_init(&reason);
        tr_parsed_text(why, &reason);
        cli_note("%s is left out: %s", job->name, reason.length ? reason.text : why);
        strbuf_release(&reason);
    } else if (st == OK && (st = choose_name(writer, job->name, &name)) == OK) {
        code = write_unit(writer, name.text, ".timer", &units.timer);
        if (code == EXIT_OK)
            code = write_unit(writer, name.text, ".service", &units.service);
    }
    strbuf_release(&units.timer);
    strbuf_release(&units.service);
    strbuf_release(&name);
    return st == OK ? code : cli_fail(st);
}

enum exit_code systemd_files_write(const struct job_list *jobs, const struct reading *reading,
                                   const char *folder)
{
    struct writer writer = {.reading = reading, .folder = folder, .from_s = time(NULL)};
    enum exit_code code = EXIT_OK;
    if (folder && mkdir(folder, 0755) != 0 && errno != EEXIST) {
        cli_error("can't make %s: %m", folder);
        return EXIT_ERROR;
    }
    for (size_t i = 0; i < jobs->count && code == EXIT_OK; i++)
        code = write_job(&writer, jobs->items[i]);
    for (size_t i = 0; i < writer.count; i++)
        free(writer.names[i]);
    free(writer.names);
    return code;
}
