#include "message.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

const struct message messages[] = {
    /* who, where, how */
    {"only root and %s may use this agent", "只有 root 和 %s 可以使用此代理"},
    {"the request does not say which Host it is for", "请求缺少 Host 头"},
    {"\"%.100s\" is not known as a name of this server; list it as `hosts` in the configuration "
     "file",
     "“%.100s”不是本服务器的已知名称；请在配置文件的 `hosts` 中列出它"},
    {"this request was made by a page of another site (%.100s)",
     "此请求来自其他网站的页面（%.100s）"},
    {"a request by a cookie must have an Origin; programs use a token",
     "使用 Cookie 的请求必须带有 Origin；程序请使用令牌"},
    {"%s; try again in %s s", "%s；请在 %s 秒后重试"},
    {"too many requests", "请求过多"},
    {"too many wrong logins", "登录错误次数过多"},
    {"these credentials are not valid; log in again, or use another token",
     "凭据无效；请重新登录，或使用其他令牌"},
    {"log in, or send a token: Authorization: Bearer TOKEN",
     "请登录，或发送令牌：Authorization: Bearer TOKEN"},
    {"%s may not do this: it needs the right \"%s\"", "%s 无权执行此操作：需要权限“%s”"},
    {"%s may not do this with \"%.128s\": it needs the right \"%s\" in its namespace",
     "%s 无权对“%.128s”执行此操作：需要在其命名空间中拥有权限“%s”"},
    {"this path knows %s only", "此路径只支持 %s"},
    {"there is nothing at %.200s; docs/API.md lists what there is",
     "%.200s 不存在；docs/API.md 列出了所有接口"},
    {"the console has no file %.200s; load the page anew", "控制台没有文件 %.200s；请重新加载页面"},
    {"the path is not percent-encoded text", "路径不是有效的百分号编码文本"},
    {"the query is not percent-encoded text", "查询参数不是有效的百分号编码文本"},
    {"the form is not percent-encoded text", "表单不是有效的百分号编码文本"},
    {"out of memory", "内存不足"},
    {"the agent is still loading its jobs; try again in a moment", "代理仍在加载任务；请稍后再试"},
    {"this Idempotency-Key was used for another request; make a new one",
     "此 Idempotency-Key 已用于另一个请求；请换一个新的"},
    {"the first request with this Idempotency-Key is still under way",
     "使用此 Idempotency-Key 的第一个请求仍在处理中"},
    {"Idempotency-Key: expected 1 to %d visible ASCII characters",
     "Idempotency-Key：应为 1 到 %d 个可见 ASCII 字符"},

    {"there are %d subscribers already", "订阅者已达 %d 个"},

    /* parameters and fields */
    {"parameter \"%s\" is there twice", "参数“%s”重复出现"},
    {"unknown parameter \"%s\"; known: %s", "未知参数“%s”；可用参数：%s"},
    {"unknown parameter \"%s\"; this call takes none", "未知参数“%s”；此接口没有参数"},
    {"the body must be a JSON object", "请求体必须是 JSON 对象"},
    {"unknown field \"%.60s\"; known: %s", "未知字段“%.60s”；可用字段：%s"},
    {"unknown field \"%.60s\"; this call takes none", "未知字段“%.60s”；此接口没有字段"},
    {"the body has %zu bytes; this call takes %d at most",
     "请求体有 %zu 字节；此接口最多接受 %d 字节"},
    {"a body is needed: a definition as JSON", "需要请求体：JSON 格式的定义"},
    {"the body is not JSON: line %d, column %d: %s", "请求体不是 JSON：第 %d 行第 %d 列：%s"},
    {"%s: %s", "%s：%s"},
    {"%s: expected a number from %lld to %lld", "%s：应为 %lld 到 %lld 之间的数字"},
    {"expected true or false", "应为 true 或 false"},
    {"text: expected the text of a job, as in a job file", "text：应为任务文件格式的任务文本"},
    {"this is not an id", "这不是有效的标识"},
    {"expected a time like \"2027-01-01T00:00:00Z\"", "应为类似 \"2027-01-01T00:00:00Z\" 的时间"},
    {"expected what an earlier page gave as \"next\"", "应为前一页 \"next\" 的值"},
    {"%s: expected a list", "%s：应为列表"},
    {"label: expected name=value, or name alone", "label：应为 名称=值，或只有名称"},
    {"%s: there is no state \"%s\"; known: %s", "%s：没有状态“%s”；可用状态：%s"},
    {"topics: expected some of jobs, runs, nodes, with commas between",
     "topics：应为 jobs、runs、nodes 中的若干项，以逗号分隔"},
    {"the output has no bytes from %lld on", "输出从第 %lld 字节起没有内容"},
    {"the output is too large for one answer; ask for ranges of it",
     "输出过大，无法一次返回；请使用 Range 分段读取"},
    {"spec: is missing: a schedule like \"30 2 * * *\"",
     "spec：缺少参数：例如 \"30 2 * * *\" 的计划"},
    {"status: expected ok, failed, never, running, paused or broken",
     "status：应为 ok、failed、never、running、paused 或 broken"},
    {"fields: a job has no field \"%s\"; known: %s", "fields：任务没有字段“%s”；可用字段：%s"},
    {"sort: expected name, next or last", "sort：应为 name、next 或 last"},
    {"there are more than %d jobs, too many to sort", "任务超过 %d 个，无法排序"},
    {"to: is more than %d days after from", "to：比 from 晚超过 %d 天"},
    {"lang: expected en or zh", "lang：应为 en 或 zh"},
    {"to: is not after from", "to：不晚于 from"},
    {"from: is in the future; ticks that are to come run by themselves",
     "from：在未来；将来的时刻会自动运行"},
    {"to: is in the future; ticks that are to come run by themselves",
     "to：在未来；将来的时刻会自动运行"},
    {"say which revision you have seen: If-Match: \"REVISION\"",
     "请说明您所见的修订号：If-Match: \"REVISION\""},
    {"If-Match: expected a revision like \"17\", in its quotes",
     "If-Match：应为带引号的修订号，例如 \"17\""},

    /* jobs and runs */
    {"there is no job \"%.128s\"", "没有任务“%.128s”"},
    {"there is no deleted job \"%.128s\"", "没有已删除的任务“%.128s”"},
    {"there is no run \"%.60s\": that is not the id of a run", "没有运行“%.60s”：这不是运行的标识"},
    {"there is no run %.60s; it may have been removed by retention",
     "没有运行 %.60s；可能已超过保留期而被清除"},
    {"there is no run %.60s on the nodes that answer, but %.300s, and may have it",
     "能应答的节点上没有运行 %.60s，它可能在未应答的节点上：%.300s"},
    {"run %s is on node %.63s, which has its output: ask there, peal logs %s",
     "运行 %s 在节点 %.63s 上，输出也在那里：请在该节点上查询，peal logs %s"},
    {"run %s is on node %.63s, which has not been heard of for %lld s; it will be recorded as lost",
     "运行 %s 在节点 %.63s 上，该节点已 %lld 秒没有消息；它将被记录为丢失"},
    {"there is no node %.60s", "没有节点 %.60s"},
    {"another node was told the same, and was faster; see GET /cluster",
     "另一个节点收到了相同的指令，并且更快；见 GET /cluster"},
    {"there is nothing to go on from: the store was not restored from a backup",
     "无需继续：存储并未从备份恢复"},
    {"it is under way already; see GET /cluster", "操作已在进行中；见 GET /cluster"},
    {"\"%s\" is gone by now", "“%s”已不存在"},
    {"\"%s\" was changed meanwhile; read it again", "“%s”在此期间已被修改；请重新读取"},
    {"\"%s\" is being changed by others; try again", "“%s”正被他人修改；请重试"},
    {"there is another job \"%s\" by now", "现在已有另一个任务“%s”"},
    {"there is a job \"%s\" already", "任务“%s”已存在"},
    {"\"%s\" is at revision %lld by now; read it again", "“%s”现在的修订号是 %lld；请重新读取"},
    {"\"%s\" has no coming tick to skip", "“%s”没有可跳过的后续时刻"},
    {"there is a job \"%s\" now; delete it first", "现在有任务“%s”；请先删除它"},
    {"\"%s\" was deleted meanwhile; %zu runs were added before",
     "“%s”在此期间已被删除；此前已添加 %zu 个运行"},
    {"nothing was written: %zu%s mistake%s; the first is at %s: %s",
     "未写入任何内容：%zu%s 个错误%.0s；第一个在 %s：%s"},
    {"the definition of \"%s\" can't be read by this version (%s); put a new one",
     "此版本无法读取“%s”的定义（%s）；请写入新的定义"},
    {"%d runs of \"%s\" wait already (overlap: queue)",
     "已有 %d 个“%s”的运行在等待（overlap: queue）"},
    {"run %s of \"%s\" is still under way (overlap: %s)",
     "运行 %s（任务“%s”）仍在进行中（overlap: %s）"},
    {"the path names \"%s\", the definition \"%.128s\"", "路径中的名称是“%s”，定义中的是“%.128s”"},
    {"the run is still under way: %s", "该运行仍在进行中：%s"},
    {"the run has ended already: %s", "该运行已经结束：%s"},

    {"\"%.40s\" is no revision; those of a job are numbers",
     "“%.40s”不是修订版本；任务的修订版本是数字"},
    {"revision %lld of \"%s\" is not on record", "没有任务修订版本 %lld 的记录（“%s”）"},
    {"revision %lld of \"%s\" can't be read by this version",
     "此版本的程序无法读取修订版本 %lld（“%s”）"},
    {"revision: say which one, as GET .../versions lists them",
     "revision：请指明修订版本，见 GET .../versions"},
    {"action: there is no action \"%s\"; known: %s", "action：没有操作“%s”；可用操作：%s"},
    {"span: expected hour or day", "span：应为 hour 或 day"},
    {"from: that is more than %d spans; ask for days, or for less",
     "from：超过 %d 个时段；请按天查询，或缩小范围"},
    {"job: which one? The sum of all is for those who may see all of them",
     "job：哪个任务？全部任务的总和只对可以查看所有任务的用户开放"},
    {"names: which jobs? Names with commas between", "names：哪些任务？请用逗号分隔名称"},
    {"names: %d at most", "names：最多 %d 个"},
    /* accounts */
    {"links are made on the machine of the agent: peal link",
     "链接须在代理所在的机器上创建：peal link"},
    {"the agent listens on no address: peal start --listen 127.0.0.1",
     "代理未监听任何地址：peal start --listen 127.0.0.1"},
    {"there is no user \"%.63s\"", "没有用户“%.63s”"},
    {"there is a user \"%s\" already", "用户“%s”已存在"},
    {"\"%s\" is the last admin; make another one first", "“%s”是最后一位管理员；请先创建另一位"},
    {"the account was changed meanwhile; log in again", "帐户在此期间已被修改；请重新登录"},
    {"the name or the password is wrong", "用户名或密码错误"},
    {"a name and a password are needed, or a link", "需要用户名和密码，或链接"},
    {"this link is not good, or not any more: it is for once, within 10 minutes; peal link makes "
     "another",
     "此链接无效或已失效：只能使用一次，且须在 10 分钟内；peal link 可创建新的链接"},
    {"there is an account by now; log in with it", "现在已有帐户；请用它登录"},
    {"this setup link is not good: the one that is is in the file setup-link of the data folder",
     "此设置链接无效：有效的链接在数据目录的 setup-link 文件中"},
    {"this is no session: a token is revoked by DELETE /api/v1/tokens/ID",
     "这不是会话：令牌须通过 DELETE /api/v1/tokens/ID 吊销"},
    {"too many passwords are being checked; try again in a moment",
     "正在检查的密码过多；请稍后再试"},
    {"password: expected %d to %d bytes", "password：应为 %d 到 %d 字节"},
    {"the old password is wrong", "旧密码错误"},
    {"the old password is needed to set a new one", "设置新密码需要旧密码"},
    {"name: %s", "name：%s"},
    {"is missing", "缺失"},
    {"must start with a letter or a digit", "必须以字母或数字开头"},
    {"may hold letters, digits and . _ @ - only", "只能包含字母、数字和 . _ @ -"},
    {"is longer than 63 characters", "超过 63 个字符"},
    {"a namespace has 1 to 127 characters", "命名空间应为 1 到 127 个字符"},
    {"the slashes of a namespace stand between its parts", "命名空间中的斜杠只能位于各部分之间"},
    {"a namespace may hold letters, digits and . _ / - only",
     "命名空间只能包含字母、数字和 . _ / -"},
    {"expected viewer, operator, editor, admin or none",
     "应为 viewer、operator、editor、admin 或 none"},
    {"expected viewer, operator or editor", "应为 viewer、operator 或 editor"},
    {"only an editor can have it", "只有 editor 可以拥有"},
    {"an admin has it", "admin 总是拥有"},
    {"expected the name of a namespace", "应为命名空间的名称"},
    {"an admin is so everywhere: nodes and accounts are in no namespace",
     "admin 适用于全部范围：节点和帐户不属于任何命名空间"},
    {"expected a list of at most 16 namespaces", "应为最多 16 个命名空间的列表"},
    {"a role is needed, everywhere or in a namespace",
     "需要一个角色：全局的，或在某个命名空间中的"},
    {"a token can't make tokens; log in", "令牌不能创建令牌；请登录"},
    {"label: expected 1 to %d bytes: what the token is for",
     "label：应为 1 到 %d 字节：令牌的用途"},
    {"expires_in: expected a duration like \"90d\", or \"never\"",
     "expires_in：应为类似 \"90d\" 的时长，或 \"never\""},
    {"there is no token %.60s", "没有令牌 %.60s"},

    /* facades */
    {"there are more than %d jobs: ask for a part of them", "任务超过 %d 个：请只查询其中一部分"},
    {"nobody leads just now", "目前没有领导节点"},
    {"this node is a follower", "此节点是跟随者"},
    {"name: expected a text", "name：应为文本"},
    {"executor: expected shell", "executor：应为 shell"},
    {"expected a text", "应为文本"},
    {"expected a schedule", "应为计划"},
    {"expected names and values", "应为名称和值"},
    {"expected allow or forbid", "应为 allow 或 forbid"},
    {"expected a command", "应为命令"},
    {"expected NAME=VALUE, with commas between", "应为 NAME=VALUE，以逗号分隔"},
    {"a quote does not end", "引号没有结束"},
    {"peal runs commands only: expected shell", "peal 只运行命令：应为 shell"},
    {"peal runs a job on one node at a time: say so with \"VALUE:1\"",
     "peal 每次只在一个节点上运行任务：请用 \"VALUE:1\" 说明"},
    {"peal starts a tick once; it does not try again", "peal 对每个时刻只启动一次，不会重试"},
    {"a job can't wait for another one", "任务不能等待另一个任务"},
    {"peal keeps all output itself, and has no processors", "peal 自己保存所有输出，没有处理器"},
    {"jobs stay until they are deleted; give it an expires_at",
     "任务会一直保留到被删除；请为其设置 expires_at"},
    {"this field is not known, or can't be carried over", "未知字段，或无法转换"},
    {"job: expected {\"name\",\"command\",\"cronExpr\"}, as JSON",
     "job：应为 JSON 格式的 {\"name\",\"command\",\"cronExpr\"}"},
    {"job: %s", "job：%s"},
    {"name: expected the name of a job", "name：应为任务的名称"},

    /* why it did, or did not, run */
    {": %s", "：%s"},
    {" (%s)", "（%s）"},
    {".", "。"},
    {": exit code %d.", "：退出码 %d。"},
    {"It %s without having started", "未启动即%s"},
    {"It started at %s and %s", "于 %s 启动，%s"},
    {"It started at %s and %s after %s", "于 %s 启动，%s，历时 %s"},
    {"ended well", "正常结束"},
    {"failed", "失败"},
    {"timed out", "超时"},
    {"was killed", "被终止"},
    {"was lost", "丢失"},
    {"It was skipped", "已跳过"},
    {"It was missed", "已错过"},
    {" So were all %lld ticks from %s to %s.", "共 %lld 个时刻均是如此，从 %s 到 %s。"},
    {"It waits for an earlier run of the job to end.", "正在等待该任务先前的运行结束。"},
    {"It is due and waits for a node to take it.", "时刻已到，正在等待节点接手。"},
    {"It is about to start on %s.", "即将在 %s 上启动。"},
    {"It has been running on %s for %s.", "正在 %s 上运行，已历时 %s。"},
    {"It is due, but no node has the labels of its where: %s. See `peal nodes`.",
     "时刻已到，但没有节点具有其 where 要求的标签：%s。请查看 `peal nodes`。"},
    {"The job is not due at this time.", "任务在此时刻无需运行。"},
    {"The job is not due at this time; before it, it was due at %s.",
     "任务在此时刻无需运行；在此之前的时刻是 %s。"},
    {"The job is not due at this time; after it at %s.",
     "任务在此时刻无需运行；在此之后的时刻是 %s。"},
    {"The job is not due at this time; before it, it was due at %s, after it at %s.",
     "任务在此时刻无需运行；在此之前的时刻是 %s，之后是 %s。"},
    {"It is due in %s.", "将在 %s 后运行。"},
    {"It is due in %s, and will be skipped unless the job is resumed before.",
     "时刻在 %s 之后，将被跳过，除非任务在此之前恢复。"},
    {"It is due in %s, and will be skipped, as a person asked.",
     "时刻在 %s 之后，将按用户要求跳过。"},
    {"It is due in %s, but no node has the labels of its where: %s.",
     "时刻在 %s 之后，但没有节点具有其 where 要求的标签：%s。"},
    {"It is due in %s, but this agent is draining and starts nothing.",
     "时刻在 %s 之后，但此代理正在排空，不启动任何任务。"},
    {"It was skipped: the job is paused. It will be on record within an hour, or when the job is "
     "resumed.",
     "已跳过：任务处于暂停状态。一小时内或任务恢复时将记录在案。"},
    {"It is due, but this agent is draining and starts nothing.",
     "时刻已到，但此代理正在排空，不启动任何任务。"},
    {"It is due and being dealt with; ask again in a moment, and see `peal state` if this goes on.",
     "时刻已到，正在处理；请稍后再问，若持续如此，请查看 `peal state`。"},
    {"The job has not been due since it was made.", "任务自创建以来尚未到过运行时刻。"},
    {"The job was made later, at %s.", "任务在此之后才创建，创建于 %s。"},
    {"Nothing is on record. Its record may have been removed by retention, or the job had another "
     "schedule then.",
     "没有记录。记录可能已超过保留期而被清除，或者任务当时使用另一个计划。"},
    {"it ended with an exit code other than 0", "以非 0 退出码结束"},
    {"a signal from elsewhere ended it", "被外部信号终止"},
    {"it could not be started", "无法启动"},
    {"it ran longer than its timeout", "运行时间超过其 timeout"},
    {"a person stopped it", "被用户停止"},
    {"a newer run took its place (overlap: replace)", "被较新的运行取代（overlap: replace）"},
    {"the previous run was still under way (overlap: skip)",
     "上一次运行仍在进行中（overlap: skip）"},
    {"too many runs were waiting already (overlap: queue)", "等待的运行已经太多（overlap: queue）"},
    {"the job was paused", "任务处于暂停状态"},
    {"a person asked to skip it", "用户要求跳过"},
    {"the job was deleted before it started", "任务在启动前已被删除"},
    {"no agent was there, and catch_up did not ask for it later",
     "当时没有代理在运行，且 catch_up 未要求补跑"},
    {"no agent was there, and it is older than the catch_up window",
     "当时没有代理在运行，且已超出 catch_up 的时间窗口"},
    {"no agent was there, and more were missed than the catch_up limit",
     "当时没有代理在运行，且错过的次数超过 catch_up 的上限"},
    {"it could not start before its deadline", "未能在其 deadline 之前启动"},
    {"it was begun but did not start within 5 s, and must not start later",
     "已开始但未能在 5 秒内启动，此后不得再启动"},
    {"its node died while it ran", "其节点在运行期间失效"},
    {"its spawner died; how it ended is not known", "其启动进程已退出；结果未知"},
    {"everything on its node was told to stop", "其节点上的一切均被要求停止"},
    {"no node that may run it was there", "没有可以运行它的节点"},
    {"the store was restored from a backup", "存储从备份恢复"},

    /* store and history */
    {"it is not well; an admin can see why", "状态异常；管理员可查看原因"},
    {"the store did not say whether it was done; look before trying again",
     "存储未确认操作是否完成；重试前请先查看"},
    {"the store can't do this now: %s", "存储暂时无法执行此操作：%s"},
    {"the history can't do this now: %s", "历史库暂时无法执行此操作：%s"},
};

