/* SPDX-License-Identifier: BSD-3-Clause */
#include "leaf.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/compact.h"
#include "console/table.h"
#include "console/usage.h"
#include "console/value.h"

enum { HEAD_SIZE = 512, LIST_SIZE = 65536 };

/* What is printed meanwhile, to be freed. */
static char *capture(const struct mapping *mapping, bool json, size_t *size)
{
    FILE *file = tmpfile();
    int before = dup(STDOUT_FILENO);
    char *text = NULL;
    long end = -1;

    if (file && before >= 0 && fflush(stdout) == 0 && dup2(fileno(file), STDOUT_FILENO) >= 0) {
        int status = json ? mapping_print_json(mapping) : mapping_print_text(mapping);

        if (fflush(stdout) == 0 && status == 0 && fseek(file, 0, SEEK_END) == 0)
            end = ftell(file);
        dup2(before, STDOUT_FILENO);
    }
    if (end > 0 && (text = malloc((size_t)end)) != NULL) {
        rewind(file);
        *size = fread(text, 1, (size_t)end, file);
    }
    if (before >= 0)
        close(before);
    if (file)
        fclose(file);
    return text;
}

int leaf_draw(const struct wishes *wishes, bool json, struct leaf *leaf)
{
    struct mapping mapping;
    int status = mapping_make(wishes, &mapping);
    size_t size;

    if (status == 0) {
        /* the same text on nodes that are the same */
        mapping.rank = mapping.local_rank = RC_UNKNOWN;
        mapping.alike = true;
        leaf->text = capture(&mapping, json, &size);
        if (leaf->text)
            leaf->body = (struct rc_str){ leaf->text, size };
        else
            status = -1;
        if (status < 0)
            console_fail("map: cannot keep the map in a file of its own: out of memory, or no room in /tmp");
    }
    mapping_free(&mapping);
    return status;
}

/* "0-3,8" of "0,1,2,3,8", which ascends. */
static const char *short_numbers(struct rc_str numbers, struct rc_arena *arena)
{
    size_t most = 1;
    struct rc_range *range;
    size_t count = 0;
    const char *text;

    for (size_t i = 0; i < numbers.n; i++)
        most += numbers.p[i] == ',';
    range = calloc(most, sizeof(*range));
    for (struct rc_str rest = numbers; range && rest.p;) {
        uint32_t number;

        if (!rc_parse_u32(rc_str_split(rest, ',', &rest), RC_MAX_TASKS, &number))
            break;
        if (count > 0 && number == range[count - 1].last + 1)
            range[count - 1].last = number;
        else
            range[count++] = (struct rc_range){ number, number };
    }
    text = range && count > 0 ? rc_compact_ranges(range, count, LIST_SIZE / 2, arena) : "";
    free(range);
    return text;
}

char *leaf_write(const struct leaf *leaf, size_t *size)
{
    char *list = malloc(LIST_SIZE);
    struct rc_arena arena = { .base = list, .size = LIST_SIZE };
    char *text = list ? malloc(HEAD_SIZE + LIST_SIZE + leaf->body.n) : NULL;

    if (text) {
        int head = snprintf(text, HEAD_SIZE + LIST_SIZE, "%s %u %u %u %u %s\n", leaf->host, (unsigned)leaf->node,
                            (unsigned)leaf->rank, (unsigned)leaf->number, (unsigned)leaf->tasks,
                            leaf->numbers.p ? short_numbers(leaf->numbers, &arena) : "");

        if (leaf->body.n)
            memcpy(text + head, leaf->body.p, leaf->body.n);
        *size = (size_t)head + leaf->body.n;
    }
    free(list);
    return text;
}

static bool read_number(struct rc_str *words, uint32_t *number)
{
    return rc_parse_u32(rc_str_split(*words, ' ', words), RC_UNKNOWN, number);
}

bool leaf_read(char *text, size_t size, struct leaf *leaf)
{
    struct leaf read = { .text = text };
    struct rc_str words = rc_str_split((struct rc_str){ text, size }, '\n', &read.body);
    struct rc_str host = rc_str_split(words, ' ', &words);

    if (host.n == 0 || host.n >= sizeof(read.host) || !read_number(&words, &read.node) ||
        !read_number(&words, &read.rank) || !read_number(&words, &read.number) || !read_number(&words, &read.tasks) ||
        !words.p || !read.body.p)
        return false;
    memcpy(read.host, host.p, host.n);
    read.numbers = words;
    if (read.body.n == 0)
        read.body = RC_ABSENT;
    *leaf = read;
    return true;
}

void leaf_free(struct leaf *leaf)
{
    free(leaf->text);
    leaf->text = NULL;
}

