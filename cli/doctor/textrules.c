/* SPDX-License-Identifier: BSD-3-Clause */
#include "textrules.h"

#include <regex.h>
#include <string.h>

#define BLANKS     "[[:space:]]*"
#define QUOTE      "[\"']"
#define SETS(name) "environ\\[" QUOTE name QUOTE "\\]" BLANKS "=" BLANKS "(str\\()?" QUOTE "?"

/* One line of a script, a finding, and what is said of it. */
static const struct rule {
    bool job;
    enum finding_id id;
    const char *pattern;
    const char *what;
    const char *change;
} rules[] = {
    { false, FINDING_D403, SETS("MASTER_PORT") "[0-9]+", "MASTER_PORT is always the same", NULL },
    { false, FINDING_D404, SETS("MASTER_ADDR") "(localhost|127\\.)", "MASTER_ADDR is set to loopback", NULL },
    { false, FINDING_D404, "init_method" BLANKS "=" BLANKS QUOTE "tcp://(localhost|127\\.)", "init_method is loopback",
      "init_method=\"env://\"" },
    { false, FINDING_D418, SETS("CUDA_VISIBLE_DEVICES") "[0-9]", "CUDA_VISIBLE_DEVICES is set here", NULL },
    { false, FINDING_D420, SETS("GLOO_SOCKET_IFNAME") "[=^]", "GLOO_SOCKET_IFNAME is an exclusion", NULL },
    { false, FINDING_D408, QUOTE "SLURM_(LOCAL_ID|LOCAL_RANK|PROC_ID|NODE_ID|WORLD_SIZE)" QUOTE,
      "a variable is read that Slurm does not set", NULL },
    { true, FINDING_D516, "^" BLANKS "(export +)?MASTER_PORT=\"?[0-9]+\"?" BLANKS "$", "MASTER_PORT is always the same",
      NULL },
    { true, FINDING_D420, "GLOO_SOCKET_IFNAME=[\"']?[=^]", "GLOO_SOCKET_IFNAME is an exclusion", NULL },
};

enum { RULES = sizeof(rules) / sizeof(*rules) };

static const char old_import[] = "^(import|from) +pytorch_lightning";
static const char new_import[] = "^(import|from) +lightning\\.pytorch|^import +lightning( |$)|^from +lightning +import";

static bool matches(const char *pattern, const char *line)
{
    regex_t expression;
    bool found;

    if (regcomp(&expression, pattern, REG_EXTENDED | REG_NOSUB) != 0)
        return false;
    found = regexec(&expression, line, 0, NULL, 0) == 0;
    regfree(&expression);
    return found;
}

/* Blanks what stands in strings of three quotes; *open is the letter of one that
 * a line leaves open. Nothing of it is code, however it looks. */
static void blank_text(char *line, char *open)
{
    for (char *p = line; *p;) {
        bool three = (*p == '"' || *p == '\'') && p[1] == p[0] && p[2] == p[0];

        if (three && (!*open || *open == *p)) {
            *open = *open ? '\0' : *p;
            memset(p, ' ', 3);
            p += 3;
        } else {
            if (*open)
                *p = ' ';
            p++;
        }
    }
}

/* A variable that is set where it was not there, is not hard-wired. */
static bool is_guarded(const char *previous)
{
    return strncmp(previous + strspn(previous, " \t"), "if ", 3) == 0;
}

static void mixed(struct findings *findings, const char *path, unsigned older, unsigned newer)
{
    if (older && newer)
        findings_add(findings, FINDING_D401, path, older, NULL,
                     "pytorch_lightning is imported here, lightning.pytorch in line %u", newer);
}

void doctor_text_rules(struct findings *findings, const char *path, char *text, bool job)
{
    const char *previous = "";
    unsigned number = 0;
    unsigned older = 0;
    unsigned newer = 0;
    char open = '\0';

    for (char *line = text, *next; line; line = next) {
        next = strchr(line, '\n');
        if (next)
            *next++ = '\0';
        number++;
        if (!job)
            blank_text(line, &open);
        if (line[strspn(line, " \t")] == '#')
            continue;
        for (unsigned i = 0; i < RULES; i++)
            if (rules[i].job == job && !is_guarded(previous) && matches(rules[i].pattern, line))
                findings_add(findings, rules[i].id, path, number, rules[i].change, "%s", rules[i].what);
        if (!job && !older && matches(old_import, line))
            older = number;
        if (!job && !newer && matches(new_import, line))
            newer = number;
        if (line[strspn(line, " \t")])
            previous = line;
    }
    mixed(findings, path, older, newer);
}
