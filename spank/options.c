/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "spank.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* TEXT_SIZE: the longest option argument that Slurm passes on. */
enum { TEXT_SIZE = 2048, REASON_MAX = 511, LINE_SIZE = 4096 };

/* Unparsed: slurmstepd calls back as root. */
static struct {
    bool given;
    struct rc_str value; /* unset: --ddp without a value */
    char text[TEXT_SIZE];
} command_line;

static struct {
    bool read;
    struct rc_site line;
    char words[LINE_SIZE]; /* the line points into these */
    char text[LINE_SIZE];
} administrator;

bool rc_spank_logs_steps(void)
{
    return administrator.line.logs_steps;
}

bool rc_spank_is_typed(void)
{
    return command_line.given;
}

/* Return false, with messages and an empty *value, if the value is invalid. */
static bool parse_command_line(struct rc_options *value, struct rc_messages *messages)
{
    *value = (struct rc_options){ .given = false };
    if (!command_line.given || rc_options_parse(command_line.value, "--ddp", value, messages))
        return true;
    *value = (struct rc_options){ .given = true, .mode = RC_MODE_AUTO };
    return false;
}

/* Slurm calls this for the environment, then for the command line, up to 23.11 twice (b3527b1882). The last counts. */
static int take_option(int val, const char *argument, int remote)
{
    struct rc_arena copy = { .base = command_line.text, .size = sizeof(command_line.text) };
    char text[TEXT_SIZE];
    struct rc_arena arena = { .base = text, .size = sizeof(text) };
    struct rc_messages wrong = { .arena = &arena };
    struct rc_options value;

    (void)val;
    command_line.given = true;
    command_line.value = argument ? rc_str(rc_copy(&copy, rc_str(argument))) : RC_ABSENT;
    if (copy.full)
        command_line.value = RC_STR("(longer than Slurm hands on)");
    if (remote || parse_command_line(&value, &wrong))
        return 0;
    rc_spank_say_all(&wrong, RC_LEVEL_ERROR);
    return -1;
}

void rc_spank_register(spank_t spank)
{
    static char name[] = "ddp";
    static char argument[] = "[MODE][,KEY=VALUE]...";
    static char usage[] =
        "[rollcall] give every task its rank: RANK, LOCAL_RANK, WORLD_SIZE, MASTER_ADDR and all that PyTorch and its "
        "launchers want. MODE:"
#define ROLLCALL_MODE(word, help) " " word " (" help "),"
#include "resolve/options.def"
        " and keys:"
#define ROLLCALL_KEY(key, shape, values, read, member, last, help, section) " " RC_KEY_SHOWN(shape, key, values) ","
#include "resolve/options.def"
        " as rollcall(7) explains them";
    static struct spank_option option = {
        .name = name,
        .arginfo = argument,
        .usage = usage,
        .has_arg = 2,
        .val = 0,
        .cb = take_option,
    };

    /* fails only for a --ddp of another plugin, which Slurm has reported */
    (void)spank_option_register(spank, &option);
}

/* A bad word must not end a job: slurmd and srun (for users of rollcall) print it. */
static void log_wrong_words(const struct rc_messages *wrong)
{
    if (spank_context() != S_CTX_REMOTE && !rc_spank_may_be_asked((const char *const *)environ))
        return;
    for (unsigned i = 0; i < wrong->count; i++)
        slurm_error("rollcall: error %s: %s; ignored", rc_message_entry(wrong->list[i].id)->id, wrong->list[i].text);
}

/* Slurm splits at blanks, without quotes (22.05 to 26.05 _plugin_stack_parse_line). Keep all printable text. */
static void join_words(int argc, char *argv[])
{
    size_t n = 0;

    for (int i = 0; i < argc && n < LINE_SIZE; i++)
        n += (size_t)snprintf(administrator.words + n, LINE_SIZE - n, "%s%s", i ? " " : "", argv[i]);
    rc_str_clean(administrator.words, strlen(administrator.words));
}

