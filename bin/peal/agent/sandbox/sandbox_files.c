#include "sandbox/sandbox.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- landlock, as linux/landlock.h has it: that of the machine which compiles this may be older
 * than the kernel which it runs on ---- */

enum {
    CALL_CREATE_RULESET = 444, /* on every kind of machine */
    CALL_ADD_RULE = 445,
    CALL_RESTRICT_SELF = 446,
    CREATE_VERSION = 1,
    RULE_PATH_BENEATH = 1,
    SCOPE_SIGNAL = 2,
};

enum access {
    EXECUTE = 1 << 0,
    WRITE_FILE = 1 << 1,
    READ_FILE = 1 << 2,
    READ_DIR = 1 << 3,
    REMOVE_DIR = 1 << 4,
    REMOVE_FILE = 1 << 5,
    MAKE_CHAR = 1 << 6,
    MAKE_DIR = 1 << 7,
    MAKE_REG = 1 << 8,
    MAKE_SOCK = 1 << 9,
    MAKE_FIFO = 1 << 10,
    MAKE_BLOCK = 1 << 11,
    MAKE_SYM = 1 << 12,
    REFER = 1 << 13,    /* from version 2 */
    TRUNCATE = 1 << 14, /* 3 */
    IOCTL_DEV = 1 << 15 /* 5 */
};

struct ruleset {
    uint64_t files;
    uint64_t network;
    uint64_t scopes; /* from version 6 */
};

struct beneath {
    uint64_t allowed;
    int32_t parent;
} __attribute__((packed));

enum {
    OF_A_FILE = WRITE_FILE | READ_FILE | TRUNCATE,
    READ = READ_FILE | READ_DIR,
    WRITE = READ | WRITE_FILE | REMOVE_DIR | REMOVE_FILE | MAKE_DIR | MAKE_REG | MAKE_SOCK |
            MAKE_SYM | REFER | TRUNCATE,
    LOG = WRITE_FILE | MAKE_REG,
};

/* The accesses that a kernel of that version supports. */
static uint64_t known_accesses(int version)
{
    uint64_t known = (MAKE_SYM << 1) - 1;
    if (version >= 2)
        known |= REFER;
    if (version >= 3)
        known |= TRUNCATE;
    if (version >= 5)
        known |= IOCTL_DEV;
    return known;
}

/* ---- rules ---- */

/* Rules under construction. Missing paths need none. */
struct rules {
    int fd;
    uint64_t known;
    int error; /* the first real error; 0: none */
};

static void allow(struct rules *rules, const char *path, uint64_t access)
{
    struct stat about;
    int fd = open(path, O_PATH | O_CLOEXEC);
    if (fd < 0)
        return;
    if (fstat(fd, &about) == 0 && !S_ISDIR(about.st_mode))
        access &= OF_A_FILE;
    struct beneath rule = {.allowed = access & rules->known, .parent = fd};
    if (rule.allowed && syscall(CALL_ADD_RULE, rules->fd, RULE_PATH_BENEATH, &rule, 0) != 0)
        rules->error = errno;
    close(fd);
}

/* The parent folder in `buf`; "": the path is too long. */
static const char *folder_of(const char *path, char buf[PATH_MAX])
{
    return snprintf(buf, PATH_MAX, "%s", path) < PATH_MAX ? dirname(buf) : "";
}

static void allow_folder_of(struct rules *rules, const char *path, uint64_t access)
{
    char buf[PATH_MAX];
    allow(rules, folder_of(path, buf), access);
}

/* Folders that also hold other users' files, and must not be allowed as a whole. */
static bool is_everybodys(const char *folder)
{
    static const char *const others[] = {"/", "/root", "/home", "/tmp", "/var/tmp", "/run", "/var"};
    const char *home = getenv("HOME");
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        if (strcmp(folder, others[i]) == 0)
            return true;
    }
    return home && strcmp(folder, home) == 0;
}

static void allow_file(struct rules *rules, const char *path)
{
    char buf[PATH_MAX];
    if (is_everybodys(folder_of(path, buf)))
        allow(rules, path, READ);
    else
        allow_folder_of(rules, path, READ);
}

/* To landlock a file that replaces another one (rename) is new: so the file's folder is allowed,
 * and for a link also the target's folder. Not in shared or home folders: there a new file can be
 * read after the next start. NULL: not configured. */
static void allow_reading(struct rules *rules, const char *file)
{
    if (!file || *file != '/')
        return;
    char *real = realpath(file, NULL);
    allow_file(rules, file);
    if (real)
        allow_file(rules, real);
    free(real);
}

static void allow_in_home(struct rules *rules, const char *name)
{
    const char *home = getenv("HOME");
    char path[PATH_MAX];
    if (home && snprintf(path, sizeof(path), "%s/%s", home, name) < (int)sizeof(path))
        allow(rules, path, READ);
}

/* The program's own folder and that of its modules, which are loaded when they are needed. */
static void allow_program(struct rules *rules)
{
    char *program = realpath("/proc/self/exe", NULL), modules[PATH_MAX];
    if (!program)
        return;
    const char *folder = dirname(program);
    allow(rules, folder, READ);
    if (snprintf(modules, sizeof(modules), "%s/../lib/peal", folder) < (int)sizeof(modules))
        allow(rules, modules, READ);
    free(program);
}

