/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs that behave badly: this one itself, told by its argument how. */
#include "system/program.h"

#include "unit.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

enum {
    LONG = 60000, /* milliseconds that nothing here needs */
    SHORT = 200,  /* for what has to be ended */
    SMALL = 256,
    EITHER_SIGNAL = 1000,
};

extern char **environ;

/* Signals interrupt poll for as long as the child lives, and once more after its end. */
static bool is_interrupted;

/* Signals do not leave poll any time. */
static bool is_restless;

/* SIGKILL does not end a process that waits for a device: here it ends none, and this one was to end. */
static bool is_kill_in_vain;
static pid_t spared;

/* In the place of libc's, for the code that is tested. */
int poll(struct pollfd *list, nfds_t count, int timeout)
{
    const struct timespec time = { .tv_sec = timeout / 1000, .tv_nsec = timeout % 1000 * 1000000L };
    siginfo_t ended;

    if (!is_interrupted && !is_restless)
        return (int)syscall(SYS_ppoll, list, count, timeout < 0 ? NULL : &time, NULL, 0);
    if (timeout == 0)
        is_interrupted = false;
    else if (!is_restless)
        waitid(P_ALL, 0, &ended, WEXITED | WNOWAIT);
    errno = EINTR;
    return -1;
}

int kill(pid_t process, int signal)
{
    if (!is_kill_in_vain)
        return (int)syscall(SYS_kill, process, signal);
    spared = process;
    return 0;
}

static struct rc_program program(const char *behaviour)
{
    return (struct rc_program){
        .path = "/proc/self/exe",
        .argument = behaviour,
        .env = (const char *const *)environ,
        .milliseconds = LONG,
    };
}

static void say(const char *text)
{
    printf("%s", text);
    fflush(stdout);
}

static int behave(const char *how, const char *deadline)
{
    char buffer[4096];
    ssize_t n;

    if (!strcmp(how, "copy")) {
        while ((n = read(STDIN_FILENO, buffer, sizeof(buffer))) > 0)
            if (write(STDOUT_FILENO, buffer, (size_t)n) != n)
                return 1;
        return 3;
    }
    if (!strcmp(how, "count")) {
        size_t all = 0;

        while ((n = read(STDIN_FILENO, buffer, sizeof(buffer))) > 0)
            all += (size_t)n;
        printf("%zu", all);
        return 0;
    }
    if (!strcmp(how, "flood")) {
        memset(buffer, 'x', sizeof(buffer));
        while (write(STDOUT_FILENO, buffer, sizeof(buffer)) > 0)
            continue;
        return 0;
    }
    if (!strcmp(how, "hang"))
        pause();
    if (!strcmp(how, "say and hang")) {
        say("word");
        close(STDOUT_FILENO);
        pause();
    }
    if (!strcmp(how, "hang until nobody reads")) {
        struct pollfd out = { .fd = STDOUT_FILENO };

        say(deadline);
        poll(&out, 1, LONG);
        return out.revents & POLLERR ? 7 : 1;
    }
    if (!strcmp(how, "stop"))
        raise(SIGSTOP);
    if (!strcmp(how, "die")) {
        say("half");
        raise(SIGKILL);
    }
    if (!strcmp(how, "leave a child")) {
        say("word");
        if (fork() == 0)
            sleep(8);
    }
    if (!strcmp(how, "send")) {
        printf("word");
        rc_descriptor_send(STDIN_FILENO, open("/proc/self/comm", O_RDONLY));
    }
    if (!strcmp(how, "leave without reading"))
        return 0;
    if (!strcmp(how, "environment"))
        for (char **entry = environ; *entry; entry++)
            printf("%s ", *entry);
    if (!strcmp(how, "not loaded"))
        return 127;
    if (!strcmp(how, "signals")) {
        sigset_t mask;
        struct sigaction action;

        sigprocmask(SIG_SETMASK, NULL, &mask);
        sigaction(SIGTERM, NULL, &action);
        printf("%s %s", sigismember(&mask, SIGUSR1) ? "blocked" : "open",
               action.sa_handler == SIG_IGN ? "ignored" : "default");
    }
    if (!strcmp(how, "descriptors")) {
        DIR *folder = opendir("/proc/self/fd");
        const struct dirent *entry;

        while ((entry = readdir(folder)))
            if (atoi(entry->d_name) > STDERR_FILENO && atoi(entry->d_name) != dirfd(folder))
                printf("%s ", entry->d_name);
        closedir(folder);
    }
    return 0;
}

