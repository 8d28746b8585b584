#include <inttypes.h>

#include "text/texts.h"

const struct message zh_jobs[] = {
    /* add */
    {"add a job: name, schedule, command", "添加任务：名称、计划、命令"},
    {"More fields: docs/JOBS.md, with `peal edit` or `peal apply`.",
     "更多字段见 docs/JOBS.md，可用 `peal edit` 或 `peal apply` 设置。"},
    {"which name?", "请指定任务名称"},
    {"change the job if there is one of this name", "若已有同名任务，则修改它"},
    {"when? Give a schedule, or @manual, or --after JOB",
     "何时运行？请给出计划、@manual 或 --after JOB"},
    {"a schedule and --after are one too many", "计划和 --after 只能给出其一"},
    {"what? Give a command after --, a script with --shell, or a URL with --http",
     "要运行什么？请在 -- 之后给出命令，或用 --shell 给出脚本，或用 --http 给出 URL"},
    {"one of a command after --, --shell and --http is enough",
     "-- 之后的命令、--shell 和 --http 只能给出其一"},
    {"there is a job named \"%s\" already; change it with --replace, or: peal edit %s",
     "已有名为“%s”的任务；可用 --replace 修改，或执行：peal edit %s"},
    {"%s: %s; runs %s", "%s：%s；%s运行"},
    {"%s: %s; next run: %s", "%s：%s；下次运行：%s"},
    {"none by itself", "无（不会自动触发）"},
    {"replaced", "已替换"},
    {"after %s", "在 %s 之后"},
    {"success", "成功"},
    {"failure", "失败"},
    {"always", "不论结果"},

    /* herd */
    {"the seconds in which many jobs start, and how to spread them",
     "列出大量任务同时启动的时刻，并给出错峰建议"},
    {"shows the changes, asks, and makes them", "显示变更，确认后执行"},
    {"of files, without an agent", "文件中的任务，不需要 agent"},
    {"Counts the starts of each second to come, and proposes for jobs in crowded ones `H` in place "
     "of "
     "a constant minute, or jitter: never another number of ticks on a day. Left alone are jobs "
     "with "
     "the label herd=keep, jobs that others wait for, @at, jobs whose deadline is shorter than the "
     "delay, and jobs that are spread already.",
     "统计未来每一秒的启动次数，对拥挤时刻的任务建议用 `H` 代替固定的分钟，或加上 "
     "jitter，每天的触发次数不变。以下任务不动：带标签 herd=keep "
     "的任务、被其他任务等待的任务、@at、deadline "
     "短于延迟的任务，以及已经错开的任务。"},
    {"how far ahead, up to a week (default)", "向前看多久，最长一周（默认）"},
    {"starts in one second that need no spreading (default: 10)",
     "同一秒内允许的启动次数（默认：10）"},
    {"a start moves by less than this (default: 1h)", "启动时间的移动小于此值（默认：1h）"},
    {"with -f: calendars in files NAME.yaml", "与 -f 同用：日历在文件 NAME.yaml 中"},
    {"change the jobs as proposed", "按建议修改任务"},
    {"all proposals, not only the first", "列出所有建议，而不只是前几条"},
    {"--apply changes jobs of the agent; of files, change the files",
     "--apply 修改 agent 的任务；文件中的任务请直接修改文件"},
    {"--calendars is for -f; an agent has calendars",
     "--calendars 仅与 -f 同用；agent 有自己的日历"},
    {"either --apply or -o json", "--apply 和 -o json 只能给出其一"},
    {"--horizon is a minute to a week", "--horizon 为一分钟到一周"},
    {"--within is a second to a day", "--within 为一秒到一天"},
    {"there are too many ticks to count; give a shorter --horizon",
     "触发次数过多，无法统计；请缩短 --horizon"},
    {"Change %zu job%s?", "修改 %zu 个任务%.0s？"},
    {"changed %s\n", "已修改 %s\n"},
    {"%s is defined by files (peal apply): change it there",
     "%s 由文件定义（peal apply）：请在文件中修改"},
    {"%s was changed meanwhile, and is left alone", "%s 期间已被修改，不再改动"},
    {"%zu changed, %zu defined by files, %zu changed meanwhile",
     "已修改 %zu 个，由文件定义 %zu 个，期间被修改 %zu 个"},
    {"peal herd --apply makes these changes", "执行 peal herd --apply 以应用这些变更"},
    {"%" PRId64 " starts of %" PRId64 " jobs from %s to %s",
     "%2$" PRId64 " 个任务启动 %1$" PRId64 " 次，从 %3$s 到 %4$s"},
    {"%zu nodes take runs; their capacity: %" PRId64, "%zu 个节点可运行任务；总容量：%" PRId64},
    {"they have the label herd=keep", "带有标签 herd=keep"},
    {"other jobs wait for them", "有其他任务等待它们"},
    {"@at", "@at"},
    {"they have H, ~, R or jitter already", "已有 H、~、R 或 jitter"},
    {"they have several schedules", "有多个计划"},
    {"a later start could miss their deadline", "延迟启动可能超过 deadline"},
    {"nothing would help them", "没有更好的时刻"},
    {"%" PRId64 " left alone: %s", "%" PRId64 " 个不动：%s"},
    {"and %" PRId64 " more\n", "另有 %" PRId64 " 个\n"},
    {"%" PRId64 " jobs could be spread: the worst second would have %" PRId64
     " starts instead of %" PRId64,
     "%" PRId64 " 个任务可以错开：最拥挤的一秒将有 %" PRId64 " 次启动，目前为 %" PRId64 " 次"},
    {"no job can be spread; the worst second has %" PRId64 " starts",
     "没有可以错开的任务；最拥挤的一秒有 %" PRId64 " 次启动"},
    {"no second has more than %" PRId64 " starts", "没有哪一秒的启动超过 %" PRId64 " 次"},

    /* plan */
    {"what `peal apply` would change, with the ticks of the next year",
     "显示 `peal apply` 将做的变更，以及未来一年的触发时间"},
    {"without an agent", "不需要 agent"},
    {"for a pull request", "用于合并请求"},
    {"Compares the jobs of files, and their groups, calendars, channels and maintenance, with "
     "those "
     "of the agent, or, without an agent, with other files: --against, or --git, which reads a "
     "revision of the files' repository. Shows each field that changes, with its file and line, "
     "and "
     "of each job whose ticks change how many of a year's are gained, lost or moved, what the "
     "clock's changes and calendars do to them, and with how many other jobs they start in one "
     "second; of an agent also which fall in maintenance, and where more runs of a group start "
     "than "
     "may run. Secrets are masked.\n"
     "Exit status: 0 nothing changes, 2 something does, 1 an error.",
     "把文件中的任务、并发组、日历、通知渠道和维护与 agent 的比较；不用 agent "
     "时与其他文件比较：--against，或 "
     "--git（读取文件所在仓库的某个版本）。显示每个变更的字段及其文件和"
     "行号；对触发时间有变的任务，显示一年中增加、减少、移动了多少次触发，夏令时和日历对它们的影响"
     "，以及"
     "与多少其他任务在同一秒启动；对 agent "
     "还显示哪些落在维护期内，以及哪里同一并发组的启动数超过上限。"
     "机密值显示为星号。\n"
     "退出状态：0 没有变更，2 有变更，1 出错。"},
    {"compare with the jobs of this file or folder; may repeat",
     "与此文件或目录中的任务比较；可重复"},
    {"compare with the files as they are in this revision", "与文件在此版本中的内容比较"},
    {"with --against or --git: calendars in files NAME.yaml",
     "与 --against 或 --git 同用：日历在文件 NAME.yaml 中"},
    {"with --against or --git: the zone of jobs without one (default: this machine's)",
     "与 --against 或 --git 同用：未写时区的任务的时区（默认：本机时区）"},
    {"how far ahead (default: 365)", "向前看多少天（默认：365）"},
    {"single ticks, and values in full", "列出单次触发和完整的值"},
    {"text (default), json or markdown", "text（默认）、json 或 markdown"},
    {"--prune is for the jobs of an agent", "--prune 仅用于 agent 的任务"},
    {"--calendars is for --against and --git; an agent has calendars",
     "--calendars 仅与 --against、--git 同用；agent 有自己的日历"},
    {"--tz is for --against and --git; an agent has a zone",
     "--tz 仅与 --against、--git 同用；agent 有自己的时区"},
    {"%zu to create, %zu to change, %zu to delete; %zu stay as they are",
     "新增 %zu 个，修改 %zu 个，删除 %zu 个；%zu 个不变"},
    {"%s%zu kept", "%s%zu 次不变"},
    {"%s%zu moved by ", "%s%zu 次移动 "},
    {"%s%zu gained", "%s增加 %zu 次"},
    {"%s%zu lost", "%s减少 %zu 次"},
    {" to ", " 至 "},
    {"compared up to %s, as the ticks are frequent", "触发频繁，只比较到 %s"},
    {"calendars leave %zu ticks out; before: %zu", "日历排除 %zu 次触发；此前 %zu 次"},
    {"does not exist, fires when the clock has jumped", "不存在，在时钟跳变后触发"},
    {"does not exist, does not fire", "不存在，不触发"},
    {"comes twice, fires the first time", "出现两次，第一次触发"},
    {"comes twice, fires both times", "出现两次，两次都触发"},
    {" (and %zu more)", "（另有 %zu 个）"},
    {"starts in one second with %zu others: %s", "与另外 %zu 个任务在同一秒启动：%s"},
    {"not given", "未设置"},
    {"and %zu more", "另有 %zu 个"},
    {"ticks", "触发"},
    {"differ", "差异"},
    {"together", "同时"},
    {"skipped", "跳过"},
    {"%" PRId64 " of them fall in the pause of ", "其中 %" PRId64 " 次落在暂停期内："},
    {"%" PRId64 " of them fall in maintenance of ", "其中 %" PRId64 " 次落在维护期内："},
    {"%zu ticks fall in maintenance of ", "%zu 次触发落在维护期内："},
    {"%zu ticks fall in the pause of ", "%zu 次触发落在暂停期内："},
    {"%zu runs of %s start in one second, of which %d may run: %s",
     "%zu 个运行（并发组 %s）在同一秒启动，其中 %d 个可以运行：%s"},
    {"%zu runs of %s on nodes with %s start in one second, of which %d may run: %s",
     "%zu 个运行（并发组 %s，节点 %s）在同一秒启动，其中 %d 个可以运行：%s"},
    {"beside jobs %zu to create, %zu to change, %zu to delete; %zu stay as they are",
     "任务以外：新增 %zu 个，修改 %zu 个，删除 %zu 个；%zu 个不变"},
    {"other ticks of", "触发有变："},
    {"group %s: at most %" PRId64 " at once, and up to %" PRId64
     " start in one second (%s); in %" PRId64 " seconds some wait, %" PRId64 " in all",
     "并发组 %s：同时最多 %" PRId64 " 个，而同一秒最多启动 %" PRId64 " 个（%s）；有 %" PRId64
     " 秒需要等待，共 %" PRId64 " 次启动"},
    {"; on nodes with %s", "；节点：%s"},
    {"schedule", "计划"},
    {"calendars", "日历"},
    {"calendar %s is not known here: its dates are not left out",
     "此处没有日历 %s：不排除它的日期"},
    {"calendar %s can't be read by this version: %s", "此版本无法读取日历 %s：%s"},
    {"can't run git: %s", "无法运行 git：%s"},
    {"git has no revision \"%s\" in %s", "git 中没有版本“%s”（%s）"},

    /* apply, diff */
    {"create and change jobs from files, and what they name",
     "根据文件创建和修改任务及其引用的内容"},
    {"jobs that left the folder are deleted", "删除目录中已不存在的任务"},
    {"In a folder, *.yaml, *.yml and *.json are read. Beside jobs they may have groups, calendars, "
     "channels and maintenance, each with its `kind` (docs/JOBS.md). All of it is checked before "
     "anything is changed, and what jobs name is written before them. Prints one line for each. "
     "Jobs that were applied are marked (applied_at); --prune deletes those of them that are in no "
     "file, never jobs that were made by peal add, the console or the API. A job that exists is "
     "adopted by the first file that defines it. --prune never deletes anything but jobs; "
     "--prune-documents does, whoever has made it.",
     "读取目录中的 *.yaml、*.yml 和 "
     "*.json。除任务外，文件中还可以有并发组、日历、通知渠道和维护，各自"
     "标明 `kind`（见 "
     "docs/JOBS.md）。全部检查无误后才做修改，任务引用的内容先于任务写入，每项输出一行。"
     "通过 apply 写入的任务带有标记（applied_at）；--prune "
     "删除其中不在任何文件里的任务，绝不删除由 "
     "peal add、控制台或 API 创建的任务。已有的任务由首个定义它的文件接管。--prune "
     "只删除任务；其他内容"
     "由 --prune-documents 删除，无论是谁创建的。"},
    {"unexpected \"%s\"; files go with -f", "多余的参数“%s”；文件用 -f 给出"},
    {"a file, a folder, or - for stdin; may repeat", "文件、目录，或 - 表示标准输入；可重复"},
    {"only print what would change", "只显示将发生的变更"},
    {"list and delete the jobs that were applied and are not in the files any more",
     "列出并删除通过 apply 写入、但文件中已没有的任务"},
    {"not in the files any more, and to be deleted:", "以下各项在文件中已不存在，将被删除："},
    {"Delete these %zu?", "删除这 %zu 项？"},
    {"list and delete groups, calendars and channels that no file has and no job needs",
     "列出并删除文件中没有、也没有任务需要的并发组、日历和通知渠道"},
    {"also show groups, calendars and channels that no file has and no job needs",
     "同时显示文件中没有、也没有任务需要的并发组、日历和通知渠道"},
    {"--prune-documents is for what an agent has", "--prune-documents 用于 agent 中的内容"},
    {"%s is not compared: only an admin sees all of it", "未比较%s：只有管理员能看到全部内容"},
    {"Delete %zu job%s?", "删除 %zu 个任务%.0s？"},
    {"which file? Give it with -f", "请用 -f 指定文件"},
    {"what `peal apply` would change", "显示 `peal apply` 将产生的变更"},
    {"the changes since that revision", "该版本之后的变更"},
    {"A unified diff of each job's YAML, and of each group, calendar and channel that the files "
     "have, from the agent's definition to that in the files; or of one job, from one of its "
     "revisions (peal versions JOB) to another, or to the current one. Whether a secret of a "
     "channel is another one can't be seen. Exit status like diff: 0 no difference, 1 differences, "
     "2 and more errors.",
     "逐个比较 agent 中的定义与文件中的定义（任务，以及文件中的并发组、日历和通知渠道），以 "
     "unified "
     "diff 显示其 YAML 的差异；或比较一个任务的某个版本（peal versions "
     "JOB）与另一版本或当前版本。看不出通知渠道的机密值是否不同。退出状态与 diff "
     "相同：0 无差异，1 有差异，2 及以上表示出错。"},
    {"also show jobs that were applied and are in no file any more",
     "同时显示通过 apply 写入、但文件中已没有的任务"},
    {"from this revision of the job", "起始版本号"},
    {"to this revision (default: the current one)", "目标版本号（默认为当前版本）"},
    {"either -f or --revision", "-f 和 --revision 只能给出其一"},
    {"--to needs --revision", "--to 须与 --revision 同用"},
    {"unexpected \"%s\"; files go with -f, a job with --revision",
     "多余的参数“%s”；文件用 -f 给出，任务须与 --revision 同用"},
    {"See: peal versions %s", "参见：peal versions %s"},

    /* calendar */
    {"dates and times at which jobs do not run", "设定任务不运行的日期和时段"},
    {"%s (%s): %lld ticks skipped, and perhaps more", "%s（%s）：跳过 %lld 次触发，可能更多"},
    {"%s (%s): %lld ticks skipped", "%s（%s）：跳过 %lld 次触发"},
    {"of this job, also if it does not name the calendar", "此任务的，即使它未引用该日历"},
    {"the start of the span (default: now)", "时段的开始（默认：现在）"},
    {"its end (default: 90 days later; at most 366)", "时段的结束（默认：90 天后；最多 366 天）"},
    {"its dates and windows in a span, and the ticks of jobs that it takes out",
     "一段时间内的日期和时段，以及被它排除的任务触发"},
    {"a part of days: 09:00-17:30, 'mon-fri 22:00-06:00'; may be repeated",
     "一天中的时段：09:00-17:30、'mon-fri 22:00-06:00'；可重复"},
    {"by whose clock (default: that of each schedule)",
     "以哪个时区的时钟为准（默认：各计划的时区）"},
    {"which dates? Give some, or --weekday, --window, or -f FILE",
     "哪些日期？请给出日期、--weekday、--window 或 -f FILE"},
    {"what about calendars? peal calendar list, show, preview, set or delete",
     "请指定操作：peal calendar list、show、preview、set 或 delete"},
    {"make a calendar, or put this in its place", "创建日历，或替换已有的日历"},
    {"A DATE is a day, a row of them from the first to the last with a / between, or the same "
     "without the year, for every year. What is set takes the place of what was there; the jobs "
     "that "
     "name the calendar go by it from then on. A file is YAML or JSON: dates, weekdays, windows, "
     "timezone, notes. A window is a time of day, of some weekdays or dates; the time that begins "
     "it belongs to it, the one that ends it does not, and an end before the beginning is on the "
     "next day. Of an iCalendar file the events are taken from a year ago on: those of whole "
     "days are dates, others are windows.",
     "DATE 是一天，或以 / 连接首尾的连续多天；省略年份则表示每年。设置的内容会替换原有内容；"
     "引用该日历的任务此后以它为准。文件为 YAML 或 "
     "JSON：dates、weekdays、windows、timezone、notes。"
     "时段是一天中的一段时间，可限定星期或日期；含开始时刻，不含结束时刻，结束早于开始表示到次日。"
     "iCalendar 文件取一年前起的事件：全天事件为日期，其他为时段。"},
    {"the events of an iCalendar file or address, or - for stdin: dates and windows",
     "iCalendar 文件或网址中的事件（日期和时段），- 表示标准输入"},
    {"the iCalendar address", "iCalendar 网址"},
    {"%s: %s; the calendar stays as it was", "%s：%s；日历保持不变"},
    {"%s: it has no events from a year ago on; the calendar stays as it was",
     "%s：从一年前起没有任何事件；日历保持不变"},
    {"it has more than %d MB", "内容超过 %d MB"},
    {"HTTP status %ld", "HTTP 状态 %ld"},
    {"how far ahead its events are taken (default: 5)", "取未来多少年的事件（默认：5）"},
    {"the events of --ical, or dates, or -f FILE; one of them",
     "--ical 的事件、日期或 -f FILE，只能选其一"},
    {"--years is for --ical", "--years 用于 --ical"},
    {"an event has no DTSTART", "有事件缺少 DTSTART"},
    {"an event repeats by the hour, minute or second, or more than 24 times a day",
     "有事件按小时、分钟或秒重复，或一天重复超过 24 次"},
    {"it has more than 1000 timed events in that time; give fewer --years",
     "这段时间内的非全天事件超过 1000 个；请减小 --years"},
    {"it has too many events", "事件过多"},
    {"there is no calendar (BEGIN:VCALENDAR) in it", "其中没有日历（BEGIN:VCALENDAR）"},
    {"name one calendar", "请指定一个日历"},
    {"the calendar is in a file, or - for stdin", "日历所在的文件，或 - 表示标准输入"},
    {"mon tue wed thu fri sat sun", "星期：mon tue wed thu fri sat sun"},
    {"what it is for", "用途说明"},
    {"one calendar; as YAML it is what set -f takes", "显示一个日历；YAML 输出可供 set -f 读取"},
    {"all calendars", "列出所有日历"},
    {"peal calendar list takes no name", "peal calendar list 不接受名称"},
    {"delete a calendar; exit status 4: it is in use", "删除日历；退出状态 4：正在使用"},
    {"no calendars; make one: peal calendar set holidays 12-25 2027-01-01",
     "还没有日历；创建一个：peal calendar set holidays 12-25 2027-01-01"},
    {"dates on the command line, or -f FILE, not both", "命令行上的日期和 -f FILE 只能给出其一"},
    {"%s: made, in use by %d job%s", "%s：已创建，%d 个任务%.0s正在使用"},
    {"%s: set, in use by %d job%s", "%s：已更新，%d 个任务%.0s正在使用"},
    {"Name:", "名称："},
    {"Notes:", "备注："},
    {"Weekdays:", "星期："},
    {"Dates:", "日期："},
    {"Windows:", "时段："},
    {"Time zone:", "时区："},
    {"Jobs:", "任务："},
    {" and %zu more", " 以及另外 %zu 个"},

    /* delete, undelete, pause, resume; jobs by a filter */
    {"which job?", "请指定任务"},
    {"which job? One at a time", "请指定任务，每次一个"},
    {"delete jobs; they can be restored for a week", "删除任务；一周内可以还原"},
    {"Current runs continue. Restore a job with: peal undelete NAME. Asks on a terminal; elsewhere "
     "--yes is needed. Jobs that wait for a deleted one (after) are named.",
     "正在进行的运行会继续。还原任务：peal undelete NAME。在终端上会询问，其他情况下需要 "
     "--yes。若有其他任务等待被删任务（after），会逐一列出。"},
    {"%s: deleted; back with: peal undelete %s", "%s：已删除；还原：peal undelete %s"},
    {"Delete %s?", "删除 %s？"},
    {"Delete %s and the others?", "删除 %s 等任务？"},
    {"restore deleted jobs", "还原已删除的任务"},
    {"A deleted job is kept for seven days.", "已删除的任务保留七天。"},
    {"undeleted", "已还原"},
    {"stop new runs of jobs, of a namespace or of the cluster",
     "暂停任务、命名空间或整个集群的新运行"},
    {"Current runs continue. Ticks meanwhile are recorded as skipped (paused). --all pauses each "
     "job "
     "that there is now; --cluster is one pause, also of jobs that are added later.",
     "正在进行的运行会继续。暂停期间的触发记录为已跳过（paused）。--all 逐个暂停现有的每个任务；"
     "--cluster 是一次整体暂停，对之后新增的任务同样有效。"},
    {"the whole cluster, with one pause", "整个集群，一次整体暂停"},
    {"all jobs of a namespace, with one pause", "一个命名空间的所有任务，一次整体暂停"},
    {"why, with --cluster or --namespace: the ledger says it",
     "原因，与 --cluster 或 --namespace 同用：会写入触发记录"},
    {"the pause of the cluster", "集群的暂停"},
    {"the pause of a namespace", "命名空间的暂停"},
    {"allow new runs of paused jobs, of a namespace or of the cluster",
     "恢复已暂停的任务、命名空间或整个集群"},
    {"send no messages about jobs until a time", "在指定时间之前不发送任务的消息"},
    {"Runs go on as ever. It ends by itself; before that: peal unmute. `peal list` and `peal "
     "describe` show it, and `peal channel log` the messages that were not sent.",
     "任务照常运行。到时自动结束；提前结束：peal unmute。`peal list` 和 `peal describe` "
     "会显示，未发送的消息见 `peal channel log`。"},
    {"for how long? --for 2h, or --until TIME", "静默多久？--for 2h，或 --until TIME"},
    {"for so long: 90m, 2h, 3d", "持续这么久：90m、2h、3d"},
    {"until this time", "直到此时间"},
    {"why, for those who ask later", "原因，供日后查询"},
    {"acknowledge that jobs fail: no messages until they succeed",
     "确认任务的失败：在其成功之前不再发送消息"},
    {"The message of its recovery is sent, and ends the acknowledgement; so do --for and --until, "
     "and peal unmute. Exit status 4: the last run of the job has not failed.",
     "恢复时会发送消息，确认随之结束；--for、--until 到期或 peal unmute "
     "也会结束确认。退出状态 4：任务最近一次运行没有失败。"},
    {"send messages about muted or acknowledged jobs again", "恢复发送已静默或已确认任务的消息"},
    {"Exit status 4: the job is not muted.", "退出状态 4：任务没有被静默。"},
    {"only muted and acknowledged jobs", "仅列出已静默或已确认的任务"},
    {"Messages", "消息"},
    {"muted", "已静默"},
    {"acknowledged", "已确认"},
    {"until", "至"},
    {"until it succeeds", "直到成功"},
    {"acknowledgement ended with a success:", "确认已因成功而结束："},
    {"acknowledgement ended:", "确认已结束："},
    {"mute ended:", "静默已结束："},
    {", by %s", "，操作者 %s"},
    {": ", "："},
    {"resumed", "已恢复"},
    {"jobs with TEXT in name, command or notes, instead of names",
     "选择名称、命令或备注中含有 TEXT 的任务，以代替名称"},
    {"jobs with this label; several filters select the jobs that match all of them",
     "具有此标签的任务；有多个筛选条件时须全部符合"},
    {"jobs with this owner", "属于此负责人的任务"},
    {"jobs that run on this node, or ran there last", "正在此节点上运行、或最近一次在此运行的任务"},
    {"only jobs that run on this node, or ran there last",
     "只列出正在此节点上运行、或最近一次在此运行的任务"},
    {"jobs with this status: ok, failed, never, running, paused, broken or warning",
     "处于此状态的任务：ok、failed、never、running、paused、broken 或 warning"},
    {"every job", "所有任务"},
    {"only print which jobs would change, and which not and why",
     "只显示哪些任务会改变、哪些不会及其原因"},
    {"no confirmation (asked for on a terminal; elsewhere a deletion needs this option)",
     "不再确认（在终端上会询问；其他情况下，删除须给出此选项）"},
    {"names, or a filter; not both", "名称和筛选条件只能给出其一"},
    {"--dry-run is for a filter; names say which they are",
     "--dry-run 用于筛选条件；给出名称时无需预览"},
    {"no job matches", "没有符合条件的任务"},
    {"Go on?", "继续？"},
    {"%s %lld of %lld that match", "%1$s：符合条件的 %3$lld 个任务中的 %2$lld 个"},
    {": %s, ...", "：%s 等"},
    {"left alone: %lld, %s", "保持不变：%lld 个，%s"},
    {"%lld job%s: %s", "%lld 个任务%.0s：%s"},
    {"%s waits for %s, and will not start without it", "%s 等待 %s，没有后者将不会启动"},
    {"%s runs %s as a step, and will fail without it", "%s 将 %s 作为步骤运行，没有后者将会失败"},
    {"and so do %zu more", "另有 %zu 个任务也是如此"},

    /* describe */
    {"all about a job, as a readable page", "显示任务的全部信息，便于阅读"},
    {"The schedules in words, the status, the definition, the next five ticks, upstream and "
     "downstream jobs, and the last five runs.\nFor programs: peal get NAME -o json",
     "包括计划的文字说明、状态、定义、接下来的五次触发、上下游任务，以及最近五次运行。\n供程序使用"
     "：peal get NAME -o json"},
    {"Schedule", "计划"},
    {"Time zone", "时区"},
    {"Status", "状态"},
    {"Problem", "问题"},
    {"Warning", "警告"},
    {"Since", "自"},
    {"Uid", "UID"},
    {"Created", "创建时间"},
    {"Changed", "修改时间"},
    {"Applied", "apply 时间"},
    {"Last ok", "上次成功"},
    {"Next", "下次触发"},
    {"Definition", "定义"},
    {"Next ticks", "接下来的触发"},
    {"No next ticks", "没有后续触发"},
    {"left out: calendar %s", "被日历 %s 排除"},
    {"Waits for", "上游任务"},
    {"These wait for it", "下游任务"},
    {"%s (on %s)", "%s（%s）"},
    {"there is no such job", "任务不存在"},
    {"yes", "是"},
    {"not yet", "尚未"},
    {"Last runs", "最近运行"},
    {"No runs yet", "还没有运行过"},

    /* edit */
    {"edit a job in your editor", "在编辑器中编辑任务"},
    {"Opens the job's YAML in $VISUAL, $EDITOR or vi. If the text has an error, asks whether to "
     "open the editor again, with the error at the top; an empty file cancels. Without a terminal, "
     "the first error ends the command (status 6). If someone else changed the job meanwhile, that "
     "change stays. Text that was not taken is kept in a file, which is named.",
     "用 $VISUAL、$EDITOR 或 vi 打开任务的 "
     "YAML。内容有误时，询问是否重新打开编辑器，并在文件开头显示错误；清空文件则取消。没有终端时，"
     "遇到第一个错误即结束（退出状态 "
     "6）。若他人在此期间修改了任务，则保留他人的修改。未被采用的内容保存在文件中，并显示文件名。"},
    {"Correct it and save, or empty the file to give up.", "请改正后保存，或清空文件以放弃。"},
    {"the editor (%s) was not found: name another in $EDITOR; nothing was changed",
     "找不到编辑器（%s）：请在 $EDITOR 中指定其他编辑器；未作任何修改"},
    {"the editor (%s) failed; nothing was changed", "编辑器（%s）出错；未作任何修改"},
    {"Line %d, column %d: ", "第 %d 行第 %d 列："},
    {"One job is expected here, not %zu.", "此处应为 1 个任务，而不是 %zu 个。"},
    {"The name can't be changed: runs and history belong to it.",
     "名称不能修改：运行和历史都归属于它。"},
    {"nothing was changed; your text is in %s", "未作任何修改；编辑的内容保存在 %s"},
    {"%s was changed by someone else meanwhile", "%s 在此期间已被他人修改"},
    {"%s: changed", "%s：已修改"},
    {"%s: not changed", "%s：未修改"},
    {"can't make a file in /tmp: %s", "无法在 /tmp 中创建文件：%s"},
    {"Edit it again?", "重新编辑？"},

    /* shadow */
    {"EQUAL", "一致"},
    {"ONLY CRON", "仅 CRON"},
    {"ONLY PEAL", "仅 PEAL"},
    {"ONLY", "仅"},
    {"WHY", "原因"},
    {"imported jobs beside the crontab that still runs", "与仍在运行的 crontab 并行的已导入任务"},
    {"the jobs are scheduled, and nothing is started", "任务按计划触发，但不启动"},
    {"from now on peal runs them", "从此由 peal 运行"},
    {"the way back", "退回"},
    {"The jobs of `peal import crontab --shadow` and `peal import fleet --shadow` are paused, and "
     "have the label shadow=cron: each tick is recorded as skipped. The report compares their "
     "ticks "
     "with what cron has logged, from the first of its lines to the last. Exit status 1: there are "
     "differences, or hosts that could not be compared.",
     "peal import crontab --shadow 和 peal import fleet --shadow 导入的任务处于暂停状态，带标签 "
     "shadow=cron：每次触发都记录为已跳过。report 将其触发时间与 cron "
     "日志从第一行到最后一行进行比较。"
     "退出状态 1：有差异，或有主机无法比较。"},
    {"OTHERS", "其他"},
    {"NO JOB FOR", "没有任务的行"},
    {"HOSTS", "主机"},
    {"in all", "合计"},
    {"no cron.log", "没有 cron.log"},
    {"no line of cron in cron.log", "cron.log 中没有 cron 的记录"},
    {"no job has the command of %s: %s", "没有任务对应 %s 的命令：%s"},
    {"no job is a shadow of a crontab: peal import fleet %s --shadow --apply",
     "没有与 crontab 并行的任务：peal import fleet %s --shadow --apply"},
    {"%zu jobs of anacron are not compared: cron's log does not have them",
     "%zu 个 anacron 的任务未比较：cron 日志中没有它们"},
    {"%s would also run on the node %s, whose crontab has its line still: give a node the label %s "
     "after the take-over on its host",
     "%1$s 也会在节点 %2$s 上运行，而其 crontab 中仍有对应的行：请在该主机接管之后再给节点加上标签 "
     "%3$s"},
    {"%s runs on each node with the label %s: this one can have it now",
     "%s 在带有标签 %s 的每个节点上运行：现在可以给本节点加上该标签"},
    {"%s is paused for all of its hosts: give the lines of the others back, too",
     "%s 已在其全部主机上暂停：请将其他主机的行也交还 cron"},
    {"--log and --fleet exclude each other", "--log 与 --fleet 不能同时使用"},
    {"of many machines, one by one and in all", "多台机器，逐台及合计"},
    {"the crontabs and logs of many machines, as collect-crontabs --log gathers them",
     "多台机器的 crontab 和日志，由 collect-crontabs --log 收集"},
    {"the host of these lines, in a fleet (default: this machine's name)",
     "在多台机器中，这些行所属的主机（默认为本机名称）"},
    {"paused, and compared with the logs of cron by peal shadow",
     "暂停，并由 peal shadow 与各主机的 cron 日志比较"},
    {"which command? peal shadow report, takeover or back",
     "哪个命令？peal shadow report、takeover 或 back"},
    {"has cron started what the jobs would have started?", "cron 是否启动了任务本应启动的命令？"},
    {"the log in which cron has its lines", "含有 cron 记录的日志"},
    {"ticks from then on", "从该时间起的触发"},
    {"ticks up to then", "到该时间为止的触发"},
    {"comment the lines out in the crontab, and resume their jobs",
     "在 crontab 中注释对应的行，并恢复任务"},
    {"pause the jobs, and give the lines back to cron", "暂停任务，并将对应的行交还 cron"},
    {"which log? --log FILE, or - for stdin; or --fleet DIR",
     "哪个日志？--log FILE，- 表示标准输入；或 --fleet DIR"},
    {"not a tick of the job's schedule", "不是任务计划中的触发"},
    {"a boot, which peal counts by itself", "系统启动，由 peal 自行计算"},
    {"cron has logged nothing then", "此时 cron 没有任何记录"},
    {"cron has logged other commands then", "此时 cron 记录了其他命令"},
    {"the clock is set forward or back there", "此处时钟向前或向后调整"},
    {"no job is a shadow of a crontab", "没有与 crontab 并行的任务"},
    {"%s has no line of cron like: CRON[123]: (root) CMD (backup)",
     "%s 中没有 cron 的记录，如：CRON[123]: (root) CMD (backup)"},
    {"no line of the crontab is a job with the label %s=%s",
     "crontab 中没有与带标签 %s=%s 的任务对应的行"},
    {"the crontab as it was before the first take-over: %s", "首次接管之前的 crontab：%s"},
    {"the crontab is as it was before", "crontab 已恢复原样"},
    {"crontab has not taken the new crontab; nothing was changed",
     "crontab 未接受新内容；未作任何修改"},
    {"--system is for a FILE, and without --user", "--system 需要 FILE，且不能与 --user 同时使用"},
    {"paused, and compared with cron's log by peal shadow",
     "暂停，并由 peal shadow 与 cron 日志比较"},

    /* export, import */
    {"definitions as YAML, JSON, a crontab, timers or CronJobs",
     "以 YAML、JSON、crontab、systemd 定时器或 CronJob 格式导出定义"},
    {"All jobs, unless names are given. Fields that a crontab, a timer or a CronJob has no syntax "
     "for become comments; a job that can't be one is left out, with the reason. The ticks of a "
     "timer or a CronJob are compared with those of the job for a year. YAML and JSON have the "
     "groups, calendars and channels of the jobs in front of them, and the jobs that named ones "
     "wait for or run as steps; without names all there is, maintenance to come included. "
     "Passwords "
     "and tokens are never in it: channels refer to environment variables, and keep what the agent "
     "has where those are not set (docs/NOTIFY.md).",
     "未给出名称时导出所有任务。crontab、定时器或 CronJob 无法表示的字段写为注释；无法导出的任务"
     "会略过并说明原因。定时器和 CronJob 的触发时间会与任务比较一年。YAML 和 JSON "
     "在任务之前还有它们的"
     "并发组、日历和通知渠道，以及所给任务等待的或作为步骤运行的任务；未给出名称时导出全部内容，包"
     "括尚未结束"
     "的维护。其中绝没有密码和令牌：通知渠道引用环境变量，未设置时保留 agent 已有的值（见 "
     "docs/NOTIFY.md）。"},
    {"only the jobs, without the groups, calendars and channels they need",
     "仅任务，不含其所需的并发组、日历和通知渠道"},
    {"--bare is for yaml and json", "--bare 用于 yaml 和 json"},
    {"which format? crontab, systemd, kubernetes, yaml or json",
     "请指定格式：crontab、systemd、kubernetes、yaml 或 json"},
    {"a .timer and a .service for each job", "每个任务一个 .timer 和一个 .service"},
    {"write the units of systemd into this folder", "将 systemd 单元写入此目录"},
    {"the image for jobs that are no containers", "非容器任务所用的镜像"},
    {"the namespace of the CronJobs", "CronJob 的命名空间"},
    {"--dir is for systemd", "--dir 只用于 systemd"},
    {"--image and --namespace are for kubernetes", "--image 和 --namespace 只用于 kubernetes"},
    {"%s is left out: %s", "略过 %s：%s"},
    {"can't make %s: %m", "无法创建 %s：%m"},
    {"more than %d unit files in one folder", "一个目录中的单元文件超过 %d 个"},
    {"show the jobs of the crontabs of many machines, or add them",
     "显示或添加多台机器的 crontab 中的任务"},
    {"which folder? One that collect-crontabs has made, with a folder for each host",
     "请指定目录：由 collect-crontabs 生成，每台主机一个子目录"},
    {"one folder at a time", "每次只能给出一个目录"},
    {"warning: the host has this job already: one is enough", "警告：该主机已有此任务：只保留一个"},
    {"%s: unknown time zone \"%s\"; that of this machine is taken",
     "%s：未知时区“%s”；采用本机的时区"},
    {"the label %s is for the nodes %s", "标签 %s 用于节点 %s"},
    {"%s is not a name that a label can have", "%s 不能用作标签"},
    {"%s has no folders of hosts; collect-crontabs makes them",
     "%s 中没有主机目录；请用 collect-crontabs 生成"},
    {"jobs of one host run on the node with the label host=HOST: peal start --label host=HOST",
     "单台主机的任务在带标签 host=HOST 的节点上运行：peal start --label host=HOST"},
    {"show the jobs of XXL-JOB's tables, or add them", "显示或添加 XXL-JOB 表中的任务"},
    {"which file? Rows of xxl_job_info as SQL, CSV or JSON, or - for stdin",
     "请指定文件：xxl_job_info 的行（SQL、CSV 或 JSON），- 表示标准输入"},
    {"show the jobs of systemd's timers, or add them", "显示或添加 systemd 定时器中的任务"},
    {"the user of services that name none", "未指定用户的服务所用的用户"},
    {"units of a user's own systemd", "用户自己的 systemd 的单元"},
    {"which timers? A .timer, a folder of units, or - for what `systemctl cat` prints",
     "请指定定时器：.timer 文件、单元目录，- 表示 systemctl cat 的输出"},
    {"the form", "FORM"},
    {"a crontab with a user in every line, like /etc/crontab",
     "每行带有用户的 crontab，如 /etc/crontab"},
    {"jobs from a crontab, systemd, Kubernetes, dkron, gocron or XXL-JOB",
     "从 crontab、systemd、Kubernetes、dkron、gocron 或 XXL-JOB 导入任务"},
    {"Prints the jobs as YAML on stdout, and on stderr what can't be converted. The crontab itself "
     "is never changed: remove its lines once the jobs run here. A FILE of - is stdin. The files "
     "of a folder are crontabs of the users that they are named after, as in a spool, unless "
     "--system or --user is given. A listing of another program is JSON, YAML of Kubernetes, or "
     "rows of tables as SQL or CSV; "
     "docs/FROM-OTHERS.md says what becomes of each field. Exit status 6: some lines, or tasks, "
     "could not be read.",
     "任务以 YAML 输出到 stdout，无法转换的内容输出到 stderr。crontab 本身不会被修改：任务改由 "
     "peal 运行后，请删除其中对应的行。FILE 为 - 表示标准输入。除非给出 --system 或 "
     "--user，目录中的每个文件都视为与文件同名的用户的 crontab，与 spool "
     "目录相同。其他程序的列表为 "
     "JSON、Kubernetes 的 YAML，或 SQL、CSV 格式的表；各字段的转换见 docs/FROM-OTHERS.md。退出状态 "
     "6：部分行或任务无法读取。"},
    {"what to import? peal import yaml, crontab, fleet, systemd, kubernetes, dkron, gocron or "
     "xxl-job",
     "导入什么？peal import yaml、crontab、fleet、systemd、kubernetes、dkron、gocron 或 xxl-job"},
    {"show the jobs of CronJobs, or add them", "显示或添加 CronJob 中的任务"},
    {"which file? What `kubectl get cronjobs -o yaml` prints, or - for stdin",
     "请指定文件：kubectl get cronjobs -o yaml 的输出，- 表示标准输入"},
    {"show the jobs of dkron, or add them", "显示或添加 dkron 中的任务"},
    {"which file? Of dkron's answer to GET /v1/jobs, or - for stdin",
     "请指定文件：dkron 对 GET /v1/jobs 的响应，- 表示标准输入"},
    {"show the jobs of gocron's tasks, or add them", "显示或添加 gocron 中的任务"},
    {"which file? Of gocron's answer to GET /api/task?page_size=1000 or of a dump, or - for stdin",
     "请指定文件：gocron 对 GET /api/task?page_size=1000 的响应或数据库导出，- 表示标准输入"},
    {"the answer of gocron's GET /api/task?page_size=1000",
     "gocron 对 GET /api/task?page_size=1000 的响应"},
    {"%zu task%s could not be imported", "%zu 个任务%.0s未能导入"},
    {"task %s \"%s\": %s", "任务 %s“%s”：%s"},
    {"job \"%s\": %s", "任务“%s”：%s"},
    {"your own crontab; only shows the jobs", "当前用户的 crontab；只显示任务"},
    {"adds the jobs", "添加这些任务"},
    {"/etc/crontab and /etc/cron.d", "/etc/crontab 和 /etc/cron.d"},
    {"show the jobs of a crontab, or add them", "显示或添加 crontab 中的任务"},
    {"one file at a time", "每次只能给出一个文件"},
    {"the crontab of this user; with FILE, the user of its jobs",
     "此用户的 crontab；给出 FILE 时，为其中任务的运行用户"},
    {"the channel that jobs below a MAILTO notify", "MAILTO 之后的任务所用的通知渠道"},
    {"lines have a user in the sixth field", "每行的第六个字段是用户"},
    {"put in front of the names of the jobs, like team/", "加在任务名称之前，如 team/"},
    {"add the jobs", "添加任务"},
    {"replace jobs that have the same name", "替换同名任务"},
    {"there is another job named %s", "已有另一个名为 %s 的任务"},
    {"%zu line%s could not be read", "%zu 行%.0s无法读取"},
    {"--prefix: a name that starts with \"%s\" %s", "--prefix：以“%s”开头的名称%s"},
    {"is too long", "过长"},
    {"--user and --system exclude each other", "--user 和 --system 只能给出其一"},
    {"nothing was changed; --replace changes them", "未作任何修改；可用 --replace 替换它们"},
    {"%zu job%s; nothing was changed, --apply adds them",
     "%zu 个任务%.0s；未作任何修改，可用 --apply 添加"},
    {"can't run crontab: %s; give the crontab as a file",
     "无法运行 crontab：%s；请改以文件给出 crontab"},
    {"warning: lines in %s name a user before the command: add --system",
     "警告：%s 中的行在命令之前带有用户：请加上 --system"},
    {"info", "提示"},
    {"warning", "警告"},
    {"error", "错误"},
    {"the files of %s are taken for crontabs of the users that they are named after; --system is "
     "for lines with a user, as in /etc/cron.d",
     "%s 中的文件视为与文件同名的用户的 crontab；若每行带有用户（如 /etc/cron.d），请用 --system"},

    /* get, list */
    {"show jobs, as a table, YAML or JSON", "以表格、YAML 或 JSON 显示任务"},
    {"json has all fields, and is a list for several names; yaml is the definition, as `peal "
     "apply` reads it.",
     "json 含有所有字段，给出多个名称时为列表；yaml 为定义，可供 `peal apply` 读取。"},
    {"which job? All of them: peal list", "请指定任务；查看所有任务：peal list"},
    {"all jobs: next run, last run, status", "列出所有任务：下次运行、上次运行、状态"},
    {"json has all fields; yaml is the definitions, as `peal apply` reads them.",
     "json 含有所有字段；yaml 为定义，可供 `peal apply` 读取。"},
    {"list takes no names; one job: peal get %s", "list 不接受名称；查看单个任务：peal get %s"},
    {"all definitions, for peal apply", "所有定义，供 peal apply 读取"},
    {"only jobs whose name contains TEXT", "仅名称含有 TEXT 的任务"},
    {"only jobs with this label", "仅具有此标签的任务"},
    {"only paused jobs", "仅已暂停的任务"},
    {"only jobs whose last run was not ok", "仅上次运行未成功的任务"},
    {"deleted jobs, which peal undelete can restore", "已删除的任务，可用 peal undelete 还原"},
    {"no such jobs", "没有这样的任务"},
    {"no jobs; add one: peal add NAME SCHEDULE -- COMMAND",
     "还没有任务；添加一个：peal add NAME SCHEDULE -- COMMAND"},

    /* schedules: explain, next, validate */
    {"what a schedule means, in words", "用文字说明计划的含义"},
    {"SPEC is a schedule in quotes.", "SPEC 是加引号的计划。"},
    {"which schedule?", "请指定计划"},
    {"one schedule at a time, in quotes", "每次只能给出一个计划，并加上引号"},
    {"the next ticks of a schedule or a job", "列出计划或任务接下来的触发"},
    {"SPEC is a schedule in quotes, or several, one per line. A single word that is no macro is "
     "the name of a job.",
     "SPEC 是加引号的计划，也可以是多个，每行一个。不是宏的单个词视为任务名称。"},
    {"T is an RFC 3339 time, a local time like '2027-01-01 08:00', or now.",
     "T 是 RFC 3339 时间、本地时间（如 '2027-01-01 08:00'）或 now。"},
    {"both, merged", "两个计划合并列出"},
    {"a job of the agent", "agent 中的任务"},
    {"how many ticks, 1 to 10000 (default: 10; with --until all, up to 10000)",
     "触发次数，1 到 10000（默认 10；有 --until 时为全部，最多 10000）"},
    {"ticks after T (default: now)", "T 之后的触发（默认为现在）"},
    {"ticks until T, T included", "截至 T 的触发，含 T"},
    {"the time zone (default: this machine's, unless the schedule names one)",
     "时区（默认为本机时区，除非计划中已指定）"},
    {"the dialect: peal, quartz, aws, jenkins, k8s or ocps-strict",
     "计划的语法：peal、quartz、aws、jenkins、k8s 或 ocps-strict"},
    {"the job's name, from which the values of `H` and `~` are derived",
     "任务名称，用于确定 `H` 和 `~` 的值"},
    {"start of the schedule: no ticks before T", "计划的生效时间：T 之前不触发"},
    {"end of the schedule: no ticks at T or later", "计划的失效时间：T 及之后不触发"},
    {"maximum delay of a start, like 90s or 1h30m", "启动的最大延迟，如 90s 或 1h30m"},
    {"local times that a clock change skips or repeats: skip drops skipped times, both fires "
     "repeated times twice",
     "时钟切换跳过或重复本地时间时的处理：skip 略去被跳过的时间，both 在重复的时间触发两次"},
    {"jitter is drawn when the job is made; these starts are an example",
     "抖动在创建任务时随机确定；所列启动时间仅为示例"},
    {"nothing is due in this time", "这段时间内没有触发"},
    {"only the first %zu are shown", "只显示前 %zu 次"},
    {"--start must be before --end", "--start 必须早于 --end"},
    {"--until is before --from", "--until 早于 --from"},
    {"\"%s\" is taken for a job's name; of a job, -n, -o and --data alone can be given",
     "“%s”被视为任务名称；查看任务时只能给出 -n、-o 和 --data"},
    {"the first run; the next ones count from the end of each run",
     "仅列出首次运行；之后每次从上一次运行结束起算"},
    {"due when the node starts, at no time that could be listed", "在节点启动时触发，无法列出时间"},
    {"never due by itself, only when it is triggered", "不会自动触发，只能手动运行"},
    {"`H` depends on the job's name; give it with --job NAME",
     "`H` 取决于任务名称；请用 --job NAME 给出"},
    {"`~` and `R` are drawn when the job is made; this is an example",
     "`~` 和 `R` 在创建任务时随机确定；此处仅为示例"},
    {"check schedules or job files", "检查计划或任务文件"},
    {"SPEC is a schedule in quotes; it has white space or starts with @. FILE has one schedule per "
     "line; blank lines and lines that start with # are ignored. Valid schedules are printed in "
     "canonical form, invalid ones as FILE:LINE:COLUMN: and the reason. Exit status 6: at least "
     "one is invalid. JOBS are files that end in .yaml, .yml or .json, or folders of them, with "
     "jobs as in docs/JOBS.md: all mistakes are listed as FILE:LINE:COLUMN, also jobs that wait "
     "for themselves by way of others. If there is an agent, that of this machine or the one that "
     "is named, groups, calendars, channels and jobs that it does not have are mistakes, too, and "
     "a note lists jobs without a user if it does not start such jobs.",
     "SPEC 是加引号的计划，含有空白或以 @ 开头。FILE 每行一个计划；空行和以 # "
     "开头的行会被忽略。有效的计划以规范形式输出，无效的输出 FILE:LINE:COLUMN: 和原因。退出状态 "
     "6：至少有一个无效。JOBS 是以 .yaml、.yml 或 .json 结尾的文件，或含有这些文件的目录，内容是 "
     "docs/JOBS.md 所述的任务：所有错误以 FILE:LINE:COLUMN "
     "列出，包括经由其他任务等待自身的任务。如果有 "
     "agent（本机的或指定的），其中不存在的并发组、日历、通知渠道和任务也是错误；若它不启动未指定用"
     "户的任务"
     "，会提示此类任务的数量。"},
    {"validate what? A schedule in quotes, a file, or - for stdin",
     "检查什么？请给出加引号的计划、文件，或 - 表示标准输入"},
    {"one schedule, in quotes, or one file of them", "请给出一个加引号的计划，或一个计划文件"},
    {"%s has no schedules", "%s 中没有计划"},
    {"the text has no schedules", "文本中没有计划"},
    {"%zu of %zu jobs name no user: %s", "%2$zu 个任务中有 %1$zu 个未指定用户：%3$s"},
    {"%sok %s", "%s有效 %s"},
    {"invalid schedule", "计划无效"},
    {"invalid schedule in line %d", "第 %d 行的计划无效"},
    {"put the schedule in quotes, or the shell takes it apart",
     "请给计划加上引号，否则会被 shell 拆开"},
    {"--tz: %s", "--tz：%s"},
    {"left out from %s on: calendar %s", "从 %s 起被日历 %s 排除"},
    {"left out from %s on: calendar %s, %s", "从 %s 起被日历 %s 的时段 %s 排除"},
    {"%s has no ticks: it runs %s", "%s 没有触发时间：%s运行"},
    {"%s has no next tick while it runs", "%s 正在运行，结束之前没有下次触发"},
    {"%s has no next tick", "%s 没有后续触发"},
    {"%s is paused: what is due is left out until peal resume %s",
     "%s 已暂停：执行 peal resume %s 之前的触发会被跳过"},

    /* skip-next, versions, rollback */
    {"skip the next ticks of a job", "跳过任务接下来的触发"},
    {"Prints the ticks, which are recorded as skipped when they are due.",
     "输出这些触发的时间；到时记录为已跳过。"},
    {"cancel the skips", "取消跳过"},
    {"how many ticks (1); 0 cancels the skips that are not due yet",
     "跳过的次数（1）；0 表示取消尚未到时的跳过"},
    {"%s: skips %zu", "%s：将跳过 %zu 次触发"},
    {"%s: skips nothing any more", "%s：已取消跳过"},
    {"the revisions of a job and their authors", "列出任务的版本及其操作者"},
    {"Newest first, as far back as the audit log reaches; also for a deleted job that can still be "
     "restored.",
     "最新的在前，最早可追溯到审计日志的起点；也可用于仍可还原的已删除任务。"},
    {"the maximum number of rows (20)", "最多显示的行数（20）"},
    {"current", "当前"},
    {"restore an earlier definition of a job", "将任务回滚到以前的定义"},
    {"The whole definition becomes a new revision; a paused job stays paused. Concurrent changes "
     "by others are not overwritten.",
     "整个定义成为新版本；已暂停的任务保持暂停。不会覆盖他人同时作出的修改。"},
    {"which job, and which revision? peal versions JOB lists them",
     "请指定任务和版本号；peal versions JOB 可列出版本号"},
    {"lists the revisions", "列出版本"},
    {"shows the changes only", "只显示变更内容"},
    {"only show the changes", "只显示变更"},
    {"%s: revision %s is the same as the current one", "%s：版本 %s 与当前版本相同"},
    {"%s: revision %lld is the same as the current one; nothing was changed",
     "%s：版本 %lld 与当前版本相同；未作任何修改"},
    {"%s: back to revision %lld, as revision %lld", "%s：已回滚到版本 %lld，新版本号为 %lld"},

    /* files of jobs */
    {"can't read %s: %m", "无法读取 %s：%m"},
    {"can't read %s: %s", "无法读取 %s：%s"},
    {"%s is a directory, not a file", "%s 是目录，不是文件"},
    {"%s is larger than %zu KiB", "%s 超过 %zu KiB"},
    {"%s is larger than %d MB", "%s 超过 %d MB"},
    {"%s is not a text file: line %d has a NUL byte", "%s 不是文本文件：第 %d 行含有 NUL 字节"},
    {"%s: and %zu more mistakes", "%s：以及另外 %zu 处错误"},
    {"there are no jobs in %s", "%s 中没有任务"},
    {"job %s: %s", "任务 %s：%s"},
    {"%s has no *.yaml, *.yml or *.json", "%s 中没有 *.yaml、*.yml 或 *.json"},
    {"%s: there is no %s \"%s\"", "%s：没有%s“%s”"},
    {"%s: \"%s\" is a workflow; use \"workflow\" instead", "%s：“%s”是工作流；请改用 \"workflow\""},
    {"%s: \"%s\" is not a workflow; use \"job\" instead", "%s：“%s”不是工作流；请改用 \"job\""},
    {"warning: output \"%s\" of step \"%s\" is declared, but nothing refers to it",
     "警告：步骤“%2$s”声明了输出“%1$s”，但没有任何内容引用它"},
    {"warning: step \"%s\" can never run: it needs both the success and the failure of \"%s\"",
     "警告：步骤“%s”永远不会运行：它同时要求“%s”成功和失败"},
    {"steps: a workflow would contain itself: %s", "steps：工作流会包含自身：%s"},
    {"%s: there is no %s \"%s\"; did you mean \"%s\"?", "%s：没有%s“%s”；是否指“%s”？"},
    {"job \"%s\" is defined twice: in %s, too", "任务“%s”重复定义：%s 中也有"},
    {"%s: and %zu more jobs that are defined twice", "%s：以及另外 %zu 个重复定义的任务"},
    {"groups, calendars, channels and jobs that are in no file were not checked: there is no agent "
     "here",
     "未检查文件中没有的并发组、日历、通知渠道和任务：此处没有 agent"},

    /* import into a cluster */
    {"still open: %s of %s (%s)", "尚未结束：运行 %s（任务 %s，%s）"},
    {"there is no peal.db in %s; --from is a data folder",
     "%s 中没有 peal.db；--from 应为数据目录"},
    {"Stop it first: peal stop --data %s", "请先停止：peal stop --data %s"},
    {"1 run of %s has not ended yet; nothing was imported",
     "%s 中有 1 个运行尚未结束；未导入任何内容"},
    {"%zu runs of %s have not ended yet; nothing was imported",
     "%2$s 中有 %1$zu 个运行尚未结束；未导入任何内容"},
    {"Start the agent there (%s), pause the jobs, let the runs end, stop it, and import again.",
     "请启动该处的 agent（%s），暂停任务，等运行结束后停止 agent，再重新导入。"},
    {"node %s works on %s: stop all its nodes first; nothing was imported",
     "节点 %s 正在使用 %s：请先停止所有节点；未导入任何内容"},
    {"%s\nWhat was imported until now stays; import again to go on.",
     "%s\n已导入的内容会保留；重新导入即可继续。"},
    {"the store has another job of this name; rename one of them",
     "存储中有另一个同名任务；请重命名其中一个"},
    {"is in the store already, and was changed there; left as it is",
     "存储中已有此任务，且已被修改；保持不变"},
    {"%zu imported (%zu of them deleted, kept for peal undelete), %zu already there, %zu not "
     "imported",
     "导入 %zu 个任务（其中 %zu 个已删除，保留供 peal undelete 还原），%zu 个已存在，%zu 个未导入"},
    {"%zu imported, %zu already there, %zu not imported",
     "导入 %zu 个任务，%zu 个已存在，%zu 个未导入"},
    {"%zu %s imported", "导入 %zu 个%s"},
    {"account", "账户"},
    {"accounts", "账户"},
    {"tokens", "令牌"},
    {"groups", "并发组"},
    {"channels", "通知渠道"},
    {"secrets", "机密"},
    {"webhooks", "webhook"},
    {"maintenance window", "维护窗口"},
    {"maintenance windows", "维护窗口"},
    {"mutes", "静音"},
    {"the nodes need the key file of before to read the secrets",
     "节点需要原来的密钥文件才能读取机密"},
    {"documents of the kind \"%s\", which this version does not know, were left out",
     "此版本不认识的“%s”类文档未导入"},
    {"Next: peal start -d --data %s --store %s", "下一步：peal start -d --data %s --store %s"},

    /* peal rename */
    {"give a job another name", "重命名任务"},
    {"The job stays the same: its uid, its runs, its ticks, and the jobs that wait for it, "
     "whose `after` is rewritten; prints those. Repeat the command if it was interrupted. "
     "Files for `peal apply` need the new name, too: with the old one they would make a new job.",
     "任务本身不变：uid、运行记录、触发时间以及等待它的任务都会保留；等待它的任务的 `after` "
     "会改为新名称，并列出这些任务。若命令中途被打断，重复执行即可。供 `peal apply` "
     "使用的文件也要改名：仍用旧名会另建一个任务。"},
    {"only check it", "只检查，不重命名"},
    {"which job, and what is its new name? peal rename OLD NEW",
     "要重命名哪个任务？新名称是什么？peal rename OLD NEW"},
    {"%s: would be renamed to %s; jobs whose after would be rewritten: %zu",
     "%s：将重命名为 %s；将改写 after 的任务：%zu 个"},
    {"%s: renamed to %s; jobs whose after was rewritten: %zu",
     "%s：已重命名为 %s；已改写 after 的任务：%zu 个"},
    {"jobs that still have a former name of it in their after, and keep waiting for it: "
     "%zu; repeat the command to rewrite them",
     "还有 %zu 个任务的 after 中仍是旧名称，它们会继续等待此任务；重复执行命令即可改写"},
    {"give files that end in .yaml, .yml or .json, or folders",
     "请给出以 .yaml、.yml 或 .json 结尾的文件，或目录"},
    {0},
};
