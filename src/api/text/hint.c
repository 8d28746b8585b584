#include "text/hint.h"

#include <string.h>

/* Hints without variable parts. */
static const struct {
    const char *en, *zh;
} hints[] = {
    {"\"@manual\" is for one that runs only when asked", "只在被要求时运行的任务请用 \"@manual\""},
    {"it runs by a schedule or after other jobs, not both",
     "任务按计划或在其他任务之后运行，不能兼有"},
    {"one with \"after\" has no ticks", "使用 \"after\" 的任务没有触发时间"},
    {"leave it out, or name one to wait for", "请去掉它，或指明要等待的任务"},
    {"one of them is enough", "只需其中之一"},
    {"\"job\" and \"on\" may stand here", "此处可用 \"job\" 和 \"on\""},
    {"a list is a \"command\"", "列表请用 \"command\""},
    {"a list is \"schedules\"", "列表请用 \"schedules\""},
    {"for a line of shell use \"shell\" instead of \"command\"",
     "一行 shell 命令请用 \"shell\" 代替 \"command\""},
    {"write 1536KiB for 1.5MiB", "1.5MiB 请写作 1536KiB"},
    {"use KiB, MiB, GiB, KB, MB or GB", "请使用 KiB、MiB、GiB、KB、MB 或 GB"},
    {"leave out the quotes", "请去掉引号"},
    {"leave out the leading 0", "请去掉开头的 0"},
    {"for an empty text write \"\"", "空文本请写 \"\""},
    {"use w, d, h, m or s", "请使用 w、d、h、m 或 s"},
    {"write 1h30m for 1.5h", "1.5h 请写作 1h30m"},
    {"36500d is the most", "最长为 36500d"},
    {"write it like 2027-01-31T08:00:00Z", "请写作 2027-01-31T08:00:00Z 的形式"},
    {"use H to spread jobs by their names", "请用 H 按名称分散任务"},
    {"6L is the last Saturday", "6L 表示最后一个星期六"},
    {"six fields are seconds-first, a year needs seven", "六个字段时秒在最前，年份需要七个字段"},
};

static bool starts_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

/* `did you mean "schedule"?`, in the words of parsed_texts.c, so that it is seen that a message has
 * the hint already. */
static void print_guess(const char *names, struct strbuf *out)
{
    size_t length = strlen(names);
    if (length && names[length - 1] == '?')
        length--;
    bool is_quoted = length > 2 && names[0] == '"' && strcspn(names + 1, "\"") == length - 2;
    if (is_quoted)
        strbuf_addf(out, "是否指“%.*s”？", (int)length - 2, names + 1);
    else
        strbuf_addf(out, "是否指 %.*s？", (int)length, names);
}

void hint_print(enum language language, const char *hint, struct strbuf *out)
{
    static const char guess[] = "did you mean ";
    if (language != LANGUAGE_ZH) {
        strbuf_adds(out, hint);
        return;
    }
    if (starts_with(hint, guess)) {
        print_guess(hint + strlen(guess), out);
        return;
    }
    for (size_t i = 0; i < sizeof(hints) / sizeof(hints[0]); i++) {
        if (strcmp(hint, hints[i].en) == 0) {
            strbuf_adds(out, hints[i].zh);
            return;
        }
    }
    strbuf_adds(out, hint);
}
