/* SPDX-License-Identifier: BSD-3-Clause */
#include "launcher/ancestry.h"

/* Of Python the script or module; RC_ABSENT where it runs neither. */
static struct rc_str python_program(struct rc_str words)
{
    while (words.p) {
        struct rc_str word = rc_str_split(words, '\0', &words);

        if (rc_str_is(word, "-m"))
            return rc_str_split(words, '\0', &words);
        if (rc_str_starts(word, "-m"))
            return (struct rc_str){ word.p + 2, word.n - 2 };
        if (rc_str_is(word, "-c"))
            break;
        if (rc_str_is(word, "-X") || rc_str_is(word, "-W"))
            rc_str_split(words, '\0', &words);
        else if (!rc_str_starts(word, "-"))
            return rc_str_base_name(word);
    }
    return RC_ABSENT;
}

struct rc_str rc_ancestor_name(struct rc_str cmdline)
{
    struct rc_str rest;
    struct rc_str words;
    struct rc_str first = rc_str_split(cmdline, '\0', &words);
    struct rc_str title = rc_str_split(first, ':', &rest);
    struct rc_str name;

    /* a recording has a NUL for each blank, so there the colon ends the word */
    if (rest.p && (rest.n == 0 || rc_str_starts(rest, " ")))
        return title;
    /* a title without a colon has its arguments in the same word */
    name = rc_str_base_name(rc_str_split(first, ' ', &rest));
    if (rc_str_starts(name, "python") && words.n) {
        struct rc_str program = python_program(words);

        if (program.n)
            return program;
    }
    return name;
}

bool rc_ancestor_is_one_of(struct rc_str name, const char *names)
{
    struct rc_str rest = rc_str(names);

    while (name.n && rest.p)
        if (rc_str_eq(rc_str_split(rest, ' ', &rest), name))
            return true;
    return false;
}

bool rc_ancestor_is_batch(struct rc_str cmdline)
{
    struct rc_str step;
    struct rc_str rest;

    if (!rc_str_is(rc_ancestor_name(cmdline), "slurmstepd"))
        return false;
    rc_str_split(cmdline, '[', &rest);
    rc_str_split(rc_str_split(rest, ']', &rest), '.', &step);
    return rc_str_is(step, "batch") || rc_str_is(step, "extern") || rc_str_is(step, "interactive");
}

struct rc_str rc_ancestor_option(struct rc_str cmdline, const char *option)
{
    while (cmdline.p)
        if (rc_str_is(rc_str_split(cmdline, '\0', &cmdline), option))
            return rc_str_split(cmdline, '\0', &cmdline);
    return RC_ABSENT;
}
