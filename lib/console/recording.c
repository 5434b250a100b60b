/* SPDX-License-Identifier: BSD-3-Clause */
#include "console/recording.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"

/* Copies `text` to *end with each `from` replaced by `to`, adds one `to`, and moves
 * *end behind that. */
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

/* Copies all lines of one kind one behind the other, wherever they are in the block. */
static struct rc_str take_lines(char **end, const char *const *block, const char *prefix)
{
    struct rc_str lines = { *end, 0 };
    const char *text;

    for (const char *const *entry = block; *entry; entry++)
        if ((text = text_behind(*entry, prefix)))
            lines.n += take_text(end, text, '\n', '\n').n;
    return lines.n ? lines : RC_ABSENT;
}

/* "8/1" or "8/1 amd": the number of device files, and how many of them may be opened. */
static void read_gpu_files(const char *text, struct rc_here *here)
{
    struct rc_str rest;
    struct rc_str open;
    struct rc_str files = rc_str_split(rc_str_split(rc_str(text), ' ', &rest), '/', &open);

    if (rc_parse_u32(files, UINT16_MAX, &here->gpu_files) && rc_parse_u32(open, UINT16_MAX, &here->gpu_files_open))
        here->gpu_files_amd = rc_str_is(rest, "amd");
}

int recording_read(const char *const *block, size_t size, struct rc_here *here, char **storage)
{
    /* every line loses its prefix and gains one byte at most */
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
