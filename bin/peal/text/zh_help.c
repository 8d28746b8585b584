#include <inttypes.h>

#include "text/texts.h"

/* What the help of all commands shares: its headings, the overview, and the options of several. */
const struct message zh_help[] = {
    {"Examples:", "示例："},
    {"Usage: ", "用法："},
    {"Options:", "选项："},
    {"Options of %s:", "%s 的选项："},
    {"\n%s:\n", "\n%s：\n"},

    /* peal --help */
    {"cron for one machine or a thousand", "从一台机器到上千台机器的 cron"},
    {"try peal in a temporary folder", "在临时目录中试用 peal"},
    {"start the agent", "启动 agent"},
    {"next and last run of each job", "每个任务的下次和上次运行"},
    {"run a job, follow its output", "运行一个任务，并跟踪其输出"},
    {"why a job did or did not run", "任务运行或未运行的原因"},
    {"The agent", "Agent"},
    {"The cluster", "集群"},
    {"Accounts", "账户"},
    {"Jobs", "任务"},
    {"Runs", "运行"},
    {"One of many", "多选一"},
    {"Files", "文件"},
    {"Schedules", "计划"},
    {"Other", "其他"},
    {"the help of a command: peal help COMMAND", "查看命令的帮助：peal help COMMAND"},
    {"Exit status: ", "退出状态："},
    {"0 ok, 1 error, 2 wrong usage, 3 not found or not running, 4 conflict, 5 unreachable, 6 "
     "invalid input, 7 timed out waiting, 8 nothing can start, 10 the run failed, 11 held by "
     "another, 12 lost while held.",
     "0 成功，1 出错，2 用法有误，3 不存在或未运行，4 冲突，5 无法连接，6 输入无效，7 等待超时，8 "
     "无法启动任何运行，10 运行失败，11 被其他进程持有，12 持有期间失去。"},

    /* the program itself */
    {"print the version", "显示版本"},
    {"version takes no arguments", "version 没有参数"},
    {"print a completion script for the shell, or write the man pages",
     "输出 shell 的补全脚本，或生成手册页"},
    {"Completes commands, options, and the names of the agent's jobs. man writes the manual pages "
     "into a folder, as `make install` does.",
     "可补全命令、选项和 agent 中的任务名称。man 将手册页写入指定目录，与 `make install` 相同。"},
    {"for which shell? bash, zsh or fish", "用于哪个 shell？bash、zsh 或 fish"},
    {"where to? peal completion man DIR", "写到哪里？peal completion man DIR"},
    {"in ~/.bashrc", "写入 ~/.bashrc"},
    {"in ~/.zshrc, after compinit", "写入 ~/.zshrc，放在 compinit 之后"},
    {"in config.fish", "写入 config.fish"},

    /* options of several commands */
    {"language of messages: en or zh (else $PEAL_LANG, else that of the locale)",
     "消息的语言：en 或 zh（默认取 $PEAL_LANG，其次取区域设置）"},
    {"the agent's data folder (else $PEAL_DATA, else the default)",
     "agent 的数据目录（默认取 $PEAL_DATA，其次取默认目录）"},
    {"the agent of another machine, like https://host:7325 (else $PEAL_URL)",
     "另一台机器上的 agent，如 https://host:7325（默认取 $PEAL_URL）"},
    {"a file whose first line is the token for that agent (else the token in $PEAL_TOKEN, else the "
     "one kept by peal login)",
     "首行为该 agent 令牌的文件（默认取 $PEAL_TOKEN 中的令牌，其次取 peal login 保存的令牌）"},
    {"the CA certificate that signed that agent's certificate (else $PEAL_CA)",
     "签发该 agent 证书的 CA 证书（默认取 $PEAL_CA）"},
    {"table (default), json or yaml", "table（默认）、json 或 yaml"},
    {"table (default), wide, json, yaml or name", "table（默认）、wide、json、yaml 或 name"},
    {"table (default) or json", "table（默认）或 json"},
    {"text (default) or json", "text（默认）或 json"},
    {"no confirmation (asked for on a terminal only)", "不再确认（仅在终端上询问）"},
    {"no confirmation; needed where there is no terminal to ask on",
     "不再确认；没有终端可供询问时必须给出"},
    {"the maximum number of rows, newest first (20)", "最多显示的行数，最新的在前（20）"},
    {"start of the time range", "时间范围的起点"},
    {"end of the time range", "时间范围的终点"},
    {0},
};
