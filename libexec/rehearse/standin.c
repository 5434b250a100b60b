/* SPDX-License-Identifier: BSD-3-Clause */
/* standin.c - what a program of a rehearsed script becomes: it asks the director what that program would have done.
 *
 *   rollcall-rehearse stand-in PATH ARGV...      started by the hook
 *
 * One connection to FOLDER/socket. A frame is four bytes, its length in little endian, and so many bytes. The request
 * has texts that end with NUL: "1", who, at, depth, cwd, PATH, "1" if standard output is a pipe of the script's or else
 * "0", argc, argv..., envc, NAME=VALUE...
 *
 * The director answers with frames that begin with a letter:
 *   o TEXT   write to standard output
 *   e TEXT   to standard error
 *   i        send a frame with standard input, 64 KiB at most
 *   r TEXTS  run a program as the script's shell would; texts that end with NUL: who, background, cwd, argc, argv...,
 *            envc, NAME=VALUE...; cwd may be empty. With background "0" a frame "status N" follows when it has ended;
 *            with "1" it runs beside others, CHILDREN_MAX at a time, with /dev/null for its standard input
 *   p        wait for those in the background; a frame "status N" for each, in the order of their r
 *   x N      exit with status N
 * The status is 125 if the connection ends without an x. argv is never interpreted here.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text.h"
#include "rehearse.h"
#include "wall.h"

enum { CHILDREN_MAX = 8, FRAME_MAX = 64 << 20, INPUT_MAX = 65536, LOST = 125, BACKGROUND_MAX = 4096 };

extern char **environ;

static struct {
    pid_t pid[BACKGROUND_MAX];
    int status[BACKGROUND_MAX];
    unsigned count;
    unsigned running;
} background;

static int connect_director(const char *folder)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if ((size_t)snprintf(address.sun_path, sizeof(address.sun_path), "%s/socket", folder) >= sizeof(address.sun_path))
        return -1;
    return fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0 ? -1 : fd;
}

static bool write_all(int fd, const char *text, size_t size)
{
    while (size > 0) {
        ssize_t n = write(fd, text, size);

        if (n < 0 && errno != EINTR)
            return false;
        text += n > 0 ? n : 0;
        size -= n > 0 ? (size_t)n : 0;
    }
    return true;
}

static bool write_frame(int fd, const char *text, size_t size)
{
    unsigned char head[4];

    for (unsigned i = 0; i < sizeof(head); i++)
        head[i] = (unsigned char)(size >> (8 * i));
    return write_all(fd, (const char *)head, sizeof(head)) && write_all(fd, text, size);
}

static bool read_all(int fd, char *text, size_t size)
{
    while (size > 0) {
        ssize_t n = read(fd, text, size);

        if (n == 0 || (n < 0 && errno != EINTR))
            return false;
        text += n > 0 ? n : 0;
        size -= n > 0 ? (size_t)n : 0;
    }
    return true;
}

/* A frame with a NUL after it, or NULL. */
static char *read_frame(int fd, size_t *size)
{
    unsigned char head[4];
    char *text;

    if (!read_all(fd, (char *)head, sizeof(head)))
        return NULL;
    *size = head[0] | (size_t)head[1] << 8 | (size_t)head[2] << 16 | (size_t)head[3] << 24;
    text = *size <= FRAME_MAX ? malloc(*size + 1) : NULL;
    if (!text || !read_all(fd, text, *size))
        return NULL;
    text[*size] = '\0';
    return text;
}

/* The variable as the program would see it; NULL for the rehearsal's own. */
static const char *shown(const char *entry)
{
    size_t n = strlen(REHEARSE_USERS);

    if (strncmp(entry, REHEARSE_USERS "LD_PRELOAD=", n + 11) == 0 ||
        strncmp(entry, REHEARSE_USERS "BASH_ENV=", n + 9) == 0)
        return entry + n;
    return strncmp(entry, REHEARSE_FOLDER, n - 1) == 0 || strncmp(entry, "LD_PRELOAD=", 11) == 0 ||
                   strncmp(entry, "BASH_ENV=", 9) == 0
               ? NULL
               : entry;
}

static void put(FILE *request, const char *text)
{
    fputs(text ? text : "", request);
    putc('\0', request);
}

static bool writes_to_pipe(void)
{
    const char *own = getenv(REHEARSE_OUTPUT);
    struct stat status;
    char text[64];

    if (fstat(STDOUT_FILENO, &status) < 0 || !S_ISFIFO(status.st_mode))
        return false;
    snprintf(text, sizeof(text), "%llx:%llx", (unsigned long long)status.st_dev, (unsigned long long)status.st_ino);
    return !own || strcmp(own, text) != 0;
}

