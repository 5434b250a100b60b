/* SPDX-License-Identifier: BSD-3-Clause */
/* resolve_stream - the core as a filter, for the oracle: requests in, one line of JSON each out.
 *
 * A request is a row of texts, each ended by a NUL byte:
 *   options  as after --ddp=; "-" for none
 *   pid      decimal
 *   flags    letters: c slurm_certain, i ignore_stamp, x explain
 *   number of words, words       "-" instead of the number: no argv at all
 *   number of variables, variables           likewise
 * Entries of the block that begin with @ tell of the node (lib/console/input.h); a family that asks for more than the
 * block says is answered with them, as by lib/effects/look.c: first without, then with what it asked for. Output is
 * flushed before the program waits for input. Bytes outside of printable ASCII are written as \u00XX, so a reader gets
 * each byte back.
 *
 * Every text gets an allocation of exactly its size: under a sanitizer or
 * valgrind a read past its end does not go unseen.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "console/input.h"
#include "resolve/options.h"
#include "resolve/resolve.h"

struct strings {
    char **list;
    size_t count;
};

static const char *const field_names[RC_FIELD_COUNT] = {
    [RC_RANK] = "rank",
    [RC_LOCAL_RANK] = "local_rank",
    [RC_NODE_RANK] = "node_rank",
    [RC_WORLD_SIZE] = "world_size",
    [RC_LOCAL_WORLD_SIZE] = "local_world_size",
    [RC_NNODES] = "nnodes",
};

static void fail(const char *what)
{
    fprintf(stderr, "resolve_stream: %s\n", what);
    exit(2);
}

/* The next text, or NULL at the end of the input. */
static char *read_text(void)
{
    static char *buffer;
    static size_t room;

    ssize_t length = getdelim(&buffer, &room, '\0', stdin);
    if (length <= 0)
        return NULL;
    if (buffer[length - 1] != '\0')
        fail("the input ends within a text");
    char *text = malloc((size_t)length);
    if (!text)
        fail("no memory");
    memcpy(text, buffer, (size_t)length);
    return text;
}

static char *need_text(void)
{
    char *text = read_text();
    if (!text)
        fail("the input ends within a request");
    return text;
}

static uint64_t need_number(uint64_t max)
{
    char *text = need_text();
    char *end;
    unsigned long long value = strtoull(text, &end, 10);
    if (*text == '\0' || *end != '\0' || value > max)
        fail("a number of the request is wrong");
    free(text);
    return value;
}

static void need_strings(struct strings *strings)
{
    char *text = need_text();
    strings->list = NULL;
    strings->count = 0;
    if (strcmp(text, "-") != 0) {
        strings->count = strtoull(text, NULL, 10);
        strings->list = malloc((strings->count + 1) * sizeof(char *));
        if (!strings->list)
            fail("no memory");
        for (size_t i = 0; i < strings->count; i++)
            strings->list[i] = need_text();
        strings->list[strings->count] = NULL;
    }
    free(text);
}

static void free_strings(struct strings *strings)
{
    for (size_t i = 0; i < strings->count; i++)
        free(strings->list[i]);
    free(strings->list);
}

static void put_text(const char *text)
{
    if (!text) {
        fputs("null", stdout);
        return;
    }
    putchar('"');
    for (const unsigned char *p = (const unsigned char *)text; *p; p++) {
        if (*p < 0x20 || *p > 0x7e || *p == '"' || *p == '\\')
            printf("\\u%04x", *p);
        else
            putchar(*p);
    }
    putchar('"');
}

static void put_messages(const struct rc_messages *messages)
{
    fputs(", \"messages\": [", stdout);
    for (unsigned i = 0; i < messages->count; i++) {
        const struct rc_message_entry *entry = rc_message_entry(messages->list[i].id);
        printf("%s[\"%s\", \"%s\", ", i ? ", " : "", entry->id, rc_level_name(entry->level));
        put_text(messages->list[i].text);
        putchar(']');
    }
    putchar(']');
}

static void put_plan(const struct rc_plan *plan)
{
    static const char *const action[] = { [RC_SET] = "set", [RC_UNSET] = "unset", [RC_KEEP] = "keep" };

    fputs(", \"plan\": [", stdout);
    for (unsigned i = 0; i < plan->count; i++) {
        const struct rc_plan_entry *entry = &plan->entry[i];
        printf("%s[\"%s\", ", i ? ", " : "", action[entry->action]);
        put_text(entry->name.p);
        fputs(", ", stdout);
        put_text(entry->value);
        printf(", %s, ", entry->changes ? "true" : "false");
        put_text(entry->reason);
        putchar(']');
    }
    putchar(']');
}

