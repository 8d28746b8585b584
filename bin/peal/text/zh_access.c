#include "text/texts.h"

/* Accounts: user, token, login, logout, link. */
const struct message zh_access[] = {
    /* user */
    {"who may use the API from a browser, and for what", "可从浏览器使用 API 的用户及其权限"},
    {"what about users? peal user add, list, set or delete",
     "缺少子命令：peal user add、list、set 或 delete"},
    {"the first one is an admin", "第一个用户是 admin"},
    {"make a user", "添加用户"},
    {"The password is asked for on the terminal. Without --role the first user is an admin, and "
     "all others are viewers. Exit status 4: there is such a user already.",
     "密码在终端上输入。未给出 --role 时，第一个用户是 admin，其余均为 viewer。退出状态 4："
     "用户已存在。"},
    {"name one user", "请指定一个用户"},
    {"none lets in, only peal link does", "不设密码，只能通过 peal link 登录"},
    {"change what is named", "修改用户，只改给出的各项"},
    {"A new password ends the user's sessions.", "设置新密码后，该用户的会话将失效。"},
    {"ask for a new password", "在终端上输入新密码"},
    {"may not log in", "停用：禁止登录"},
    {"may log in again", "启用：恢复登录"},
    {"delete a user, and all their tokens; the last admin stays",
     "删除用户及其全部令牌；不能删除最后一位 admin"},
    {"all users", "所有用户"},
    {"peal user list takes no name", "peal user list 没有名称参数"},
    {"no users; make one: peal user add NAME --role admin",
     "没有用户；添加用户：peal user add NAME --role admin"},
    {"New password", "新密码"},
    {"the password is not UTF-8 text", "密码不是 UTF-8 文本"},
    {"--disable and --enable are one too many", "--disable 和 --enable 不能同时给出"},
    {"set what? --role, --namespace, --password, --disable ...",
     "修改什么？--role、--namespace、--password、--disable 等"},
    {"%s: %s, %s", "%s：%s，%s"},
    {"%s: %s, %s, disabled", "%s：%s，%s，已停用"},
    {"disabled", "已停用"},
    {"no password", "未设密码"},
    {", and all their tokens", " 及其全部令牌"},

    /* secret */
    {"what jobs use and nobody is shown: passwords, tokens, keys",
     "供任务使用而不再显示的机密：密码、令牌、密钥"},
    {"what about secrets? peal secret set, list, rotate, delete or init",
     "缺少子命令：peal secret set、list、rotate、delete 或 init"},
    {"docs/SECRETS.md says how jobs use them, and who may.",
     "docs/SECRETS.md 说明任务如何使用机密，以及谁可以使用。"},
    {"make a secret, or give it another value", "创建机密，或更换其值"},
    {"The value is read from stdin; a last newline is not part of it. The name of a secret says "
     "whose it is: jobs billing/... may use billing/db-password.",
     "值从标准输入读取，末尾的换行不计入。机密的名称决定其归属：任务 billing/... 可使用 "
     "billing/db-password。"},
    {"a file with the value (default: stdin, or the terminal)",
     "存有值的文件（默认：标准输入或终端）"},
    {"a namespace whose jobs may use it, too; * is all of them; may be repeated",
     "其任务也可使用该机密的命名空间；* 表示全部；可重复"},
    {"name one secret", "请指定一个机密"},
    {"secrets in the store, without their values", "列出存储中的机密，不显示其值"},
    {"peal secret list takes no name", "peal secret list 没有名称参数"},
    {"no secrets in the store; make one: peal secret set NAME",
     "存储中没有机密；创建：peal secret set NAME"},
    {"encrypt all secrets with the current key", "用当前密钥重新加密全部机密"},
    {"peal secret rotate takes no name", "peal secret rotate 没有名称参数"},
    {"%s: encrypted with the key %s", "%s：已用密钥 %s 加密"},
    {"delete a secret; jobs that use it do not start any more", "删除机密；使用它的任务将不再启动"},
    {"make the key file; exit status 4: there is one", "创建密钥文件；退出状态 4：已存在"},
    {"peal secret init takes no name", "peal secret init 没有名称参数"},
    {"the file (default: secret.key in the data folder)",
     "密钥文件（默认：数据目录中的 secret.key）"},
    {"put another key in front of those that are there", "在现有密钥之前加入新密钥"},
    {"drop all keys but the first", "只保留第一个密钥"},
    {"Every node of the cluster needs a copy of this file, mode 0600. Keep one apart from backups "
     "of the store: without it the secrets are lost.",
     "集群的每个节点都需要此文件的副本，权限 0600。请另存一份，并与存储的备份分开：没有它，机密将"
     "无法恢复。"},
    {"%s exists; --add puts another key in front, --drop drops all but the first",
     "%s 已存在；--add 在前面加入新密钥，--drop 只保留第一个"},
    {"once, on one node", "在一个节点上执行一次"},
    {"value: ", "值："},
    {"set", "已设置"},
    {"SET", "设置时间"},
    {"SHARED WITH", "共享给"},
    {"KEY", "密钥"},
    {"can't read the value: %s", "无法读取值：%s"},

    /* options of user and token */
    {"viewer, operator, editor or admin", "viewer、operator、editor 或 admin"},
    {"limit the role to the jobs N/...; may be repeated; N=ROLE sets a role for that namespace, "
     "and "
     "--role is for all others",
     "角色仅限于任务 N/...；可重复给出；N=ROLE 为该命名空间指定角色，--role 用于其余命名空间"},
    {"without the right to change the command or the user of a job",
     "不可修改任务的命令和运行用户"},
    {"a file whose first line is the password; - is stdin", "首行为密码的文件；- 为标准输入"},

    /* token */
    {"credentials for programs that use the API", "程序使用 API 的凭据"},
    {"what about tokens? peal token create, list or revoke",
     "缺少子命令：peal token create、list 或 revoke"},
    {"make a token", "创建令牌"},
    {"create prints the token, this once: only a hash of it is kept. Programs send it as "
     "Authorization: Bearer TOKEN. One of a user may do what the user may, or less, and ends with "
     "the user; one of nobody needs a role.",
     "令牌只在创建时显示一次：之后只保存它的哈希。程序通过 Authorization: Bearer TOKEN "
     "发送令牌。属于"
     "用户的令牌，权限不超过该用户，并随用户一同失效；不属于任何用户的令牌需要指定角色。"},
    {"say what it is for: peal token create LABEL", "请说明用途：peal token create LABEL"},
    {"whose it is (who is logged in, else nobody's)",
     "令牌所属的用户（默认为已登录的用户，否则不属于任何用户）"},
    {"after so long (90d), or never", "有效期（90d），或 never"},
    {"one's own; an admin's are all", "自己的令牌；admin 可查看全部"},
    {"peal token list takes no name", "peal token list 没有名称参数"},
    {"end it, on all nodes", "在所有节点上吊销令牌"},
    {"which one? peal token revoke ID", "吊销哪个令牌？peal token revoke ID"},
    {"no tokens; make one: peal token create LABEL --role viewer",
     "没有令牌；创建令牌：peal token create LABEL --role viewer"},
    {"Keep it: it is not shown again. peal token revoke %s ends it.",
     "请妥善保存：令牌只显示这一次。吊销：peal token revoke %s"},
    {"never", "永不过期"},
    {"revoked", "已吊销"},

    /* link, login, logout */
    {"a one-time link that opens the console logged in", "打开控制台并自动登录的一次性链接"},
    {"as an admin, without an account", "以 admin 身份，无需账户"},
    {"as that user, for example after a forgotten password", "以该用户身份，例如忘记密码时"},
    {"Only on the agent's machine, for the agent's user and root. The link can be used once, "
     "within ten minutes. Exit status 4: the agent listens on no address.",
     "只能在 agent 所在的机器上由 agent 的用户或 root 执行。链接只能使用一次，10 "
     "分钟内有效。退出状态 "
     "4：agent 未监听任何地址。"},
    {"It works once, within ten minutes.", "链接只能使用一次，10 分钟内有效。"},
    {"log in to the agent of another machine", "登录另一台机器上的 agent"},
    {"Asks for name and password, creates a token, and keeps it for later commands with the same "
     "--url, in peal/tokens.json below $XDG_CONFIG_HOME or ~/.config (mode 0600).",
     "询问用户名和密码，创建令牌，并保存到 $XDG_CONFIG_HOME 或 ~/.config 下的 "
     "peal/tokens.json（权限 "
     "0600），供之后使用相同 --url 的命令使用。"},
    {"the user (default: ask)", "用户名（默认询问）"},
    {"lifetime of the token (90d), or never", "令牌的有效期（90d），或 never"},
    {"Password", "密码"},
    {"%s: logged in as %s; --url needs no --token-file any more",
     "%s：已以 %s 身份登录；之后使用 --url 无需 --token-file"},
    {"revoke and forget the token of peal login", "吊销并删除 peal login 保存的令牌"},
    {"Exit status 3: no login is kept for this URL.", "退出状态 3：没有保存此 URL 的登录。"},
    {"%s: logged out", "%s：已退出登录"},
    {"nobody is logged in to %s", "尚未登录 %s"},
    {"User name", "用户名"},
    {0},
};
