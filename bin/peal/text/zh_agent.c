#include <inttypes.h>

#include "text/texts.h"

/* The commands for the agent itself: start, stop, restart, state, dev, doctor, tls. */
const struct message zh_agent[] = {
    /* service */
    {"run the agent as a service of systemd", "将 agent 作为 systemd 服务运行"},
    {"as root: of the machine; else of this user",
     "以 root 身份：本机的服务；否则为当前用户的服务"},
    {"only look at the unit", "只查看 unit 内容"},
    {"For machines where no package and no `make install` has brought a unit. The service starts "
     "with the machine, is watched by systemd, and stops without ending a job. Exit status 4: "
     "there "
     "is another unit of this name, or an agent that was started by hand has the data folder.",
     "用于没有通过软件包或 make install 安装 unit 的机器。服务随机器启动，由 systemd 看护，停止时"
     "不会终止任务。退出状态 4：已有同名的其他 unit，或数据目录正被手动启动的 agent 使用。"},
    {"expected: peal service install or peal service remove",
     "应为：peal service install 或 peal service remove"},
    {"write the unit, enable it and start the agent", "写入 unit，启用并启动 agent"},
    {"a configuration file for the agent (docs/CONFIG.md)", "agent 的配置文件（docs/CONFIG.md）"},
    {"a service of this user, also of root's; others always get one",
     "当前用户的服务，对 root 也适用；其他用户总是如此"},
    {"print the unit, change nothing", "只打印 unit，不做任何更改"},
    {"expected: peal service install", "应为：peal service install"},
    {"stop the agent and delete the unit; data and running jobs stay",
     "停止 agent 并删除 unit；数据和进行中的运行保留"},
    {"the service of this user", "当前用户的服务"},
    {"expected: peal service remove", "应为：peal service remove"},
    {"can't find the program that runs: %s", "找不到正在运行的程序：%s"},
    {"HOME is not set, so it is not known where a unit of this user belongs",
     "未设置 HOME，无法确定当前用户的 unit 应放在哪里"},
    {"a unit of systemd can't name these paths as they are: %s, %s%s%s; use others, of letters, "
     "digits and ._-+@:",
     "systemd 的 unit 无法原样使用这些路径：%s、%s%s%s；请改用只含字母、数字和 ._-+@: 的路径"},
    {"can't run systemctl: %s", "无法运行 systemctl：%s"},
    {"systemctl %s has failed; what it says is above", "systemctl %s 失败；其输出见上文"},
    {"%s was not written by peal service install, and stays as it is",
     "%s 不是由 peal service install 写入的，保持原样"},
    {"this machine has %s already: systemctl enable --now peal",
     "本机已有 %s：请运行 systemctl enable --now peal"},
    {"an agent that was started by hand uses %s (pid %d): peal stop, then again; running jobs "
     "continue",
     "手动启动的 agent 正在使用 %s（pid %d）：请先 peal stop 再试；进行中的运行会继续"},
    {"there is no %s", "没有 %s"},
    {"can't delete %s: %s", "无法删除 %s：%s"},
    {"It ends when you log out, unless systemd is told to keep it: loginctl enable-linger",
     "注销后它会结束，除非让 systemd 保留它：loginctl enable-linger"},
    {"lines of the log: text (default), or json", "日志行的格式：text（默认）或 json"},
    /* config */
    {"the agent's settings: show, check, a file to begin with",
     "agent 的配置：查看、检查、生成示例文件"},
    {"those of one map", "只显示一个映射中的设置"},
    {"An option goes before the configuration file, the files *.yaml of conf.d beside it go before "
     "that file, and both before variables: PEAL_RETENTION_RUNS is the setting retention.runs, and "
     "PEAL_RETENTION_RUNS_FILE names a file with its value. Exit status 6: a value or a key is "
     "wrong; 3: there is no such file, or setting.",
     "选项优先于配置文件，同目录下 conf.d 中的 *.yaml 优先于该文件，两者都优先于环境变量："
     "PEAL_RETENTION_RUNS 对应设置 retention.runs，PEAL_RETENTION_RUNS_FILE "
     "指定存放其值的文件。退出"
     "状态 6：值或键有误；3：没有该文件或设置。"},
    {"expected: peal config show, validate or sample",
     "应为：peal config show、validate 或 sample"},
    {"print every setting, as peal restart would use it", "显示 peal restart 会使用的每项设置"},
    {"where each value comes from: file and line, variable, option, the last start, or its default",
     "每个值的来源：文件和行号、环境变量、选项、上次启动或默认值"},
    {"there is no setting \"%s\"; peal config show lists all",
     "没有名为“%s”的设置；peal config show 列出全部设置"},
    {"check a configuration file, with conf.d and the environment",
     "检查配置文件，连同 conf.d 和环境变量"},
    {"expected: peal config validate FILE", "应为：peal config validate FILE"},
    {"%s is not used: %s is set by %s", "%s 未被使用：%s 由 %s 设置"},
    {"%s is no setting; did you mean %s?", "%s 不是设置；是否指 %s？"},
    {"%s/%s is not read: its name has to end in .yaml", "不读取 %s/%s：文件名须以 .yaml 结尾"},
    {"every user can change %s: chmod go-w it", "所有用户都能修改 %s：请执行 chmod go-w"},
    {"every user can read %s, which has a secret, %s: chmod 600 it",
     "所有用户都能读取含有机密 %2$s 的 %1$s：请执行 chmod 600"},
    {"%s: can't read %s: %s", "%s：无法读取 %s：%s"},
    {"%s: every user can read %s: chmod 600 it", "%s：所有用户都能读取 %s：请执行 chmod 600"},
    {"the environment", "环境变量"},
    {"print a configuration file in which every setting is a comment",
     "打印一个示例配置文件，其中每项设置都是注释"},
    {"expected: peal config sample", "应为：peal config sample"},
    /* start, stop, restart */
    {"start the agent, which runs the jobs", "启动 agent，由它运行任务"},
    {"in the background", "在后台运行"},
    {"in the foreground, until Ctrl-C; logs to stderr", "在前台运行，直到 Ctrl-C；日志写到 stderr"},
    {"a second, independent agent", "另一个独立的 agent"},
    {"Running jobs continue when the agent is stopped or restarted. In the background, options "
     "that are not given keep their values of the last start with the data folder, which is said; "
     "--fresh drops them. Exit status 4: another agent uses the data folder or the node's name. "
     "Exit status 5: the store can't be reached, so the node could not join; no process is left "
     "behind.",
     "停止或重启 agent 时，进行中的运行会继续。在后台启动时，未给出的选项沿用该数据目录上次"
     "启动时的值，并会给出提示；--fresh 则不沿用。退出状态 4：数据目录或节点名称已被另一个"
     " agent 使用。退出状态 5：无法连接存储，节点未能加入集群；不会留下任何进程。"},
    {"run in the background; return once the agent is ready and has joined",
     "在后台运行；agent 就绪并加入集群后返回"},
    {"in the background: with the given options alone, not with those of the last start in the "
     "data folder",
     "在后台启动时只使用给出的选项，不沿用该数据目录上次启动时的选项"},
    {"the data folder (else from the configuration file, $PEAL_DATA, the default)",
     "数据目录（默认依次取配置文件、$PEAL_DATA、默认目录）"},
    {"a configuration file (else $PEAL_CONFIG; docs/CONFIG.md)",
     "配置文件（否则取 $PEAL_CONFIG；docs/CONFIG.md）"},
    {"the agent's log file (default: stderr; in the background DIR/peal.log)",
     "agent 的日志文件（默认为 stderr；在后台为 DIR/peal.log）"},
    {"the TCP address of the API: ADDR[:PORT], [V6]:PORT, or none; may be repeated (else from the "
     "configuration file, $PEAL_LISTEN, 127.0.0.1:7325)",
     "API 的 TCP 地址：ADDR[:PORT]、[V6]:PORT 或 none；可重复给出（默认依次取配置文件、"
     "$PEAL_LISTEN、127.0.0.1:7325）"},
    {"the user of jobs that name none, if the agent is root; without a default user such jobs are "
     "not started (else from the configuration file, $PEAL_DEFAULT_USER; docs/SECURITY.md)",
     "agent 以 root 运行时，未指定用户的任务以此用户运行；没有默认用户则不启动这些任务（默认依次取"
     "配置文件、$PEAL_DEFAULT_USER；docs/SECURITY.md）"},
    {"whether the agent drops privileges and system calls that it does not need (else from the "
     "configuration file, $PEAL_SANDBOX, on); off is for debuggers and core dumps "
     "(docs/SECURITY.md)",
     "agent 是否放弃不需要的特权和系统调用（默认依次取配置文件、$PEAL_SANDBOX、on）；off "
     "用于调试器和 core dump（docs/SECURITY.md）"},
    {"serve the API of another program, too: dkron, tutorial, or both, separated by a comma "
     "(docs/FROM-OTHERS.md)",
     "同时提供其他程序的 API：dkron、tutorial 或 dkron,tutorial（docs/FROM-OTHERS.md）"},
    {"where the history is kept: sqlite (DIR/history.db), postgresql://USER@HOST/DATABASE or "
     "mongodb://USER@HOST/DATABASE (else from the configuration file, $PEAL_HISTORY, the last "
     "start with this data folder, sqlite; docs/HISTORY.md)",
     "历史的保存位置：sqlite（DIR/history.db）、postgresql://USER@HOST/DATABASE 或 "
     "mongodb://USER@HOST/DATABASE（默认依次取配置文件、$PEAL_HISTORY、该数据目录上次启动时的值、"
     "sqlite；docs/HISTORY.md）"},
    {"To be one node of a cluster (docs/CLUSTER.md):", "作为集群的节点（docs/CLUSTER.md）："},
    {"where jobs and claims are kept: sqlite, sqlite:///FOLDER (shared by agents of one machine), "
     "etcd://HOST:PORT,.../PREFIX, etcds:// with TLS, postgresql://USER@HOST/DATABASE, or "
     "redis://HOST:PORT (else from the configuration file, $PEAL_STORE, the last start with this "
     "data folder, sqlite)",
     "任务和认领的保存位置：sqlite、sqlite:///FOLDER（由同一台机器上的多个 agent 共享）、"
     "etcd://HOST:PORT,.../PREFIX（使用 TLS 时为 etcds://）、postgresql://USER@HOST/DATABASE，或 "
     "redis://HOST:PORT（默认依次取配置文件、$PEAL_STORE、该数据目录上次启动时的值、sqlite）"},
    {"--accept-loss: %s", "--accept-loss：%s"},
    {"take a Redis that may lose what it has acknowledged (docs/RELIABILITY.md); kept with the "
     "store's URL, as accept-loss=yes",
     "接受可能丢失已确认数据的 Redis（docs/RELIABILITY.md）；以 accept-loss=yes 保存在存储的 URL "
     "中"},
    {"api, worker or api,worker (default)", "api、worker 或 api,worker（默认）"},
    {"the node's name (default: generated once, and kept in the data folder)",
     "节点名称（默认首次启动时生成，并保存在数据目录中）"},
    {"a label of the node, which jobs select by `where`; may be repeated",
     "节点的标签，任务用 `where` 按标签选择节点；可重复给出"},
    {"the node's weight in the distribution of runs (default: its processors)",
     "分配运行时节点的权重（默认为处理器个数）"},
    {"the address of the API for other machines", "供其他机器访问的 API 地址"},
    {"the port on which other nodes read the output of this node's runs, and its history unless "
     "that is a database: ADDR[:PORT] or none (default: port 7326 of the address by which the node "
     "reaches the others; none without the role api)",
     "供其他节点读取本节点运行输出的端口；历史不在数据库中时，也由此读取历史：ADDR[:PORT] "
     "或 none（默认为本节点连接其他节点所用地址的 7326 端口；没有 api 角色时为 none）"},
    {"stop the agent; running jobs continue", "停止 agent；进行中的运行会继续"},
    {"Running jobs continue; the next start takes them over, with their output. Exit status 3: the "
     "agent was not running. 7: it did not stop in time.",
     "进行中的运行会继续，下次启动时连同其输出一并接管。退出状态 3：agent 未运行；7：未能及"
     "时停止。"},
    {"how long to wait for the agent to stop (30s)", "等待 agent 停止的时长（30s）"},
    {"stop and start the agent; running jobs continue", "重启 agent；进行中的运行会继续"},
    {"Starts the agent in the background, also if it was not running. The new agent takes over the "
     "running jobs and their output. Options that are not given keep their values of the last "
     "start, unless --fresh is given. An option that can't work, like a port in use or a store "
     "that does not answer, leaves the running agent as it is.",
     "在后台启动 agent，即使之前并未运行。新的 agent 会接管进行中的运行及其输出。未给出的选项沿用"
     "上次启动时的值，除非给出 "
     "--fresh。如果选项无法生效，例如端口已被占用或存储没有应答，正在运行的 "
     "agent 保持不变。"},
    {"peal started (pid %d, data %s)", "peal 已启动（pid %d，数据目录 %s）"},
    {"peal stopped (data %s)", "peal 已停止（数据目录 %s）"},
    {"kept from the last start:%s; --fresh drops them",
     "沿用上次启动时的选项%s；--fresh 可不再沿用"},
    {"%s (docs/SECURITY.md)", "%s（docs/SECURITY.md）"},
    {"%s: peal restart --default-user NAME, or a user for each job",
     "%s：请执行 peal restart --default-user NAME，或为每个任务指定 user"},
    {"%s: peal restart --default-user NAME, or a user for the job (docs/SECURITY.md)",
     "%s：请执行 peal restart --default-user NAME，或为该任务指定 "
     "user（docs/SECURITY.md）"},
    {"say whom they run as: peal restart --default-user NAME",
     "请指定默认用户：peal restart --default-user NAME"},
    {"No account yet. To make the first one in a browser, once:",
     "还没有账户。请在浏览器中打开以下链接创建第一个账户（链接只能使用一次）："},
    {"no agent is running on %s", "数据目录 %s 上没有正在运行的 agent"},
    {"the agent has not ended yet; it was told to", "已通知 agent 停止，但它尚未结束"},
    {"can't tell the agent (pid %d) to stop: %s", "无法通知 agent（pid %d）停止：%s"},
    {"the agent was started again with the options that it had (pid %d)",
     "已用原来的选项重新启动 agent（pid %d）"},
    {"the running agent was left as it is", "正在运行的 agent 保持不变"},
    {"the agent ended before it was ready; see its log", "agent 在就绪前已退出；请查看其日志"},
    {"the file \"store\" of the data folder", "数据目录中的文件“store”"},
    {"the file \"history\" of the data folder", "数据目录中的文件“history”"},
    {"at most %d labels; more of them in the configuration file",
     "最多 %d 个标签；更多标签请写入配置文件"},
    {"at most %d addresses", "最多 %d 个地址"},
    {"default_user %s: only an agent of root can run jobs as another user",
     "default_user %s：只有以 root 运行的 agent 才能以其他用户的身份运行任务"},

    /* state */
    {"whether the agent is running and can start jobs", "agent 是否在运行，能否启动任务"},
    {"Exit status: 0 running, 3 not running, 5 no answer, 8 running, but this node can't start "
     "runs: the disk is full, the store can't be reached or was restored, the clock is not "
     "trusted, the node is drained or shut out, the spawner is missing, or the agent is about to "
     "stop. The output says what to do.",
     "退出状态：0 运行中，3 未运行，5 没有应答，8 "
     "运行中，但此节点无法启动任何运行：磁盘已满、存储无法"
     "连接或已从备份恢复、时钟不可信、节点已排空或名称冲突、启动器不可用，或 agent "
     "即将停止。输出中会说明处理方法。"},
    {"not answering (pid %d, data %s)", "没有应答（pid %d，数据目录 %s）"},
    {"not running (data %s)", "未运行（数据目录 %s）"},
    {"shut out (pid %" PRId64 ")", "名称冲突（pid %" PRId64 "）"},
    {"running, but nothing can start (pid %" PRId64 ")",
     "运行中，但无法启动任何运行（pid %" PRId64 "）"},
    {"%s (pid %" PRId64 ")", "%s（pid %" PRId64 "）"},
    {"since", "启动时间"},
    {"data", "数据目录"},
    {"not well: %s", "异常：%s"},
    {"%" PRId64 ", %" PRId64 " running", "%" PRId64 " 个，运行中 %" PRId64 " 个"},
    {"%" PRId64 ", %s leads", "%" PRId64 " 个，主节点 %s"},
    {"%" PRId64 ", nobody leads", "%" PRId64 " 个，目前没有主节点"},
    {"steps", "时钟调整"},
    {"the last of %" PRId64 ", by %+.3f s: %s", "共 %" PRId64 " 次，最近一次 %+.3f 秒：%s"},

    /* dev */
    {"a temporary agent with sample jobs, to try peal", "带示例任务的临时 agent，用于试用 peal"},
    {"Starts an agent with a few jobs in a temporary folder, and shows its runs. Ctrl-C ends the "
     "agent and its jobs, and removes the folder.",
     "在临时目录中启动带有几个任务的 agent，并显示其运行。按 Ctrl-C 结束 agent 及其任务，并"
     "删除该目录。"},
    {"keep the folder", "保留该目录"},
    {"An agent of its own runs in %s. From another terminal:",
     "已在 %s 中启动一个独立的 agent。在另一个终端中可运行："},
    {"An agent of its own runs in %s, which goes away with it. From another terminal:",
     "已在 %s 中启动一个独立的 agent，结束时删除该目录。在另一个终端中可运行："},
    {"Ctrl-C ends it.", "按 Ctrl-C 结束。"},
    {"In a browser, logged in (once, within ten minutes):",
     "在浏览器中打开即已登录（只能使用一次，10 分钟内有效）："},
    {"kept: %s", "已保留：%s"},

    /* tls */
    {"create a certificate for the API", "为 API 创建证书"},
    {"for this machine's name and loopback", "用于本机名称和回环地址"},
    {"for that name, too", "同时用于该名称"},
    {"Writes tls/cert.pem and tls/key.pem into the data folder, where the agent looks for them. "
     "The certificate is self-signed: clients need a copy of it as their CA. A certificate from a "
     "CA is named in the configuration file: tls.cert and tls.key (docs/CONFIG.md). SIGHUP reloads "
     "them.",
     "将 tls/cert.pem 和 tls/key.pem 写入数据目录，agent 从那里读取。证书是自签名的：客户端需要它的"
     "副本作为 CA。由 CA 签发的证书在配置文件中指定：tls.cert 和 tls.key（docs/CONFIG.md）。SIGHUP "
     "可重新加载证书。"},
    {"expected: peal tls init", "用法：peal tls init"},
    {"write a self-signed certificate; exit status 4: one exists already",
     "生成自签名证书；退出状态 4：证书已存在"},
    {"another name or address for the certificate; may be repeated",
     "证书包含的其他名称或地址；可重复给出"},
    {"replace the existing certificate", "替换现有证书"},
    {"The agent uses them from its next start on: peal restart",
     "agent 下次启动时开始使用：peal restart"},
    {"Other machines believe it with a copy of the first file: peal list --url https://HOST:7325 "
     "--ca cert.pem",
     "其他机器需要第一个文件的副本才能信任它：peal list --url https://HOST:7325 --ca cert.pem"},
    {"%s; --force replaces it", "%s；--force 可替换"},
    {"can't make %s: %s", "无法创建 %s：%s"},
    {"can't write %s or %s: %s", "无法写入 %s 或 %s：%s"},
    {"can't make a certificate for %s", "无法为 %s 生成证书"},

    /* doctor */
    {"check the agent, its data, the store and the history", "检查 agent、数据、存储和历史"},
    {"before a node is started", "启动节点前的检查"},
    {"One line per check: ok, warn or FAIL, and what to do. Checks the data folder, the agent, its "
     "spawner and clock, its history, and the store: for SQLite, the integrity of the database; "
     "for etcd, each server; for PostgreSQL and Redis, how it is set up, its connections, room and "
     "clock; for all three, latency, and whether this user has the permissions that peal needs, by "
     "writing and removing a key below PREFIX/doctor/. With --url: what that agent "
     "reports, and the store if one is named. Exit status 1: a check has failed.",
     "每项检查一行：正常、警告或失败，以及处理方法。检查数据目录、agent 及其启动器和时钟、"
     "历史和存储：对 SQLite 检查数据库的完整性；对 etcd 检查每台服务器；对 PostgreSQL 和 Redis "
     "检查其设置、连接、空间和时钟；对这三者检查延迟，并在 PREFIX/doctor/ "
     "下写入和删除一个键，以检查此用户是否具有 "
     "peal 所需的权限。使用 --url 时：检"
     "查该 agent 报告的内容；指定了存储时，也检查存储。退出状态 1：有检查项失败。"},
    {"the store to check (else from the configuration file, $PEAL_STORE, the agent)",
     "要检查的存储（默认依次取配置文件、$PEAL_STORE、agent 的存储）"},
    {"a configuration file with the user and certificates of etcd or Redis (docs/CONFIG.md)",
     "包含 etcd 或 Redis 的用户和证书的配置文件（docs/CONFIG.md）"},
    {"warn", "警告"},
    {"FAIL", "失败"},

    {"data folder", "数据目录"},
    {"peal start makes it", "peal start 会创建它"},
    {"give it to the user that peal runs as, or name another with --data",
     "将其所有者改为运行 peal 的用户，或用 --data 指定其他目录"},
    {"%s can't be written to: %s", "%s 不可写：%s"},
    {"chmod go-w, or name another folder", "chmod go-w，或指定其他目录"},
    {"%s: others may write to it", "%s：其他用户可以写入"},
    {"make room: history and output are kept there", "请腾出空间：历史和输出保存在此处"},
    {"%s is writable, %" PRId64 " MB free", "%s 可写，剩余 %" PRId64 " MB"},

    {"agent", "agent"},
    {"%s, node %s, version %s", "%s，节点 %s，版本 %s"},
    {"%s, node %s, version %s, not this program's %s", "%s，节点 %s，版本 %s，与此程序的 %s 不同"},
    {"peal restart starts the new one; running jobs go on",
     "peal restart 可启动新版本；进行中的运行会继续"},
    {"pid %d does not answer", "pid %d 没有应答"},
    {"look into its log", "请查看其日志"},
    {"is not running; spawner and clock were not checked", "未运行；未检查启动器和时钟"},
    {"starts", "启动"},
    {"nothing can start (%s): %s", "无法启动任何运行（%s）：%s"},
    {"nothing is in the way", "可以启动运行"},
    {"agent's name", "agent 的名称"},
    {"peal nodes -o wide shows both", "peal nodes -o wide 可显示两者"},
    {"agent's store", "agent 的存储"},
    {"agent's history", "agent 的历史"},
    {"store value", "存储中的值"},
    {"of a newer peal: upgrade this node; else restore or remove the key (docs/RELIABILITY.md). It "
     "is left as it is, and the rest goes on",
     "由更新版本的 peal 写入时：升级本节点；否则恢复或删除该键（docs/RELIABILITY.md）。该值已保持"
     "原样，其余部分继续工作"},
    {"%s can't be read: %s", "%s 无法读取：%s"},
    {"agent's clock", "agent 的时钟"},
    {"set it (chrony, systemd-timesyncd), or wait",
     "校正时钟（chrony、systemd-timesyncd），或等待"},
    {"was set %" PRId64 " times since the agent started, last by %+.3f s",
     "agent 启动以来被调整 %" PRId64 " 次，最近一次 %+.3f 秒"},
    {"jobs' user", "任务的运行用户"},
    {"docs/SECURITY.md, \"Whom jobs run as\"", "参见 docs/SECURITY.md 中的“Whom jobs run as”"},
    {"peal restart --default-user NAME (docs/SECURITY.md)",
     "peal restart --default-user NAME（docs/SECURITY.md）"},
    {"sandbox", "沙箱"},
    {"docs/SECURITY.md, \"What the agent gives up\"",
     "参见 docs/SECURITY.md 中的“What the agent gives up”"},
    {"quotas", "配额"},
    {"docs/CONFIG.md, \"quotas\"", "参见 docs/CONFIG.md 中的“quotas”"},
    {"jobs: %" PRId64 " of %" PRId64 " are used", "任务：已用 %" PRId64 "，上限 %" PRId64},
    {"bytes of definitions: %" PRId64 " of %" PRId64 " are used",
     "定义的字节数：已用 %" PRId64 "，上限 %" PRId64},
    {"jobs of %s: %" PRId64 " of %" PRId64 " are used",
     "%s 的任务：已用 %" PRId64 "，上限 %" PRId64},
    {"spawner", "启动器"},
    {"limits of runs", "运行限制"},
    {"none: jobs with limits.total_memory and the like run on other nodes alone "
     "(docs/JOBS.md, \"Limits of a whole run\")",
     "无：使用 limits.total_memory 等限制的任务只在其他节点上运行"
     "（docs/JOBS.md，“Limits of a whole run”）"},
    {"spawner's version", "启动器版本"},
    {"peal-call's version", "peal-call 版本"},
    {"docs/CLUSTER.md, \"Upgrades\"; running jobs go on",
     "参见 docs/CLUSTER.md 中的“Upgrades”；进行中的运行会继续"},
    {"can't be reached, so nothing can be started", "无法连接，因此无法启动任何运行"},
    {"look into the agent's log", "请查看 agent 的日志"},
    {"none: this node serves the API only", "无：此节点只提供 API"},
    {"reachable", "可连接"},
    {"there is no other node to compare it with", "没有其他节点可供比较"},
    {"%+lld ms from the cluster's", "与集群时钟相差 %+lld ms"},
    {"%+lld ms from the cluster's: too far, so nothing is started here",
     "与集群时钟相差 %+lld ms：偏差过大，本节点不启动任何运行"},
    {"let chrony or systemd-timesyncd set it", "请用 chrony 或 systemd-timesyncd 校正时钟"},
    {"histories", "各节点的历史"},
    {"node %s %s: its runs can't be read from here", "节点 %s %s：无法从这里读取它的运行"},
    {"if it is up: its log and peal nodes -o wide; its port must be open for the other nodes "
     "(--peer-listen)",
     "如果该节点在线：查看其日志和 peal nodes -o wide；它的端口须对其他节点开放（--peer-listen）"},
    {"%s fails on node %s: %s", "%s 在节点 %s 上发送失败：%s"},
    {"OpenTelemetry", "OpenTelemetry"},
    {"the last request to the collector failed: %s", "对收集器的最近一次请求失败：%s"},
    {"see to the collector, or to otlp.endpoint of the configuration",
     "检查收集器，或配置中的 otlp.endpoint"},
    {"%" PRId64 " spans were dropped", "已丢弃 %" PRId64 " 个 span"},
    {"the agent's log says why (spans_dropped); it counts anew with its next start",
     "原因见 agent 日志（spans_dropped）；agent 下次启动后重新计数"},
    {"the collector has taken %" PRId64 " spans", "收集器已接收 %" PRId64 " 个 span"},
    {"peal channel log shows its messages, peal channel test tries it",
     "peal channel log 显示其消息，peal channel test 可测试"},
    {"those of all %zu nodes can be read", "%zu 个节点的历史均可读取"},
    {"database", "数据库"},
    {"there is none yet", "尚不存在"},
    {"%s/peal.db is intact: %" PRId64 " jobs, %" PRId64 " kB",
     "%s/peal.db 完好：%" PRId64 " 个任务，%" PRId64 " kB"},
    {"%s/history.db can be opened", "%s/history.db 可以打开"},

    /* doctor, of PostgreSQL */
    {"PostgreSQL", "PostgreSQL"},
    {"%s, round trip %.1f ms", "%s，往返 %.1f 毫秒"},
    {"commits", "提交"},
    {"set fsync = on", "请设置 fsync = on"},
    {"fsync is off: a crash of the machine can lose all data",
     "fsync 已关闭：机器崩溃可能丢失全部数据"},
    {"synchronous_commit is off, which peal raises to local for itself",
     "synchronous_commit 为 off，peal 在自己的会话中将其提高为 local"},
    {"set synchronous_standby_names, or count on a halt after a fail-over (docs/RELIABILITY.md)",
     "请设置 synchronous_standby_names，否则故障切换后可能停止启动（docs/RELIABILITY.md）"},
    {"%" PRId64 " replicas, and no commit waits for them: one that is promoted can lack the last "
     "ones",
     "%" PRId64 " 个副本，提交不等待它们：提升为主库的副本可能缺少最后的提交"},
    {"synchronous, %s; %" PRId64 " replicas", "同步，%s；%" PRId64 " 个副本"},
    {"on disk, no replicas", "写入磁盘，无副本"},
    {"connections", "连接"},
    {"raise max_connections: each node takes two, and two for a history",
     "请调大 max_connections：每个节点占用两个，历史再占用两个"},
    {"%" PRId64 " of %" PRId64 " are used", "已用 %" PRId64 "，上限 %" PRId64},
    {"tables", "表"},
    {"set autovacuum = on; VACUUM the tables of the schema",
     "请设置 autovacuum = on，并对该 schema 的表执行 VACUUM"},
    {"%" PRId64 " kB in schema %s (format %" PRId64 "), %" PRId64 " dead rows, autovacuum %s",
     "schema %2$s 中 %1$" PRId64 " kB（格式 %3$" PRId64 "），%4$" PRId64
     " 个死行，autovacuum %5$s"},
    {"transactions", "事务"},
    {"end it (SELECT * FROM pg_stat_activity ORDER BY xact_start): tables grow meanwhile",
     "请结束它（SELECT * FROM pg_stat_activity ORDER BY xact_start）：期间表会持续增长"},
    {"the oldest is open for %" PRId64 " s", "最早的事务已打开 %" PRId64 " 秒"},
    {"none is open for long", "没有长时间打开的事务"},
    {"its clock", "服务器时钟"},
    {"%+lld ms from this machine's", "与本机时钟相差 %+lld ms"},
    {"see its log, and docs/CLUSTER.md", "请查看其日志和 docs/CLUSTER.md"},
    {"PostgreSQL waits for its disk, or for a synchronous replica",
     "PostgreSQL 在等待磁盘，或同步副本"},

    /* doctor, of Redis */
    {"Redis", "Redis"},
    {"changes", "变更"},
    {"on disk before they are acknowledged (appendfsync always), never evicted",
     "确认之前已写入磁盘（appendfsync always），不会被淘汰"},
    {"it keeps no append-only file: what it acknowledged is lost when it stops",
     "没有 AOF 文件：停止时会丢失已确认的变更"},
    {"CONFIG SET appendonly yes and appendfsync always (docs/RELIABILITY.md)",
     "请执行 CONFIG SET appendonly yes 和 appendfsync always（docs/RELIABILITY.md）"},
    {"it does not say how it writes its append-only file", "无法得知 AOF 文件的写入方式"},
    {"let this user ask CONFIG GET appendfsync (ACL SETUSER)",
     "请允许此用户执行 CONFIG GET appendfsync（ACL SETUSER）"},
    {"acknowledged before they are on disk: lost when the machine fails",
     "写入磁盘之前就被确认：机器故障时会丢失"},
    {"CONFIG SET appendfsync always (docs/RELIABILITY.md)",
     "请执行 CONFIG SET appendfsync always（docs/RELIABILITY.md）"},
    {"it removes keys when its memory is full", "内存满时会删除键"},
    {"CONFIG SET maxmemory-policy noeviction (docs/RELIABILITY.md)",
     "请执行 CONFIG SET maxmemory-policy noeviction（docs/RELIABILITY.md）"},
    {"replicas", "副本"},
    {"leave out replicas=N, or count on a halt after a fail-over (docs/RELIABILITY.md)",
     "请去掉 replicas=N，否则故障切换后可能停止启动（docs/RELIABILITY.md）"},
    {"%d, and changes wait for %d: one that is promoted can lack the last ones",
     "%d 个，变更只等待 %d 个：提升为主库的副本可能缺少最后的变更"},
    {"start those that are missing, or name another replicas=N",
     "请启动缺少的副本，或改用其他的 replicas=N"},
    {"%d, and changes wait for %d: nothing starts meanwhile",
     "%d 个，而变更等待 %d 个：期间不会启动任何运行"},
    {"%d, and changes wait for all of them", "%d 个，变更等待所有副本"},
    {"memory", "内存"},
    {"raise maxmemory: when it is full, nothing new can be stored",
     "请调大 maxmemory：内存满时无法再保存新内容"},
    {"%" PRId64 " of %" PRId64 " kB", "已用 %" PRId64 " kB，上限 %" PRId64 " kB"},
    {"%" PRId64 " kB, no limit", "%" PRId64 " kB，无上限"},
    {"raise maxclients: each node takes two", "请调大 maxclients：每个节点占用两个连接"},
    {"Redis waits for its disk, or for a replica", "Redis 在等待磁盘或副本"},

    /* doctor, of etcd */
    {"etcd", "etcd"},
    {"is it running, is the address right, does a firewall or TLS stand between?",
     "它是否在运行？地址是否正确？是否被防火墙或 TLS 阻挡？"},
    {"start the other members: most of them must run", "请启动其他成员：须有过半数成员在运行"},
    {"%s, but has no leader, so nothing can be written", "%s，但没有 leader，因此无法写入"},
    {"upgrade etcd", "请升级 etcd"},
    {"%s; peal needs 3.4 or later", "%s；peal 需要 3.4 或更高版本"},
    {"%s, leads, %" PRId64 " kB", "%s，leader，%" PRId64 " kB"},
    {"%s, follows, %" PRId64 " kB", "%s，follower，%" PRId64 " kB"},
    {"etcd alarm", "etcd 告警"},
    {"CORRUPT: members do not hold the same data", "CORRUPT：各成员的数据不一致"},
    {"replace the member that is damaged", "请替换已损坏的成员"},
    {"NOSPACE: the quota is used up, so nothing can be written", "NOSPACE：配额已用尽，无法写入"},
    {"compact, defragment, then etcdctl alarm disarm (docs/CLUSTER.md)",
     "先压缩、整理碎片，再执行 etcdctl alarm disarm（docs/CLUSTER.md）"},
    {"etcd size", "etcd 数据量"},
    {"etcd's quota is 2 GB unless told otherwise: compact and defragment, or raise "
     "--quota-backend-bytes",
     "etcd 的默认配额为 2 GB：请压缩并整理碎片，或调大 --quota-backend-bytes"},
    {"%" PRId64 " kB, with an alarm", "%" PRId64 " kB，有告警"},
    {"%" PRId64 " kB, no alarm", "%" PRId64 " kB，无告警"},
    {"etcdctl role grant-permission ROLE --prefix=true readwrite %s/, for a role of %s",
     "etcdctl role grant-permission ROLE --prefix=true readwrite %s/，其中 ROLE 为用户 %s 的角色"},
    {"is etcd well, and may everybody use it? Else name a user for %s/",
     "etcd 是否正常，是否允许匿名访问？否则请指定对 %s/ 有权限的用户"},
    {"%s: p50 %.1f ms, p99 %.1f ms", "%s，p50 %.1f ms，p99 %.1f ms"},
    {"allowed", "有权限"},
    {"lease", "租约"},
    {"write", "写入"},
    {"etcd waits for its disk (or the network to the others): give it a fast one of its own",
     "etcd 在等待磁盘（或到其他成员的网络）：请为它配备专用的高速磁盘"},
    {"read", "读取"},
    {"%s/ was written by a newer peal", "%s/ 由更新版本的 peal 写入"},
    {"upgrade this node, or restore the backup from before", "请升级此节点，或恢复此前的备份"},
    {"is the network slow?", "网络是否过慢？"},
    {"watch", "监听"},
    {"from a write to its event", "从写入到收到事件"},
    {"nodes learn late of each other: is the server, or the network, busy?",
     "节点间的变更同步较慢：服务器或网络是否繁忙？"},
    {"no event came within %d s", "%d 秒内没有收到事件"},
    {"etcd auth", "etcd 认证"},
    {"user %s is configured, but etcd's authentication is off: whoever reaches it can read and "
     "change everything",
     "已配置用户 %s，但 etcd 未启用认证：任何能连接它的人都可以读取和修改全部数据"},
    {"etcdctl auth enable, after root has a password (docs/CLUSTER.md)",
     "先为 root 设置密码，再执行 etcdctl auth enable（docs/CLUSTER.md）"},
    {0},
};
