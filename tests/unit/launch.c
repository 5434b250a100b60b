/* SPDX-License-Identifier: BSD-3-Clause */
#include "launch.h"

/* One entry as it comes from its node. */
static void add_entry(struct launch *launch, size_t *used, char *words, const struct launch_row *row)
{
    static const char *const names[] = { "nodes", "world", "scope", "version", "mode", "addr", "boot" };
    char *value[] = { NULL, NULL, NULL, NULL, NULL, NULL, NULL };
    char *rest = words;
    char *host = strtok_r(NULL, " ", &rest);
    char *node = strtok_r(NULL, " ", &rest);
    char *tasks = strtok_r(NULL, " ", &rest);
    char *start = launch->text + *used;
    size_t size = sizeof(launch->text) - *used;
    size_t n = (size_t)snprintf(start, size, "roll=1\nhost=%s\nnode=%s\ntasks=%s\n", host, node, tasks);

    for (char *word; (word = strtok_r(NULL, " ", &rest)) != NULL;) {
        char *after = strchr(word, '=') + 1;
        bool known = false;

        for (size_t i = 0; i < UNIT_COUNT(names); i++) {
            if (strncmp(word, names[i], strlen(names[i])) == 0 && word[strlen(names[i])] == '=') {
                value[i] = after;
                known = true;
            }
        }
        if (strncmp(word, "gpu=", 4) == 0 || strncmp(word, "has=", 4) == 0)
            *strchr(word, ':') = ' ';
        for (char *blank; strncmp(word, "has=", 4) == 0 && (blank = strchr(word, '~'));)
            *blank = ' ';
        if (!known)
            n += (size_t)snprintf(start + n, size - n, "%s\n", word);
    }
    for (size_t i = 0; i < UNIT_COUNT(names); i++) {
        char number[16];
        char boot[64];
        const char *sound[] = { number, number, "slurm:42.0", "0.1.0", "worker", "n1", boot };

        snprintf(number, sizeof(number), "%u", i ? row->world : row->nodes);
        snprintf(boot, sizeof(boot), "boot-of-%s", host);
        if (i < 2 && !(i ? row->world : row->nodes))
            snprintf(number, sizeof(number), "%u", i ? 9 : 3);
        if (!value[i] || *value[i])
            n += (size_t)snprintf(start + n, size - n, "%s=%s\n", names[i], value[i] ? value[i] : sound[i]);
    }
    if (!rc_roll_read((struct rc_str){ start, n }, &launch->rolls[launch->count]))
        fail_msg("no entry: %s", start);
    launch->count++;
    *used += n;
}

void launch_read(struct launch *launch, const struct launch_row *row)
{
    char copy[4096];
    char *rest = copy;
    size_t used = 0;

    memset(launch, 0, sizeof(*launch));
    launch->arena = (struct rc_arena){ .base = launch->findings, .size = sizeof(launch->findings) };
    snprintf(copy, sizeof(copy), "%s", row->input.p);
    for (char *words; (words = strtok_r(NULL, ";", &rest)) != NULL;)
        add_entry(launch, &used, words, row);
}

static void assert_findings(const struct launch *launch, const char *expected)
{
    char text[RC_CHECK_ARENA + 64] = "";
    size_t used = 0;

    for (unsigned i = 0; i < launch->messages.count; i++)
        used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s %s", i ? "\n" : "",
                                 rc_message_entry(launch->messages.list[i].id)->id, launch->messages.list[i].text);
    assert_string_equal(text, expected);
}

void launch_finds(const struct launch_row *row)
{
    struct launch *launch = malloc(sizeof(*launch));

    assert_non_null(launch);
    launch_read(launch, row);
    assert_true(rc_roll_check(launch->rolls, launch->count, LAUNCH_KNOWN(LAUNCH_DEADLINE), &launch->messages, NULL,
                              &launch->arena));
    assert_findings(launch, row->expected);
    free(launch);
}

/* Whoever answers first: what is found is the same. */
void launch_finds_in_any_order(const struct launch_row *row)
{
    struct launch *launch = malloc(sizeof(*launch));

    assert_non_null(launch);
    launch_read(launch, row);
    for (size_t turn = 0; turn < launch->count; turn++) {
        struct rc_roll first = launch->rolls[0];

        memmove(launch->rolls, launch->rolls + 1, (launch->count - 1) * sizeof(first));
        launch->rolls[launch->count - 1] = first;
        launch->messages.count = 0;
        launch->arena.used = 0;
        assert_true(rc_roll_check(launch->rolls, launch->count, LAUNCH_KNOWN(LAUNCH_DEADLINE), &launch->messages, NULL,
                                  &launch->arena));
        assert_findings(launch, row->expected);
    }
    free(launch);
}

void launch_blames(const struct launch_row *row)
{
    struct launch *launch = malloc(sizeof(*launch));
    struct rc_blame blame = { .count = 0 };
    char text[4096] = "";
    size_t used = 0;

    assert_non_null(launch);
    launch_read(launch, row);
    assert_true(rc_roll_check(launch->rolls, launch->count, LAUNCH_KNOWN(LAUNCH_DEADLINE), &launch->messages, &blame,
                              &launch->arena));
    for (size_t i = 0; i < blame.count; i++) {
        unsigned finding = blame.list[i].finding;
        bool same = i > 0 && finding == blame.list[i - 1].finding;
        const char *id = "itself";

        if (finding != RC_BLAMED_BY_ITSELF)
            id = rc_message_entry(launch->messages.list[finding].id)->id;
        used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s%s%s",
                                 same ? ","
                                 : i  ? "; "
                                      : "",
                                 same ? "" : id, same ? "" : " ", blame.list[i].name);
    }
    assert_string_equal(text, row->expected);
    rc_blame_free(&blame);
    free(launch);
}