/* Runs it; nothing of it is left then, neither a process nor a descriptor. */
static ssize_t run(const struct rc_program *what, char *output, size_t size, int *status)
{
    unsigned before = unit_open_descriptors();
    ssize_t n = rc_program_run(what, output, size, status);

    assert_int_equal(unit_open_descriptors(), before);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
    return n;
}

/* What it does, and how rc_program_run returns. */
static const struct {
    struct rc_str input; /* the behaviour */
    const char *in;
    size_t room;
    ssize_t returned;
    const char *out;
    int exit_status; /* -SIGKILL: it was killed; EITHER_SIGNAL: or died of SIGPIPE before that */
    const char *why;
} runs[] = {
    { TEXT("copy"), "one\ntwo\n", SMALL, 8, "one\ntwo\n", 3, "it reads, writes and ends" },
    { TEXT("copy"), "", SMALL, 0, "", 3, "nothing in, nothing out" },
    { TEXT("copy"), "seven b", 9, 7, "seven b", 3, "as much as there is room for" },
    { TEXT("flood"), "", SMALL, -EMSGSIZE, NULL, EITHER_SIGNAL, "it writes too much" },
    { TEXT("die"), "", SMALL, 4, "half", -SIGKILL, "it dies" },
    { TEXT("leave without reading"), "a word", SMALL, 0, "", 0, "who writes to it does not die of SIGPIPE" },
    { TEXT("descriptors"), "", SMALL, 0, "", 0, "it inherits the standard streams alone" },
    { TEXT("hang"), "", SMALL, -ETIMEDOUT, NULL, -SIGKILL, "it does not end" },
    { TEXT("say and hang"), "", SMALL, -ETIMEDOUT, NULL, -SIGKILL, "it does not end, though its output has" },
    { TEXT("stop"), "", SMALL, -ETIMEDOUT, NULL, -SIGKILL, "it stops" },
};

UNIT_ROWS(behaves, "a program:", runs)
{
    struct rc_program what = program(row->input.p);
    char output[SMALL] = "before";
    int status;

    what.input = rc_str(row->in);
    if (row->returned == -ETIMEDOUT)
        what.milliseconds = SHORT;
    assert_int_equal(run(&what, output, row->room, &status), row->returned);
    if (row->out)
        assert_string_equal(output, row->out);
    if (row->exit_status < 0) {
        assert_true(WIFSIGNALED(status));
        assert_int_equal(WTERMSIG(status), -row->exit_status);
    } else if (row->exit_status != EITHER_SIGNAL) {
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), row->exit_status);
    }
}

/* Slurm ends a step whose PMIx client is killed. */
UNIT_TEST(check_pmix, "rollcall-pmix: no caller kills it, and it sees when nobody reads its output")
{
    struct rc_program what = program("hang until nobody reads");
    char output[SMALL];
    int status;

    what.kind = RC_PROGRAM_PMIX;
    what.milliseconds = SHORT;
    assert_int_equal(run(&what, output, sizeof(output), &status), -ETIMEDOUT);
    assert_string_equal(output, "1200");
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 7);
}

UNIT_TEST(check_kept, "a descriptor that it sends")
{
    struct rc_program what = program("send");
    char output[SMALL];
    int status;
    int kept;

    what.kept = &kept;
    assert_int_equal(rc_program_run(&what, output, sizeof(output), &status), 4);
    assert_string_equal(output, "word");
    assert_true(kept > STDERR_FILENO);
    assert_int_equal(fcntl(kept, F_GETFD), 0);
    close(kept);
    what.argument = "leave without reading";
    assert_int_equal(run(&what, output, sizeof(output), &status), 0);
    assert_int_equal(kept, -1);
    what.path = "/no/such/program";
    assert_int_equal(run(&what, output, sizeof(output), &status), -ENOENT);
    assert_int_equal(kept, -1);
}

