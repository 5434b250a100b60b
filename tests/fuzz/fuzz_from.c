/* SPDX-License-Identifier: BSD-3-Clause */
/* fuzz_from - `rollcall show`, without and with --why, with --from and a file of any bytes, as text and as JSON.
 *
 * What is printed is lines of printable ASCII, or JSON that can be read again.
 */
#include "config.h"

#include "fuzz.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli/cli.h"

enum { PATH_SIZE = 64 };

static int write_file(struct rc_str input, char path[PATH_SIZE])
{
    int fd = memfd_create("recording", MFD_CLOEXEC);

    CHECK(fd >= 0 && write(fd, input.p, input.n) == (ssize_t)input.n);
    snprintf(path, PATH_SIZE, "/proc/self/fd/%d", fd);
    return fd;
}

static void check_text(struct rc_str text)
{
    for (struct rc_str rest = text; rest.p;)
        CHECK(fuzz_is_printable(rc_str_split(rest, '\n', &rest)));
}

/* What it prints on standard output, from malloc. */
static struct rc_str run_show(bool why, char *file, bool json, int *status)
{
    char name[] = "show", from[] = "--from", as[] = "--json", more[] = "--why";
    char *argv[6] = { name, from, file };
    int argc = 3;
    FILE *kept = stdout;
    struct rc_str text;
    char *bytes = NULL;

    if (json)
        argv[argc++] = as;
    if (why)
        argv[argc++] = more;
    stdout = open_memstream(&bytes, &text.n);
    CHECK(stdout != NULL);
    *status = cli_show.run(argv);
    fclose(stdout);
    stdout = kept;
    text.p = bytes;
    return text;
}

static void try_show(bool why, char *file, bool json)
{
    int status;
    struct rc_str text = run_show(why, file, json, &status);

    CHECK(status == STATUS_RESOLVED || status == STATUS_CONTRADICTION || status == STATUS_USAGE);
    if (status == STATUS_USAGE)
        CHECK(text.n == 0);
    else if (json)
        CHECK(fuzz_is_json(text));
    else
        check_text(text);
    fuzz_free(text);
}

void fuzz_one(struct rc_str input)
{
    char path[PATH_SIZE];
    int fd = write_file(input, path);

    try_show(false, path, false);
    try_show(false, path, true);
    try_show(true, path, false);
    try_show(true, path, true);
    close(fd);
    CHECK(fuzz_free_descriptor() == fd);
}
