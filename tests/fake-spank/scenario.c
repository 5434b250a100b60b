/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host.h"

struct scenario scenario;

static int hex_digit(char c)
{
    const char *digits = "0123456789ABCDEF", *at = c ? strchr(digits, c) : NULL;

    return at ? (int)(at - digits) : -1;
}

static char *decode_text(const char *text)
{
    char *out = malloc(strlen(text) + 1), *to = out;

    for (const char *p = text; *p; p++) {
        if (*p == '%' && hex_digit(p[1]) >= 0 && hex_digit(p[2]) >= 0) {
            *to++ = (char)(hex_digit(p[1]) << 4 | hex_digit(p[2]));
            p += 2;
        } else {
            *to++ = *p;
        }
    }
    *to = '\0';
    return out;
}

static uint32_t read_number(const char *text)
{
    return (uint32_t)strtoul(text, NULL, 10);
}

/* Reads "0,2,5", the ranks of the next node's tasks. */
static bool read_node(char *text)
{
    struct node *node = &scenario.node[scenario.nodes];
    char *rest = text, *item;

    if (scenario.nodes == NODES_MAX)
        return false;
    scenario.nodes++;
    node->rank = calloc(TASKS_MAX, sizeof(*node->rank));
    while ((item = strsep(&rest, ",")) && *item && node->tasks < TASKS_MAX)
        node->rank[node->tasks++] = read_number(item);
    return true;
}

static bool read_context(const char *text)
{
    static const char *const names[] = { "error", "local", "remote", "allocator", "slurmd", "job_script" };

    for (unsigned i = 0; i < sizeof(names) / sizeof(*names); i++) {
        if (!strcmp(names[i], text)) {
            scenario.context = (enum spank_context)i;
            return true;
        }
    }
    return false;
}

static bool read_line(const char *key, char *value)
{
    const struct {
        const char *key;
        struct words *words;
    } lists[] = {
        { "argument", &scenario.arguments }, { "env", &scenario.env },
        { "task_env", &scenario.task_env },  { "own_env", &scenario.own_env },
        { "device", &scenario.devices },     { "argv", &scenario.argv },
        { "option", &scenario.options },     { "lie", &scenario.lie },
        { "refuse", &scenario.refuse },      { "missing", &scenario.missing },
        { "skip", &scenario.skip },          { "host", &scenario.hosts },
        { "name", &scenario.names },         { "own_device", &scenario.own_device },
    };
    const struct {
        const char *key;
        uint32_t *number;
    } numbers[] = {
        { "total_tasks", &scenario.total_tasks }, { "job_id", &scenario.job_id },
        { "step_id", &scenario.step_id },         { "rank_offset", &scenario.rank_offset },
        { "node_offset", &scenario.node_offset }, { "allocations", &scenario.allocations },
        { "descriptors", &scenario.descriptors }, { "distribution", &scenario.distribution },
        { "lookup_ms", &scenario.lookup_ms },     { "cpus_per_task", &scenario.cpus_per_task },
    };

    for (unsigned i = 0; i < sizeof(lists) / sizeof(*lists); i++) {
        if (strcmp(key, lists[i].key))
            continue;
        if (lists[i].words->count == WORDS_MAX)
            return false;
        lists[i].words->word[lists[i].words->count++] = decode_text(value);
        return true;
    }
    for (unsigned i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
        if (!strcmp(key, numbers[i].key)) {
            *numbers[i].number = read_number(value);
            return true;
        }
    }
    if (!strcmp(key, "plugin"))
        return (scenario.plugin = decode_text(value)) != NULL;
    if (!strcmp(key, "order"))
        return (scenario.order = decode_text(value)) != NULL;
    if (!strcmp(key, "layout_hosts"))
        return (scenario.layout_hosts = decode_text(value)) != NULL;
    if (!strcmp(key, "context"))
        return read_context(value);
    if (!strcmp(key, "node"))
        return read_node(value);
    if (!strcmp(key, "twice"))
        return scenario.twice = true;
    if (!strcmp(key, "same_network"))
        return scenario.same_network = true;
    return !strcmp(key, "null_env") && (scenario.null_env = true);
}

bool scenario_read(void)
{
    char *line = NULL;
    size_t size = 0;
    ssize_t n;
    bool good = true;

    while (good && (n = getline(&line, &size, stdin)) > 0) {
        char *value = line, *key;

        if (line[n - 1] == '\n')
            line[n - 1] = '\0';
        key = strsep(&value, " ");
        good = read_line(key, value ? value : line + strlen(line));
        if (!good)
            fprintf(stderr, "fake-spank: a line is not understood: %s\n", key);
    }
    free(line);
    return good && scenario.plugin && scenario.context != S_CTX_ERROR;
}