void rc_spank_read_arguments(int argc, char *argv[])
{
    struct rc_arena arena = { .base = administrator.text, .size = sizeof(administrator.text) };
    struct rc_messages wrong = { .arena = &arena };

    if (administrator.read)
        return;
    administrator.read = true;
    join_words(argc, argv);
    administrator.line = rc_site_read(rc_str(administrator.words), "plugstack.conf", &wrong);
    log_wrong_words(&wrong);
}

/* Without --ddp, only warn about a bad value: ROLLCALL may be meant for others. */
static void read_variable(struct rc_str value, struct rc_options *options, struct rc_messages *messages)
{
    struct rc_messages wrong = { .arena = messages->arena };

    if (command_line.given)
        rc_options_parse_variable(value, "ROLLCALL", options, messages);
    else if (!rc_options_parse_variable(value, "ROLLCALL is ignored", options, &wrong))
        rc_message_add(messages, RC205, wrong.list[0].text);
}

bool rc_spank_check_environment(void)
{
    char text[TEXT_SIZE];
    struct rc_arena arena = { .base = text, .size = sizeof(text) };
    struct rc_messages messages = { .arena = &arena };
    struct rc_options options;
    /* errors of --ddp were refused earlier */
    bool understood = rc_spank_asked(rc_str(getenv("ROLLCALL")), false, &options, &messages);

    rc_spank_say_all(&messages, RC_LEVEL_WARNING);
    return understood;
}

bool rc_spank_may_be_asked(const char *const *env)
{
    for (; !command_line.given && *env; env++)
        if (rc_str_starts(rc_str(*env), "ROLLCALL=") ||
            (rc_str_starts(rc_str(*env), RC_WISH "=") && (*env)[sizeof(RC_WISH)]))
            return true;
    return command_line.given;
}

/* If disabled, only --ddp is an error, because a site may set ROLLCALL. If srun acts by it, either is: other nodes
 * would wait for this one. */
static void switch_off(struct rc_options *options, bool acts, struct rc_messages *messages)
{
    bool asked = options->given && options->mode != RC_MODE_OFF;
    struct rc_str off = administrator.line.off;
    const char *before = off.n ? ": " : "";
    const char *behind = off.n > REASON_MAX ? "..." : "";

    off = rc_str_cut(off, REASON_MAX);
    if (asked && spank_context() == S_CTX_REMOTE && (acts || command_line.given))
        rc_say(messages, RC206,
               "the administrator has switched rollcall off on this node%s%pS%s; its tasks were not started; --ddp=off "
               "or ROLLCALL=off starts tasks without ranks",
               before, &off, behind);
    else if (asked && command_line.given)
        rc_say(messages, RC206,
               "the administrator has switched rollcall off%s%pS%s; nothing was started; --ddp=off starts the tasks "
               "without ranks",
               before, &off, behind);
    else if (asked)
        rc_say(messages, RC207,
               "the administrator has switched rollcall off%s%pS%s; ROLLCALL is ignored, so tasks start without ranks; "
               "ROLLCALL=off avoids this line",
               before, &off, behind);
    options->given = false;
}

bool rc_spank_asked(struct rc_str rollcall, bool acts, struct rc_options *out, struct rc_messages *messages)
{
    struct rc_options typed;
    struct rc_options environment = { .given = false };

    parse_command_line(&typed, messages);
    if (typed.mode != RC_MODE_OFF)
        read_variable(rollcall, &environment, messages);
    *out = rc_options_combine(&typed, &environment, &administrator.line.keys);
    if (administrator.line.off.p)
        switch_off(out, acts, messages);
    if (!messages->has_error)
        return true;
    out->given = true;
    out->mode = RC_MODE_AUTO;
    return false;
}

bool rc_spank_asked_here(struct rc_options *out)
{
    static char text[TEXT_SIZE];
    struct rc_arena arena = { .base = text, .size = sizeof(text) };
    struct rc_messages messages = { .arena = &arena };
    bool understood = rc_spank_asked(rc_str(getenv("ROLLCALL")), false, out, &messages);

    return understood && out->given && out->mode != RC_MODE_OFF;
}
