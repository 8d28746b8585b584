/* What the histories in a server, and the spool in front of them, say of themselves. */
#include "text/message.h"
#include "text/parsed.h"

#define WAITS    "peal tries again by itself; what is to be recorded waits meanwhile.%s"
#define ZH_WAITS "peal 会自行重试；待记录的内容会在此期间等待。%s"

#define WAITING_ONE " waits on disk for the database."
#define WAITING     " wait on disk for the database."
#define DROPPED     " To make room, %s bytes of output were dropped."
#define FULL        " %s is full: what ends now is kept by the store until there is room."
#define UNWRITTEN                                                                                  \
    " %s cannot be written: %s. Check the room on its disk; what ends now is kept by the store "   \
    "until then."
#define ZH_WAITING   " 条记录在磁盘上等待写入数据库。"
#define ZH_DROPPED   "为腾出空间，已丢弃 %s 字节的输出。"
#define ZH_FULL      "%s 已满：此后结束的运行由存储保留，直到有空间。"
#define ZH_UNWRITTEN "%s 无法写入：%s。请检查其磁盘空间；在此之前结束的运行由存储保留。"

const struct message history_messages[] = {
    {"PostgreSQL at %s is away: %s. " WAITS, "%s 处的 PostgreSQL 不可用：%s。" ZH_WAITS},
    {"PostgreSQL at %s is away: %s. %s " WAITS, "%s 处的 PostgreSQL 不可用：%s。%s" ZH_WAITS},
    {"PostgreSQL at %s: %s. %s " WAITS, "%s 处的 PostgreSQL：%s。%s" ZH_WAITS},
    {"MongoDB at %s is away: %s. %s " WAITS, "%s 处的 MongoDB 不可用：%s。%s" ZH_WAITS},
    {"MongoDB at %s: %s. %s " WAITS, "%s 处的 MongoDB：%s。%s" ZH_WAITS},

    /* what waits: behind one of those */
    {" %s record" WAITING_ONE, "%s" ZH_WAITING},
    {" %s records" WAITING, "%s" ZH_WAITING},
    {" %s records" WAITING DROPPED, "%s" ZH_WAITING ZH_DROPPED},
    {" %s records" WAITING FULL, "%s" ZH_WAITING ZH_FULL},
    {" %s records" WAITING DROPPED FULL, "%s" ZH_WAITING ZH_DROPPED ZH_FULL},
    {" %s records" WAITING UNWRITTEN, "%s" ZH_WAITING ZH_UNWRITTEN},
    {" %s records" WAITING DROPPED UNWRITTEN, "%s" ZH_WAITING ZH_DROPPED ZH_UNWRITTEN},
    {FULL, ZH_FULL},
    {UNWRITTEN, ZH_UNWRITTEN},

    /* what to do */
    {"Put the right password into ~/.pgpass, PGPASSWORD or the history's address, or change it: "
     "ALTER ROLE ... PASSWORD ...",
     "请在 ~/.pgpass、PGPASSWORD 或历史的地址中使用正确的密码，或修改密码：ALTER ROLE ... PASSWORD "
     "..."},
    {"Put the password into ~/.pgpass, PGPASSWORD or the history's address.",
     "请将密码写入 ~/.pgpass、PGPASSWORD 或历史的地址。"},
    {"Let this machine and user in, in the server's pg_hba.conf.",
     "请在服务器的 pg_hba.conf 中允许本机和该用户连接。"},
    {"Make the role: CREATE ROLE ... LOGIN.", "请创建角色：CREATE ROLE ... LOGIN。"},
    {"Make the database: CREATE DATABASE ...; or name another one in the history's address.",
     "请创建数据库：CREATE DATABASE ...；或在历史的地址中指定另一个。"},
    {"Grant it: GRANT CONNECT ON DATABASE ...", "请授权：GRANT CONNECT ON DATABASE ..."},
    {"Raise max_connections of the server: each node of peal takes two.",
     "请调大服务器的 max_connections：每个 peal 节点占用两个连接。"},
    {"Check sslmode and sslrootcert in the history's address.",
     "请检查历史地址中的 sslmode 和 sslrootcert。"},
    {"Check the host in the history's address.", "请检查历史地址中的主机。"},
    {"Start it, or check host and port in the history's address.",
     "请启动它，或检查历史地址中的主机和端口。"},
    {"Its disk is full: make room there.", "其磁盘已满：请腾出空间。"},
    {"The server lacks a resource: see its log.", "服务器资源不足：请查看其日志。"},
    {"It is read-only: name the primary in the history's address (several hosts and "
     "target_session_attrs=read-write find it), or unset default_transaction_read_only.",
     "它是只读的：请在历史的地址中指定主库（多个主机加 target_session_attrs=read-write "
     "可自动找到），"
     "或取消 default_transaction_read_only。"},
    {"Grant the rights on the schema and its tables to peal's role.",
     "请将模式及其表的权限授予 peal 的角色。"},
    {"It took too long: see what else keeps the server busy.",
     "耗时过长：请查看是什么占用了服务器。"},
    {"Another session holds a lock on peal's tables: end it.",
     "另一个会话锁住了 peal 的表：请结束它。"},
    {"Others were in the way.", "与其他写入冲突。"},
    {"A partition is missing.", "缺少一个分区。"},
    {"Its data are damaged: restore a backup.", "其数据已损坏：请恢复备份。"},
    {"An index is damaged: REINDEX it.", "索引已损坏：请执行 REINDEX。"},
    {"See the server's log.", "请查看服务器的日志。"},
    {"Check tls=true, tlsCAFile and the server's certificate in the history's address.",
     "请检查历史地址中的 tls=true、tlsCAFile 和服务器的证书。"},
    {"Check tlsCAFile in the history's address.", "请检查历史地址中的 tlsCAFile。"},
    {"Check the name in the history's address, and its SRV record in the DNS.",
     "请检查历史地址中的名称及其在 DNS 中的 SRV 记录。"},
    {"See what keeps it from answering.", "请查看它为何没有应答。"},
    {"Put the right user and password into the history's address or its password_file, and "
     "authSource=admin if the user was made there.",
     "请在历史的地址或其 password_file 中使用正确的用户和密码；若用户建在 admin 中，请加上 "
     "authSource=admin。"},
    {"Grant peal's user the role readWrite on the database.",
     "请将该数据库的 readWrite 角色授予 peal 的用户。"},
    {"It is a secondary, which is read-only: name all members and replicaSet=NAME in the history's "
     "address, without directConnection.",
     "它是只读的从节点：请在历史的地址中列出全部成员和 replicaSet=NAME，且不要使用 "
     "directConnection。"},
    {"The primary has changed.", "主节点已变更。"},
    {"It is shutting down.", "它正在关闭。"},
    {"The user's quota is used up: make room there.", "该用户的配额已用完：请腾出空间。"},
    {"Most members of the replica set have not confirmed it in time: see which are down.",
     "副本集的多数成员没有及时确认：请查看哪些成员不可用。"},
    {"Too few members of the replica set are up: see which are down.",
     "副本集可用的成员太少：请查看哪些成员不可用。"},
    {0},
};
