#include <inttypes.h>

#include "text/texts.h"

const struct message zh_cluster[] = {
    /* peal maintenance */
    {"times in which nothing is started by its schedule", "维护：期间不按计划启动任何运行"},
    {"Until somebody ends it: peal pause --cluster, or --namespace NS.",
     "不设结束时间：peal pause --cluster，或 --namespace NS。"},
    {"what about maintenance? peal maintenance add, list or remove",
     "维护的哪个操作？peal maintenance add、list 或 remove"},
    {"start nothing by its schedule in this time", "在这段时间内不按计划启动任何运行"},
    {"Ticks that are due in this time are skipped (maintenance). What is running goes on; peal run "
     "still starts a job. T is an RFC 3339 time or a local time like '2027-01-01 08:00'.",
     "这段时间内到期的触发会被跳过（maintenance）。正在进行的运行会继续；peal run 仍可启动任务。"
     "T 是 RFC 3339 时间，或本地时间，例如 '2027-01-01 08:00'。"},
    {"when it begins (default: now)", "开始时间（默认：现在）"},
    {"when it ends", "结束时间"},
    {"or how long it takes", "或持续多久"},
    {"only the jobs of this namespace (default: all of the cluster)",
     "仅此命名空间的任务（默认：整个集群）"},
    {"what it is for: the ledger says it", "用途：会写入触发记录"},
    {"until when? --to T, or --for D", "到什么时候？--to T 或 --for D"},
    {"peal maintenance add takes options only", "peal maintenance add 只接受选项"},
    {"maintenance and pauses: to come, active, and those of the last days",
     "维护与暂停：将来的、进行中的，以及最近几天的"},
    {"peal maintenance list takes no name", "peal maintenance list 不接受名称"},
    {"end maintenance now, or remove what has not begun", "立即结束维护，或删除尚未开始的维护"},
    {"give one ID of peal maintenance list", "请给出 peal maintenance list 中的一个 ID"},
    {"no maintenance; add some: peal maintenance add --for 2h --reason 'new disks'",
     "没有维护；添加：peal maintenance add --for 2h --reason '更换磁盘'"},
    {"removed", "已删除"},
    {"ended", "已结束"},
    {"coming", "将来"},
    {"active", "进行中"},
    {"over", "已结束"},
    {"maintenance", "维护"},
    {"SET BY", "设置者"},
    {"REASON", "原因"},
    {"NAMESPACE", "命名空间"},
    {"TO", "结束"},

    /* group */
    {"how many runs may be under way at the same time", "同时进行的运行数上限"},
    {"docs/GROUPS.md says who goes first, and how long a run waits.",
     "docs/GROUPS.md 说明谁先运行，以及等待多久。"},
    {"what about groups? peal group list, show, set or delete",
     "请指定操作：peal group list、show、set 或 delete"},
    {"make a group, or set its limits anew", "创建并发组，或重新设置其上限"},
    {"What is set takes the place of what was there. A lower limit ends nothing: what is under way "
     "goes on, and nothing new starts until there is room. A name that ends with a slash is that "
     "of a namespace: all jobs below it are counted.",
     "设置会替换原有内容。调低上限不会终止运行：正在进行的继续进行，有空余名额之前不启动新的运行。"
     "以斜杠结尾的名称表示命名空间：其下所有任务的运行都计入。"},
    {"at most so many runs on the nodes that have the same value of the label; LABEL=VALUE:N: on "
     "those with this value; may be repeated",
     "标签取值相同的节点合计最多的运行数；LABEL=VALUE:N：取该值的节点；可重复"},
    {"--label %s: expected LABEL=N, as in zone=2, or LABEL=VALUE:N, as in zone=eu:2",
     "--label %s：应为 LABEL=N（如 zone=2）或 LABEL=VALUE:N（如 zone=eu:2）"},
    {"two in each zone, four in the zone eu", "每个 zone 两个，zone eu 四个"},
    {"of all jobs in the namespace shop, which do not name it",
     "命名空间 shop 中的所有任务，无需在任务中写明"},
    {"nodes without %s: %lld of %lld", "没有 %s 的节点：%lld / %lld"},
    {"nodes with %s: %lld of %lld", "带 %s 的节点：%lld / %lld"},
    {"By label:", "按标签："},
    {"BY LABEL", "按标签"},
    {"name one group", "请指定一个并发组"},
    {"at most so many runs on all nodes together", "全部节点合计最多的运行数"},
    {"at most so many runs on each node", "每个节点最多的运行数"},
    {"how many? Give --cluster N, --node N, --label LABEL=N or several of them",
     "缺少上限：请给出 --cluster N、--node N、--label LABEL=N，可同时给出"},
    {"one group: its limits, what is under way, what waits",
     "显示一个并发组：上限、正在进行和等待中的运行"},
    {"all groups", "列出所有并发组"},
    {"peal group list takes no name", "peal group list 不接受名称"},
    {"delete a group; exit status 4: it is in use", "删除并发组；退出状态 4：正在使用"},
    {"no groups; make one: peal group set db-backup --cluster 3",
     "还没有并发组；创建一个：peal group set db-backup --cluster 3"},
    {"%lld of %lld", "%lld / %lld"},
    {" on %s", "，在 %s 上"},
    {"Cluster:", "集群："},
    {"Each node:", "每个节点："},
    {"Under way:", "进行中："},
    {"Waiting:", "等待中："},
    {"UNDER WAY", "进行中"},
    {"EACH NODE", "每个节点"},

    /* peal cluster */
    {"the cluster's health; resume after a restore; import jobs",
     "集群的健康状况；从备份恢复后继续；导入任务"},
    {"which command? peal cluster status, advance-cursors or import",
     "哪个命令？peal cluster status、advance-cursors 或 import"},
    {"after the store was restored from a backup", "存储从备份恢复之后"},
    {"show the cluster's health; exit status 5: the store is unhealthy",
     "显示集群的健康状况；退出状态 5：存储异常"},
    {"status: the store, the history, the leader, the nodes and their states.",
     "status：存储、历史、主节点、各节点及其状态。"},
    {"%lld %s", "%2$s %1$lld"},
    {"halted", "已停止"},
    {"nothing is started; when all is as it should be: peal cluster advance-cursors",
     "不启动任何运行；确认一切正常后执行：peal cluster advance-cursors"},
    {"%s, leads", "%s，主节点"},
    {"none at the moment", "目前没有"},
    {"%+" PRId64 " ms from the cluster's", "与集群时钟相差 %+" PRId64 " ms"},
    {"%+" PRId64 " ms from the cluster's: too far, set it",
     "与集群时钟相差 %+" PRId64 " ms：偏差过大，请校准"},
    {"%" PRId64 ", open runs %" PRId64, "%" PRId64 "，未结束的运行 %" PRId64},
    {"resume after the store was restored from a backup", "存储从备份恢复后继续工作"},
    {"advance-cursors: a restored store does not know which ticks have run since the backup, so no "
     "runs start until this command. Open runs end as lost, every job continues from now, and a "
     "missed entry per job in the ledger marks the time whose ticks are unknown.",
     "advance-"
     "cursors：从备份恢复的存储不知道备份之后哪些触发已经运行，因此在执行此命令之前不会启动任何运行"
     "。未结束的运行记为失联，每个任务从当前时间继续，并各有一条“已错过”记录，标明触发情况未知的时"
     "段。"},
    {"Runs that the restored store takes for open end as lost, and every job goes on from now. Do "
     "it?",
     "恢复后的存储中未结束的运行将记为失联，每个任务从当前时间继续。是否执行？"},
    {"every job goes on from now; all nodes work again",
     "每个任务从当前时间继续；所有节点已恢复工作"},
    {"move the jobs of one store into another", "将一个存储中的任务迁移到另一个存储"},
    {"import: copies the jobs of a store (a data folder with an embedded one, etcd, PostgreSQL, "
     "Redis) into another, each with its uid and its cursor, and the users, tokens, calendars and "
     "channels. Past runs stay in the history where they are, and what is read is not changed. No "
     "agent may use it meanwhile. Nothing in the target store is overwritten, and the import can "
     "be repeated. Exit status 4: the source is in use or has open runs, or some jobs could not be "
     "imported.",
     "import：将一个存储（使用内嵌存储的数据目录、etcd、PostgreSQL、Redis）中的任务复制到另一个存储"
     "（连同 "
     "uid "
     "和调度进度），以及用户、令牌、日历和通知渠道。过去的运行留在原处的历史中，源存储不会改动。"
     "导入期间不能有 agent 使用源存储。目标存储中的内容不会被覆盖，可以重复导入。退出状态 "
     "4：源存储正被使用或有未结束的运行，或有任务未能导入。"},
    {"the data folder or the store to import", "要导入的数据目录或存储"},
    {"the target store (else from the configuration file, $PEAL_STORE)",
     "目标存储（默认取配置文件、$PEAL_STORE）"},
    {"whose jobs? --from DIR, a data folder, or --from URL, a store",
     "导入哪里的任务？--from DIR（数据目录）或 --from URL（存储）"},
    {"where to? --store etcd://HOST:PORT,.../PREFIX, --store postgresql://USER@HOST/DATABASE, "
     "--store redis://HOST:PORT, or --store sqlite --data DIR",
     "导入到哪里？--store etcd://HOST:PORT,.../PREFIX、--store postgresql://USER@HOST/DATABASE、"
     "--store redis://HOST:PORT 或 --store sqlite --data DIR"},
    {"--from %s: %s", "--from %s：%s"},
    {"--from is a data folder, or etcd://, postgresql:// or redis://",
     "--from 应为数据目录，或 etcd://、postgresql:// 或 redis://"},

    /* peal nodes, drain, undrain */
    {"the nodes of the cluster and their states", "集群的节点及其状态"},
    {"with the reason why a node takes no new runs, and more", "另含节点不接受新运行的原因等"},
    {"STATE is ready; draining or drained (peal drain); full (max_running); clock (its skew is too "
     "large); clock_doubt (the clock jumped, and is not trusted yet); spawner (no process can be "
     "started); api (serves the API only); stopping; gone; or shut_out (this agent: another agent, "
     "in the line above, uses its name). LEADS marks the leader, which does the cluster's "
     "maintenance. SKEW is the difference between the node's clock and the cluster's. FREE is the "
     "share of the node's capacity that jobs with place: least_loaded count with: its room for "
     "runs, less the share of time in which processes waited. CPU and MEMORY, with -o wide, are "
     "those shares over the last 10 seconds, for a processor and for memory. HISTORY, with -o "
     "wide, is shared (one for all nodes), own (one per node, readable), or the reason why it "
     "can't be read. PROGRAM, if the node is a process of a program that embeds the library, is "
     "that program and its version; the node runs its functions only.",
     "“状态”为：就绪（ready）；排空中（draining）或已排空（drained），见 peal "
     "drain；已满（full），达到 "
     "max_running；时钟偏差（clock），偏差过大；时钟不可信（clock_"
     "doubt），时钟发生过跳变；无法启动运行（spawner），不能启动进程；仅 "
     "API（api）；停止中（stopping）；已离线（gone）；名称冲突（shut_out），即上一行的另一个 agent "
     "使用了此 agent "
     "的名称。“主节点”列标出负责集群维护工作的节点。“时钟偏差”是节点时钟与集群时钟之差。“空闲”是 "
     "place: least_loaded 的任务所依据的空闲容量比例：剩余的运行名额，再扣除进程等待的时间比例。"
     "“CPU 等待”和“内存等待”（-o wide）是最近 10 秒内的这些比例。“历史”（-o "
     "wide）为共享（所有节点共用）、独立（每个节点各有一个，可读取），或无法读取的原因。“程序”列："
     "节点若是嵌入本库的程序的进程，则为该程序及其版本；这样的节点只运行该程序的函数。"},
    {"stop new runs on a node", "停止在节点上启动新的运行"},
    {"Current runs continue; other nodes take over new runs. The node stays drained until peal "
     "undrain, also while it is offline.",
     "进行中的运行会继续到结束，新的运行由其他节点接管。节点保持排空，离线期间也是如此，直到 peal "
     "undrain。"},
    {"which node? See: peal nodes", "哪个节点？参见：peal nodes"},
    {"before an upgrade of its machine", "升级该机器之前"},
    {"drained: no runs are left on it", "“已排空”表示其上已没有运行"},
    {"%s: is gone; it takes no new runs when it comes back",
     "%s：已离线；恢复后也不再接受新的运行"},
    {"%s: takes no new runs; %d still running there", "%s：已停止接受新的运行；其上还有 %d 个运行"},
    {"%s: takes no new runs, and none is running there", "%s：已停止接受新的运行，其上已没有运行"},
    {"allow new runs on a drained node", "允许已排空的节点接受新的运行"},
    {"%s: takes new runs", "%s：已恢复接受新的运行"},
    {"%s: is no longer drained, but takes nothing new yet: %s",
     "%s：已取消排空，但暂时不接受新的运行：%s"},
    {0},
};
