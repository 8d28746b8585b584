#include "jobs/input_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SIZE_MAX_MB = 10, KIB = 1024 };
static const size_t size_max = (size_t)SIZE_MAX_MB * KIB * KIB;

static enum exit_code open_input(const char *path, int *ret_fd)
{
    struct stat info;
    int fd = strcmp(path, "-") == 0 ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        enum exit_code code = errno == ENOENT || errno == ENOTDIR ? EXIT_NOT_FOUND : EXIT_ERROR;
        cli_error("can't read %s: %s", path, strerror(errno));
        return code;
    }
    if (fstat(fd, &info) == 0 && S_ISDIR(info.st_mode)) {
        cli_error("%s is a directory, not a file", path);
        if (fd != STDIN_FILENO)
            close(fd);
        return EXIT_NOT_FOUND;
    }
    *ret_fd = fd;
    return EXIT_OK;
}

static enum exit_code read_all(int fd, const char *path, size_t most, struct strbuf *text)
{
    char chunk[16384];
    ssize_t length;
    while ((length = read(fd, chunk, sizeof(chunk))) != 0) {
        if (length < 0 && errno == EINTR)
            continue;
        if (length < 0) {
            cli_error("can't read %s: %s", path, strerror(errno));
            return EXIT_ERROR;
        }
        strbuf_add(text, chunk, (size_t)length);
        if (text->length > most) {
            if (most == size_max)
                cli_error("%s is larger than %d MB", path, SIZE_MAX_MB);
            else
                cli_error("%s is larger than %zu KiB", path, most / KIB);
            return EXIT_INVALID;
        }
    }
    return cli_fail(strbuf_status(text));
}

static enum exit_code refuse_binary(const char *path, const struct strbuf *text)
{
    const char *nul = memchr(text->text, '\0', text->length);
    int line = 1;
    if (!nul)
        return EXIT_OK;
    for (const char *p = text->text; p < nul; p++)
        line += *p == '\n';
    cli_error("%s is not a text file: line %d has a NUL byte", path, line);
    return EXIT_INVALID;
}

static enum exit_code read_bytes(const char *path, size_t most, struct strbuf *bytes)
{
    int fd;
    enum exit_code code = open_input(path, &fd);
    if (code != EXIT_OK)
        return code;
    code = read_all(fd, strcmp(path, "-") == 0 ? "stdin" : path, most, bytes);
    if (fd != STDIN_FILENO)
        close(fd);
    return code;
}

enum exit_code input_bytes_read(const char *path, size_t most, struct strbuf *out)
{
    struct strbuf bytes;
    strbuf_init(&bytes);
    enum exit_code code = read_bytes(path, most, &bytes);
    if (code == EXIT_OK) {
        strbuf_add(out, bytes.text, bytes.length);
        code = cli_fail(strbuf_status(out));
    }
    strbuf_release(&bytes);
    return code;
}

enum exit_code input_file_read(const char *path, struct strbuf *out)
{
    static const char mark[] = "\xef\xbb\xbf";
    struct strbuf text;
    strbuf_init(&text);
    enum exit_code code = read_bytes(path, size_max, &text);
    if (code == EXIT_OK)
        code = refuse_binary(strcmp(path, "-") == 0 ? "stdin" : path, &text);
    if (code == EXIT_OK) {
        size_t skip = strncmp(text.text, mark, 3) == 0 ? 3 : 0;
        strbuf_add(out, text.text + skip, text.length - skip);
        code = cli_fail(strbuf_status(out));
    }
    strbuf_release(&text);
    return code;
}
