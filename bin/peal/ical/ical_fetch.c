#include "ical/ical_fetch.h"

#include <curl/curl.h>
#include <string.h>
#include <strings.h>

#include "text/tr.h"

enum { BYTES_MAX = 10 * 1000 * 1000, CONNECT_S = 10, ALL_S = 30, REDIRECTS_MAX = 5 };

static const char webcal[] = "webcal://"; /* of a calendar that is subscribed to; https in truth */

static bool begins(const char *text, const char *with)
{
    return strncasecmp(text, with, strlen(with)) == 0;
}

bool ical_is_address(const char *text)
{
    return begins(text, "http://") || begins(text, "https://") || begins(text, webcal);
}

static size_t take(char *bytes, size_t size, size_t count, void *context)
{
    struct strbuf *body = context;
    size_t length = size * count;
    if (body->length + length > BYTES_MAX)
        return 0;
    strbuf_add(body, bytes, length);
    return body->failed ? 0 : length;
}

static void set_options(CURL *curl, const char *address, struct strbuf *body, char *error)
{
    curl_easy_setopt(curl, CURLOPT_URL, address);
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(curl, CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 1L);
    curl_easy_setopt(curl, CURLOPT_MAXREDIRS, (long)REDIRECTS_MAX);
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, (long)CONNECT_S);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT, (long)ALL_S);
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_ACCEPT_ENCODING, "");
    curl_easy_setopt(curl, CURLOPT_USERAGENT, "peal");
    curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, error);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, body);
}

static enum status explain(CURLcode code, long http, const struct strbuf *body, const char *error,
                           struct strbuf *why)
{
    if (body->failed)
        return E_NOMEM;
    if (code == CURLE_WRITE_ERROR)
        strbuf_addf(why, tr("it has more than %d MB"), BYTES_MAX / 1000000);
    else if (code != CURLE_OK)
        strbuf_adds(why, *error ? error : curl_easy_strerror(code));
    else if (http != 200)
        strbuf_addf(why, tr("HTTP status %ld"), http);
    else
        return OK;
    return E_IO;
}

enum status ical_fetch(const char *address, struct strbuf *ret, struct strbuf *why)
{
    char error[CURL_ERROR_SIZE] = "";
    long http = 0;
    struct strbuf url;
    strbuf_init(&url);
    if (begins(address, webcal))
        strbuf_addf(&url, "https://%s", address + strlen(webcal));
    else
        strbuf_adds(&url, address);
    CURL *curl = curl_easy_init();
    enum status st = curl ? strbuf_status(&url) : E_NOMEM;
    if (st == OK) {
        set_options(curl, url.text, ret, error);
        CURLcode code = curl_easy_perform(curl);
        curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &http);
        st = explain(code, http, ret, error, why);
    }
    curl_easy_cleanup(curl);
    strbuf_release(&url);
    return st;
}
