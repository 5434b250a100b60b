/* SPDX-License-Identifier: BSD-3-Clause */
/* fuzz_parsers - every reader of the core alone: numbers, lists of hosts and tasks, variables, command lines. What was
 * read and written again reads the same.
 *
 * The first letter of an input names the reader (see the table at the end), the rest is its text. Where a reader
 * takes numbers or a second text as well, they come before a newline.
 */
#include "fuzz.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpuset.h"
#include "base/netaddr.h"
#include "base/pairs.h"
#include "launcher/families.h"
#include "launcher/gpulist.h"
#include "launcher/hosts.h"
#include "launcher/launcher.h"
#include "launcher/layout.h"
#include "launcher/stamp.h"
#include "rendezvous/wire.h"
#include "resolve/command.h"
#include "resolve/options.h"
#include "roll/names.h"

enum { FEW = 64, WORDS = 128 };

/* --- numbers and sets ------------------------------------------------------------------------------------------- */

static void try_number(struct rc_str text)
{
    struct rc_arena arena = fuzz_arena(64);
    uint64_t value;
    uint32_t small;

    if (rc_parse_u64(text, UINT64_MAX, &value))
        CHECK(rc_str_is(text, rc_format(&arena, "%llu", (unsigned long long)value)));
    if (rc_parse_u32(text, 1000, &small))
        CHECK(small <= 1000);
    CHECK(rc_debug_level(text) <= RC_DEBUG_LEVEL_MAX);
}

static void try_cpuset(struct rc_str text)
{
    struct rc_arena arena = fuzz_arena(FUZZ_ARENA);
    struct rc_cpuset set, again;
    const char *written;

    if (!rc_cpuset_read(text, &set))
        return;
    written = rc_cpuset_write(&set, &arena);
    CHECK(rc_cpuset_count(&set) > 0 && *written);
    CHECK(rc_cpuset_read(rc_str(written), &again) && rc_cpuset_is_equal(&set, &again));
    CHECK(rc_cpuset_is_within(&set, &again));
    CHECK(strcmp(rc_cpuset_write(&again, &arena), written) == 0);
}

static void try_netaddr(struct rc_str text)
{
    struct rc_netaddr address, expected = { .size = 0 };
    struct rc_network network;
    char *string = fuzz_copy_string(text);
    bool good = rc_netaddr_read(text, &address);
    int family = memchr(text.p, ':', text.n) ? AF_INET6 : AF_INET;

    if (good) {
        CHECK(strlen(string) == text.n && inet_pton(family, string, expected.byte) == 1);
        CHECK(memcmp(expected.byte, address.byte, address.size) == 0);
        CHECK(rc_netaddr_compare(&address, &address) == 0);
        network = rc_network_around(&address, (uint8_t)(address.size * 4));
        CHECK(rc_network_has(&network, &address));
        (void)rc_netaddr_is_loopback(&address);
        (void)rc_netaddr_is_link_local(&address);
    }
    (void)rc_host_is_loopback(text);
    if (rc_network_read(text, &network))
        CHECK(network.bits <= network.address.size * 8 && rc_network_has(&network, &network.address));
    free(string);
}

static void try_runs(struct rc_str text)
{
    struct rc_arena arena = fuzz_arena(FUZZ_ARENA);
    struct rc_runs runs = rc_runs_begin(&arena);
    struct rc_str rest = text;
    struct rc_run run;
    uint32_t node[FEW], tasks[FEW];
    unsigned count = 0;
    const char *written;

    while (rc_run_next(&rest, &run)) {
        CHECK(run.nodes > 0 && run.tasks > 0 && fuzz_is_within(rest, text));
        for (uint32_t i = 0; i < run.nodes && count < FEW; i++, count++) {
            node[count] = run.first + i;
            tasks[count] = run.tasks;
            rc_runs_add(&runs, node[count], run.tasks);
        }
    }
    if (count == 0)
        return;
    written = rc_runs_end(&runs);
    rest = rc_str(written);
    for (unsigned i = 0; i < count; i += run.nodes) {
        CHECK(rc_run_next(&rest, &run));
        for (uint32_t j = 0; j < run.nodes; j++)
            CHECK(i + j < count && run.first + j == node[i + j] && run.tasks == tasks[i + j]);
    }
    CHECK(!rc_run_next(&rest, &run));
}

