#include "config.h"

#include "pmixask.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static char answer[RC_PMIXASK_SIZE];

static struct rc_str failed(const char *kind, const char *text)
{
    int n = snprintf(answer, sizeof(answer), "failed=%s %s\n", kind, text);

    return (struct rc_str){ answer, (size_t)n };
}

/* Beside this very command, wherever it is installed. 0, or -1 with errno. */
static int find_program(char path[PATH_MAX])
{
    char self[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
    char *end;

    if (n < 0)
        return -1;
    self[n] = '\0';
    end = strrchr(self, '/');
    if (end)
        *end = '\0';
    if (!end || snprintf(path, PATH_MAX, "%s/" ROLLCALL_LIBEXEC_FROM_BIN "/rollcall-pmix", self) >= PATH_MAX) {
        errno = ENAMETOOLONG;
        return -1;
    }
    return access(path, X_OK);
}

/* The environment without LD_PRELOAD: what is preloaded is for the task's own
 * programs (rollcall's preload would speak up as well). NULL without memory. */
static char **environment(void)
{
    size_t count = 0;
    size_t used = 0;
    char **copy;

    while (environ[count])
        count++;
    copy = malloc((count + 1) * sizeof(*copy));
    if (!copy)
        return NULL;
    for (size_t i = 0; i < count; i++)
        if (strncmp(environ[i], "LD_PRELOAD=", 11) != 0)
            copy[used++] = environ[i];
    copy[used] = NULL;
    return copy;
}

/* Its output is the pipe; what libpmix has to say to people is not for these. 0 or an errno. */
static int spawn(const char *path, int out, pid_t *child)
{
    char *const argv[] = { (char[]){ "rollcall-pmix" }, NULL };
    posix_spawn_file_actions_t actions;
    char **env = environment();
    int error = ENOMEM;

    if (env && (error = posix_spawn_file_actions_init(&actions)) == 0) {
        if ((error = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)) == 0 &&
            (error = posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO)) == 0 &&
            (error = posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0)) == 0)
            error = posix_spawn(child, path, &actions, NULL, argv, env);
        posix_spawn_file_actions_destroy(&actions);
    }
    free(env);
    return error;
}

/* With PMIx 4's default store the second PMIx_Init of a task, which is the
 * command's own, finds nothing, and MPI_Init fails (measured with 4.2.2). So
 * rollcall-pmix and the command, which both inherit this, use another one. */
static void choose_store(void)
{
    const char *version = getenv("PMIX_VERSION");

    if (version && strncmp(version, "4.", 2) == 0)
        setenv("PMIX_MCA_gds", "hash", 0);
}

static long long now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000LL + t.tv_nsec / 1000000;
}

/* All that comes through the pipe before the deadline, a NUL behind it. -1 where
 * it does not end by then. */
static ssize_t read_until(int fd, long long deadline)
{
    size_t used = 0;

    for (;;) {
        struct pollfd in = { .fd = fd, .events = POLLIN };
        long long left = deadline - now();
        ssize_t n;

        if (left <= 0)
            return -1;
        if (poll(&in, 1, (int)left) <= 0)
            continue;
        n = read(fd, answer + used, sizeof(answer) - 1 - used);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0 || (used += (size_t)n) == sizeof(answer) - 1)
            break;
    }
    answer[used] = '\0';
    return (ssize_t)used;
}

/* How it ended; ends it where it has not by itself by then. */
static int reap(pid_t child, long long deadline)
{
    int status = 0;
    pid_t ended;

    /* its output ends with it, or next to it */
    while ((ended = waitpid(child, &status, WNOHANG)) == 0 && now() < deadline)
        poll(NULL, 0, 1);
    if (ended == 0) {
        kill(child, SIGKILL);
        while (waitpid(child, &status, 0) < 0 && errno == EINTR)
            continue;
    }
    return status;
}

struct rc_str rc_pmix_ask(void)
{
    char path[PATH_MAX];
    int ends[2];
    long long deadline;
    pid_t child;
    ssize_t size;
    int status;
    int error;

    if (find_program(path) < 0)
        return failed("program", strerror(errno));
    choose_store();
    if (pipe2(ends, O_CLOEXEC) < 0)
        return failed("program", strerror(errno));
    error = spawn(path, ends[1], &child);
    close(ends[1]);
    if (error) {
        close(ends[0]);
        return failed("program", strerror(error));
    }
    deadline = now() + RC_PMIXASK_DEADLINE;
    size = read_until(ends[0], deadline);
    close(ends[0]);
    status = reap(child, deadline);
    if (size < 0 || (WIFSIGNALED(status) && (WTERMSIG(status) == SIGALRM || WTERMSIG(status) == SIGKILL)))
        return failed("server", "no answer within 10 s");
    if (WIFSIGNALED(status)) {
        char text[64];

        snprintf(text, sizeof(text), "ended by signal %d", WTERMSIG(status));
        return failed("program", text);
    }
    /* 1 is for a line that says what failed */
    if (size == 0 || WEXITSTATUS(status) > 1 || (WEXITSTATUS(status) == 1 && strncmp(answer, "failed=", 7) != 0))
        return failed("answer", size ? "it was cut off" : "there is none");
    return (struct rc_str){ answer, (size_t)size };
}
