/* cmd/coord, coord */
#include "text/texts.h"

const struct message zh_coord[] = {
    /* lock */
    {"run a command while holding a lock, on one machine or on many",
     "持有锁期间运行命令，可用于单机或多台机器"},
    {"status 11: another holds it", "退出状态 11：锁被其他进程持有"},
    {"one at a time on all machines", "所有机器上同时只有一个"},
    {"who holds what, and how many wait", "谁持有哪些锁，有多少在等待"},
    {"Waits for its turn, in order of arrival, runs COMMAND, and releases the lock when COMMAND "
     "has ended. $PEAL_FENCE is a number that is larger than that of every holder before: what "
     "COMMAND writes to should refuse a smaller one than it has seen. SIGINT, SIGTERM, SIGHUP and "
     "SIGQUIT go to COMMAND.\n"
     "When the lock is lost, COMMAND and all that it has started get SIGTERM, and SIGKILL after "
     "the grace.\n"
     "Exit status: that of COMMAND; 11 the lock was not got, 12 it was lost, 5 the store can't be "
     "reached, 126 or 127 COMMAND can't be started, 128+N COMMAND was ended by signal N. "
     "docs/COORDINATION.md says what a lock promises, and what not.",
     "按到达顺序等待，轮到后运行 COMMAND，COMMAND 结束后释放锁。$PEAL_FENCE "
     "是一个数字，大于此前所有持有者的数字：COMMAND "
     "写入的对象应拒绝比已见过的更小的数字。SIGINT、SIGTERM、SIGHUP 和 SIGQUIT 会转给 COMMAND。\n"
     "失去锁时，COMMAND 及其启动的所有进程收到 SIGTERM，宽限期过后收到 SIGKILL。\n"
     "退出状态：与 COMMAND 相同；11 未获得锁，12 已失去锁，5 无法连接存储，126 或 127 无法启动 "
     "COMMAND，128+N COMMAND 被信号 N 终止。锁能保证什么、不能保证什么，见 docs/COORDINATION.md。"},
    {"wait so long for the lock (default: as long as it takes)",
     "等待锁的最长时间（默认：一直等待）"},
    {"do not wait: status 11 if it is held", "不等待：锁被持有时退出状态为 11"},
    {"what others see as the holder (default: host and process)",
     "其他进程看到的持有者名称（默认：主机名和进程号）"},
    {"show the locks that are held", "显示被持有的锁"},
    {"unexpected \"%s\"; the command stands after --", "多余的“%s”；命令应写在 -- 之后"},
    {"--list shows all locks; it takes no name and no command",
     "--list 显示所有锁，不需要名称和命令"},
    {"which lock? peal lock NAME -- COMMAND", "哪个锁？peal lock NAME -- COMMAND"},
    {"which command? peal lock %s -- COMMAND", "哪个命令？peal lock %s -- COMMAND"},
    {"--wait and --no-wait exclude each other", "--wait 和 --no-wait 不能同时使用"},
    {"no lock is held", "没有被持有的锁"},
    {"HOLDER", "持有者"},
    {"HOST", "主机"},
    {"PID", "进程号"},
    {"SINCE", "开始时间"},
    {"FENCE", "栅栏号"},

    /* elect */
    {"elect one leader among many processes, or show who leads",
     "在多个进程中选出一个领导者，或显示当前的领导者"},
    {"always one, where one of the candidates is alive", "只要有候选者存活，就始终有一个在运行"},
    {"the leader's id", "领导者的 id"},
    {"and each change", "以及每次变化"},
    {"Waits until it leads, runs COMMAND with /bin/sh, and resigns when COMMAND has ended. "
     "$PEAL_FENCE, signals and a loss are as for peal lock; SIGTERM, SIGINT and SIGQUIT also "
     "end --again.\n"
     "Exit status: that of COMMAND; 12 the lead was lost, 5 the store can't be reached. With "
     "--who: 3 nobody leads.",
     "等到成为领导者后，用 /bin/sh 运行 COMMAND，COMMAND 结束后退位。$PEAL_FENCE、"
     "信号和失去领导权时的处理与 peal lock 相同；收到 SIGTERM、SIGINT 或 SIGQUIT 后，"
     "--again 不再参选。\n"
     "退出状态：与 COMMAND 相同；12 已失去领导权，5 无法连接存储。使用 --who 时：3 没有领导者。"},
    {"what the leader runs", "领导者运行的命令"},
    {"what is run when the lead was lost, after the leader's command was stopped",
     "失去领导权、领导者的命令停止后运行的命令"},
    {"be a candidate again when COMMAND has ended or the lead was lost",
     "COMMAND 结束或失去领导权后再次参选"},
    {"the candidate's name (default: host and process)", "候选者的名称（默认：主机名和进程号）"},
    {"only show the leader", "只显示领导者"},
    {"with --who: and each change; - is nobody", "与 --who 一起：并显示每次变化；- 表示没有"},
    {"which election? peal elect NAME --on-win COMMAND",
     "哪个选举？peal elect NAME --on-win COMMAND"},
    {"--who only looks on: no --on-win, --on-loss or --again",
     "--who 只查看：不能与 --on-win、--on-loss 或 --again 一起使用"},
    {"--follow is for --who", "--follow 只用于 --who"},
    {"what does the leader run? --on-win COMMAND, or --who to look on",
     "领导者运行什么？--on-win COMMAND；或用 --who 查看"},
    {"--on-loss: %s", "--on-loss：%s"},
    {"%s: trying again", "%s：正在重试"},
    {"nobody holds %s", "没有进程持有 %s"},
    {"nobody leads %s", "%s 没有领导者"},

    /* select */
    {"choose one of all that ask, for a while", "在所有请求者中选出一个，持续一段时间"},
    {"on every machine: one of them does it", "在每台机器上运行：只有一台执行"},
    {"The first that asks is chosen for the hold time; whoever asks meanwhile learns its id. The "
     "hold ends by itself, also when the chosen one has died: then the next that asks is chosen. "
     "The same id is told again that it is chosen, which does not prolong the hold. In etcd a hold "
     "lasts 2 seconds at least, and somewhat longer when etcd elects a leader.\n"
     "Exit status: 0 this id is chosen, 11 another one is, 5 the store can't be reached.",
     "最先请求的在保持时间内被选中；期间的其他请求者得到它的 "
     "id。保持时间到期自动结束，即使被选中者已退出：之后下一个请求者被选中。同一 id "
     "再次请求仍得到被选中的结果，但不会延长时间。在 etcd 中保持时间至少 2 秒，etcd "
     "选主时会稍长。\n"
     "退出状态：0 选中的是此 id，11 选中的是其他 id，5 无法连接存储。"},
    {"for how long one is chosen", "选中的保持时间"},
    {"who asks (default: the host's name)", "请求者（默认：主机名）"},
    {"which service? peal select SERVICE --hold D", "哪个服务？peal select SERVICE --hold D"},
    {"for how long is one chosen? --hold D, of 1s or more", "选中多久？--hold D，至少 1s"},

    /* all of them */
    {"where the processes meet: etcd://HOST:PORT,.../PREFIX (etcds:// with TLS), "
     "postgresql://USER@HOST/DATABASE, redis://HOST:PORT, or sqlite for the data folder (else from "
     "the configuration file, $PEAL_STORE, the last start of the agent, the data folder)",
     "进程协调的位置：etcd://HOST:PORT,.../PREFIX（etcds:// 使用 "
     "TLS）、postgresql://USER@HOST/DATABASE、redis://HOST:PORT，或 sqlite "
     "表示数据目录（默认依次取自配置文件、$PEAL_STORE、agent 上次启动、数据目录）"},
    {"how long the store may be silent, also while waiting (default: 5s)",
     "存储无响应的最长时间，等待期间也适用（默认：5s）"},
    {"etcd: how long after the end of a machine or a network others wait (default: 10s; 5s or "
     "more)",
     "etcd：机器或网络中断后其他进程等待的时间（默认：10s；至少 5s）"},
    {"time between SIGTERM and SIGKILL after a loss; in etcd the loss is declared so long before "
     "the lease could end (default: 3s)",
     "失去后 SIGTERM 与 SIGKILL 之间的时间；在 etcd 中会在租约可能结束之前提前这么久判定失去"
     "（默认：3s）"},
    {"after a loss let the command run on; its fence is then the only protection",
     "失去后让命令继续运行；此时栅栏号是唯一的保护"},
    {"--ttl must be 5s to 1h", "--ttl 应为 5s 到 1h"},
    {"--grace must be less than half of --ttl", "--grace 应小于 --ttl 的一半"},
    {"--timeout must be 1s or more", "--timeout 至少为 1s"},
    {"an id has 1 to 128 bytes, and neither blanks nor control characters",
     "id 为 1 到 128 字节，不能包含空格和控制字符"},
    {"waiting for %s: %s on %s (pid %ld) has held it since %s",
     "等待 %s：由 %3$s 上的 %2$s（进程号 %4$ld）自 %5$s 起持有"},
    {"waiting for %s: %s on %s (pid %ld) has led since %s",
     "等待 %s：由 %3$s 上的 %2$s（进程号 %4$ld）自 %5$s 起领导"},
    {"lost %s: %s", "失去 %s：%s"},
    {"lost %s: %s; the command runs on (--keep-on-loss)",
     "失去 %s：%s；命令继续运行（--keep-on-loss）"},
    {"lost %s: %s; stopping the command", "失去 %s：%s；正在停止命令"},
    {"%s: not got: %s on %s (pid %ld) holds it",
     "%1$s：未获得：由 %3$s 上的 %2$s（进程号 %4$ld）持有"},
    {"%s: not got within %ld s: %s on %s (pid %ld) holds it",
     "%1$s：%2$ld 秒内未获得：由 %4$s 上的 %3$s（进程号 %5$ld）持有"},
    {"%s could not be released: %s; it is free when its lease ends, within %ld s",
     "%s 未能释放：%s；租约结束后可用，最多 %ld 秒"},
    {"%s: the store can't be reached: %s; see: peal doctor --store %s",
     "%s：无法连接存储：%s；参见：peal doctor --store %s"},
    {"%s; name a folder of yours with --data, or an etcd with --store",
     "%s；请用 --data 指定自己的目录，或用 --store 指定 etcd"},
    {0},
};