static void try_compact(struct rc_str text)
{
    struct rc_arena arena = fuzz_arena(FUZZ_ARENA);
    struct rc_str host[FEW];
    struct rc_range range[FEW];
    uint32_t limit = 20, at = 0;
    size_t hosts = 0, ranges = 0;

    fuzz_take_numbers(&text, &limit, 1, 4096);
    for (struct rc_str rest = text; rest.p && hosts < FEW; hosts++)
        host[hosts] = rc_str_split(rest, ' ', &rest);
    (void)rc_compact_hosts(host, hosts, limit, &arena);
    for (size_t i = 0; i + 1 < text.n && ranges < FEW; i += 2, ranges++) {
        at += (unsigned char)text.p[i];
        range[ranges] = (struct rc_range){ at, at + (unsigned char)text.p[i + 1] };
    }
    if (ranges)
        CHECK(strlen(rc_compact_ranges(range, ranges, limit, &arena)) <=
              limit + sizeof("4294967295-4294967295 and more"));
    for (size_t i = 1; i < hosts; i++)
        CHECK((rc_compact_order(host[i - 1], host[i]) < 0) == (rc_compact_order(host[i], host[i - 1]) > 0));
}

static void try_lines(struct rc_str text)
{
    struct rc_str rest = text, name, value;

    while (rc_pair_next(&rest, ' ', &name, &value))
        CHECK(fuzz_is_within(name, text) && fuzz_is_within(value, text));
}

/* --- lists of hosts and tasks ------------------------------------------------------------------------------------ */

/* The few first hosts written one by one are the same list. */
static void check_hosts_alone(struct rc_str text, uint32_t count)
{
    struct rc_arena arena = fuzz_arena(FUZZ_ARENA);
    const char *list = rc_copy(&arena, RC_STR(""));
    char name[RC_HOST_MAX + 1], again[RC_HOST_MAX + 1];
    uint32_t number;

    for (uint32_t i = 0; i < count; i++) {
        CHECK(rc_hostlist_nth(text, i, name));
        rc_join(&arena);
        rc_format(&arena, "%s%s", i ? "," : "", name);
    }
    CHECK(rc_hostlist_count(rc_str(list), &number) && number == count);
    for (uint32_t i = 0; i < count; i++) {
        CHECK(rc_hostlist_nth(text, i, name) && rc_hostlist_nth(rc_str(list), i, again) && strcmp(name, again) == 0);
        CHECK(rc_hostlist_find(rc_str(list), rc_str(name)) <= i);
    }
}

static void try_hostlist(struct rc_str text)
{
    char name[RC_HOST_MAX + 1];
    struct rc_str first = rc_str_split(text, '\n', &text);
    uint32_t count;

    (void)rc_hostlist_find(text.p ? text : first, first);
    (void)rc_hostlist_nth(text.p ? text : first, 1, name);
    if (!rc_hostlist_count(text.p ? text : first, &count))
        return;
    text = text.p ? text : first;
    CHECK(count > 0 && count <= RC_MAX_TASKS);
    CHECK(rc_hostlist_nth(text, count - 1, name) && strlen(name) > 0 && fuzz_is_printable(rc_str(name)));
    CHECK(rc_hostlist_find(text, rc_str(name)) == RC_UNKNOWN || rc_hostlist_find(text, rc_str(name)) < count);
    CHECK(!rc_hostlist_nth(text, count, name));
    check_hosts_alone(text, count < FEW ? count : FEW);
}

static void try_tasklist(struct rc_str text)
{
    struct rc_arena arena = fuzz_arena(FUZZ_ARENA);
    const char *written = rc_copy(&arena, RC_STR(""));
    struct rc_tasklist list, again;
    uint32_t before, sum = 0;

    if (!rc_tasklist_parse(text, &list))
        return;
    CHECK(list.nodes > 0 && list.smallest > 0 && list.smallest <= list.largest && list.tasks <= RC_MAX_TASKS);
    CHECK(rc_tasklist_at(&list, list.nodes, &before) == 0);
    for (uint32_t i = 0; i < list.nodes && i < FEW; i++) {
        uint32_t tasks = rc_tasklist_at(&list, i, &before);

        CHECK(before == sum && tasks >= list.smallest && tasks <= list.largest);
        sum += tasks;
        rc_join(&arena);
        rc_format(&arena, "%s%u", i ? "," : "", tasks);
    }
    if (list.nodes <= FEW)
        CHECK(rc_tasklist_parse(rc_str(written), &again) && again.tasks == list.tasks && again.nodes == list.nodes &&
              again.smallest == list.smallest && again.largest == list.largest && sum == list.tasks);
}

static void try_taskmap(struct rc_str text)
{
    static uint64_t seen[RC_NODE_SET_BITS / 64];
    struct rc_taskmap_node node;
    uint32_t number[3] = { 1, 1, 0 };

    fuzz_take_numbers(&text, number, 3, RC_NODE_SET_BITS);
    if (number[1] == 0 || number[2] >= number[1] || !text.p)
        return;
    if (rc_taskmap_read(text, number[0], number[1], number[2], seen, &node)) {
        CHECK(node.master_node < number[1] && node.node_rank < number[1]);
        CHECK(node.tasks > 0 && node.tasks + node.tasks_before <= number[0]);
    }
}

