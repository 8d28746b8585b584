#include "text/texts.h"

const struct message zh_client[] = {
    /* maintenance */
    {"--cluster, or --namespace; not both", "--cluster 和 --namespace 只能选其一"},
    {"jobs, or the cluster or a namespace; not both", "任务，或集群、命名空间，只能选其一"},
    {"--reason is for --cluster and --namespace", "--reason 用于 --cluster 和 --namespace"},
    {"the cluster", "集群"},
    {"namespace %s", "命名空间 %s"},
    {": paused", "：已暂停"},
    {": maintenance", "：维护"},
    {" from ", "，始于 "},
    {" until ", "，直到 "},
    {"namespace %s is not paused", "命名空间 %s 并未暂停"},
    {"the cluster is not paused", "集群并未暂停"},

    /* the agent */
    {"can't reach %s: %s", "无法连接 %s：%s"},
    {"no answer", "没有应答"},
    {"If the certificate is its own (peal tls init): --ca FILE, a copy of its tls/cert.pem",
     "如果证书是自签的（peal tls init）：使用 --ca FILE，即其 tls/cert.pem 的副本"},
    {"the agent at %s is for root and for the user that it runs as; for others: --url, with a "
     "token",
     "%s 的 agent 只供 root 及其运行用户使用；其他用户请用 --url 和令牌"},
    {"no agent answers at %s; is it running?", "%s 处没有 agent 应答；agent 是否在运行？"},
    {"Start it: peal start -d --data %s", "启动：peal start -d --data %s"},
    {"can't tell where the data folder is: no --data, no PEAL_DATA, no HOME",
     "无法确定数据目录：没有 --data、PEAL_DATA 和 HOME"},
    {"which agent? --url https://HOST:7325; this machine's own needs no login",
     "哪个 agent？--url https://HOST:7325；本机的 agent 无需登录"},
    {"line %lld, column %lld", "第 %lld 行第 %lld 列"},
    {"line %lld", "第 %lld 行"},
    {"column %lld", "第 %lld 列"},
    {"the connection to the agent broke; look whether it was done before you repeat",
     "与 agent 的连接中断；重试前请先确认操作是否已完成"},
    {"If it has a certificate: --url https://%s", "如果它有证书：--url https://%s"},
    {"the agent's answer is not JSON", "agent 的应答不是 JSON"},
    {"the agent answered with status %ld", "agent 应答的状态码为 %ld"},
    {"Log in: peal login --url %s", "登录：peal login --url %s"},
    {"node %s %s: what it has on record is not shown", "节点 %s %s：未显示其上的记录"},
    {"the history's database %s: what it has on record is not shown",
     "历史数据库%s：未显示其中的记录"},
    {"%s; trying again for %d s", "%s；将在 %d 秒内重试"},
    {"%s answers with status %ld; trying again for %d s",
     "%s 应答的状态码为 %ld；将在 %d 秒内重试"},
    {"no agent answers at %s; trying again for %d s", "%s 处没有 agent 应答；将在 %d 秒内重试"},
    {"the connection to %s broke; trying again for %d s", "与 %s 的连接中断；将在 %d 秒内重试"},
    {"connected again", "已重新连接"},
    {"nothing can start now: %s", "目前无法启动任何运行：%s"},
    {"no node can enforce %s: what has it is not run until one has the label %s "
     "(docs/JOBS.md, \"Limits of a whole run\")",
     "没有节点能强制执行 %s：在有节点具有标签 %s 之前，使用该限制的任务不会运行"
     "（docs/JOBS.md，“Limits of a whole run”）"},
    {"started (%s)", "开始（%s）"},

    /* another machine's agent, and tokens */
    {"%s would carry secrets in the clear; use https://", "%s 会以明文传输密钥；请使用 https://"},
    {"\"%s\" is not the URL of an agent; expected one like https://host:7325",
     "“%s”不是 agent 的 URL；应类似 https://host:7325"},
    {"can't read a token from %s: %s", "无法从 %s 读取令牌：%s"},
    {"it is empty", "文件为空"},
    {"can't tell where to keep the token: no HOME", "无法确定令牌的保存位置：没有 HOME"},

    /* jobs and documents */
    {"no %s is named \"%s\"; did you mean %s?", "没有名为“%2$s”的%1$s；是否指 %3$s？"},
    {"no %s is named \"%s\"; see: %s", "没有名为“%2$s”的%1$s；参见：%3$s"},
    {"\"%s\" was deleted; back with: peal undelete %s", "“%s”已被删除；还原：peal undelete %s"},
    {"See: peal %s list", "参见：peal %s list"},
    {"Delete the %s %s%s?", "删除%s %s%s？"},
    {"--%s: not text in UTF-8", "--%s：不是 UTF-8 文本"},

    /* accounts */
    {"the role in --namespace %.*s", "--namespace %.*s 的角色"},
    {"--namespace %s needs a --role", "--namespace %s 需要同时给出 --role"},
    {" (no define)", "（无定义权）"},
    {"there is no terminal to ask for it on: use --password-file FILE",
     "没有终端可供输入：请使用 --password-file FILE"},
    {"there is no terminal to ask for it on: use --name NAME",
     "没有终端可供输入：请使用 --name NAME"},
    {"nothing was typed", "没有输入内容"},
    {"The same again", "再次输入"},
    {"these are two passwords; nothing was changed", "两次输入的密码不一致；未做任何更改"},

    /* many jobs at once */
    {"checked", "已检查"},
    {"written", "已写入"},
    {"could not be changed", "未能修改"},
    {"there are %lld jobs, and %lld more would be beyond the quota of %lld; nothing was changed. "
     "Raise quotas.jobs in the agent's configuration file",
     "已有 %lld 个任务，再加 %lld 个将超过配额 %lld；未做任何更改。请在 agent 的配置文件中调高 "
     "quotas.jobs"},
    {"created", "已创建"},
    {"adopted", "已接管"},
    {"would create", "将创建"},
    {"would change", "将修改"},
    {"would adopt", "将接管"},
    {"would delete", "将删除"},
    {"%zu unchanged", "%zu 个未变"},
    {"nothing was changed (--dry-run)", "未做任何更改（--dry-run）"},
    {"\"%s\" was renamed to \"%s\"", "“%s”已重命名为“%s”"},
    {0},
};
