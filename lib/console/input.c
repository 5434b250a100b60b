/* SPDX-License-Identifier: BSD-3-Clause */
#include "console/input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "console/output.h"

/* Append `text` at *end with `from` replaced by `to`, then one `to`; advance *end. */
static struct rc_str take_text(char **end, const char *text, char from, char to)
{
    struct rc_str copy = { *end, strlen(text) + 1 };

    for (; *text; text++)
        *(*end)++ = *text == from ? to : *text;
    *(*end)++ = to;
    return copy;
}

static const char *text_behind(const char *entry, const char *prefix)
{
    size_t n = strlen(prefix);

    return strncmp(entry, prefix, n) == 0 ? entry + n : NULL;
}

/* Join all lines of one kind, anywhere in the block. */
static struct rc_str take_lines(char **end, const char *const *block, const char *prefix)
{
    struct rc_str lines = { *end, 0 };
    const char *text;

    for (const char *const *entry = block; *entry; entry++)
        if ((text = text_behind(*entry, prefix)))
            lines.n += take_text(end, text, '\n', '\n').n;
    return lines.n ? lines : RC_ABSENT;
}

/* "8/1" or "8/1 amd": number of device files, and how many may be opened. */
static void read_gpu_files(const char *text, struct rc_here *here)
{
    struct rc_str rest;
    struct rc_str open;
    struct rc_str files = rc_str_split(rc_str_split(rc_str(text), ' ', &rest), '/', &open);
    uint32_t opened;

    if (!rc_parse_u32(open, UINT16_MAX, &opened) || !rc_parse_u32(files, UINT16_MAX, &here->gpu_files))
        return;
    here->gpu_files_open = opened;
    here->gpu_files_amd = rc_str_is(rest, "amd");
}

int recording_read(const char *const *block, size_t size, struct rc_here *here, char **storage)
{
    /* every line loses its prefix and gains at most one byte */
    char *end = *storage = malloc(size + 1);
    const char *text;

    if (!end)
        return -1;
    *here = (struct rc_here){
        .learned = RC_LEARN_ANCESTORS | RC_LEARN_HOST | RC_LEARN_HOST_FILE | RC_LEARN_GPUS | RC_LEARN_PMIX |
                   RC_LEARN_WATCH | RC_LEARN_REVERSE | RC_LEARN_GPU_FILES,
        .gpus = RC_UNKNOWN,
    };
    for (const char *const *entry = block; *entry; entry++) {
        if ((text = text_behind(*entry, "@ancestor=")) && here->ancestor_count < RC_ANCESTORS_MAX)
            here->ancestor[here->ancestor_count++] = take_text(&end, text, ' ', '\0');
        else if ((text = text_behind(*entry, "@host=")))
            here->host = rc_str(text);
        else if ((text = text_behind(*entry, "@watch=")))
            here->watch = rc_str(text);
        else if ((text = text_behind(*entry, "@lookup=")))
            here->reverse = rc_str(text);
        else if ((text = text_behind(*entry, "@gpus=")))
            (void)rc_parse_u32(rc_str(text), UINT16_MAX, &here->gpus);
        else if ((text = text_behind(*entry, "@gpu-files=")))
            read_gpu_files(text, here);
    }
    here->host_file = take_lines(&end, block, "@host-file=");
    here->pmix = take_lines(&end, block, "@pmix=");
    return 0;
}

enum { CHUNK = 64 * 1024, VARIABLES = 0, ARGUMENTS = 1 };

/* Read a descriptor up to INPUT_MAX bytes. `data` ends with a NUL. Return 0, or -1 with errno set (EFBIG: too
 * large). */
static int read_all(int fd, char **data, size_t *size)
{
    FILE *all = open_memstream(data, size);
    char chunk[CHUNK];
    size_t used = 0;
    ssize_t n = -1;
    int error = 0;

    if (!all)
        return -1;
    while (error == 0 && n != 0) {
        n = read(fd, chunk, sizeof(chunk));
        if (n < 0 && errno != EINTR)
            error = errno;
        else if (n > 0 && fwrite(chunk, 1, (size_t)n, all) < (size_t)n)
            error = ENOMEM;
        else if (n > 0 && (used += (size_t)n) > INPUT_MAX)
            error = EFBIG;
    }
    if (fclose(all) != 0 && error == 0)
        error = ENOMEM;
    errno = error;
    return error ? -1 : 0;
}

static int read_path(const char *path, char **data, size_t *size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    int status = fd < 0 ? -1 : read_all(fd, data, size);
    int error = errno;

    if (fd >= 0)
        close(fd);
    errno = error;
    return status;
}