const size_t message_count = sizeof(messages) / sizeof(messages[0]);

const char *message_in(enum language language, const char *english)
{
    if (language != LANGUAGE_ZH)
        return english;
    for (size_t i = 0; i < message_count; i++) {
        if (strcmp(messages[i].en, english) == 0)
            return messages[i].zh;
    }
    return english;
}

/* ---- Accept-Language ---- */

/* The weight of one item: "zh-CN;q=0.8". */
static double weight_of(const char *item, size_t length)
{
    const char *q = memmem(item, length, ";q=", 3);
    return q ? strtod(q + 3, NULL) : 1;
}

static bool is_language(const char *item, size_t length, const char *name)
{
    return length >= 2 && strncasecmp(item, name, 2) == 0 &&
           (length == 2 || strchr("-;, \t", item[2]));
}

enum language language_wanted(const char *accept_language)
{
    double chinese = 0, english = 0;
    for (const char *item = accept_language; item && *item;) {
        item += strspn(item, ", \t");
        size_t length = strcspn(item, ",");
        double weight = weight_of(item, length);
        if (is_language(item, length, "zh") && weight > chinese)
            chinese = weight;
        if (is_language(item, length, "en") && weight > english)
            english = weight;
        item += length;
    }
    return chinese > english ? LANGUAGE_ZH : LANGUAGE_EN;
}