/* A byte a task: its node. All nodes of the map together have all tasks. */
static void try_taskmap_written(struct rc_str text)
{
    struct rc_arena arena = fuzz_arena(FUZZ_ARENA);
    static uint64_t seen[4];
    struct rc_taskmap_node node;
    uint32_t node_of[FEW], tasks = text.n < FEW ? (uint32_t)text.n : FEW, nodes = 0, sum = 0;
    const char *map;

    for (uint32_t i = 0; i < tasks; i++) {
        /* no node without a task */
        node_of[i] = (unsigned char)text.p[i] % (nodes + 1);
        nodes += node_of[i] == nodes;
    }
    if (tasks == 0)
        return;
    map = rc_taskmap_write(node_of, tasks, &arena);
    for (uint32_t i = 0; i < nodes; i++) {
        CHECK(rc_taskmap_read(rc_str(map), tasks, nodes, i, seen, &node) && node.master_node == node_of[0]);
        sum += node.tasks;
    }
    CHECK(sum == tasks);
}

static void check_hostfile(const struct rc_hostfile *file)
{
    struct rc_hostfile_place place;
    struct rc_str host = rc_hostfile_first(file->text, file->format);

    CHECK(file->hosts > 0 && fuzz_is_within(host, file->text) && rc_hostfile_find(file, host) == 0);
    for (uint32_t i = 0; i < file->slots && i < FEW; i++)
        CHECK(rc_hostfile_place(file, i, &place) && place.index < file->hosts &&
              fuzz_is_within(place.host, file->text));
    CHECK(!rc_hostfile_place(file, file->slots, &place));
}

static void try_hostfile(struct rc_str text)
{
    static uint64_t filter[RC_HOSTFILE_BITS / 64];
    struct rc_hostfile file;

    for (int format = RC_HOSTFILE_LINES; format <= RC_HOSTFILE_PAIRS; format++)
        if (rc_hostfile_read(text, (enum rc_hostfile_format)format, filter, &file))
            check_hostfile(&file);
    CHECK(fuzz_is_within(rc_hostfile_first(text, RC_HOSTFILE_LINES), text));
}

static void try_apinfo(struct rc_str bytes)
{
    struct rc_apinfo info;

    if (!rc_apinfo_read(bytes, &info))
        return;
    for (uint32_t i = 0; i < info.tasks.count && i < FEW; i++) {
        const struct rc_apinfo_task *task = rc_apinfo_task(&info, i);

        CHECK(task->node < info.nodes.count && task->local_rank < info.tasks.count);
        CHECK(fuzz_is_within(rc_apinfo_host(&info, task->node), bytes));
    }
}

static void try_gpulist(struct rc_str text)
{
    uint32_t count = rc_str_pieces(text, ',');
    uint32_t place = RC_UNKNOWN;

    if (count > 0 && count < FEW) {
        struct rc_str last = rc_gpu_list_at(text, count - 1);

        CHECK(fuzz_is_within(last, text));
        place = rc_gpu_list_place(last, text, count);
        CHECK(place == RC_UNKNOWN || place < count);
    }
    (void)rc_gpu_list_counts(text);
    (void)rc_gpu_list_rises(text);
    (void)rc_gpu_list_has_uuids(text);
}

/* --- variables and command lines ---------------------------------------------------------------------------------- */

static void try_options(struct rc_str text)
{
    struct rc_arena arena = fuzz_arena(8192);
    struct rc_messages messages = { .arena = &arena };
    struct rc_options options = { .given = false };

    if (rc_options_parse(text, "--ddp", &options, &messages)) {
        CHECK(messages.count == 0 || !messages.has_error);
        options = rc_options_combine(&options, NULL, NULL);
        CHECK(rc_options_deadline(&options) >= 1 && rc_options_deadline(&options) <= RC_DEADLINE_MAX);
        CHECK(rc_options_word(rc_words_check, rc_options_check(&options)).n && rc_mode_name(options.mode));
        CHECK(options.port_first <= options.port_last);
    } else {
        CHECK(messages.count > 0);
    }
    fuzz_check_messages(&messages);
}

