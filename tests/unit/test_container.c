/* SPDX-License-Identifier: BSD-3-Clause */
/* Which of rollcall's files a container is taken to see. */

#include "resolve/command.h"
#include "resolve/resolve.h"
#include "resolve/steps.h"
#include "unit.h"

enum { WORDS = 9 };

struct row {
    struct rc_str input; /* NAME=VALUE in the environment, or none */
    const char *argv[WORDS];
    const char *hidden; /* NULL: it is there */
    const char *why;
};

#define HIDDEN(runtime) "a container (" runtime ") does not see x.so"

static const struct row rows[] = {
    { NO_TEXT, { "torchrun", "t.py" }, NULL, "there is no container" },
    { NO_TEXT, { "apptainer", "exec", "x.sif", "torchrun" }, HIDDEN("apptainer"), "nothing is mounted" },
    { NO_TEXT, { "podman-hpc", "run", "-v", "/opt/other:/opt/rollcall", "x" }, NULL, "something at that place" },
    { NO_TEXT, { "ch-run", "-b", "/opt/rollcall", "img", "--", "t" }, NULL, "the folder above it" },
    { NO_TEXT, { "ch-run", "--bind=/opt", "img", "--", "t" }, NULL, "one further above, in one word" },
    { NO_TEXT, { "apptainer", "exec", "-B/data,/opt/rollcall/", "x.sif", "t" }, NULL, "the second of a list" },
    { NO_TEXT, { "apptainer", "exec", "-B", "/opt/rollcall:/mnt", "x.sif" }, HIDDEN("apptainer"), "to another one" },
    { NO_TEXT, { "apptainer", "exec", "-B", "/opt/roll", "x.sif" }, HIDDEN("apptainer"), "the beginning of a name" },
    { NO_TEXT, { "apptainer", "exec", "--pwd", "/opt", "x.sif" }, HIDDEN("apptainer"), "a folder that is not mounted" },
    { NO_TEXT, { "apptainer", "exec", "-B", "/", "x.sif" }, HIDDEN("apptainer"), "all of it would be no container" },
    { NO_TEXT, { "apptainer", "exec", "x.sif", "-B" }, HIDDEN("apptainer"), "an option without its value" },
    { NO_TEXT, { "podman", "run", "--mount", "type=bind,source=/opt,target=/opt", "x" }, NULL, "with names" },
    { NO_TEXT, { "sh", "-c", "apptainer exec -B /opt x.sif t" }, NULL, "in shell text" },
    { TEXT("APPTAINER_BIND=/data,/opt/rollcall"), { "apptainer", "exec", "x.sif" }, NULL, "by the runtime's variable" },
    { TEXT("APPTAINER_BIND=/data"), { "apptainer", "exec", "x.sif" }, HIDDEN("apptainer"), "by neither" },
};

static const char *hides(const struct row *row, bool contained, struct rc_str file)
{
    static struct rc_result result;
    const char *env[] = { row->input.p, NULL };
    struct rc_context context = { .env = env, .argv = row->argv, .contained = contained };

    result = (struct rc_result){ .arena = { .base = result.text, .size = sizeof(result.text) } };
    result.messages.arena = &result.arena;
    rc_env_index(&result.env, env);
    rc_command_read(row->argv, &result.command);
    return rc_container_hides(&context, &result, file, "x.so");
}

UNIT_ROWS(hides_file, "container", rows)
{
    const char *hidden = hides(row, false, unit_guard(RC_STR("/opt/rollcall/lib/x.so")));

    if (row->hidden)
        assert_string_equal(hidden, row->hidden);
    else
        assert_null(hidden);
}

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

/* pyxis: what this process finds, the program will find. */
UNIT_TEST(believes_its_eyes, "inside of a container")
{
    static const struct row row = { NO_TEXT, { "python", "t.py" }, NULL, NULL };

    assert_null(hides(&row, true, RC_STR("/opt/rollcall/lib/x.so")));
    assert_string_equal(hides(&row, true, RC_ABSENT), "the container does not see x.so");
    assert_null(hides(&row, false, RC_ABSENT));
}
