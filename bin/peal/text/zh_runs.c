#include <inttypes.h>

#include "text/texts.h"

const struct message zh_runs[] = {
    /* peal audit */
    {"the audit log: who changed what", "审计日志：谁修改了什么"},
    {"Newest first. -o json includes the definitions before and after each change.",
     "最新的在前。-o json 包含每次修改前后的定义。"},
    {"text in user, action, job, address or detail", "在用户、操作、任务、地址或详情中搜索的文本"},
    {"changes of this job", "只看该任务的修改"},
    {"changes by this user", "只看该用户的修改"},
    {"create, change, rename, delete, undelete, pause, resume, skip_next, rollback, run, retry, "
     "kill, "
     "backfill, drain, undrain, calendar_create, calendar_change, calendar_delete, login, ...",
     "create、change、rename、delete、undelete、pause、resume、skip_"
     "next、rollback、run、retry、kill、backfill、drain、undrain、calendar_create、calendar_"
     "change、calendar_delete、login 等"},
    {"unexpected \"%s\"; a job goes with --job", "多余的参数“%s”；任务用 --job 指定"},
    {"no changes", "没有修改记录"},
    {" of %s", "（任务 %s）"},

    /* peal webhook */
    {"webhook", "Webhook"},
    {"KIND", "类型"},
    {"RATE", "速率"},
    {"PATH", "路径"},
    {"MADE BY", "创建者"},
    {"github, gitlab or generic", "github、gitlab 或 generic"},
    {"how many requests it takes", "接受请求的速率"},
    {"requests of other programs that run a job", "由其他程序的请求触发任务运行（Webhook）"},
    {"make one: prints its URL and its secret", "创建 Webhook：输出其 URL 和密钥"},
    {"create prints the URL, and below it the secret, this once. Whoever has both runs the job, "
     "and sends it a body: it is the file $PEAL_INPUT of the run.",
     "create 输出 URL，下一行是密钥，仅此一次。同时持有两者的人即可运行该任务，并可发送请求体："
     "它就是该次运行的文件 $PEAL_INPUT。"},
    {"who sends: github (also Gitea, Forgejo), gitlab, or generic (Standard Webhooks; default)",
     "发送方：github（也适用于 Gitea、Forgejo）、gitlab 或 generic（Standard Webhooks；默认）"},
    {"how many requests it takes: 30/m (default), 2/s, 100/h",
     "接受请求的速率：30/m（默认）、2/s、100/h"},
    {"a file whose first line is the secret; - is stdin (default: a random one is made)",
     "首行为密钥的文件；- 表示标准输入（默认：生成随机密钥）"},
    {"change kind or rate", "修改类型或速率"},
    {"what is to change? Give --kind or --rate", "要修改什么？请给出 --kind 或 --rate"},
    {"make another secret; the one before ends now", "更换密钥；原密钥立即失效"},
    {"webhooks of all jobs", "列出所有任务的 Webhook"},
    {"end it: its URL answers nobody any more", "删除 Webhook：其 URL 不再接受任何请求"},
    {"no webhooks; make one: peal webhook create JOB --kind github",
     "没有 Webhook；创建：peal webhook create JOB --kind github"},
    {"peal webhook list takes no name", "peal webhook list 不接受名称"},
    {"what about webhooks? peal webhook create, set, rotate, list or delete",
     "要对 Webhook 做什么？peal webhook create、set、rotate、list 或 delete"},
    {"docs/JOBS.md says what senders sign, and what a run finds.",
     "docs/JOBS.md 说明发送方如何签名，以及运行中可以得到什么。"},
    {"Keep the secret: it is not shown again. Another one: peal webhook rotate %s",
     "请保存密钥：之后不再显示。更换密钥：peal webhook rotate %s"},
    {"the agent listens on no address that others reach; below its address the path is %s",
     "agent 未监听其他机器可访问的地址；在其地址之下的路径为 %s"},
    {"Delete the webhook of %s?", "删除 %s 的 Webhook？"},
    {"webhook deleted", "Webhook 已删除"},
    {"webhook changed", "Webhook 已修改"},
    {"the secret is not UTF-8 text", "密钥不是 UTF-8 文本"},

    /* peal backfill */
    {"run past ticks that have not run", "回填：运行过去未曾运行的触发"},
    {"Every tick at or after --from and before --to that has not run yet runs once. A terminal "
     "shows the progress; Ctrl-C ends the display, not the runs.",
     "从 --from 起、到 --to 之前（不含）的触发，凡尚未运行的各运行一次。在终端上会显示进度；Ctrl-C "
     "只结束显示，不影响运行。"},
    {"the first tick", "范围的起点（含）"},
    {"end of the range, not included (default: now)", "范围的终点（不含；默认：now）"},
    {"only count the ticks", "只统计触发次数，不运行"},
    {"the maximum number of ticks (1000)", "触发次数的上限（1000）"},
    {"wait for the end of all runs, also without a terminal", "等待所有运行结束，没有终端时也等待"},
    {"from when on? Give --from", "从何时开始？请给出 --from"},
    {"%" PRId64 " ticks, %" PRId64 " have run already, %" PRId64 " to run",
     "共 %" PRId64 " 次触发，已运行 %" PRId64 " 次，待运行 %" PRId64 " 次"},
    {"%" PRId64 " ticks, %" PRId64 " have run already, %" PRId64
     " to run (--dry-run: none was started)",
     "共 %" PRId64 " 次触发，已运行 %" PRId64 " 次，待运行 %" PRId64
     " 次（--dry-run：未启动任何运行）"},
    {"ticks that calendars take out are not among them; see: peal next %s",
     "被日历排除的触发不计在内；参见：peal next %s"},
    {"there are more ticks; go on with --from %s, or take more at once: --limit N, 10000 at most",
     "还有更多触发；可用 --from %s 继续，或用 --limit N 一次处理更多（最多 10000）"},

    /* peal channel */
    {"where messages go when jobs fail: chat rooms, mailboxes, webhooks",
     "任务失败时的通知渠道：聊天群、邮箱、webhook"},
    {"docs/NOTIFY.md has an example of each type, and what is promised.",
     "各类型的示例和投递保证见 docs/NOTIFY.md。"},
    {"what about channels? peal channel list, show, set, test or delete",
     "要对通知渠道做什么？peal channel list、show、set、test 或 delete"},
    {"makes it, or changes what is named", "创建通知渠道，或修改给出的设置"},
    {"sends a sample now; exit status 1: it did not arrive",
     "立即发送一条测试消息；退出状态 1：未送达"},
    {"all channels", "列出所有通知渠道"},
    {"one channel, without its secrets", "显示一个通知渠道，不含密钥"},
    {"delete a channel; exit status 4: jobs name it", "删除通知渠道；退出状态 4：有任务正在使用"},
    {"peal channel list takes no name", "peal channel list 不接受名称"},
    {"name one channel", "请指定一个通知渠道"},
    {"webhook, slack, dingtalk, feishu, wecom or mail",
     "webhook、slack、dingtalk、feishu、wecom 或 mail"},
    {"of a webhook or a chat room", "webhook 或聊天群机器人的 URL"},
    {"the same, as it is mostly secret: the first line of a file; - is stdin",
     "同上，但取自文件的首行，因为 URL 通常需要保密；- 表示 stdin"},
    {"of a mail server: smtp://HOST or smtps://HOST", "邮件服务器：smtp://HOST 或 smtps://HOST"},
    {"of a webhook; may repeat", "webhook 的请求头；可重复"},
    {"what messages are signed with: webhook, dingtalk, feishu",
     "存有消息签名密钥的文件：用于 webhook、dingtalk、feishu"},
    {"the sender of mail", "邮件的发件人"},
    {"who gets the mail; may repeat", "邮件的收件人；可重复"},
    {"who logs in to the mail server", "登录邮件服务器的用户"},
    {"mail, without a password, may go to a server that has no STARTTLS",
     "没有密码时，允许邮件发往不支持 STARTTLS 的服务器"},
    {"it may not", "不允许"},
    {"failure,lost,recovery (default), late, success",
     "failure,lost,recovery（默认）、late、success"},
    {"it hears of all jobs that name no channel", "接收所有未指定通知渠道的任务的消息"},
    {"only of those that name it", "只接收指定了它的任务的消息"},
    {"of the messages: en or zh", "消息的语言：en 或 zh"},
    {"at most one message of a job and event in so long: 10m",
     "同一任务的同类事件在此时长内最多发送一条，如 10m"},
    {"how long a message is tried (1h)", "发送失败时重试多久（1h）"},
    {"no channels; make one: peal channel set NAME --type slack --hook-file FILE",
     "没有通知渠道；创建：peal channel set NAME --type slack --hook-file FILE"},
    {"set what? --type, --hook, --to, --on ...", "设置什么？--type、--hook、--to、--on 等"},
    {"where to? --hook-file F or --hook URL; of mail --smtp URL",
     "发往哪里？--hook-file F 或 --hook URL；邮件用 --smtp URL"},
    {"%s: made; try it: peal channel test %s", "%s：已创建；测试：peal channel test %s"},
    {"%s: set; try it: peal channel test %s", "%s：已设置；测试：peal channel test %s"},
    {"%s: sent", "%s：已发送"},
    {"%s: not sent: %s", "%s：发送失败：%s"},
    {"%s: not text in UTF-8", "%s：不是 UTF-8 文本"},
    {"all", "全部"},
    {"named", "指定的"},
    {", and what waits for it", " 及其待发送的消息"},

    /* peal kill */
    {"kill runs, by run or by job", "终止运行：按运行或按任务"},
    {"The whole process tree gets SIGTERM, and SIGKILL after the grace period of the job.",
     "整个进程树会收到 SIGTERM，任务的宽限期过后收到 SIGKILL。"},
    {"all current runs of the job", "该任务当前的所有运行"},
    {"%s: told to end", "%s：正在终止"},
    {"their runs were told to end", "正在终止其运行"},
    {"%s is not running", "%s 没有正在进行的运行"},

    /* peal logs */
    {"the output of a run", "一次运行的输出"},
    {"The job's stdout goes to stdout, its stderr to stderr. A terminal shows control characters "
     "as ^G and keeps colours; a pipe gets all bytes unchanged. With -f, a job is followed from "
     "run to run until Ctrl-C, also while the agent restarts; a line on stderr begins and ends "
     "each run. A run is followed until it ends.",
     "任务的 stdout 输出到 stdout，stderr 输出到 stderr。在终端上，控制字符显示为 ^G "
     "的形式，颜色保留；管道得到原样的字节。用 -f 时，对任务会逐次跟踪其运行，直到按 Ctrl-C "
     "为止，agent 重启期间也不中断，每次运行的开始和结束在 stderr "
     "上各有一行；对运行则跟踪到其结束。"},
    {"which run? Give a job's name or the id of a run", "哪次运行？请给出任务名称或运行的编号"},
    {"its newest run", "最新一次运行"},
    {"follows it from run to run", "逐次跟踪其运行"},
    {"this run", "指定的运行"},
    {"the beginning of its id is enough", "编号的开头部分即可"},
    {"follow the output: a job's from run to run, a run's until it ends",
     "跟踪输出：对任务逐次跟踪其运行，对运行跟踪到其结束"},
    {"prefix every line with its time, in UTC", "在每行前加上时间（UTC）"},
    {"the run is %s; follow it with -f", "该运行的状态为%s；可用 -f 跟踪"},
    {"the run could not be started: %s", "该运行未能启动：%s"},
    {"the run was lost on node %s: more of its output is not known",
     "该运行在节点 %s 上失联：之后的输出未知"},

    /* peal run */
    {"run a job now", "立即运行一个任务"},
    {"Exit status with --wait or --follow: 0 the run was ok, 10 it was not, 7 it did not end in "
     "time. Further attempts are waited for, and the last one counts. Of a job with spread, all "
     "runs of the tick count, and --follow shows the first of them. 4: the overlap policy does not "
     "allow a run now, or its output can't be shown from here. Ctrl-C ends the command, not the "
     "run. --env and --time-limit need the right to define the job. An input has up to 256 KiB, "
     "and "
     "is kept with the run.",
     "使用 --wait 或 --follow 时的退出状态：0 运行成功，10 运行未成功，7 "
     "未在限定时间内结束。会等待后续重试，以最后一次为准。设置了 spread "
     "的任务以本次触发的全部运行为准，--follow "
     "显示其中第一个的输出。4：重叠策略不允许现在运行，或无法从此处查看其输出。Ctrl-C "
     "只结束本命令，不影响运行。--env 和 --time-limit 需要对该任务的 define "
     "权限。输入最大 256 KiB，随运行一起保存。"},
    {"run it on this node, and on no other", "只在此节点上运行"},
    {"a variable of the environment, for this run; may repeat", "本次运行的环境变量；可重复"},
    {"end this run after D, instead of the job's timeout",
     "本次运行最多持续 D，代替任务的超时时间"},
    {"Environment: %s", "环境变量：%s"},
    {"Time limit: %s", "时间限制：%s"},
    {"Input: %lld bytes", "输入：%lld 字节"},
    {"prints the id of the run", "输出运行的编号"},
    {"with a parameter of the job", "给出任务的一个参数"},
    {"as that run was asked for", "与那次运行的请求相同"},
    {"the value of a parameter; may repeat", "参数的值；可重复"},
    {"run it again as it was, with its parameters and input", "按原样重新运行，包括其参数和输入"},
    {"what the run finds in the file $PEAL_INPUT; - is stdin",
     "运行时文件 $PEAL_INPUT 的内容；- 表示标准输入"},
    {"the file $PEAL_INPUT of the run", "即该次运行的文件 $PEAL_INPUT"},
    {"give the name of a job, or --again and a run", "请给出任务名称，或 --again 和一次运行"},
    {"there is no run %s", "没有运行 %s"},
    {"one run, with its parameters", "一次运行及其参数"},
    {"Parameters:", "参数："},
    {"shows the output until the run ends", "显示输出，直到运行结束"},
    {"wait until the run ends", "等待运行结束"},
    {"wait and show the output", "等待并显示输出"},
    {"the maximum wait; the run itself continues", "最长等待时间；超过后运行本身仍继续"},
    {"--timeout is how long to wait; it needs --wait or --follow",
     "--timeout 是等待的时长；需要同时给出 --wait 或 --follow"},
    {"\n%s: the run goes on; its output: peal logs -f %s, its end: peal kill %s\n",
     "\n%s：运行仍在继续；查看输出：peal logs -f %s，终止：peal kill %s\n"},

    /* peal runs, peal stats */
    {"list runs", "列出运行"},
    {"no runs", "没有运行"},
    {"with skipped and missed ticks", "包括已跳过和已错过的触发"},
    {"queued, running, ok, failed, timed_out, killed, lost, ...",
     "queued、running、ok、failed、timed_out、killed、lost 等"},
    {"include ticks that did not run, with the reason", "包括未运行的触发及其原因"},
    {"counts and durations of runs", "运行的次数和耗时统计"},
    {"Per hour for the last day, or per day for the last 30 days. Spans without runs are omitted. "
     "P50 and P95 are exact to an eighth; LATE is the mean start delay.",
     "按小时统计最近一天，或按天统计最近 30 天，没有运行的时段不显示。P50 和 P95 "
     "的误差不超过八分之一；“延迟”是启动延迟的平均值。"},
    {"hour (default) or day, in UTC", "hour（默认）或 day，按 UTC 划分"},

    /* peal top */
    {"live view of running, next and last runs", "实时查看正在进行、即将开始和最近结束的运行"},
    {"Refreshed every second; q quits.", "每秒刷新一次；按 q 退出。"},
    {"one frame, as text", "以文本输出一帧"},
    {"peal %s  %s, up %s  %" PRId64 " job%s, %" PRId64 " running",
     "peal %s  %s，已启动 %s  %" PRId64 " 个任务%.0s，%" PRId64 " 个运行中"},
    {"  %" PRId64 " nodes", "  %" PRId64 " 个节点"},
    {"  (q quits)", "  （按 q 退出）"},
    {"store is not well: %s", "存储异常：%s"},
    {"history is not well: %s", "历史异常：%s"},

    /* peal why */
    {"why a job did, or did not, run", "任务运行或未运行的原因"},
    {"TICK is the scheduled time: RFC 3339, or local like '2027-01-01 02:30'.",
     "TICK 是计划的触发时间：RFC 3339 时间，或本地时间，如 '2027-01-01 02:30'。"},
    {"which job, and which tick?", "哪个任务，哪次触发？"},
    {"the last tick and the next", "上一次和下一次触发"},
    {"instance %s: %s", "实例 %s：%s"},
    {"  and %" PRId64 " more that wait", "  另有 %" PRId64 " 个等待中"},
    {"next", "下次"},
    {"tick", "触发时间"},
    {"started", "开始时间"},
    {"finished", "结束时间"},
    {"state", "状态"},
    {"reason", "原因"},
    {"by", "发起人"},
    {"detail", "详情"},

    /* peal workflow, and the steps of workflows in peal runs and peal logs */
    {"Instances", "实例"},
    {"%s: told to end; its final steps still run", "%s：已要求结束；收尾步骤仍会运行"},
    {"%s is not a workflow: it has no steps", "%s 不是工作流：它没有步骤"},
    {"%s has no instance that is under way", "%s 没有正在进行的实例"},
    {"STEPS", "步骤"},
    {"no workflows; a job with steps is one", "没有工作流；带有步骤的任务即为工作流"},
    {"no instances yet", "还没有实例"},
    {"the steps of a workflow's run", "工作流某次运行的各步骤"},
    {"the runs of this instance of a workflow: itself and its steps",
     "工作流该实例的运行：实例本身及其步骤"},
    {"include the steps of workflows", "包括工作流的步骤"},
    {"of a workflow: the output of its steps", "对于工作流：其各步骤的输出"},
    {"jobs with steps: their graphs and instances", "带有步骤的任务：流程图与实例"},
    {"A workflow is a job: add, apply, validate, pause, run, logs and all other commands of jobs "
     "are for workflows, too. docs/WORKFLOWS.md tells of them.",
     "工作流也是任务：apply、validate、pause、run、logs 等任务的命令同样适用于工作流。详见 "
     "docs/WORKFLOWS.md。"},
    {"what about workflows? peal workflow list, describe, graph, run, runs, retry, cancel or "
     "validate",
     "要对工作流做什么？peal workflow list、describe、graph、run、runs、retry、cancel 或 validate"},
    {"what failed, and what follows it", "重新运行失败的步骤及其后续步骤"},
    {"run only this step, or those of this workflow that is a step; may be repeated",
     "只运行该步骤，或作为步骤的该工作流的各步骤；可重复给出"},
    {"leave this step out, as if it had succeeded without output values; may be repeated",
     "跳过该步骤，视为已成功且没有输出值；可重复给出"},
    {"all steps, also those that succeeded", "所有步骤，包括已成功的"},
    {"name steps, or give --all; not both", "请给出步骤名称或 --all，不能同时给出"},
    {"%s is not the id of a run; peal workflow runs lists instances with their ids",
     "%s 不是运行 ID；peal workflow runs 可列出实例及其 ID"},
    {"run the failed steps of an instance again, and what follows them",
     "重新运行某个实例中失败的步骤及其后续步骤"},
    {"A new instance of the workflow as it is now, with the same parameters. Steps that succeeded "
     "are left out, and their output values are used; steps that are named run again all the same, "
     "with those that follow them. The steps of `finally` run in any case.",
     "按工作流的当前定义、以相同参数建立新实例。已成功的步骤不再运行，沿用其输出值；指明的步骤及其"
     "后续"
     "步骤会重新运行。`finally` 中的步骤总会运行。"},
    {"which instance? Give the id of its run", "哪个实例？请给出其运行 ID"},
    {"check files of workflows, as peal validate does", "检查工作流文件，与 peal validate 相同"},
    {"validate what? Give a file, or a folder of files", "检查什么？请给出文件或其所在目录"},
    {"how far an instance is", "实例的进度"},
    {"jobs that are workflows", "列出工作流"},
    {"peal workflow list takes no name", "peal workflow list 不接受名称"},
    {"its steps and last instances; of an instance, how far each step is",
     "其步骤与最近的实例；对于实例，显示各步骤的进度"},
    {"which workflow? Give its name, or the id of an instance",
     "哪个工作流？请给出其名称或实例的 ID"},
    {"its steps as a graph, those of an instance with their states",
     "以流程图显示其步骤；对于实例，同时显示各步骤的状态"},
    {"Each line is a step; lines lead down to the steps that wait for it. Where the locale is not "
     "UTF-8, the graph is drawn with ASCII characters.",
     "每行是一个步骤，连线向下通往等待它的步骤。区域设置不是 UTF-8 时以 ASCII 字符绘制。"},
    {"begin an instance now", "立即开始一个实例"},
    {"Exit status with --wait or --follow: 0 the instance was ok, 10 it was not. Ctrl-C ends the "
     "command, not the instance.",
     "使用 --wait 或 --follow 时的退出状态：0 表示实例成功，10 表示未成功。Ctrl-C "
     "只结束本命令，实例继续运行。"},
    {"which workflow? One at a time", "哪个工作流？一次一个"},
    {"wait until it ends; tells how each step ends", "等待其结束，并报告各步骤如何结束"},
    {"wait and show the output of its steps", "等待并显示各步骤的输出"},
    {"its instances, newest first, with the states of their steps",
     "其实例，最新的在前，附各步骤的状态"},
    {"at most so many", "最多显示的个数"},
    {"end an instance, or all that are under way", "结束一个实例，或所有正在进行的实例"},
    {"Steps that run are killed, those that wait are skipped; the steps of `finally` run all the "
     "same.",
     "正在运行的步骤被终止，等待中的步骤被跳过；`finally` 中的步骤照常运行。"},
    {0},
};