static void try_stamp(struct rc_str text)
{
    struct rc_arena arena = fuzz_arena(FUZZ_ARENA);
    struct rc_stamp stamp = rc_stamp_read(text), again;
    char *scope = fuzz_copy_string(stamp.scope);
    uint32_t told[RC_STAMP_TOLD] = { 1, 2, 3, 4, 5 };
    const char *outer = scope;

    if (stamp.scope.p && strlen(scope) == stamp.scope.n) {
        again = rc_stamp_read(rc_str(
            rc_stamp_write(&arena, scope, stamp.rank, stamp.mode, stamp.port, stamp.told.p ? told : NULL, &outer, 1)));
        CHECK(rc_stamp_is_of(&again, scope, stamp.rank) && again.mode == stamp.mode);
        CHECK(again.port == stamp.port && !again.told.p == !stamp.told.p);
        CHECK(rc_stamp_has_outer(&again, scope));
    }
    (void)rc_stamp_has_outer(&stamp, scope);
    (void)rc_stamp_has_outer(&stamp, NULL);
    (void)rc_stamp_has_outer_job(&stamp, "slurm:42");
    (void)rc_stamp_is_in_job(&stamp, scope);
    free(scope);
}

static void try_variables(struct rc_str text)
{
    struct rc_arena arena = fuzz_arena(FUZZ_ARENA);
    char *entry = fuzz_copy_string(text);
    const char *const block[] = { entry, NULL };
    struct rc_ordered ordered, again;
    struct rc_step_server server;
    struct rc_endpoint endpoint;
    struct rc_str step;
    static struct rc_env env;

    rc_env_index(&env, block);
    CHECK(rc_env_place(&env, rc_str_split(rc_str(entry), '=', &step), env.count) == (step.p != NULL));
    if (rc_ordered_read(&env, "slurm:42.0", &ordered)) {
        const char *const written[] = {
            rc_format(&arena, "ROLLCALL_ORDER=%s", rc_ordered_write(&ordered, "slurm:42.0", &arena)), NULL
        };

        rc_env_index(&env, written);
        CHECK(rc_ordered_read(&env, "slurm:42.0", &again) && rc_str_eq(again.host, ordered.host));
        CHECK(again.rank == ordered.rank && again.place == ordered.place && again.before == ordered.before);
    }
    (void)rc_step_server_read(&env, &server);
    (void)rc_endpoint_of_srun(&env, &endpoint, &step, &arena);
    free(entry);
}

static void try_command(struct rc_str text)
{
    const char *argv[WORDS + 1];
    struct rc_command command;
    struct rc_words words = { .line = text, .left = RC_WORDS_MAX };
    struct rc_str word;
    unsigned count = 0;

    while (rc_words_next(&words, &word))
        CHECK(fuzz_is_within(word, text));
    for (struct rc_str rest = text; rest.p && count < WORDS;) {
        char *copy = fuzz_copy_string(rc_str_split(rest, '\n', &rest));

        (void)rc_command_starts_another(rc_str(copy));
        argv[count++] = copy;
    }
    argv[count] = NULL;
    rc_command_read(argv, &command);
    CHECK(command.kind == RC_COMMAND_UNKNOWN || command.name.p);
    while (count > 0)
        free((void *)(uintptr_t)argv[--count]);
}

static void try_ancestor(struct rc_str text)
{
    CHECK(fuzz_is_within(rc_ancestor_name(text), text));
    (void)rc_str_which(rc_ancestor_name(text), "slurmstepd|orted|prted");
    (void)rc_ancestor_is_batch(text);
    CHECK(fuzz_is_within(rc_ancestor_option(text, "--proxy-id"), text));
}

static void try_address(struct rc_str text)
{
    struct rc_arena arena = fuzz_arena(4096);
    struct rc_str suffix;
    struct rc_str host = rc_str_split(text, '\n', &suffix);
    enum rc_address_kind kind;
    const char *wrong = rc_address_read(host, &kind);

    CHECK(!wrong || fuzz_is_printable(rc_str(wrong)));
    if (suffix.p && !rc_address_read(suffix, &kind) && kind == RC_ADDRESS_SUFFIX)
        (void)rc_address_with_suffix(host, suffix, &arena);
}

static const struct fuzz_reader readers[] = {
    { '0', try_number },  { 'c', try_cpuset },          { 'n', try_netaddr },  { 'r', try_runs },
    { 'C', try_compact }, { 'l', try_lines },           { 'h', try_hostlist }, { 't', try_tasklist },
    { 'm', try_taskmap }, { 'M', try_taskmap_written }, { 'f', try_hostfile }, { 'a', try_apinfo },
    { 'g', try_gpulist }, { 'O', try_options },         { 'S', try_stamp },    { 'v', try_variables },
    { 'w', try_command }, { 'P', try_ancestor },        { 'd', try_address },
};

void fuzz_one(struct rc_str input)
{
    fuzz_try(readers, sizeof(readers) / sizeof(*readers), input);
}