/* The launcher's numbers are the ranks, unless a node's first task has another one:
 * then ranks go node by node (order=node). */
static bool by_node(const struct leaf *leaf, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (leaf[i].body.p && leaf[i].rank != leaf[i].number)
            return true;
    return false;
}

static void ranks_of(const struct leaf *leaf, bool by_node, char *text, size_t size)
{
    if (leaf->rank == RC_UNKNOWN || leaf->tasks == RC_UNKNOWN || leaf->tasks == 0 || (!by_node && !leaf->numbers.n))
        *text = '\0';
    else if (!by_node)
        snprintf(text, size, "%.*s", (int)leaf->numbers.n, leaf->numbers.p);
    else if (leaf->tasks == 1)
        snprintf(text, size, "%u", (unsigned)leaf->rank);
    else
        snprintf(text, size, "%u-%u", (unsigned)leaf->rank, (unsigned)(leaf->rank + leaf->tasks - 1));
}

static int print_group(const struct leaf *leaf, size_t count, const bool *same, bool by_node, char *list)
{
    struct rc_str *host = calloc(count, sizeof(*host));
    struct rc_arena arena = { .base = list, .size = LIST_SIZE };
    size_t hosts = 0;
    const char *names;

    for (size_t i = 0; host && i < count; i++)
        if (same[i])
            host[hosts++] = rc_str(leaf[i].host);
    if (!host)
        return -1;
    names = rc_compact_hosts(host, hosts, LIST_SIZE / 2, &arena);
    putchar('\n');
    if (console_print_wrapped(0, 4, PAINT_STRONG, names) < 0) {
        free(host);
        return -1;
    }
    for (size_t i = 0; i < count; i++) {
        if (!same[i])
            continue;
        ranks_of(&leaf[i], by_node, list, LIST_SIZE);
        if (*list)
            printf("  %s: rank%s %s\n", leaf[i].host, strpbrk(list, "-,") ? "s" : "", list);
    }
    free(host);
    return 0;
}

static int print_text(const struct leaf *leaf, size_t count)
{
    bool numbered = by_node(leaf, count);
    bool *done = calloc(count, sizeof(*done));
    bool *same = calloc(count, sizeof(*same));
    char *list = malloc(LIST_SIZE);
    int status = done && same && list ? 0 : -1;

    for (size_t i = 0; status == 0 && i < count; i++) {
        if (done[i] || !leaf[i].body.p)
            continue;
        memset(same, 0, count * sizeof(*same));
        for (size_t k = i; k < count; k++)
            done[k] = done[k] || (same[k] = leaf[k].body.p && rc_str_eq(leaf[k].body, leaf[i].body));
        status = print_group(leaf, count, same, numbered, list);
        if (status == 0)
            fwrite(leaf[i].body.p, 1, leaf[i].body.n, stdout);
    }
    free(done);
    free(same);
    free(list);
    return status;
}

static json_t *node_json(const struct leaf *leaf, bool by_node)
{
    char *ranks = malloc(LIST_SIZE);
    json_t *map = json_loadb(leaf->body.p, leaf->body.n, 0, NULL);
    json_t *object = NULL;

    if (ranks && map) {
        ranks_of(leaf, by_node, ranks, LIST_SIZE);
        object = json_pack("{s:s, s:i, s:o, s:O}", "host", leaf->host, "node_rank", (int)leaf->node, "ranks",
                           *ranks ? json_string(ranks) : json_null(), "map", map);
    }
    json_decref(map);
    free(ranks);
    return object;
}

static int print_json(const struct leaf *leaf, size_t count, const char *step)
{
    json_t *nodes = json_array();
    json_t *missing = json_array();
    json_t *object;
    int status = nodes && missing ? 0 : -1;

    for (size_t i = 0; status == 0 && i < count; i++)
        status = leaf[i].body.p ? json_array_append_new(nodes, node_json(&leaf[i], by_node(leaf, count)))
                                : json_array_append_new(missing, json_integer((json_int_t)i));
    object = json_pack("{s:i, s:s, s:o, s:o}", "schema", JSON_SCHEMA, "step", step, "nodes", nodes, "missing", missing);
    if (status == 0)
        status = object ? json_dumpf(object, stdout, JSON_INDENT(2)) : -1;
    json_decref(object);
    putchar('\n');
    return status;
}

int leaves_print(struct leaf *leaf, size_t count, const char *step, bool json)
{
    size_t there = 0;

    for (size_t i = 0; i < count; i++)
        there += leaf[i].body.p != NULL;
    if (json)
        return print_json(leaf, count, step);
    printf("step %s: %zu of %zu nodes\n", step, there, count);
    return print_text(leaf, count);
}
