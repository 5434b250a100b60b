/* SPDX-License-Identifier: BSD-3-Clause */
/* complete.c - rollcall complete WORD...: candidates for the last word, for completions of shells.
 *
 * The words follow "rollcall", up to the cursor. Print a candidate, a tab and its meaning per line; or ":command N" if
 * another command begins at the N-th word. Without output, shells complete file names. Candidates come from the help
 * texts and options.def. */
#include <ctype.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "resolve/options.h"

static const struct {
    const char *name;
    const char *values; /* NULL: a mode */
    const char *shown;  /* "watch[=on|off]" */
    const char *help;
} words[] = {
#define ROLLCALL_MODE(word, help) { word, NULL, word, help },
#define ROLLCALL_KEY(key, shape, values, read, member, last, help, section) \
    { #key, values, RC_KEY_SHOWN(shape, key, values), help },
#include "resolve/options.def"
};

enum { WORDS = sizeof(words) / sizeof(*words) };

void cli_print_ddp_help(void)
{
    for (unsigned i = 0; i < WORDS; i++)
        printf("        %-28s  %s\n", words[i].shown, words[i].help);
}

/* Print a candidate if it begins with `word`. */
static void offer(const char *word, struct rc_str meaning, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void offer(const char *word, struct rc_str meaning, const char *format, ...)
{
    char text[512];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    if (strncmp(text, word, strlen(word)) == 0)
        printf("%s\t%.*s\n", text, (int)meaning.n, meaning.p);
}

/* Offer the options of lines such as "  -v, --verbose     print more" and "      --ddp[=MODE]...". Omit details after
 * the meaning. */
static void offer_options(const char *word, const char *help)
{
    for (const char *line = help, *end; *line; line = end + 1) {
        const char *name = line + strspn(line, " ");
        const char *gap;
        struct rc_str meaning;
        int n;

        end = name + strcspn(name, "\n");
        if (name[0] == '-' && name[1] != '-')
            name += strlen("-v, ");
        n = (int)strcspn(name, " [\n");
        gap = strstr(name, "  ");
        gap = gap && gap < end ? gap + strspn(gap, " ") : end;
        meaning = (struct rc_str){ gap, strcspn(gap, ";:\n") };
        if (strncmp(name, "--", 2) == 0)
            offer(word, meaning, "%.*s", n, name);
        if (strncmp(name, "--", 2) == 0 && name[n] == '[')
            offer(word, meaning, "%.*s=", n, name);
    }
}

/* Offer the values of a key in lower case: "IFACE" in "IFACE|CIDR|given" is a placeholder. */
static void offer_values(const char *word, int before, const char *values, const char *help)
{
    struct rc_str rest = rc_str(values);

    while (rest.p) {
        struct rc_str value = rc_str_split(rest, '|', &rest);

        if (islower((unsigned char)*value.p))
            offer(word, rc_str(help), "%.*s%.*s", before, word, (int)value.n, value.p);
    }
}

/* Offer modes and keys after "--ddp=", or a key's values, after the last comma. */
static void offer_ddp(const char *word)
{
    const char *comma = strrchr(word, ',');
    const char *item = comma ? comma + 1 : strchr(word, '=') + 1;
    const char *value = strchr(item, '=');
    struct rc_str key = { item, strcspn(item, "=") };
    int before = (int)((value ? value + 1 : item) - word);

    for (unsigned i = 0; i < WORDS; i++) {
        const char *name = words[i].name;
        bool is_mode = !words[i].values;

        if (value && !is_mode && rc_str_is(key, name))
            offer_values(word, before, words[i].values, words[i].help);
        if (!value && (is_mode ? !comma : words[i].shown[strlen(name)] == '['))
            offer(word, rc_str(words[i].help), "%.*s%s", before, word, name);
        if (!value && !is_mode)
            offer(word, rc_str(words[i].help), "%.*s%s=", before, word, name);
    }
}

/* argv[1] is the subcommand. */
static void complete_subcommand(const struct subcommand *subcommand, int argc, char **argv)
{
    const char *word = argv[argc - 1];

    for (int i = 2; i < argc; i++) {
        bool is_dashes = i < argc - 1 && strcmp(argv[i], "--") == 0;

        if (is_dashes || (subcommand == &cli_exec && argv[i][0] != '-')) {
            printf(":command %d\n", i + is_dashes);
            return;
        }
    }
    if (strncmp(word, "--ddp=", strlen("--ddp=")) == 0 && strstr(subcommand->help, " --ddp["))
        offer_ddp(word);
    else if (*word == '-')
        offer_options(word, subcommand->help);
    if (*word == '-' && subcommand->more)
        offer_options(word, subcommand->more);
    if (*word != '-' && subcommand == &cli_explain)
        for (unsigned i = 0; i < CLI_CATALOGUE_SIZE; i++)
            offer(word, rc_str(cli_catalogue[i].cause), "%s", cli_catalogue[i].id);
}

int cli_complete(int argc, char **argv)
{
    const char *word = argc > 1 ? argv[argc - 1] : "";

    for (const struct subcommand *const *each = cli_subcommands; *each; each++) {
        if (argc <= 2)
            offer(word, rc_str((*each)->summary), "%s", (*each)->name);
        else if (strcmp(argv[1], (*each)->name) == 0)
            complete_subcommand(*each, argc, argv);
    }
    if (argc <= 2) {
        offer(word, RC_STR(""), "--help");
        offer(word, RC_STR(""), "--version");
    }
    return STATUS_RESOLVED;
}
