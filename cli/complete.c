/* SPDX-License-Identifier: BSD-3-Clause */
/* complete.c - rollcall complete WORD...: what may be the last of these words, for the completions of shells.
 *
 * The words are those after "rollcall", up to the cursor; the last one may be empty. Prints a candidate a line, a tab,
 * and what it means. Some lines ask the shell itself:
 *
 *   :files      file names, after the = if the word has one
 *   :command N  the line from the N-th word on is another command's
 *
 * The options are those of the help texts, modes and keys those of options.def: nothing is listed for completion alone.
 */
#include <ctype.h>
#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "entries.h"

static const struct {
    const char *word;
    const char *help;
} modes[] = {
#define ROLLCALL_MODE(word, help) { word, help },
#include "resolve/options.def"
};

static const struct {
    const char *name;
    const char *shape;
    const char *values;
    const char *help;
} keys[] = {
#define ROLLCALL_KEY(key, shape, values, read, member, last, help, section) { #key, #shape, values, help },
#include "resolve/options.def"
};

/* An option of a help text: "  -v, --verbose     say what was found", "      --from FILE   a recorded environment". */
struct described {
    struct rc_str name;    /* with its dashes */
    struct rc_str value;   /* "FILE"; empty: it has none as a word of its own */
    struct rc_str meaning; /* the rest of the line, up to what is only a detail */
    bool may_have_value;   /* "--ddp[=...]" */
};

/* Reads the option that a line of a help text begins with. */
static bool read_option(const char *line, struct described *option)
{
    const char *name = line + strspn(line, " ");
    const char *line_end = line + strcspn(line, "\n");
    const char *end;
    const char *gap;

    if (name == line || *name != '-')
        return false;
    if (name[1] != '-')
        name += strlen("-v, ");
    end = name + strcspn(name, " [\n");
    gap = strstr(end, "  ");
    if (!gap || gap > line_end)
        gap = line_end;
    gap += strspn(gap, " ");
    option->name = (struct rc_str){ name, (size_t)(end - name) };
    option->value = (struct rc_str){ end + 1, *end && isupper((unsigned char)end[1]) ? strcspn(end + 1, " \n") : 0 };
    option->meaning = (struct rc_str){ gap, strcspn(gap, ";:\n") };
    option->may_have_value = *end == '[';
    return true;
}

/* Where the reading of a help text is. */
struct place {
    const char *line;
    const char *more; /* the text after this one, or NULL */
};

static bool next_option(struct place *place, struct described *option)
{
    while (place->line) {
        const char *line = place->line;
        const char *end = strchr(line, '\n');

        place->line = end && end[1] ? end + 1 : place->more;
        if (place->line == place->more)
            place->more = NULL;
        if (read_option(line, option))
            return true;
    }
    return false;
}

/* Finds the option that a word names, with or without "=VALUE". */
static bool find_option(const struct subcommand *subcommand, const char *word, struct described *option)
{
    struct rc_str name = { word, strcspn(word, "=") };
    struct place place = { subcommand->help, subcommand->more_help };

    while (next_option(&place, option))
        if (rc_str_eq(option->name, name))
            return true;
    return false;
}

/* Prints BEFORE CANDIDATE AFTER, if the word is how it begins. */
static void offer(const char *word, struct rc_str before, struct rc_str candidate, const char *after,
                  struct rc_str meaning)
{
    char text[512];

    snprintf(text, sizeof(text), "%.*s%.*s%s", (int)before.n, before.p, (int)candidate.n, candidate.p, after);
    if (strncmp(text, word, strlen(word)) == 0)
        printf("%s\t%.*s\n", text, (int)meaning.n, meaning.p);
}

static void offer_word(const char *word, const char *candidate, const char *meaning)
{
    offer(word, RC_STR(""), rc_str(candidate), "", rc_str(meaning));
}

static void offer_options(const struct subcommand *subcommand, const char *word)
{
    struct place place = { subcommand->help, subcommand->more_help };
    struct described option;

    while (next_option(&place, &option)) {
        offer(word, RC_STR(""), option.name, "", option.meaning);
        if (option.may_have_value)
            offer(word, RC_STR(""), option.name, "=", option.meaning);
    }
    if (subcommand->has_line)
        offer_word(word, "--", "a command's line");
}

/* The words in lower case of "IFACE|CIDR|given". */
static void offer_values(const char *word, struct rc_str before, const char *values, const char *meaning)
{
    struct rc_str rest = rc_str(values);

    while (rest.p) {
        struct rc_str value = rc_str_split(rest, '|', &rest);

        if (islower((unsigned char)*value.p))
            offer(word, before, value, "", rc_str(meaning));
    }
}