static bool send_request(int director, int argc, char **argv)
{
    char *text = NULL;
    char *folder = getcwd(NULL, 0);
    size_t size = 0;
    size_t names = 0;
    FILE *request = open_memstream(&text, &size);

    if (!request)
        return false;
    put(request, "1");
    put(request, getenv(REHEARSE_WHO));
    put(request, getenv(REHEARSE_AT));
    put(request, getenv(REHEARSE_DEPTH));
    put(request, folder);
    put(request, argv[2]);
    put(request, writes_to_pipe() ? "1" : "0");
    fprintf(request, "%d%c", argc - 3, '\0');
    for (int i = 3; i < argc; i++)
        put(request, argv[i]);
    for (char **entry = environ; *entry; entry++)
        names += shown(*entry) != NULL;
    fprintf(request, "%zu%c", names, '\0');
    for (char **entry = environ; *entry; entry++)
        if (shown(*entry))
            put(request, shown(*entry));
    return fclose(request) == 0 && write_frame(director, text, size);
}

/* Cuts the next text off a frame. */
static char *next(char **rest, const char *end)
{
    char *text = *rest;

    if (text >= end)
        return NULL;
    *rest += strlen(text) + 1;
    return text;
}

/* The next N texts, where the number comes first; NULL-terminated. */
static char **next_list(char **rest, const char *end)
{
    char *number = next(rest, end);
    uint32_t n = 0;
    char **list = NULL;

    if (number && rc_parse_u32(rc_str(number), (uint32_t)(end - *rest), &n))
        list = calloc(n + 2, sizeof(*list));
    for (size_t i = 0; list && i < n; i++)
        if (!(list[i] = next(rest, end)))
            return NULL;
    return list;
}

static void take_one(int options)
{
    int status;
    pid_t pid = waitpid(-1, &status, options);

    for (unsigned i = 0; i < background.count; i++)
        if (pid > 0 && background.pid[i] == pid) {
            background.status[i] = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
            background.pid[i] = 0;
            background.running--;
        }
}

static bool send_status(int director, int status)
{
    char text[32];

    return write_frame(director, text, (size_t)snprintf(text, sizeof(text), "status %d", status));
}

static void run_child(const char *who, bool is_background, const char *cwd, char **argv, char **env)
{
    char entry[256];
    size_t n = 0;
    int nothing = is_background ? open("/dev/null", O_RDONLY | O_CLOEXEC) : -1;

    while (env[n])
        n++;
    snprintf(entry, sizeof(entry), REHEARSE_WHO "=%s", who);
    env[n] = entry;
    if (nothing >= 0)
        dup2(nothing, STDIN_FILENO);
    if (*cwd && chdir(cwd) < 0)
        _exit(LOST);
    execvpe(argv[0], argv, env);
    fprintf(stderr, "%s: %s\n", argv[0], strerror(errno));
    _exit(errno == ENOENT ? 127 : 126);
}

static bool run(int director, char *rest, const char *end)
{
    char *who = next(&rest, end);
    char *is_background = next(&rest, end);
    char *cwd = next(&rest, end);
    char **argv = cwd ? next_list(&rest, end) : NULL;
    char **env = argv ? next_list(&rest, end) : NULL;
    bool waits = env && *is_background != '1';
    int status = 0;
    pid_t pid;

    if (!env || !argv[0] || (!waits && background.count == BACKGROUND_MAX))
        return false;
    while (!waits && background.running >= CHILDREN_MAX)
        take_one(0);
    pid = fork();
    if (pid == 0)
        run_child(who, !waits, cwd, argv, env);
    free(argv);
    free(env);
    if (!waits) {
        background.pid[background.count] = pid;
        background.status[background.count++] = LOST;
        background.running += pid > 0;
        return true;
    }
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return send_status(director, pid < 0 ? LOST : WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}

static bool await_background(int director)
{
    bool fine = true;

    while (background.running > 0)
        take_one(0);
    for (unsigned i = 0; fine && i < background.count; i++)
        fine = send_status(director, background.status[i]);
    background.count = 0;
    return fine;
}

static bool send_input(int director)
{
    static char input[INPUT_MAX];
    size_t size = 0;
    ssize_t n;

    while (size < sizeof(input) && (n = read(STDIN_FILENO, input + size, sizeof(input) - size)) > 0)
        size += (size_t)n;
    return write_frame(director, input, size);
}

int rehearse_stand_in(int argc, char **argv)
{
    const char *folder = getenv(REHEARSE_FOLDER);
    int director = folder && argc > 3 ? connect_director(folder) : -1;
    uint32_t status;
    bool fine = director >= 0 && send_request(director, argc, argv);
    char *frame;
    size_t size;

    while (fine && (frame = read_frame(director, &size))) {
        switch (*frame) {
        case 'o':
            write_all(STDOUT_FILENO, frame + 1, size - 1);
            break;
        case 'e':
            write_all(STDERR_FILENO, frame + 1, size - 1);
            break;
        case 'i':
            fine = send_input(director);
            break;
        case 'r':
            fine = run(director, frame + 1, frame + size);
            break;
        case 'p':
            fine = await_background(director);
            break;
        case 'x':
            return rc_parse_u32(rc_str(frame + 1), UINT8_MAX, &status) ? (int)status : LOST;
        default:
            fine = false;
            break;
        }
        free(frame);
    }
    return LOST;
}
