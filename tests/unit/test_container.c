/* SPDX-License-Identifier: BSD-3-Clause */
/* Containers that hand no variables on. */

#include "resolve/resolve.h"
#include "unit.h"

enum { WORDS = 9 };

struct warning {
    struct rc_str input; /* what the line ends with; none: nothing is said */
    const char *argv[WORDS];
    const char *why;
};

#define NAMES "name them, as -e RANK -e WORLD_SIZE"

static const struct warning warnings[] = {
    { NO_TEXT, { "torchrun", "t.py" }, "there is no container" },
    { NO_TEXT, { "apptainer", "exec", "--nv", "x.sif", "python", "t.py", "-e", "3" }, "the script's own option" },
    { TEXT("containall"), { "apptainer", "exec", "-e", "x.sif", "python", "t.py" }, "a clean environment" },
    { TEXT("containall"),
      { "nice", "singularity", "exec", "--pwd", "/x", "--containall", "x.sif", "t" },
      "after a value" },
    { NO_TEXT, { "ch-run", "img", "--", "python", "t.py" }, "all of them" },
    { TEXT(NAMES ", or use pyxis"), { "/opt/enroot", "start", "x", "python" }, "none of them" },
    { NO_TEXT, { "enroot", "start", "-e", "RANK", "x", "python" }, "those that are named" },
    { TEXT("--env-host"), { "podman", "run", "--network", "host", "x", "python", "-e" }, "none of them" },
    { NO_TEXT, { "podman", "run", "--env=RANK", "x" }, "in one word" },
    { TEXT(NAMES), { "docker", "run", "x" }, "none of them" },
    { NO_TEXT, { "docker" }, "nothing that it is to do" },
    { TEXT(NAMES), { "docker", "run" }, "what is to be started does not count" },
    { TEXT(NAMES ", or use pyxis"), { "sh", "-c", "enroot start x" }, "in a text of a shell, too" },
};

UNIT_ROWS(warns, "container warns", warnings)
{
    static struct rc_result result;
    const char *env[] = {
        "RANK=0", "WORLD_SIZE=1", "LOCAL_RANK=0", "LOCAL_WORLD_SIZE=1", "MASTER_ADDR=127.0.0.1", "MASTER_PORT=29500",
        NULL
    };
    struct rc_context context = { .env = env, .argv = row->argv, .options = { .mode = RC_MODE_WORKER } };
    const char *said = NULL;

    assert_int_equal(rc_resolve(&context, &result), RC_RESOLVED);
    for (unsigned i = 0; i < result.messages.count; i++)
        if (result.messages.list[i].id == RC504)
            said = result.messages.list[i].text;
    assert_int_equal(said != NULL, row->input.p != NULL);
    if (said)
        assert_string_equal(said + strlen(said) - row->input.n, row->input.p);
}