static void put_rejected(const struct rc_plan *plan)
{
    fputs(", \"rejected\": [", stdout);
    for (unsigned i = 0; i < plan->rejected_count; i++) {
        char value[64];
        const struct rc_rejected *rejected = &plan->rejected[i];
        size_t n = rejected->value.n < sizeof(value) ? rejected->value.n : sizeof(value) - 1;

        memcpy(value, rejected->value.p, n);
        value[n] = '\0';
        printf("%s[", i ? ", " : "");
        put_text(rejected->name);
        fputs(", ", stdout);
        put_text(value);
        fputs(", ", stdout);
        put_text(rejected->reason);
        putchar(']');
    }
    putchar(']');
}

static void put_result(const struct rc_result *result, uint64_t nanoseconds)
{
    printf("{\"status\": \"%s\", \"launcher\": ", result->status == RC_RESOLVED ? "resolved" : "contradiction");
    put_text(result->launcher ? result->launcher->id : NULL);
    printf(", \"mode\": \"%s\", \"reason\": ", rc_mode_name(result->mode));
    put_text(result->mode_reason);
    fputs(", \"identity\": {", stdout);
    for (unsigned i = 0; i < RC_FIELD_COUNT; i++) {
        printf("%s\"%s\": ", i ? ", " : "", field_names[i]);
        if (result->identity.field[i] == RC_UNKNOWN)
            fputs("null", stdout);
        else
            printf("%" PRIu32, result->identity.field[i]);
    }
    fputs("}, \"master\": {\"addr\": ", stdout);
    put_text(result->master.addr);
    printf(", \"port\": %u, \"hold\": %s, \"verify\": %s, \"addr_is_users\": %s, \"port_is_users\": %s}",
           result->master.port, result->master.todo & RC_MASTER_HOLD ? "true" : "false",
           result->master.todo & RC_MASTER_VERIFY ? "true" : "false", result->master.addr_given ? "true" : "false",
           result->master.port_given ? "true" : "false");
    printf(", \"stamped\": %s, \"nanoseconds\": %" PRIu64, result->stamped ? "true" : "false", nanoseconds);
    put_plan(&result->plan);
    put_rejected(&result->plan);
    put_messages(&result->messages);
    fputs("}\n", stdout);
}

/* What the block says of the node. */
static void read_node(struct rc_context *context)
{
    static struct rc_here here;
    static char *storage; /* what the result points into, until the next one */
    size_t size = 0;

    free(storage);
    storage = NULL;
    if (!context->env)
        return;
    for (const char *const *entry = context->env; *entry; entry++)
        size += strlen(*entry) + 1;
    if (recording_read(context->env, size, &here, &storage) < 0)
        fail("no memory");
    context->here = &here;
}

/* The options as the command line and ROLLCALL give them; false: they are not options, and that is the answer. */
static bool combine(const char *text, const char *const *env, struct rc_options *out)
{
    static struct rc_env index;
    static struct rc_messages messages;
    static char room[8192];
    struct rc_arena arena = { .base = room, .size = sizeof(room) };
    struct rc_options line = { 0 };
    struct rc_options variable = { 0 };

    messages = (struct rc_messages){ .arena = &arena };
    rc_env_index(&index, env);
    bool fine = strcmp(text, "-") == 0 || rc_options_parse(rc_str(text), "--ddp", &line, &messages);
    if (fine && rc_options_parse_variable(rc_env_get(&index, "ROLLCALL"), "ROLLCALL", &variable, &messages)) {
        *out = rc_options_combine(&line, &variable, NULL);
        return true;
    }
    fputs("{\"status\": \"usage\", \"mode\": \"none\", \"plan\": []", stdout);
    put_messages(&messages);
    fputs("}\n", stdout);
    return false;
}

static uint64_t clock_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

int main(void)
{
    static struct rc_result result;
    char *options;

    while ((options = read_text()) != NULL) {
        struct rc_context context = { 0 };
        struct strings words;
        struct strings variables;

        context.pid = (uint32_t)need_number(UINT32_MAX);
        char *flags = need_text();
        context.slurm_certain = strchr(flags, 'c') != NULL;
        context.ignore_stamp = strchr(flags, 'i') != NULL;
        context.explain = strchr(flags, 'x') != NULL;
        need_strings(&words);
        need_strings(&variables);
        context.argv = (const char *const *)words.list;
        context.env = (const char *const *)variables.list;

        if (combine(options, context.env, &context.options)) {
            /* Whatever the last answer left there must not matter. */
            memset(&result, 0xa5, sizeof(result));
            read_node(&context);
            uint64_t start = clock_now();
            rc_resolve(&context, &result);
            put_result(&result, clock_now() - start);
        }
        free_strings(&words);
        free_strings(&variables);
        free(flags);
        free(options);
        if (fflush(stdout) != 0)
            fail("cannot write");
    }
    return 0;
}
