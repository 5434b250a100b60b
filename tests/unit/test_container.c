/* Which of rollcall's files a container is taken to see. */
#include "container.h"
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
    { NO_TEXT, { "ch-run", "img", "--", "torchrun" }, HIDDEN("ch-run"), "nor here" },
    { NO_TEXT, { "podman-hpc", "run", "-v", "/opt/other:/opt/rollcall", "x" }, NULL, "something at that place" },
    { NO_TEXT, { "ch-run", "-b", "/opt/rollcall", "img", "--", "t" }, NULL, "the folder above it" },
    { NO_TEXT, { "ch-run", "--bind=/opt", "img", "--", "t" }, NULL, "one further above, in one word" },
    { NO_TEXT, { "apptainer", "exec", "-B/data,/opt/rollcall/", "x.sif", "t" }, NULL, "the second of a list" },
    { NO_TEXT, { "apptainer", "exec", "-B", "/opt/rollcall:/opt/rollcall:ro", "x.sif" }, NULL, "to its own place" },
    { NO_TEXT, { "apptainer", "exec", "-B", "/opt/rollcall:/mnt", "x.sif" }, HIDDEN("apptainer"), "to another one" },
    { NO_TEXT, { "apptainer", "exec", "-B", "/opt/roll", "x.sif" }, HIDDEN("apptainer"), "the beginning of a name" },
    { NO_TEXT, { "apptainer", "exec", "--pwd", "/opt", "x.sif" }, HIDDEN("apptainer"), "a folder that is not mounted" },
    { NO_TEXT, { "apptainer", "exec", "-B", "/", "x.sif" }, HIDDEN("apptainer"), "all of it would be no container" },
    { NO_TEXT, { "apptainer", "exec", "x.sif", "-B" }, HIDDEN("apptainer"), "an option without its value" },
    { NO_TEXT, { "podman", "run", "--mount", "type=bind,source=/opt,target=/opt", "x" }, NULL, "with names" },
    { NO_TEXT, { "sh", "-c", "apptainer exec -B /opt x.sif t" }, NULL, "in shell text" },
    { NO_TEXT, { "sh", "-c", "apptainer exec x.sif t" }, HIDDEN("apptainer"), "in shell text, nothing mounted" },
    { TEXT("APPTAINER_BIND=/data,/opt/rollcall"), { "apptainer", "exec", "x.sif" }, NULL, "by the runtime's variable" },
    { TEXT("SINGULARITY_BINDPATH=/opt:/opt"), { "singularity", "exec", "x.sif" }, NULL, "by an older one" },
    { TEXT("APPTAINER_BIND=/data"), { "apptainer", "exec", "x.sif" }, HIDDEN("apptainer"), "by neither" },
};

static const char *hides(const struct row *row, bool contained, struct rc_str file)
{
    static struct rc_result result;
    const char *env[] = { row->input.p, NULL };
    struct rc_context context = { .env = env, .argv = row->argv, .contained = contained };

    result = (struct rc_result){ .arena = { .base = result.text, .size = sizeof(result.text) } };
    rc_env_index(&result.env, env);
    return rc_container_hides(&context, &result, file, "x.so");
}

static void hides_file(const void *data)
{
    const struct row *row = data;
    const char *hidden = hides(row, false, unit_guard(RC_STR("/opt/rollcall/lib/x.so")));

    if (row->hidden)
        assert_string_equal(hidden, row->hidden);
    else
        assert_null(hidden);
}

/* pyxis: what this process finds, the program will find. */
static void believes_its_eyes(const void *data)
{
    static const struct row row = { NO_TEXT, { "python", "t.py" }, NULL, NULL };

    (void)data;
    assert_null(hides(&row, true, RC_STR("/opt/rollcall/lib/x.so")));
    assert_string_equal(hides(&row, true, RC_ABSENT), "the container does not see x.so");
    assert_null(hides(&row, false, RC_ABSENT));
}

int main(void)
{
    UNIT_TABLE(hides_file, "container", rows);
    unit_add_one(believes_its_eyes, "inside of a container");
    return unit_run("container");
}
