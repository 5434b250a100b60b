/* SPDX-License-Identifier: BSD-3-Clause */
#include "fuzz.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/text.h"

/* Of processor time, for one input. The slowest one is a job of two components with 50,000 nodes: a second with ASan,
 * on a busy machine. */
enum { SECONDS_MAX = 10 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static double seconds_used(void)
{
    struct timespec now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    double start = seconds_used();

    fuzz_one((struct rc_str){ (const char *)data, size });
    CHECK(seconds_used() - start < SECONDS_MAX);
    return 0;
}

_Noreturn void fuzz_fail(const char *condition, const char *file, int line)
{
    fprintf(stderr, "%s:%d: this does not hold: %s\n", file, line, condition);
    abort();
}

struct rc_str fuzz_copy(struct rc_str text)
{
    char *copy;

    if (!text.p)
        return text;
    copy = malloc(text.n ? text.n : 1);
    CHECK(copy != NULL);
    memcpy(copy, text.p, text.n);
    return (struct rc_str){ copy, text.n };
}

void fuzz_free(struct rc_str text)
{
    free((void *)(uintptr_t)text.p);
}

char *fuzz_copy_string(struct rc_str text)
{
    char *copy = malloc(text.n + 1);

    CHECK(copy != NULL);
    if (text.n)
        memcpy(copy, text.p, text.n);
    copy[text.n] = '\0';
    return copy;
}

void fuzz_take_numbers(struct rc_str *input, uint32_t *number, unsigned count, uint32_t most)
{
    struct rc_str line = rc_str_split(*input, '\n', input);

    for (unsigned i = 0; i < count; i++)
        (void)rc_parse_u32(rc_str_split(line, ' ', &line), most, &number[i]);
}

bool fuzz_is_within(struct rc_str part, struct rc_str whole)
{
    return !part.p || (part.p >= whole.p && part.p + part.n <= whole.p + whole.n);
}

void fuzz_try(const struct fuzz_reader *readers, size_t count, struct rc_str input)
{
    struct rc_str text;

    if (!input.n)
        return;
    text = fuzz_copy((struct rc_str){ input.p + 1, input.n - 1 });
    for (size_t i = 0; i < count; i++)
        if (readers[i].letter == input.p[0])
            readers[i].try(text);
    fuzz_free(text);
}

struct rc_arena fuzz_arena(size_t size)
{
    static char space[FUZZ_ARENA];

    return (struct rc_arena){ .base = space, .size = size < FUZZ_ARENA ? size : FUZZ_ARENA };
}

bool fuzz_is_printable(struct rc_str text)
{
    for (size_t i = 0; i < text.n; i++)
        if (text.p[i] < 0x20 || text.p[i] > 0x7e)
            return false;
    return true;
}

void fuzz_check_messages(const struct rc_messages *messages)
{
    CHECK(messages->count <= RC_MESSAGES_MAX);
    for (unsigned i = 0; i < messages->count; i++) {
        CHECK(messages->list[i].id < RC_MESSAGE_COUNT);
        CHECK(messages->list[i].text && fuzz_is_printable(rc_str(messages->list[i].text)));
        CHECK(messages->has_error || rc_message_entry(messages->list[i].id)->level != RC_LEVEL_ERROR);
    }
}

int fuzz_free_descriptor(void)
{
    int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

    CHECK(fd >= 0);
    close(fd);
    return fd;
}