/* Split a block into a NULL-terminated list. Empty pieces have a meaning only in a list of arguments. */
static const char **split_block(char *data, size_t size, char separator, bool keep_empty)
{
    const char **list;
    size_t count = 1;
    size_t used = 0;
    char *piece = data;

    for (size_t i = 0; i < size; i++)
        count += data[i] == separator;
    list = malloc((count + 1) * sizeof(*list));
    if (!list)
        return NULL;
    for (size_t i = 0; i <= size; i++) {
        if (i < size && data[i] != separator)
            continue;
        data[i] = '\0';
        if (data + i > piece || (keep_empty && i < size))
            list[used++] = piece;
        piece = data + i + 1;
    }
    list[used] = NULL;
    return list;
}

extern char **environ;

void input_own(struct input *input)
{
    *input = (struct input){
        .env = (const char *const *)environ,
        .pid = (uint32_t)getpid(),
        .this_node = true,
    };
}

static const char *read_reason(int error)
{
    switch (error) {
    case EFBIG:
        return "it is larger than 64 MiB, which no environment is";
    case EISDIR:
        return "it is a directory, not a file with an environment";
    case ENOENT:
        return "there is no such file";
    default:
        return strerror(error);
    }
}

/* NAME=VALUE or a line about the node. Accepts names of exported shell functions: BASH_FUNC_module%%. */
static bool is_entry(const char *text)
{
    size_t name = strcspn(text, "=");

    if (text[0] == '@')
        return true;
    for (size_t i = 0; i < name; i++)
        if (text[i] <= ' ' || text[i] > '~')
            return false;
    return name > 0 && text[name] == '=';
}

/* A binary has some strings with equals signs, but mostly others, and does not begin with one. */
static bool is_environment(const char *const *list, char separator)
{
    bool begins = *list && is_entry(*list);
    size_t entries = 0;
    size_t others = 0;

    for (; *list; list++)
        (*(is_entry(*list) ? &entries : &others))++;
    return begins || (entries > 0 && (separator == '\n' || entries >= others));
}

static int refuse(const char *name, const char *why)
{
    console_fail("cannot read %s: %s", name, why);
    return -1;
}

int input_file(struct input *input, const char *path)
{
    bool is_stdin = strcmp(path, "-") == 0;
    const char *name = is_stdin ? "standard input" : path;
    char **data = &input->storage[0];
    size_t size = 0;
    char separator;

    *input = (struct input){ .pid = 0 };
    if ((is_stdin ? read_all(STDIN_FILENO, data, &size) : read_path(path, data, &size)) < 0)
        return refuse(name, read_reason(errno));
    /* a NUL means a block as in /proc; otherwise the input is lines */
    separator = memchr(*data, '\0', size) ? '\0' : '\n';
    input->list[0] = split_block(*data, size, separator, false);
    input->env = input->list[0];
    if (!input->env)
        return refuse(name, strerror(ENOMEM));
    if (!is_environment(input->env, separator)) {
        console_fail("%s is no environment: %s; record one with env -0 > FILE", name,
                     size ? "it is no list of NAME=VALUE" : "it is empty");
        return -1;
    }
    return recording_read(input->env, size, &input->here, &input->storage[2]) == 0 ? 0 : refuse(name, strerror(ENOMEM));
}

/* Read one of the two blocks of a process. Return 0, or -1 with errno set. */
static int read_process(struct input *input, const char *what, unsigned which)
{
    char path[64];
    size_t size = 0;

    snprintf(path, sizeof(path), "/proc/%u/%s", (unsigned)input->pid, what);
    if (read_path(path, &input->storage[which], &size) < 0)
        return -1;
    input->list[which] = split_block(input->storage[which], size, '\0', which == ARGUMENTS);
    return input->list[which] ? 0 : -1;
}

static int refuse_process(uint32_t pid, int error)
{
    const char *why = read_reason(error);

    if (error == ENOENT || error == ESRCH)
        why = "there is no such process on this machine";
    else if (error == EACCES || error == EPERM)
        why = "it is another user's, or may not be traced";
    console_fail("cannot read process %u: %s", (unsigned)pid, why);
    return -1;
}

int input_process(struct input *input, const char *text)
{
    *input = (struct input){ .this_node = true };
    if (!rc_parse_u32(rc_str(text), INT32_MAX, &input->pid) || input->pid == 0) {
        console_fail("--pid=%.64s is not a process id", text);
        return -1;
    }
    if (input_quietly(input, input->pid) < 0 || read_process(input, "cmdline", ARGUMENTS) < 0)
        return refuse_process(input->pid, errno);
    input->argv = input->list[ARGUMENTS];
    return 0;
}

int input_quietly(struct input *input, uint32_t pid)
{
    *input = (struct input){ .pid = pid, .this_node = true };
    if (read_process(input, "environ", VARIABLES) < 0)
        return -1;
    input->env = input->list[VARIABLES];
    return 0;
}

void input_free(struct input *input)
{
    for (unsigned i = 0; i < sizeof(input->storage) / sizeof(*input->storage); i++)
        free(input->storage[i]);
    for (unsigned i = 0; i < sizeof(input->list) / sizeof(*input->list); i++)
        free(input->list[i]);
    *input = (struct input){ .pid = 0 };
}
