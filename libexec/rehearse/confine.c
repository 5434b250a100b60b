/* SPDX-License-Identifier: BSD-3-Clause */
/* confine.c - Landlock, namespaces and the filter of system calls of a rehearsal's wall. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "wall.h"

/* linux/landlock.h, which older machines that build this do not have; the numbers are those of all architectures. */
enum {
    CREATE_RULESET = 444,
    ADD_RULE = 445,
    RESTRICT_SELF = 446,
    ASK_VERSION = 1,
    PATH_BENEATH = 1,
};
enum {
    MAY_EXECUTE = 1 << 0,
    MAY_WRITE = 1 << 1,
    MAY_READ = 1 << 2,
    MAY_LIST = 1 << 3,
    MAY_MAKE_CHAR = 1 << 6,
    MAY_MAKE_BLOCK = 1 << 11,
    MAY_REFER = 1 << 13,    /* version 2 */
    MAY_TRUNCATE = 1 << 14, /* version 3 */
    MAY_IOCTL = 1 << 15,    /* version 5 */
};
struct ruleset {
    uint64_t files;
    uint64_t network; /* version 4: bind and connect of TCP */
    uint64_t scopes;  /* version 6: abstract sockets, signals */
};
struct path_rule {
    uint64_t allowed;
    int32_t folder;
} __attribute__((packed));

static int allow(int ruleset, const char *path, uint64_t allowed)
{
    struct path_rule rule = { .allowed = allowed, .folder = open(path, O_PATH | O_CLOEXEC) };
    int rc = rule.folder < 0 ? -1 : (int)syscall(ADD_RULE, ruleset, PATH_BENEATH, &rule, 0);

    if (rule.folder >= 0)
        close(rule.folder);
    return rc;
}

static int allow_programs(int ruleset, const char *folder)
{
    char path[PATH_MAX];
    char line[2 * PATH_MAX];
    FILE *list;

    snprintf(path, sizeof(path), "%s/programs", folder);
    list = fopen(path, "re");
    if (!list)
        return -1;
    while (fgets(line, sizeof(line), list)) {
        line[strcspn(line, "\n")] = '\0';
        if (strchr(line, '\t'))
            allow(ruleset, strchr(line, '\t') + 1, MAY_EXECUTE | MAY_READ);
    }
    fclose(list);
    return 0;
}

/* The script's files, and two that the hook writes to. The wall and the director write the others of the folder. */
static const struct {
    const char *name;
    bool is_folder;
} writable[] = { { "files", true }, { "lists", true }, { "tmp", true }, { "notes", false }, { "bounds", false } };

enum { WRITABLE = sizeof(writable) / sizeof(writable[0]) };

static int allow_writing(int ruleset, const char *folder, uint64_t inside)
{
    char path[PATH_MAX + 16];

    for (unsigned i = 0; i < WRITABLE; i++) {
        snprintf(path, sizeof(path), "%s/%s", folder, writable[i].name);
        if (allow(ruleset, path, writable[i].is_folder ? inside : MAY_READ | MAY_WRITE) < 0)
            return -1;
    }
    return 0;
}

/* Return the version, or -1 with errno set. */
static int use_landlock(const char *folder, const char *program)
{
    int version = (int)syscall(CREATE_RULESET, NULL, 0, ASK_VERSION);
    struct ruleset rules = { .files = MAY_REFER - 1, .network = version >= 4 ? 3 : 0, .scopes = version >= 6 ? 3 : 0 };
    size_t size = version >= 6 ? sizeof(rules) : version >= 4 ? 16 : 8;
    uint64_t inside;
    int ruleset;
    int rc;

    if (version < 1)
        return -1;
    rules.files |= (version >= 2 ? MAY_REFER : 0) | (version >= 3 ? MAY_TRUNCATE : 0) | (version >= 5 ? MAY_IOCTL : 0);
    inside = rules.files & ~(uint64_t)(MAY_EXECUTE | MAY_MAKE_CHAR | MAY_MAKE_BLOCK);
    ruleset = (int)syscall(CREATE_RULESET, &rules, size, 0);
    if (ruleset < 0)
        return -1;
    allow(ruleset, "/dev/null", MAY_READ | MAY_WRITE | (rules.files & (MAY_TRUNCATE | MAY_IOCTL)));
    rc = allow(ruleset, "/", MAY_READ | MAY_LIST) < 0 || allow_writing(ruleset, folder, inside) < 0 ||
         allow(ruleset, program, MAY_EXECUTE | MAY_READ) < 0 || allow_programs(ruleset, folder) < 0 ||
         syscall(RESTRICT_SELF, ruleset, 0) < 0;
    close(ruleset);
    return rc ? -1 : version;
}

/* Namespaces */

static int write_text(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? write(fd, text, strlen(text)) : -1;

    if (fd >= 0)
        close(fd);
    return n < 0 ? -1 : 0;
}