/* As much as an entry with everything in it, which the program begins to read when all of it is there. */
UNIT_TEST(check_large_input, "the largest entry")
{
    enum { SIZE = 32768 };
    struct rc_program what = program("count");
    char output[SMALL];
    char *input = malloc(SIZE);
    int status;

    assert_non_null(input);
    memset(input, 'x', SIZE);
    what.input = (struct rc_str){ input, SIZE };
    assert_int_equal(run(&what, output, sizeof(output), &status), 5);
    assert_string_equal(output, "32768");
    free(input);
}

/* More than a pipe takes at once: said, instead of waiting for a reader that does not start. */
UNIT_TEST(check_too_much_input, "more than a pipe takes")
{
    enum { SIZE = 2 * 1024 * 1024 };
    struct rc_program what = program("count");
    char output[SMALL];
    char *input = calloc(1, SIZE);
    int status;

    assert_non_null(input);
    what.input = (struct rc_str){ input, SIZE };
    assert_int_equal(run(&what, output, sizeof(output), &status), -E2BIG);
    free(input);
}

/* Whoever started it goes on, and nothing of its output is open. */
UNIT_TEST(check_cannot_be_killed, "a program that cannot be killed")
{
    unsigned before = unit_open_descriptors();
    struct rc_program what = program("hang");
    char output[SMALL];
    int status;

    what.milliseconds = SHORT;
    is_kill_in_vain = true;
    alarm(LONG / 1000);
    assert_int_equal(rc_program_run(&what, output, sizeof(output), &status), -ETIMEDOUT);
    alarm(0);
    is_kill_in_vain = false;
    assert_int_equal(unit_open_descriptors(), before);
    assert_int_equal(waitpid(spared, &status, WNOHANG), 0);
    kill(spared, SIGKILL);
    assert_int_equal(waitpid(spared, &status, 0), spared);
}

UNIT_TEST(check_interrupted, "signals while it runs, and at its end")
{
    struct rc_program what = program("copy");
    char output[SMALL];
    int status;

    what.input = RC_STR("a word");
    is_interrupted = true;
    assert_int_equal(run(&what, output, sizeof(output), &status), 6);
    assert_string_equal(output, "a word");
    assert_false(is_interrupted);
}

UNIT_TEST(check_restless, "signals all the time, while it hangs")
{
    struct rc_program what = program("hang");
    char output[SMALL];
    int status;

    what.milliseconds = SHORT;
    is_restless = true;
    alarm(LONG / 1000);
    assert_int_equal(run(&what, output, sizeof(output), &status), -ETIMEDOUT);
    alarm(0);
    is_restless = false;
}

UNIT_TEST(check_not_there, "no program")
{
    struct rc_program what = program("copy");
    char output[SMALL];
    int status;

    what.path = "/nowhere/rollcall-exchange";
    assert_int_equal(run(&what, output, sizeof(output), &status), -ENOENT);
    what.path = "/";
    assert_int_equal(run(&what, output, sizeof(output), &status), -EACCES);
}

/* LD_BIND_NOW stands for what only the loader reads, and must not break the test's own program. */
static const struct {
    struct rc_str input; /* what runs */
    enum rc_program_kind kind;
    const char *expected;
    const char *why;
} environments[] = {
    { TEXT("rollcall-exchange"), RC_PROGRAM_OWN, "A=1 ROLLCALL_LD_LIBRARY_PATH=/x:/y LD=2 HWLOC_XMLFILE=z ",
      "a program of rollcall" },
    { TEXT("rollcall-pmix"), RC_PROGRAM_PMIX, "A=1 LD_LIBRARY_PATH=/x:/y LD=2 HWLOC_XMLFILE=z ",
      "it loads the user's libraries" },
    { TEXT("train"), RC_PROGRAM_USER,
      "A=1 LD_LIBRARY_PATH=/x:/y LD_BIND_NOW=1 LD=2 GCONV_PATH=/g GLIBC_TUNABLES=a.b=1 MALLOC_PERTURB_=7 "
      "MALLOC_ARENA_MAX=1 LOCPATH=/l NLSPATH=/n GETCONF_DIR=/d HWLOC_XMLFILE=z ",
      "a program of the user" },
};

