/* SPDX-License-Identifier: BSD-3-Clause */
/* wall.c - the kernel keeps a rehearsed script from changing anything outside of the rehearsal's folder.
 *
 *   rollcall-rehearse wall [--seconds=N] [--by=landlock|namespaces] FOLDER -- COMMAND ARG...
 *
 * With Landlock: nothing is written, made or removed outside of FOLDER, and only `programs` are executed. Without it
 * (--by chooses, for tests), in namespaces where everything but FOLDER is read-only, without network and other
 * processes. In both cases a filter of system calls forbids what neither covers: modes, owners, times and attributes
 * of files, sockets other than AF_UNIX, signals where Landlock does not limit them.
 *
 * This process stays outside of the wall. It ends every process of the rehearsal when the command has ended, or at a
 * bound (see `ended` in rehearse.h). Exit status: the command's; 124 at a bound; 4 without a wall, after one line.
 */
#define _GNU_SOURCE
#include "wall.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/text.h"
#include "rehearse.h"

enum { SECONDS = 30, CPU_SECONDS = 10, FILE_BYTES = 64 << 20, TICK_MS = 100, NICE = 5, NO_WALL = 4, AT_BOUND = 124 };

extern char **environ;

static volatile sig_atomic_t told_to_end;

static void take_signal(int signal)
{
    told_to_end = signal;
}

static int fail(const char *what, const char *why)
{
    fprintf(stderr, "rollcall rehearse: %s: %s\n", what, why);
    return NO_WALL;
}

static int write_file(const char *folder, const char *name, const void *text, size_t size)
{
    char path[2 * PATH_MAX];
    int fd;
    ssize_t n;

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    n = fd >= 0 ? write(fd, text, size) : -1;
    if (fd >= 0)
        close(fd);
    return n == (ssize_t)size ? 0 : -1;
}

/* Return a descriptor, or -1 with errno set. */
static int make_bounds(const char *folder)
{
    struct rehearse_bounds bounds = { .processes = 0 };
    struct sysinfo machine;
    char path[2 * PATH_MAX];

    if (sysinfo(&machine) == 0)
        bounds.processes = machine.procs;
    snprintf(path, sizeof(path), "%s/bounds", folder);
    return write_file(folder, "bounds", &bounds, sizeof(bounds)) < 0 ? -1 : open(path, O_RDWR | O_CLOEXEC);
}

/* The script may write to the file, so do not map it here. */
static bool is_reached(int bounds)
{
    struct rehearse_bounds now;

    return pread(bounds, &now, sizeof(now), 0) != (ssize_t)sizeof(now) || atomic_load(&now.reached);
}

static void set_reached(int bounds)
{
    struct rehearse_bounds now = { .forks = 0 };

    (void)!pread(bounds, &now, sizeof(now), 0);
    atomic_store(&now.reached, 1);
    (void)!pwrite(bounds, &now, sizeof(now), 0);
}

/* The environment of the command. */
static int set_environment(const char *folder, const char *beside)
{
    static const char *const users[] = { "LD_PRELOAD", "BASH_ENV" };
    char text[2 * PATH_MAX];
    struct stat output;
    const char *path = getenv("PATH");

    for (size_t i = 0; i < sizeof(users) / sizeof(users[0]); i++) {
        snprintf(text, sizeof(text), REHEARSE_USERS "%s", users[i]);
        if (getenv(users[i]))
            setenv(text, getenv(users[i]), 1);
    }
    snprintf(text, sizeof(text), "%s/rehearse/rollcall-rehearse.so", beside);
    if (access(text, R_OK) < 0)
        return -1;
    setenv("LD_PRELOAD", text, 1);
    setenv(REHEARSE_FOLDER, folder, 1);
    setenv(REHEARSE_DEPTH, "0", 1);
    if (fstat(STDOUT_FILENO, &output) == 0) {
        snprintf(text, sizeof(text), "%llx:%llx", (unsigned long long)output.st_dev, (unsigned long long)output.st_ino);
        setenv(REHEARSE_OUTPUT, text, 1);
    }
    snprintf(text, sizeof(text), "%s/bin", folder);
    if (path && access(text, X_OK) == 0) {
        snprintf(text, sizeof(text), "%s:%s/bin", path, folder);
        setenv("PATH", text, 1);
    }
    snprintf(text, sizeof(text), "%s/tmp", folder);
    return setenv("TMPDIR", text, 1);
}

static int make_folder(const char *folder, const char *beside)
{
    static const char *const parts[] = { "files", "lists", "tmp" };
    char path[2 * PATH_MAX];

    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        snprintf(path, sizeof(path), "%s/%s", folder, parts[i]);
        if (mkdir(path, 0700) < 0 && errno != EEXIST)
            return -1;
    }
    if (write_file(folder, "notes", "", 0) < 0)
        return -1;
    return wall_list_programs(folder) < 0 ? -1 : set_environment(folder, beside);
}

/* Limits of each process: time, the size of a file, no core file. */
static void set_limits(void)
{
    static const struct {
        __rlimit_resource_t which;
        rlim_t value;
    } limits[] = { { RLIMIT_CPU, CPU_SECONDS }, { RLIMIT_FSIZE, FILE_BYTES }, { RLIMIT_CORE, 0 } };
    struct rlimit limit;

    for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
        getrlimit(limits[i].which, &limit);
        if (limit.rlim_max == RLIM_INFINITY || limit.rlim_max > limits[i].value)
            limit.rlim_max = limits[i].value;
        limit.rlim_cur = limit.rlim_max;
        setrlimit(limits[i].which, &limit);
    }
}