static int enter_namespaces(void)
{
    int kinds = CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC;
    char text[64];
    uid_t user = geteuid();
    gid_t group = getegid();

    if (user == 0 && unshare(kinds) == 0)
        return 0;
    if (unshare(CLONE_NEWUSER | kinds) < 0)
        return -1;
    write_text("/proc/self/setgroups", "deny");
    snprintf(text, sizeof(text), "%u %u 1", group, group);
    if (write_text("/proc/self/gid_map", text) < 0)
        return -1;
    snprintf(text, sizeof(text), "%u %u 1", user, user);
    return write_text("/proc/self/uid_map", text);
}

/* In mountinfo a blank of a path is \040. */
static void read_path(char *path)
{
    char *to = path;

    for (char *p = path; *p; p++)
        if (*p == '\\' && strlen(p) > 3) {
            *to++ = (char)((p[1] - '0') << 6 | (p[2] - '0') << 3 | (p[3] - '0'));
            p += 3;
        } else {
            *to++ = *p;
        }
    *to = '\0';
}

/* Devices that a script may use. */
static const char *const devices[] = { "/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom" };

static bool is_device(const char *path)
{
    for (unsigned i = 0; i < sizeof(devices) / sizeof(devices[0]); i++)
        if (strcmp(path, devices[i]) == 0)
            return true;
    return false;
}

/* Make a mount of each writable part of the folder and of each device. */
static int split_mounts(const char *folder)
{
    char path[PATH_MAX + 16];

    for (unsigned i = 0; i < WRITABLE; i++) {
        snprintf(path, sizeof(path), "%s/%s", folder, writable[i].name);
        if (mount(path, path, NULL, MS_BIND, NULL) < 0)
            return -1;
    }
    for (unsigned i = 0; i < sizeof(devices) / sizeof(devices[0]); i++)
        mount(devices[i], devices[i], NULL, MS_BIND, NULL);
    return 0;
}

/* Make all other mounts read-only, without devices. One that stays writable is no wall. */
static int protect_mounts(const char *folder)
{
    static const unsigned long kept[][2] = { { ST_NOSUID, MS_NOSUID },         { ST_NODEV, MS_NODEV },
                                             { ST_NOEXEC, MS_NOEXEC },         { ST_NOATIME, MS_NOATIME },
                                             { ST_NODIRATIME, MS_NODIRATIME }, { ST_RELATIME, MS_RELATIME } };
    FILE *list = fopen("/proc/self/mountinfo", "re");
    char line[2 * PATH_MAX];
    char path[PATH_MAX];
    struct statvfs status;
    size_t n = strlen(folder);
    int rc = 0;

    while (list && rc == 0 && fgets(line, sizeof(line), list)) {
        unsigned long flags = MS_BIND | MS_REMOUNT | MS_RDONLY;

        if (sscanf(line, "%*s %*s %*s %*s %4095s", path) != 1)
            continue;
        read_path(path);
        if ((strncmp(path, folder, n) == 0 && path[n] == '/') || statvfs(path, &status) < 0)
            continue;
        for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
            flags |= status.f_flag & kept[i][0] ? kept[i][1] : 0;
        mount(NULL, path, NULL, flags | (is_device(path) ? 0 : MS_NODEV), NULL);
        if (statvfs(path, &status) < 0 || !(status.f_flag & ST_RDONLY))
            rc = -1;
    }
    if (list)
        fclose(list);
    return list ? rc : -1;
}

/* The new process namespace ends with its first process, which waits for the command. */
static int wait_for(pid_t command)
{
    int status;
    pid_t pid;

    while ((pid = waitpid(-1, &status, 0)) != command)
        if (pid < 0 && errno != EINTR)
            _exit(1);
    _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}

static int use_namespaces(const char *folder)
{
    pid_t pid;

    if (enter_namespaces() < 0)
        return -1;
    for (unsigned i = 0; i < 2; i++) {
        pid = fork();
        if (pid != 0)
            return pid < 0 ? -1 : wait_for(pid);
        prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
        if (i == 0 && (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 || split_mounts(folder) < 0 ||
                       protect_mounts(folder) < 0))
            return -1;
    }
    return setsid() < 0 ? -1 : 0;
}

/* Calls that nothing else covers. */
static const uint32_t forbidden[] = {
#ifdef SYS_chmod
    SYS_chmod,
    SYS_chown,
    SYS_lchown,
    SYS_utime,
    SYS_utimes,
    SYS_futimesat,
#endif
#ifdef SYS_io_uring_setup
    SYS_io_uring_setup,
#endif
    452 /* fchmodat2 */,
    463 /* setxattrat */,
    466 /* removexattrat */,
    469 /* file_setattr */,
    SYS_fchmod,
    SYS_fchmodat,
    SYS_fchown,
    SYS_fchownat,
    SYS_utimensat,
    SYS_setxattr,
    SYS_lsetxattr,
    SYS_fsetxattr,
    SYS_removexattr,
    SYS_lremovexattr,
    SYS_fremovexattr,
    SYS_ptrace,
    SYS_process_vm_writev,
    SYS_bpf,
    SYS_mount,
    SYS_umount2,
    SYS_pivot_root,
    SYS_chroot,
    SYS_unshare,
    SYS_setns,
    SYS_keyctl,
    SYS_add_key,
    SYS_open_by_handle_at,
    SYS_shmget,
    SYS_msgget,
    SYS_semget,
    SYS_mq_open,
    SYS_mq_unlink,
    /* signals, where Landlock does not limit them; truncate, likewise */
    SYS_truncate,
    SYS_kill,
    SYS_tkill,
    SYS_tgkill,
    SYS_rt_sigqueueinfo,
    SYS_rt_tgsigqueueinfo,
    424 /* pidfd_send_signal */,
};

