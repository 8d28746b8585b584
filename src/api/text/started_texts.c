/* What a start of the agent says when it fails: of its configuration, its data folder, its store,
 * its history and its addresses. Most of what the system, and all of what a database says, stays as
 * it is. */
#include "text/parsed.h"

const struct message started_messages[] = {
    /* the configuration file */
    {"can't read %s: %s", "无法读取 %s：%s"},
    {"one document is enough", "只能有一个文档"},
    {"a map of keys and values is expected here, not %s", "此处应为键和值的映射，而不是%s"},
    {"unknown key \"%s\"; did you mean %s?", "未知的键“%s”；是否指 %s？"},
    {"unknown key \"%s\"", "未知的键“%s”"},
    {"can't read a value from %s: %s", "无法从 %s 读取值：%s"},
    {"it is empty", "内容为空"},
    {"its first line is empty", "第一行为空"},
    {"its first line is too long", "第一行过长"},
    {"text or json is expected, not \"%.60s\"", "应为 text 或 json，而不是“%s”"},
    {"%s is one value, not %s", "%s 应为单个值，而不是%s"},
    {"%s is a number from 0 to %d, not \"%.60s\"", "%s 应为 0 到 %s 的数字，而不是“%s”"},
    {"%s must be an absolute path, not \"%s\"", "%s 应为绝对路径，而不是“%s”"},
    {"labels are names and values, like zone: eu, not %s",
     "labels 应为名称和值，如 zone: eu，而不是%s"},
    {"a label has one value, not %s", "一个标签只有一个值，而不是%s"},
    {"%s are namespaces and numbers, like team: 500, not %s",
     "%s 应为命名空间和数字，如 team: 500，而不是%s"},
    {"a namespace has one number of jobs, not %s", "一个命名空间只有一个任务数，而不是%s"},
    {"a history is sqlite, postgresql://USER@HOST/DATABASE or mongodb://USER@HOST/DATABASE",
     "历史应为 sqlite、postgresql://USER@HOST/DATABASE 或 mongodb://USER@HOST/DATABASE"},
    {"a role is api, worker or both (api,worker), not \"%.*s\"%s",
     "角色应为 api、worker 或两者（api,worker），而不是“%s”%s"},
    {"a node's id is of letters, digits, dots and dashes", "节点 ID 由字母、数字、点和短横线组成"},
    {"a node's id has from 1 to %zu letters", "节点 ID 应有 1 到 %s 个字符"},
    {"the capacity is a number from 1 to %d, the node's weight when work is shared out",
     "capacity 应为 1 到 %s 的数字，即分配任务时该节点的权重"},
    {"an address is like host:8080", "地址的形式为 host:8080"},
    {"an address has at most %zu letters", "地址最多 %s 个字符"},
    {"this is too long for an address", "地址过长"},
    {"expected a URL like https://peal.example.com, not \"%.80s\"",
     "应为 https://peal.example.com 形式的 URL，而不是“%s”"},
    {"there is no facade \"%.*s\"; expected dkron or tutorial%s",
     "没有名为“%s”的兼容接口；应为 dkron 或 tutorial%s"},
    {"a label is NAME=VALUE of letters, digits and ._/-, like zone=eu, not \"%.60s\"",
     "标签应为 NAME=VALUE，由字母、数字和 ._/- 组成，如 zone=eu，而不是“%s”"},
    {"the labels of a node take at most %zu letters", "节点的标签合计最多 %s 个字符"},
    {"the name of a user is expected", "应为用户名"},
    {"on or off is expected, not \"%.60s\"", "应为 on 或 off，而不是“%s”"},

    /* addresses */
    {"\"%s\" is no address to listen on; expected one like 127.0.0.1, 0.0.0.0:7325, [::1]:7325 or "
     "localhost, or none",
     "“%s”不是监听地址；应为 127.0.0.1、0.0.0.0:7325、[::1]:7325、localhost 这样的地址，或 none"},
    {"can't listen on %s: %s; choose another with --listen, or --listen none",
     "无法监听 %s：%s；请用 --listen 选择其他地址，或使用 --listen none"},
    {"can't listen on %s: %s", "无法监听 %s：%s"},
    {"\"%.*s\" is no address; expected one like 192.0.2.1, 10.0.0.0/8 or 2001:db8::/32",
     "“%s”不是地址；应为 192.0.2.1、10.0.0.0/8 或 2001:db8::/32 这样的地址"},
    {"can't open the port for other nodes, %s: %s; choose another address with --peer-listen, or "
     "--peer-listen none",
     "无法打开供其他节点使用的端口 %s：%s；请用 --peer-listen 选择其他地址，或使用 --peer-listen "
     "none"},
    {"the path of the API's socket is too long: %s has %zu bytes, and the system takes %zu; choose "
     "a shorter data folder with --data",
     "API 套接字的路径过长：%s 有 %s 字节，系统最多允许 %s；请用 --data 选择更短的数据目录"},
    {"%s is in the way of the API's socket and is no socket; move it away",
     "%s 占用了 API 套接字的位置，但不是套接字；请将其移走"},
    {"another agent serves %s; stop it first, or use another --data",
     "另一个 agent 正在使用 %s；请先停止它，或换用其他 --data"},
    {"can't remove the old socket %s: %s", "无法删除旧的套接字 %s：%s"},
    {"can't use the %s %s: %s; `peal tls init` makes a pair to start with",
     "无法使用 %s %s：%s；可用 `peal tls init` 先生成一对"},

    /* the data folder */
    {"the data folder %s belongs to node %s, not %s: what that node still owns in the store would "
     "be nobody's. Leave out --node-id, or use a new folder",
     "数据目录 %s 属于节点 %s，而不是 %s：否则该节点在存储中的运行将无人负责。请去掉 --node-id，"
     "或使用新目录"},
    {"can't read the data folder %s: %s", "无法读取数据目录 %s：%s"},
    {"can't write to the data folder %s: %s", "无法写入数据目录 %s：%s"},
    {"can't make the data folder %s: %s; choose another with --data",
     "无法创建数据目录 %s：%s；请用 --data 选择其他目录"},
    {"%s is this agent's own data folder: share another one, or choose another data folder with "
     "--data",
     "%s 是该 agent 自己的数据目录：请共享另一个目录，或用 --data 选择其他数据目录"},
    {"can't open the log %s: %s", "无法打开日志 %s：%s"},
    {"can't use the spawner's folder %s: %s", "无法使用启动器的目录 %s：%s"},
    {"can't take signals: %s", "无法接收信号：%s"},
    {"can't set up the event loop: %s", "无法建立事件循环：%s"},

    /* joining */
    {"the store has not let it in in time", "存储未在规定时间内接纳该节点"},
    {"node id %s was in use by another agent when the store answered last: give this one another "
     "--node-id, or stop the other one\n%s",
     "存储最近一次应答时，节点 ID %s 正被另一个 agent 使用：请为本 agent 指定其他 --node-id，"
     "或停止另一个\n%s"},
    {"node %s could not join the cluster, and is not started: %s",
     "节点 %s 未能加入集群，因此没有启动：%s"},
    {"node id %s is in use by another agent%s: give this one another --node-id",
     "节点 ID %s 正被另一个 agent 使用%s：请为本 agent 指定其他 --node-id"},

    /* the store's address */
    {"the port is missing behind the colon", "冒号后缺少端口"},
    {"a port is a number, not \"%.*s\"", "端口应为数字，而不是“%s”"},
    {"a port is a number from 1 to 65535", "端口应为 1 到 65535 的数字"},
    {"the bracket is not closed", "方括号没有闭合"},
    {"only an IPv6 address stands in brackets, like [::1]", "方括号中只能是 IPv6 地址，如 [::1]"},
    {"there is no address in the brackets", "方括号中没有地址"},
    {"behind the bracket only a colon and the port may follow", "方括号之后只能是冒号和端口"},
    {"an IPv6 address stands in brackets: [::1]:%d", "IPv6 地址应放在方括号中：[::1]:%s"},
    {"a host is of letters, digits, dots and dashes", "主机名由字母、数字、点和短横线组成"},
    {"a host is missing here", "此处缺少主机名"},
    {"the host is too long", "主机名过长"},
    {"%.*s:%d is named twice", "%s:%s 出现了两次"},
    {"at most %d servers", "最多 %s 个服务器"},
    {"the user is missing before the @", "@ 之前缺少用户名"},
    {"a prefix is of visible ASCII letters with single slashes, like /peal",
     "前缀由可见 ASCII 字符和单个斜线组成，如 /peal"},
    {"a prefix has at most %d letters", "前缀最多 %s 个字符"},
    {"unknown store \"%s\"; peal knows sqlite, etcd://, postgresql:// and redis://: did you mean "
     "%s?",
     "未知的存储“%s”；peal 支持 sqlite、etcd://、postgresql:// 和 redis://：是否指 %s？"},
    {"unknown store \"%.*s\"; peal knows sqlite, etcd://HOST:PORT,.../PREFIX (etcds:// with TLS), "
     "postgresql://USER@HOST/DATABASE and redis://HOST:PORT",
     "未知的存储“%s”；peal 支持 sqlite、etcd://HOST:PORT,.../PREFIX（使用 TLS 时为 etcds://）、"
     "postgresql://USER@HOST/DATABASE 和 redis://HOST:PORT"},
    {"a password does not belong here, where everybody can read it; use redis.password_file of the "
     "configuration, or PEAL_REDIS_PASSWORD",
     "密码不应写在人人可见之处；请使用配置中的 redis.password_file，或 PEAL_REDIS_PASSWORD"},
    {"Redis' user \"%.60s\" has no password", "Redis 用户“%s”没有密码"},
    {"%s is a number from %ld to %ld", "%s 是 %s 到 %s 的数字"},
    {"\"%.*s\" is not known; write redis://HOST:PORT, rediss:// with TLS, redis+unix:///SOCKET or "
     "redis+sentinel://HOST:PORT,.../MASTER",
     "“%s”无效；请写作 redis://HOST:PORT、使用 TLS 的 rediss://、redis+unix:///SOCKET 或 "
     "redis+sentinel://HOST:PORT,.../MASTER"},
    {"write %s://%s", "请写作 %s://%s"},
    {"a socket's path has at most %zu letters", "socket 路径最多 %s 个字符"},
    {"a prefix is of letters, digits and - _ . : /", "前缀由字母、数字和 - _ . : / 组成"},
    {"a prefix has 1 to %d letters", "前缀有 1 到 %s 个字符"},
    {"an address has no such letter", "地址中不能有此字符"},
    {"one server holds the keys; several are watched by Sentinel: redis+sentinel://HOST:PORT,.../"
     "MASTER",
     "键保存在一台服务器上；多台服务器由 Sentinel 监视：redis+sentinel://HOST:PORT,.../MASTER"},
    {"a socket is named by its whole path: redis+unix:///run/redis/x.sock",
     "socket 须给出完整路径：redis+unix:///run/redis/x.sock"},
    {"the master's name in Sentinel is missing, as in /mymaster",
     "缺少 Sentinel 中主库的名称，例如 /mymaster"},
    {"write accept-loss=yes, or leave it out", "请写作 accept-loss=yes，或省略"},
    {"\"%.*s\" is not known here; there are prefix=NAME, replicas=N, db=N and accept-loss=yes",
     "“%s”在此处无效；可用的有 prefix=NAME、replicas=N、db=N 和 accept-loss=yes"},
    {"only a store in Redis can be told to accept a loss", "只有 Redis 中的存储才能接受丢失"},
    {"a password does not belong here, where everybody can read it; use ~/.pgpass, a file that "
     "passfile=FILE names, or PGPASSWORD",
     "密码不应写在人人可见之处；请使用 ~/.pgpass、由 passfile=FILE 指定的文件，或 PGPASSWORD"},
    {"write postgresql://USER@HOST:PORT/DATABASE", "请写作 postgresql://USER@HOST:PORT/DATABASE"},
    {"an address has no blanks; write %%20 for one", "地址中不能有空白；请写作 %%20"},
    {"a password does not belong here, where everybody can read it; use etcd.password_file of the "
     "configuration, or PEAL_ETCD_PASSWORD",
     "密码不应写在人人可见之处；请使用配置中的 etcd.password_file，或 PEAL_ETCD_PASSWORD"},
    {"nothing may follow the prefix; users and certificates are in the configuration file",
     "前缀之后不应再有内容；用户和证书写在配置文件中"},
    {"sqlite alone is in the data folder, which --data names; sqlite:///FOLDER is shared by "
     "several "
     "agents",
     "sqlite 的数据库位于 --data 指定的数据目录；sqlite:///FOLDER 由多个 agent 共享"},
    {"write %.*s://HOST:PORT,.../PREFIX", "请写作 %s://HOST:PORT,.../PREFIX"},

    /* the store */
    {"can't open the store %s: %s\nCheck it: peal doctor%s",
     "无法打开存储 %s：%s\n请检查：peal doctor%s"},
    {"no etcd endpoint can be used: %s", "没有可用的 etcd 端点：%s"},
    {"can't read %s's password from %s: %s", "无法读取 %s 的密码（%s）：%s"},
    {"every user can read %s, which holds a password: chmod 600 it",
     "所有用户都能读取保存密码的 %s：请执行 chmod 600"},
    {"%s holds no password: write it on the first line", "%s 中没有密码：请写在第一行"},
    {"etcd's user %s needs a password: etcd.password_file in the configuration, or "
     "PEAL_ETCD_PASSWORD",
     "etcd 用户 %s 需要密码：请使用配置中的 etcd.password_file，或 PEAL_ETCD_PASSWORD"},
    {"certificates are configured, but the store is etcd://, without TLS: write etcds://",
     "已配置证书，但存储为不带 TLS 的 etcd://：请写作 etcds://"},
    {"certificates are configured, but the store is redis://, without TLS: write rediss://",
     "已配置证书，但存储为不带 TLS 的 redis://：请写作 rediss://"},
    {"redis.cert and redis.key belong together: name both, or none",
     "redis.cert 和 redis.key 须同时给出，或都不给出"},
    {"etcd.cert and etcd.key belong together: name both, or none",
     "etcd.cert 和 etcd.key 须同时给出，或都不给出"},
    {"can't make %s: %s", "无法创建 %s：%s"},
    {"can't write %s: %s", "无法写入 %s：%s"},
    {"%s is missing, but its %s is there: put the database back beside it, or remove that file too "
     "to start empty",
     "缺少 %s，但它的 %s 还在：请把数据库放回原处，或连同该文件一起删除，从空库开始"},
    {"%s is not a database of peal's, or is damaged: name another data folder, or set the file "
     "aside and restore a backup",
     "%s 不是 peal 的数据库，或已损坏：请指定其他数据目录，或移走该文件并恢复备份"},
    {"%s was written by a newer peal (format %d, this one knows %d): install that version again, "
     "or restore the backup from before",
     "%s 由更新版本的 peal 写入（格式 %s，当前版本支持 %s）：请重新安装该版本，或恢复此前的备份"},
    {"%s: this file system has no shared memory maps, which peal's database needs: name a data "
     "folder on a local disk",
     "%s：该文件系统不支持 peal 数据库所需的共享内存映射：请指定本地磁盘上的数据目录"},
    {"%s is in use by programs with an older peal (format %d, this one has %d): stop them first",
     "%s 正被使用旧版 peal 的程序占用（格式 %s，当前为 %s）：请先停止它们"},
    {"can't start a thread: the system's limit on processes is reached",
     "无法启动线程：已达到系统的进程数上限"},

    /* the history */
    {"peal knows no history at \"%.*s:\". Name one that starts with postgresql:// or mongodb://, "
     "or "
     "none: then it is kept in a file of peal's own.",
     "peal 不支持“%s:”这样的历史。请使用 postgresql:// 或 mongodb:// 开头的地址；不指定则保存在 "
     "peal "
     "自己的文件中。"},
    {"this is no address of a history. Name one that starts with postgresql:// or mongodb://, or "
     "none: then it is kept in a file of peal's own.",
     "这不是历史的地址。请使用 postgresql:// 或 mongodb:// 开头的地址；不指定则保存在 peal "
     "自己的文件中。"},
    {"%s is locked by another program (%s). Close that program.",
     "%s 被另一个程序锁定（%s）。请关闭该程序。"},
    {"%s is a database, but not a history of peal. Move it away.",
     "%s 是数据库，但不是 peal 的历史。请将其移走。"},
    {"%s was written by a newer peal (its format is %d, this one knows %d). Install that version "
     "again, or move the file away to start a new history.",
     "%s 由更新版本的 peal 写入（格式 %s，当前版本支持 %s）。请重新安装该版本，或移走该文件以建立"
     "新的历史。"},
    {"%s is damaged (%s). Stop peal, move the file away together with those that end in -wal and "
     "-shm, and put a backup in its place; without one, peal starts a new history. Jobs are not "
     "affected.",
     "%s 已损坏（%s）。请停止 peal，将该文件连同以 -wal 和 -shm 结尾的文件一起移走，并换上备份；"
     "没有备份时 peal 会建立新的历史。任务不受影响。"},
    {"%s cannot be used: %s. Check the room on its disk, the limit on the size of files (ulimit "
     "-f) "
     "and the permissions of its folder; what is to be recorded waits meanwhile.",
     "%s 无法使用：%s。请检查磁盘空间、文件大小限制（ulimit -f）和目录权限；待记录的内容会在此期间"
     "等待。"},
    {"this peal was built without %s: there is no %s. `make build` makes it, and `make install` "
     "puts "
     "it there",
     "此 peal 构建时未包含 %s：没有 %s。`make build` 会生成它，`make install` 会将其安装到位"},
    {"peal's part for %s can't be loaded: %s. Install what it names",
     "无法加载 peal 的 %s 模块：%s。请安装其中所列的依赖"},

    /* the system's own, where they stand in one of these */
    {"No such file or directory", "没有该文件或目录"},
    {"Permission denied", "权限不足"},
    {"Address already in use", "地址已被占用"},
    {"Cannot assign requested address", "无法使用该地址"},
    {"Connection refused", "连接被拒绝"},
    {"No space left on device", "磁盘空间不足"},
    {"Not a directory", "不是目录"},
    {"Is a directory", "是目录"},
    {"Read-only file system", "文件系统只读"},
    {"Operation not permitted", "操作不被允许"},
    {"Too many open files", "打开的文件过多"},
    {0},
};