/* The parent of a process, 0 if it is gone. */
static pid_t parent_of(pid_t pid)
{
    char path[64];
    char text[512] = "";
    const char *end;
    struct rc_str rest;
    uint32_t parent = 0;
    int fd;

    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || read(fd, text, sizeof(text) - 1) < 0)
        text[0] = '\0';
    if (fd >= 0)
        close(fd);
    end = strrchr(text, ')');
    if (end && strlen(end) > 4)
        rc_parse_u32(rc_str_split(rc_str(end + 4), ' ', &rest), INT32_MAX, &parent);
    return (pid_t)parent;
}

/* Kills this process's descendants. Processes that end meanwhile leave theirs to this one, for the next time. */
static void kill_all(void)
{
    static pid_t ours[1 << 16] = { 0 };
    size_t count = 0;
    DIR *folder = opendir("/proc");
    struct dirent *entry;

    ours[count++] = getpid();
    while (folder && (entry = readdir(folder)) && count < sizeof(ours) / sizeof(ours[0])) {
        bool is_ours = false;
        uint32_t pid;
        pid_t parent;

        if (!rc_parse_u32(rc_str(entry->d_name), INT32_MAX, &pid))
            continue;
        parent = parent_of((pid_t)pid);

        /* a parent has the lower number, but for what is new after the highest */
        for (size_t i = count; i > 0 && !is_ours; i--)
            is_ours = ours[i - 1] == parent;
        if (!is_ours)
            continue;
        kill((pid_t)pid, SIGKILL);
        ours[count++] = (pid_t)pid;
    }
    if (folder)
        closedir(folder);
}

static void end_all(int bounds)
{
    static const struct timespec moment = { .tv_nsec = 1000000L };
    pid_t pid;

    /* no process forks now */
    set_reached(bounds);
    do {
        kill_all();
        while ((pid = waitpid(-1, NULL, WNOHANG)) > 0)
            ;
        nanosleep(&moment, NULL);
    } while (pid == 0);
}

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* Waits for the command, or for a bound. */
static int await(pid_t command, double deadline, const char *folder, int bounds)
{
    static const struct timespec tick = { .tv_nsec = TICK_MS * 1000000L };
    const char *ended = NULL;
    sigset_t child;
    int status = 0;
    pid_t pid;

    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    do {
        while ((pid = waitpid(-1, &status, WNOHANG)) > 0 && pid != command)
            ;
        if (pid == command)
            break;
        sigtimedwait(&child, NULL, &tick);
        ended = is_reached(bounds) ? "processes" : now() > deadline ? "time" : NULL;
    } while (!ended && !told_to_end);
    end_all(bounds);
    if (ended)
        write_file(folder, "ended", ended, strlen(ended));
    if (ended || told_to_end)
        return AT_BOUND;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* In the child: builds the wall and starts the command behind it. */
static int start(const char *folder, const char *beside, enum wall_kind kind, char **argv)
{
    char program[2 * PATH_MAX];
    char **words = argv - 2;
    const char *why = "";

    snprintf(program, sizeof(program), "%s/rollcall-rehearse", beside);
    set_limits();
    (void)!nice(NICE);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0 || setsid() < 0)
        return fail("no wall", strerror(errno));
    if (wall_build(kind, folder, program, &why) < 0)
        return fail("no wall", why);
    words[0] = program;
    words[1] = (char[]){ "start" };
    execv(program, words);
    return fail(program, strerror(errno));
}

int rehearse_wall(int argc, char **argv)
{
    static char folder[PATH_MAX];
    char beside[PATH_MAX];
    int bounds;
    enum wall_kind kind = WALL_ANY;
    uint32_t seconds = SECONDS;
    ssize_t n = readlink("/proc/self/exe", beside, sizeof(beside) - 1);
    sigset_t child;
    pid_t pid;
    int i = 2;

    for (; i < argc && strncmp(argv[i], "--", 2) == 0; i++) {
        if (strncmp(argv[i], "--seconds=", 10) == 0)
            rc_parse_u32(rc_str(argv[i] + 10), UINT16_MAX, &seconds);
        else if (strcmp(argv[i], "--by=landlock") == 0)
            kind = WALL_LANDLOCK;
        else if (strcmp(argv[i], "--by=namespaces") == 0)
            kind = WALL_NAMESPACES;
    }
    if (n <= 0 || i + 2 >= argc || strcmp(argv[i + 1], "--") != 0)
        return fail("wall", "usage: wall FOLDER -- COMMAND ARG...");
    beside[n] = '\0';
    *strrchr(beside, '/') = '\0';
    bounds = realpath(argv[i], folder) && strlen(folder) < 200 ? make_bounds(folder) : -1;
    if (bounds < 0 || make_folder(folder, beside) < 0)
        return fail(argv[i], strerror(errno));
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    sigprocmask(SIG_BLOCK, &child, NULL);
    signal(SIGTERM, take_signal);
    signal(SIGINT, take_signal);
    signal(SIGHUP, take_signal);
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    pid = fork();
    if (pid == 0) {
        sigprocmask(SIG_UNBLOCK, &child, NULL);
        for (int signal_number = 1; signal_number < NSIG; signal_number++)
            signal(signal_number, SIG_DFL);
        _exit(start(folder, beside, kind, argv + i + 2));
    }
    return pid < 0 ? fail("fork", strerror(errno)) : await(pid, now() + seconds, folder, bounds);
}