/* Modes and keys after "--ddp=", or a key's values; earlier ones end with a comma. */
static void offer_ddp(const char *word)
{
    const char *comma = strrchr(word, ',');
    const char *item = comma ? comma + 1 : strchr(word, '=') + 1;
    const char *value = strchr(item, '=');
    struct rc_str before = { word, (size_t)((value ? value + 1 : item) - word) };
    struct rc_str key = { item, strcspn(item, "=") };

    for (size_t i = 0; i < sizeof(modes) / sizeof(*modes) && !comma && !value; i++)
        offer(word, before, rc_str(modes[i].word), "", rc_str(modes[i].help));
    for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
        struct rc_str help = rc_str(keys[i].help);

        if (value && rc_str_is(key, keys[i].name))
            offer_values(word, before, keys[i].values, keys[i].help);
        if (!value && strcmp(keys[i].shape, "SWITCH") == 0)
            offer(word, before, rc_str(keys[i].name), "", help);
        if (!value)
            offer(word, before, rc_str(keys[i].name), "=", help);
    }
}

static void offer_processes(const char *word, struct rc_str before)
{
    DIR *proc = opendir("/proc");

    for (const struct dirent *entry; proc && (entry = readdir(proc)) != NULL;)
        if (isdigit((unsigned char)entry->d_name[0]))
            offer(word, before, rc_str(entry->d_name), "", RC_STR(""));
    if (proc)
        closedir(proc);
}

/* before: "--from=", where the value is in the option's own word. */
static void offer_value(const struct described *option, const char *word, struct rc_str before)
{
    if (rc_str_is(option->value, "FILE") || rc_str_is(option->value, "JOB"))
        puts(":files");
    else if (rc_str_is(option->value, "PID"))
        offer_processes(word, before);
}

static void offer_ids(const char *word)
{
    for (unsigned i = 0; i < RC_MESSAGE_COUNT; i++)
        offer_word(word, rc_message_entry((enum rc_message_id)i)->id,
                   cli_catalogue_message((enum rc_message_id)i)->cause);
    for (unsigned i = 0; i < FINDING_COUNT; i++)
        offer_word(word, cli_catalogue_finding((enum finding_id)i)->id,
                   cli_catalogue_finding((enum finding_id)i)->cause);
}

/* number: of the word */
static void offer_operands(enum operands operands, const char *word, int number)
{
    if (operands == OPERANDS_COMMAND)
        printf(":command %d\n", number);
    else if (operands == OPERANDS_FILES)
        puts(":files");
    else if (operands == OPERANDS_IDS)
        offer_ids(word);
}

static void offer_last(const struct subcommand *subcommand, const char *word, int number)
{
    struct described option;

    if (strchr(word, '=') && find_option(subcommand, word, &option) && option.may_have_value)
        offer_ddp(word);
    else if (strchr(word, '=') && find_option(subcommand, word, &option))
        offer_value(&option, word, (struct rc_str){ word, strcspn(word, "=") + 1 });
    else if (*word == '-' || subcommand->operands == OPERANDS_NONE)
        offer_options(subcommand, word);
    else
        offer_operands(subcommand->operands, word, number);
}

/* The words before the last one say what that can be. */
static void complete_subcommand(const struct subcommand *subcommand, int argc, char **argv)
{
    struct described option;
    int last = argc - 1;

    for (int i = 2; i < last; i++) {
        if (strcmp(argv[i], "--") == 0 && subcommand->has_line) {
            printf(":command %d\n", i + 1);
            return;
        }
        if (argv[i][0] != '-') {
            if (subcommand->operands != OPERANDS_COMMAND)
                continue;
            printf(":command %d\n", i);
            return;
        }
        if (!strchr(argv[i], '=') && find_option(subcommand, argv[i], &option) && option.value.n && ++i == last) {
            offer_value(&option, argv[last], RC_STR(""));
            return;
        }
    }
    offer_last(subcommand, argv[last], last);
}

int cli_complete(int argc, char **argv)
{
    const char *word = argc > 1 ? argv[argc - 1] : "";

    for (const struct subcommand *const *each = cli_subcommands; *each; each++) {
        if (argc <= 2)
            offer_word(word, (*each)->name, (*each)->summary);
        else if (strcmp(argv[1], (*each)->name) == 0)
            complete_subcommand(*each, argc, argv);
    }
    for (size_t i = 0; argc <= 2 && cli_globals[i]; i++)
        offer_word(word, cli_globals[i], "");
    return STATUS_RESOLVED;
}
