#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "text/tr.h"

bool language_by_name(const char *name, enum language *ret)
{
    bool is_known = strcmp(name, "en") == 0 || strcmp(name, "zh") == 0;
    if (is_known)
        *ret = *name == 'z' ? LANGUAGE_ZH : LANGUAGE_EN;
    return is_known;
}

/* "zh", "zh_CN.UTF-8": an item of that length in a locale or in LANGUAGE. */
static bool is_of(const char *item, size_t length, const char *language)
{
    return length >= 2 && strncmp(item, language, 2) == 0 &&
           (length == 2 || strchr("_.@", item[2]));
}

static bool is_utf8(const char *locale)
{
    const char *charset = strchr(locale, '.');
    size_t length = charset ? strcspn(charset, "@") : 0;
    return (length == 6 && strncasecmp(charset, ".UTF-8", 6) == 0) ||
           (length == 5 && strncasecmp(charset, ".UTF8", 5) == 0);
}

static const char *variable(const char *name)
{
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

static const char *locale_of_messages(void)
{
    static const char *const names[] = {"LC_ALL", "LC_MESSAGES", "LANG"};
    const char *locale = NULL;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && !locale; i++)
        locale = variable(names[i]);
    return locale ? locale : "C";
}

/* That of LC_CTYPE is the terminal's, if it is set. */
bool locale_is_utf8(void)
{
    const char *all = variable("LC_ALL"), *ctype = variable("LC_CTYPE");
    return is_utf8(all ? all : ctype ? ctype : locale_of_messages());
}

enum language language_of_environment(void)
{
    enum language language;
    const char *asked = variable("PEAL_LANG"), *locale = locale_of_messages();
    if (asked && language_by_name(asked, &language))
        return language;
    if (!is_utf8(locale))
        return LANGUAGE_EN;
    const char *item = strncmp(locale, "C.", 2) == 0 ? NULL : variable("LANGUAGE");
    for (; item && *item; item += strspn(item, ":")) {
        size_t length = strcspn(item, ":");
        if (is_of(item, length, "zh") || is_of(item, length, "en"))
            return *item == 'z' ? LANGUAGE_ZH : LANGUAGE_EN;
        item += length;
    }
    return is_of(locale, strlen(locale), "zh") ? LANGUAGE_ZH : LANGUAGE_EN;
}
