#include "client/remote.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/known_tokens.h"
#include "text/tr.h"

enum { TOKEN_MAX = 4096 };

static const char *variable(const char *name)
{
    const char *text = getenv(name);
    return text && *text ? text : NULL;
}

/* Would the connection be unencrypted and not local? */
static bool is_open_to_others(const char *url)
{
    static const char *const near[] = {"http://localhost", "http://127.", "http://[::1]"};
    for (size_t i = 0; i < sizeof(near) / sizeof(near[0]); i++) {
        if (strncasecmp(url, near[i], strlen(near[i])) == 0)
            return false;
    }
    return strncasecmp(url, "http://", strlen("http://")) == 0;
}

enum exit_code remote_refuse_clear(const struct remote *remote)
{
    if (!is_open_to_others(remote->url.text))
        return EXIT_OK;
    cli_error("%s would carry secrets in the clear; use https://", remote->url.text);
    return EXIT_USAGE;
}

static enum exit_code take_url(struct remote *remote, const char *url)
{
    if (strncasecmp(url, "https://", 8) != 0 && strncasecmp(url, "http://", 7) != 0) {
        cli_error("\"%s\" is not the URL of an agent; expected one like https://host:7325", url);
        return EXIT_USAGE;
    }
    strbuf_adds(&remote->url, url);
    while (remote->url.length && remote->url.text[remote->url.length - 1] == '/')
        strbuf_truncate(&remote->url, remote->url.length - 1);
    return cli_fail(strbuf_status(&remote->url));
}

/* The first line of the file. */
static enum exit_code read_token(const char *path, char token[TOKEN_MAX])
{
    FILE *file = fopen(path, "re");
    bool done = file && fgets(token, TOKEN_MAX, file);
    if (!done)
        cli_error("can't read a token from %s: %s", path,
                  file ? tr("it is empty") : strerror(errno));
    if (file)
        fclose(file);
    if (done)
        token[strcspn(token, " \t\r\n")] = '\0';
    return done ? EXIT_OK : EXIT_ERROR;
}

static enum exit_code take_token(struct remote *remote)
{
    char read[TOKEN_MAX];
    struct strbuf kept;
    const char *path = variable("PEAL_TOKEN_FILE"), *token = variable("PEAL_TOKEN");
    bool is_near = !remote->url.length;
    if (path && !(is_near && access(path, R_OK) != 0)) {
        enum exit_code code = read_token(path, read);
        if (code != EXIT_OK)
            return code;
        token = read;
    }
    if (!token && !is_near) {
        strbuf_init(&kept);
        known_token_find(remote->url.text, &kept);
        snprintf(read, sizeof(read), "%s", kept.text);
        strbuf_release(&kept);
        token = *read ? read : NULL;
    }
    if (!token)
        return EXIT_OK;
    enum exit_code code = remote_refuse_clear(remote);
    if (code != EXIT_OK)
        return code;
    strbuf_addf(&remote->token, "Authorization: Bearer %s", token);
    return cli_fail(strbuf_status(&remote->token));
}

enum exit_code remote_init(struct remote *remote)
{
    const char *url = variable("PEAL_URL");
    *remote = (struct remote){.ca = variable("PEAL_CA")};
    strbuf_init(&remote->url);
    strbuf_init(&remote->token);
    enum exit_code code = url ? take_url(remote, url) : EXIT_OK;
    return code == EXIT_OK ? take_token(remote) : code;
}

void remote_release(struct remote *remote)
{
    strbuf_release(&remote->url);
    strbuf_release(&remote->token);
}

void remote_set_options(struct remote *remote, CURL *curl)
{
    remote->error[0] = '\0';
    curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, remote->error);
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(curl, CURLOPT_SSL_VERIFYPEER, 1L);
    curl_easy_setopt(curl, CURLOPT_SSL_VERIFYHOST, 2L);
    curl_easy_setopt(curl, CURLOPT_ACCEPT_ENCODING, "gzip");
    if (remote->ca)
        curl_easy_setopt(curl, CURLOPT_CAINFO, remote->ca);
}