UNIT_ROWS(hands_environment, "the environment of", environments)
{
    const char *env[16];
    struct rc_program what = program("environment");
    char output[2 * SMALL];
    int status;

    unit_words("A=1 LD_PRELOAD=librollcall-preload.so LD_LIBRARY_PATH=/x:/y LD_BIND_NOW=1 LD=2 GCONV_PATH=/g "
               "GLIBC_TUNABLES=a.b=1 MALLOC_PERTURB_=7 MALLOC_ARENA_MAX=1 LOCPATH=/l NLSPATH=/n GETCONF_DIR=/d "
               "HWLOC_XMLFILE=z",
               env, UNIT_COUNT(env));
    what.kind = row->kind;
    what.env = env;
    assert_true(run(&what, output, sizeof(output), &status) > 0);
    assert_string_equal(output, row->expected);
}

/* rollcall-exchange starts rollcall-pmix: the task's LD_LIBRARY_PATH goes through it. */
UNIT_TEST(check_handed_on, "LD_LIBRARY_PATH on the way to rollcall-pmix")
{
    static const char *const env[] = { "ROLLCALL_LD_LIBRARY_PATH=/x", "A=1", NULL };
    struct rc_program what = program("environment");
    char output[SMALL];
    int status;

    what.env = env;
    what.kind = RC_PROGRAM_PMIX;
    assert_true(run(&what, output, sizeof(output), &status) > 0);
    assert_string_equal(output, "LD_LIBRARY_PATH=/x A=1 ");
}

/* As the loader ends a program of which it does not find a library. */
UNIT_TEST(check_not_loaded, "a library of the program is missing")
{
    struct rc_program what = program("not loaded");
    char line[SMALL];
    int status;
    ssize_t n;

    n = run(&what, line, sizeof(line), &status);
    assert_true(rc_program_not_loaded(n, status));
    assert_int_equal(rc_program_line(&what, line, sizeof(line)), -EIO);
    assert_string_equal(line, "exe: a library that it needs cannot be loaded (see ldd)");
    what.argument = "copy";
    n = run(&what, line, sizeof(line), &status);
    assert_false(rc_program_not_loaded(n, status));
}

/* Its child keeps its output open, and says nothing. */
UNIT_TEST(check_leaves_child, "its child outlives it, with its output open")
{
    struct rc_program what = program("leave a child");
    char output[SMALL];
    int status;

    what.milliseconds = 4000;
    assert_int_equal(run(&what, output, sizeof(output), &status), 4);
    assert_string_equal(output, "word");
    assert_true(WIFEXITED(status));
}

/* Signals that the caller blocks or ignores are a launcher's affair. */
UNIT_TEST(check_signals, "signals as a program expects them")
{
    struct rc_program what = program("signals");
    char output[SMALL];
    sigset_t blocked;
    sigset_t before;
    int status;

    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR1);
    sigprocmask(SIG_BLOCK, &blocked, &before);
    signal(SIGTERM, SIG_IGN);
    assert_true(run(&what, output, sizeof(output), &status) > 0);
    signal(SIGTERM, SIG_DFL);
    sigprocmask(SIG_SETMASK, &before, NULL);
    assert_string_equal(output, "open default");
}

/* As a daemon that has closed its standard streams: the pipes' own numbers are then 0, 1 and 2. */
UNIT_TEST(check_closed_streams, "a caller without standard streams")
{
    struct rc_program what = program("copy");
    pid_t child;
    int status;

    what.input = RC_STR("a word");
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        char output[SMALL];
        unsigned before;
        ssize_t n;

        for (int fd = 0; fd <= STDERR_FILENO; fd++)
            close(fd);
        before = unit_open_descriptors();
        n = rc_program_run(&what, output, sizeof(output), &status);
        _exit(n == 6 && !strcmp(output, "a word") && unit_open_descriptors() == before ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

/* What some have open beyond the three goes with exec. */
static void close_inherited(void)
{
    for (int fd = STDERR_FILENO + 1; fd < 256; fd++)
        if (fcntl(fd, F_GETFD) >= 0)
            fcntl(fd, F_SETFD, FD_CLOEXEC);
}

int main(int argc, char **argv)
{
    if (argc == 2 || argc == 3)
        return behave(argv[1], argv[2]);
    close_inherited();
    return unit_run();
}