/* FS_IOC_SETFLAGS and FS_IOC_FSSETXATTR: linux/fs.h and sys/mount.h of glibc 2.36 exclude each other. */
#define SET_FLAGS      _IOW('f', 2, long)
#define SET_ATTRIBUTES _IOW('X', 32, char[28])

enum { LIMITED_BY_LANDLOCK = 6, COUNT = sizeof(forbidden) / sizeof(forbidden[0]) };

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#elif defined(__powerpc64__)
#define ARCHITECTURE AUDIT_ARCH_PPC64LE
#elif defined(__riscv)
#define ARCHITECTURE AUDIT_ARCH_RISCV64
#endif

static int filter_calls(bool signals_are_limited, bool truncate_is_limited)
{
#ifdef ARCHITECTURE
    struct sock_filter program[2 * COUNT + 32];
    struct sock_fprog filter = { .filter = program };
    unsigned n = 0;

#define FIELD(field)             offsetof(struct seccomp_data, field)
#define LOAD(field)              (struct sock_filter) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, FIELD(field))
#define SKIP(count, test, value) (struct sock_filter) BPF_JUMP(BPF_JMP | (test) | BPF_K, (value), (count), 0)
#define RETURN(value)            (struct sock_filter) BPF_STMT(BPF_RET | BPF_K, (value))
    program[n++] = LOAD(arch);
    program[n++] = SKIP(1, BPF_JEQ, ARCHITECTURE);
    program[n++] = RETURN(SECCOMP_RET_ERRNO | ENOSYS);
    program[n++] = LOAD(nr);
    for (unsigned i = 0; i < COUNT; i++) {
        if (forbidden[i] == SYS_truncate ? truncate_is_limited
                                         : i >= COUNT - LIMITED_BY_LANDLOCK && signals_are_limited)
            continue;
        program[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, forbidden[i], 0, 1);
        program[n++] = RETURN(SECCOMP_RET_ERRNO | EPERM);
    }
    program[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_socket, 0, 3);
    program[n++] = LOAD(args[0]);
    program[n++] = SKIP(1, BPF_JEQ, AF_UNIX);
    program[n++] = RETURN(SECCOMP_RET_ERRNO | EACCES);
    /* limits of another process, and flags of a file */
    program[n++] = LOAD(nr);
    program[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_prlimit64, 0, 3);
    program[n++] = LOAD(args[0]);
    program[n++] = SKIP(1, BPF_JEQ, 0);
    program[n++] = RETURN(SECCOMP_RET_ERRNO | EPERM);
    program[n++] = LOAD(nr);
    program[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ioctl, 0, 4);
    program[n++] = LOAD(args[1]);
    program[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SET_FLAGS, 1, 0);
    program[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SET_ATTRIBUTES, 0, 1);
    program[n++] = RETURN(SECCOMP_RET_ERRNO | EPERM);
#if defined(__x86_64__)
    program[n++] = LOAD(nr);
    program[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1); /* x32 */
    program[n++] = RETURN(SECCOMP_RET_ERRNO | ENOSYS);
#endif
    program[n++] = RETURN(SECCOMP_RET_ALLOW);
    filter.len = (unsigned short)n;
    return (int)prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0);
#else
    (void)signals_are_limited;
    (void)truncate_is_limited;
    return errno = ENOSYS, -1;
#endif
}

/* Root keeps what reads files, and loses the rest when it starts the command. */
static void drop_capabilities(void)
{
    enum { DAC_OVERRIDE = 1, DAC_READ_SEARCH = 2, CAPABILITIES = 64 };

    for (unsigned long i = 0; i < CAPABILITIES; i++)
        if (i != DAC_OVERRIDE && i != DAC_READ_SEARCH)
            prctl(PR_CAPBSET_DROP, i, 0, 0, 0);
}

int wall_build(enum wall_kind kind, const char *folder, const char *program, const char **why)
{
    int version = kind == WALL_NAMESPACES ? -1 : use_landlock(folder, program);

    if (version < 0 && (kind == WALL_LANDLOCK || use_namespaces(folder) < 0)) {
        *why = "this kernel has no Landlock for programs and no namespaces for users";
        return -1;
    }
    drop_capabilities();
    if (filter_calls(version < 0 || version >= 6, version < 0 || version >= 3) < 0) {
        *why = "no filter of system calls (seccomp)";
        return -1;
    }
    return 0;
}
