/* SPDX-License-Identifier: BSD-3-Clause */
/* A process that joins communicators, one after the other, through a library that it loads as Python loads torch.
 *
 *   join FRAMEWORK [HOW NRANKS RANK ID]...
 *
 * HOW: init, config, nonblocking or scalable. ID: a file, whose 128 bytes are the id; one that is not there
 * is made by rank 0, and waited for by the others; or `own`: one that this process makes. `fork` for HOW: from
 * here on a child goes on, and its parent only waits. Says "join: RESULT in MS ms" of each. Ends with the last result.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int (*framework_id)(void *id);
static int (*framework_join)(const char *how, int nranks, int rank, const void *id);

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}

static int take_id(const char *file, char id[128])
{
    for (int i = 0; i < 30000; i++, usleep(1000)) {
        int fd = open(file, O_RDONLY);
        ssize_t n = fd < 0 ? 0 : read(fd, id, 128);

        if (fd >= 0)
            close(fd);
        if (n == 128)
            return 0;
    }
    return -1;
}

static int find_id(const char *file, int rank, char id[128])
{
    char name[4096];
    int fd, rc;

    if (!strcmp(file, "own"))
        return framework_id(id);
    if (rank == 0 && access(file, F_OK) != 0) {
        if ((rc = framework_id(id)) != 0)
            return rc;
        /* whole, and one of those that several may make */
        snprintf(name, sizeof(name), "%s.XXXXXX", file);
        if ((fd = mkstemp(name)) < 0 || write(fd, id, 128) != 128 || close(fd) != 0 ||
            (link(name, file) != 0 && errno != EEXIST) || unlink(name) != 0)
            return -1;
    }
    return take_id(file, id);
}

int main(int argc, char **argv)
{
    void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    int result = 1;

    if (!library) {
        fprintf(stderr, "join: %s\n", argc > 1 ? dlerror() : "which library?");
        return 1;
    }
    if (getenv("FAKE_GPU"))
        dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    framework_id = (int (*)(void *))dlsym(library, "framework_id");
    framework_join = (int (*)(const char *, int, int, const void *))dlsym(library, "framework_join");
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (char **word = argv + 2; word[0]; word += 4) {
        char id[128];
        double begin;

        if (!strcmp(word[0], "fork")) {
            pid_t child = fork();
            int status;

            if (child > 0)
                return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : 99;
            word -= 3;
            continue;
        }
        if (find_id(word[3], atoi(word[2]), id) != 0) {
            fprintf(stderr, "join: no id in %s\n", word[3]);
            return 98;
        }
        begin = now();
        result = framework_join(word[0], atoi(word[1]), atoi(word[2]), id);
        printf("join: %d in %.3f ms\n", result, now() - begin);
    }
    return result;
}
