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
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "resolve/options.h"

static const struct {
    const char *name;
    const char *shown;  /* with its values */
    const char *shape;  /* of a key; NULL: it is a mode */
    const char *values; /* likewise */
    const char *help;
} words[] = {
#define ROLLCALL_MODE(word, help) { word, word, NULL, NULL, help },
#define ROLLCALL_KEY(key, shape, values, read, member, last, help, section) \
    { #key, RC_KEY_SHOWN(shape, key, values), #shape, values, help },
#include "resolve/options.def"
};

enum { WORDS = sizeof(words) / sizeof(*words) };

void cli_print_ddp_help(void)
{
    for (unsigned i = 0; i < WORDS; i++)
        printf("        %-28s  %s\n", words[i].shown, words[i].help);
}

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

/* Takes the lines up to the next option's. */
static bool next_option(const char **lines, struct described *option)
{
    while (**lines) {
        const char *line = *lines;

        *lines += strcspn(line, "\n") + 1;
        if (read_option(line, option))
            return true;
    }
    return false;
}

/* Finds the option that a word names, with or without "=VALUE". */
static bool find_option(const struct subcommand *subcommand, const char *word, struct described *option)
{
    struct rc_str name = { word, strcspn(word, "=") };
    const char *lines = subcommand->help;

    while (next_option(&lines, option))
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
    const char *lines = subcommand->help;
    struct described option;

    while (next_option(&lines, &option)) {
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

    for (unsigned i = 0; i < WORDS; i++) {
        struct rc_str name = rc_str(words[i].name);
        struct rc_str help = rc_str(words[i].help);
        bool is_mode = !words[i].shape;

        if (value && !is_mode && rc_str_eq(key, name))
            offer_values(word, before, words[i].values, words[i].help);
        if (!value && (is_mode ? !comma : strcmp(words[i].shape, "SWITCH") == 0))
            offer(word, before, name, "", help);
        if (!value && !is_mode)
            offer(word, before, name, "=", help);
    }
}

static void offer_value(const struct described *option)
{
    if (rc_str_is(option->value, "FILE") || rc_str_is(option->value, "JOB"))
        puts(":files");
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
        offer_value(&option);
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
            offer_value(&option);
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
    if (argc <= 2) {
        offer_word(word, "--help", "");
        offer_word(word, "--version", "");
    }
    return STATUS_RESOLVED;
}
