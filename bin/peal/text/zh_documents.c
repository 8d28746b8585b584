/* jobs/documents: groups, calendars, channels and maintenance in files */
#include "text/texts.h"

const struct message zh_documents[] = {
    {"%s: there is no value for it, neither here (%s) nor on the agent. Set that, or first: peal "
     "channel set %s --type %s %s",
     "%s：没有它的值，此处（%s）和 agent 中都没有。请设置，或先执行：peal channel set %s --type %s "
     "%s"},
    {"%s: the asterisks stand for no value that the agent has. First: peal channel set %s --type "
     "%s "
     "%s",
     "%s：agent 中没有这些星号所代表的值。请先执行：peal channel set %s --type %s %s"},
    {"; this agent is of an older peal, and takes jobs alone",
     "；此 agent 的 peal 版本较旧，只接受任务"},
    {"maintenance %s is over, and left out", "维护 %s 已结束，不再写入"},
    {"%zu documents were written before it, and no job", "此前已写入 %zu 项，任务均未写入"},
    {"%s \"%s\" is defined twice: in %s:%d, too", "%s“%s”重复定义：%s:%d 中也有"},
    {"environment variable %s", "环境变量 %s"},
    {"file %s", "文件 %s"},
    {"%zu job%s, and %zu more; nothing was changed, --apply adds them",
     "%zu 个任务%.0s，另有 %zu 项；未做修改，--apply 会添加"},
    {"%s: there is another one of this name", "%s：已有同名而内容不同的一个"},
    {"%s is left out: only an admin sees all of it", "未导出%s：只有管理员能看到全部内容"},
    {"%s is left out: this version can't read it", "未导出%s：此版本无法读取"},
    {"%s is in it, too: another job names it", "也包含 %s：另一任务引用它"},
    {"%zu jobs name secrets, which are in no file: peal secret list, peal secret set",
     "%zu 个任务引用机密，文件中不含机密：peal secret list、peal secret set"},
    {"show what a file of peal export defines, or add it",
     "显示或添加 peal export 所写文件中的内容"},
    {"Jobs, groups, calendars, channels and maintenance of a file, a folder or stdin, YAML or "
     "JSON, "
     "as peal export writes them. --apply adds all of it, or nothing: what is there already and is "
     "another one is left alone, unless --replace is given. Jobs are not marked as those of peal "
     "apply are.",
     "读取文件、目录或标准输入中的任务、并发组、日历、通知渠道和维护，YAML 或 JSON，格式与 peal "
     "export "
     "所写相同。--apply 全部添加，否则什么都不添加：已有而内容不同的保持不变，除非给出 "
     "--replace。任务不带 "
     "peal apply 的标记。"},
    {"which file? One that peal export yaml has written, or - for stdin",
     "请指定文件：peal export yaml 所写的文件，或 - 表示标准输入"},
    {"add it", "添加"},
    {"replace what has the same name and is another one", "替换同名而内容不同的内容"},
    {"kind: there is no kind \"%.60s\"; did you mean \"%s\"?",
     "kind：没有类型“%.60s”；您是否要写“%s”？"},
    {"kind: this peal does not know \"%.60s\"; known: %s. If a newer one wrote the file, use that "
     "one",
     "kind：此版本的 peal 不认识“%.60s”；可用：%s。如果文件由更新的版本写成，请使用该版本"},
    {"a %s %s", "%s%s"},
    {"needs a name, a text", "需要名称（文本）"},
    {"expected the value itself, {env: NAME} or {file: PATH}",
     "应为值本身、{env: NAME} 或 {file: PATH}"},
    {"what it refers to is not a text", "所引用的内容不是文本"},
    {"unknown field \"%.60s\"; known: namespace, from, to, reason",
     "未知字段“%.60s”；可用：namespace、from、to、reason"},
    {"expected a namespace like \"shop\"", "应为类似 \"shop\" 的命名空间"},
    {"expected a text of up to 150 bytes", "应为不超过 150 字节的文本"},
    {0},
};