/* Files that the URL of a history names: ...?sslrootcert=/etc/db/ca.pem */
static void allow_named_in(struct rules *rules, const char *url)
{
    char path[PATH_MAX];
    for (const char *at = url ? strchr(url, '?') : NULL; at; at = strchr(at, '=')) {
        size_t length = 0;
        at++;
        for (const char *c = at; *c && *c != '&' && length + 1 < sizeof(path); length++) {
            unsigned code;
            bool is_escaped = c[0] == '%' && sscanf(c + 1, "%2x", &code) == 1;
            path[length] = is_escaped ? (char)code : *c;
            c += is_escaped ? 3 : 1;
        }
        path[length] = '\0';
        allow_reading(rules, path);
    }
}

static void allow_system(struct rules *rules)
{
    /* Libraries that the C library loads for names, users and character sets; zones; authorities.
     */
    static const char *const folders[] = {
        "/usr",
        "/lib",
        "/lib64",
        "/etc",
        "/nix/store",
        "/gnu/store",
        "/proc",
        "/sys",
        "/dev/urandom",
        "/dev/random",
        /* names of hosts and users, where services keep them */
        "/run/systemd/resolve",
        "/run/systemd/userdb",
        "/run/resolvconf",
        "/run/NetworkManager",
        "/run/nscd",
        "/var/lib/sss",
        "/var/lib/extrausers",
        "/var/lib/misc",
        "/var/db",
    };
    static const char *const variables[] = {
        "TZDIR",         "SSL_CERT_DIR",  "SSL_CERT_FILE", "OPENSSL_CONF", "PGPASSFILE",
        "PGSERVICEFILE", "PGSSLROOTCERT", "PGSSLCERT",     "PGSSLKEY",     "PGSSLCRL",
    };
    for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
        allow(rules, folders[i], READ);
    for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++) {
        const char *path = getenv(variables[i]);
        if (path)
            allow(rules, path, READ);
    }
    allow(rules, "/dev/null", READ | WRITE_FILE);
    allow_reading(rules, "/etc/resolv.conf");
    allow_reading(rules, "/etc/localtime");
    allow_in_home(rules, ".pgpass");
    allow_in_home(rules, ".pg_service.conf");
    allow_in_home(rules, ".postgresql");
}

/* An operator may have moved a database to another disk and left a link: the target's folder is
 * allowed, too, for the files that a database creates beside itself. */
static void allow_links(struct rules *rules, const char *folder)
{
    char path[PATH_MAX];
    struct stat about;
    DIR *dir = opendir(folder);
    for (const struct dirent *entry; dir && (entry = readdir(dir));) {
        if (entry->d_type != DT_LNK && entry->d_type != DT_UNKNOWN)
            continue;
        if (snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name) >= (int)sizeof(path) ||
            lstat(path, &about) != 0 || !S_ISLNK(about.st_mode))
            continue;
        char *real = realpath(path, NULL);
        if (real && stat(real, &about) == 0 && S_ISDIR(about.st_mode))
            allow(rules, real, WRITE);
        else if (real)
            allow_folder_of(rules, real, WRITE);
        free(real);
    }
    if (dir)
        closedir(dir);
}

static void allow_credentials(struct rules *rules, const struct server_access *access)
{
    allow_reading(rules, access->password_file);
    allow_reading(rules, access->ca_file);
    allow_reading(rules, access->cert_file);
    allow_reading(rules, access->key_file);
}

/* What SIGHUP reads. */
static void allow_reading_again(struct rules *rules, const struct agent_config *config)
{
    char *folder = agent_config_folder(config);
    allow_reading(rules, config->file);
    if (folder && access(folder, R_OK) == 0)
        allow(rules, folder, READ);
    free(folder);
    for (const struct setting *each = settings; each->name; each++) {
        char variable[SETTING_VARIABLE_SIZE];
        setting_variable(each, variable);
        strncat(variable, "_FILE", sizeof(variable) - strlen(variable) - 1);
        allow_reading(rules, setting_of_variable(variable) ? NULL : getenv(variable));
    }
}

static void allow_configured(struct rules *rules, const struct agent_config *config)
{
    allow(rules, config->data, WRITE);
    allow_links(rules, config->data);
    if (config->store.shared) {
        allow(rules, config->store.shared, WRITE);
        allow_links(rules, config->store.shared);
    }
    if (config->log_file) /* SIGHUP creates it again after a rotation */
        allow_folder_of(rules, config->log_file, LOG);
    allow_reading_again(rules, config);
    allow_reading(rules, config->tls_cert);
    allow_reading(rules, config->tls_key);
    allow_reading(rules, config->notify_ca);
    allow_reading(rules, config->allow_file);
    allow_reading(rules, config->secret_key);
    if (config->secrets_dir)
        allow(rules, config->secrets_dir, READ);
    allow_credentials(rules, &config->etcd);
    allow_credentials(rules, &config->redis);
    allow_named_in(rules, config->history);
}

int sandbox_files(const struct agent_config *config)
{
    long version = syscall(CALL_CREATE_RULESET, NULL, 0, CREATE_VERSION);
    if (version < 1)
        return 0;
    struct ruleset set = {.files = known_accesses((int)version),
                          .scopes = version >= 6 ? SCOPE_SIGNAL : 0};
    size_t size = version >= 6   ? sizeof(set)
                  : version >= 4 ? 2 * sizeof(uint64_t)
                                 : sizeof(uint64_t);
    struct rules rules = {.fd = (int)syscall(CALL_CREATE_RULESET, &set, size, 0),
                          .known = set.files};
    if (rules.fd < 0)
        return 0;
    allow_system(&rules);
    allow_program(&rules);
    allow_configured(&rules, config);
    bool is_confined = !rules.error && syscall(CALL_RESTRICT_SELF, rules.fd, 0) == 0;
    int error = rules.error ? rules.error : errno;
    close(rules.fd);
    errno = error;
    return is_confined ? (int)version : 0;
}
