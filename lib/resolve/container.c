/* SPDX-License-Identifier: BSD-3-Clause */
#include "resolve/container.h"

/* apptainer and singularity read these, as lists of SOURCE[:TARGET[:OPTIONS]]. */
enum { VARIABLE_SIZE = 24 };

static const char variables[][VARIABLE_SIZE] = {
    "APPTAINER_BIND",
    "APPTAINER_BINDPATH",
    "SINGULARITY_BIND",
    "SINGULARITY_BINDPATH",
};

static bool is_below(struct rc_str file, struct rc_str folder)
{
    while (folder.n > 1 && folder.p[folder.n - 1] == '/')
        folder.n--;
    return folder.n > 1 && folder.p[0] == '/' && file.n > folder.n && file.p[folder.n] == '/' &&
           rc_str_eq((struct rc_str){ file.p, folder.n }, folder);
}

/* Returns the target of SOURCE[:TARGET[:OPTIONS]], the folder's name in the container. */
static struct rc_str target_of(struct rc_str mount)
{
    struct rc_str rest;
    struct rc_str source = rc_str_split(mount, ':', &rest);
    struct rc_str target = rc_str_split(rest, ':', &rest);

    return target.n && target.p[0] == '/' ? target : source;
}

/* Whether one of a list's folders has the file: "/a:/b,/c" or "type=bind,source=/a,target=/a". */
static bool names_file(struct rc_str list, struct rc_str file)
{
    while (list.p) {
        struct rc_str mount = rc_str_split(list, ',', &list);

        while (mount.p)
            if (is_below(file, target_of(rc_str_split(mount, '=', &mount))))
                return true;
    }
    return false;
}

/* Returns what an option mounts: --bind=/a, --bind /a, -B/a. */
static struct rc_str value_of(struct rc_str word, struct rc_str next)
{
    struct rc_str value;

    if (!rc_command_mounts(word, &value))
        return RC_ABSENT;
    return value.p ? value : next;
}

static struct rc_str word_behind(const char *const *argument)
{
    return rc_str(argument[1] ? argument[1] : "");
}

static bool is_shown(const struct rc_context *context, const struct rc_result *result, struct rc_str runtime,
                     struct rc_str file)
{
    /* the two values of this option are source and target */
    bool two = rc_str_is(runtime, "bwrap");

    for (const char *const *argument = context->argv; *argument; argument++) {
        /* a script may stand in one word with many blanks */
        struct rc_str rest = rc_str(*argument);

        while (rest.p) {
            struct rc_str word = rc_str_split(rest, ' ', &rest);
            struct rc_str behind;
            struct rc_str next = rest.p ? rc_str_split(rest, ' ', &behind)
                                        : word_behind(argument + (two && argument[1]));

            if (names_file(value_of(word, next), file))
                return true;
        }
    }
    for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++)
        if (names_file(rc_env_find(&result->env, rc_str(variables[i])), file))
            return true;
    return false;
}

/* Whether the option stands before the image, the first word that is neither an option nor its value. */
static bool has_option(const char *const *words, const char *option)
{
    for (bool value = false; *words; words++) {
        bool dashed = (*words)[0] == '-';

        if (dashed && rc_str_starts(rc_str(*words), option))
            return true;
        if (!dashed && !value)
            return false;
        value = dashed;
    }
    return false;
}

/* NULL where the variables are handed on, or where nobody knows. */
static const char *find_cure(struct rc_str runtime, const char *const *words)
{
    /* short options in one word, such as -ec, are too rare to be read */
    if (rc_str_is(runtime, "apptainer") || rc_str_is(runtime, "singularity"))
        return has_option(words, "-e") || has_option(words, "--cleanenv") || has_option(words, "-C") ||
                       has_option(words, "--containall")
                   ? "leave out --cleanenv and --containall"
                   : NULL;
    if (has_option(words, "-e") || has_option(words, "--env"))
        return NULL;
    if (rc_str_is(runtime, "enroot"))
        return "name them, as -e RANK -e WORLD_SIZE, or use pyxis";
    if (rc_str_is(runtime, "podman"))
        return "say --env-host";
    return rc_str_is(runtime, "docker") ? "name them, as -e RANK -e WORLD_SIZE" : NULL;
}

void rc_container_warn(const struct rc_context *context, struct rc_result *result)
{
    struct rc_str runtime = result->command.container;
    const char *cure = NULL;

    for (const char *const *word = context->argv; runtime.p && *word && !cure; word++)
        /* skips the runtime's name and its verb: exec, run, start */
        if (*word + rc_str(*word).n == runtime.p + runtime.n && word[1])
            cure = find_cure(runtime, word + 2);
    if (cure)
        rc_message_add(
            &result->messages, RC504,
            rc_format(&result->arena,
                      "%S hands no variables on: the ranks that are set here do not get into the container; %s",
                      &runtime, cure));
}

const char *rc_container_hides(const struct rc_context *context, struct rc_result *result, struct rc_str file,
                               const char *name)
{
    const struct rc_command *command = &result->command;

    if (context->contained)
        return file.n ? NULL : rc_format(&result->arena, "the container does not see %s", name);
    if (!command->container.p || (file.n && is_shown(context, result, command->container, file)))
        return NULL;
    return rc_format(&result->arena, "a container (%S) does not see %s", &command->container, name);
}
