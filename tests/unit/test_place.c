/* SPDX-License-Identifier: BSD-3-Clause */
/* Placement without GPUs, on hwloc's synthetic topologies: what must hold for any number of tasks and any cores.
 * GPUs, NICs and machines that exist are in tests/cli/map.bats. */
#include "placement/placement.h"
#include "unit.h"

enum { TASKS = 300, ROUNDS = 60 };

/* Input: the topology; expected: masks of the tasks, blanks between. */
static const struct {
    struct rc_str input;
    unsigned tasks;
    const char *allowed; /* NULL: all */
    const char *expected;
    const char *why;
} rows[] = {
    { TEXT("pack:1 core:4 pu:1"), 1, NULL, "0-3", "one task has all" },
    { TEXT("pack:1 core:4 pu:2"), 2, NULL, "0-3 4-7", "both threads of a core" },
    { TEXT("pack:1 core:4 pu:2"), 4, "0,2,4,6", "0 2 4 6", "one thread a core is allowed" },
    { TEXT("pack:1 core:4 pu:2"), 2, "1,2,3", "1 2-3", "half a core" },
    { TEXT("pack:2 numa:1 core:4 pu:1"), 2, NULL, "0-3 4-7", "a socket each" },
    { TEXT("pack:2 numa:1 core:4 pu:1"), 1, NULL, "0-7", "one task has both sockets" },
    { TEXT("pack:2 numa:1 core:4 pu:1"), 3, NULL, "0-3 4-5 6-7", "nobody has cores of both sockets" },
    { TEXT("pack:2 numa:1 core:4 pu:1"), 8, NULL, "0 1 2 3 4 5 6 7", "a core each" },
    { TEXT("pack:2 numa:1 core:4 pu:1"), 10, NULL, "0 1 2 3 0 4 5 6 7 4", "ten tasks for eight cores, five a socket" },
    { TEXT("pack:2 numa:1 core:4 pu:1"), 2, "0,4-7", "4-5 6-7", "a lone core is nobody's share" },
    { TEXT("pack:2 numa:2 core:4 pu:1"), 2, NULL, "0-7 8-15", "two NUMA nodes each" },
    { TEXT("pack:2 numa:2 core:4 pu:1"), 4, NULL, "0-3 4-7 8-11 12-15", "a NUMA node each" },
    { TEXT("pack:1 core:2 pu:1"), 5, "1", "1 1 1 1 1", "one core for five" },
    { TEXT("pu:6"), 3, NULL, "0-1 2-3 4-5", "threads, and no cores" },
};

static const struct rc_pci_gpus no_gpus;
static const struct rc_nic_list no_nics;
static struct rc_place place[TASKS];

static hwloc_topology_t synthetic(const char *text)
{
    hwloc_topology_t topology;

    assert_int_equal(hwloc_topology_init(&topology), 0);
    assert_int_equal(hwloc_topology_set_synthetic(topology, text), 0);
    assert_int_equal(hwloc_topology_load(topology), 0);
    return topology;
}

static hwloc_bitmap_t list(const char *text)
{
    hwloc_bitmap_t bitmap = hwloc_bitmap_alloc();

    assert_non_null(bitmap);
    assert_true(!text || hwloc_bitmap_list_sscanf(bitmap, text) == 0);
    return bitmap;
}

static struct rc_place_request ask(hwloc_topology_t topology, unsigned tasks, hwloc_const_bitmap_t allowed)
{
    return (struct rc_place_request){
        .topology = topology, .allowed = allowed, .gpus = &no_gpus, .nics = &no_nics, .tasks = tasks
    };
}

UNIT_ROWS(check_row, "place", rows)
{
    hwloc_topology_t topology = synthetic(row->input.p);
    hwloc_bitmap_t allowed = list(row->allowed);
    struct rc_place_request request = ask(topology, row->tasks, row->allowed ? allowed : NULL);
    char found[4096] = "";

    assert_int_equal(rc_place_tasks(&request, place), 0);
    for (unsigned i = 0; i < row->tasks; i++) {
        char one[256];

        assert_true(hwloc_bitmap_list_snprintf(one, sizeof(one), place[i].cpus) >= 0);
        snprintf(found + strlen(found), sizeof(found) - strlen(found), "%s%s", i ? " " : "", one);
        assert_int_equal(place[i].gpu, -1);
        assert_int_equal(place[i].nic, -1);
    }
    rc_place_free(place, row->tasks);
    hwloc_bitmap_free(allowed);
    hwloc_topology_destroy(topology);
    assert_string_equal(found, row->expected);
}

/* A generator of our own: the same numbers everywhere. */
static unsigned next(uint32_t *state, unsigned bound)
{
    *state = *state * 1664525 + 1013904223;
    return (*state >> 8) % bound;
}

static void check_masks(hwloc_const_bitmap_t allowed, unsigned tasks, bool enough)
{
    hwloc_bitmap_t seen = list(NULL);

    for (unsigned i = 0; i < tasks; i++) {
        assert_false(hwloc_bitmap_iszero(place[i].cpus));
        assert_true(hwloc_bitmap_isincluded(place[i].cpus, allowed));
        assert_true(!enough || !place[i].shared);
        assert_true(place[i].shared || !hwloc_bitmap_intersects(seen, place[i].cpus));
        hwloc_bitmap_or(seen, seen, place[i].cpus);
    }
    hwloc_bitmap_free(seen);
}

UNIT_TEST(check_any, "any cores and any number of tasks")
{
    static const char *const machines[] = {
        "pack:2 numa:1 core:6 pu:2", "pack:1 core:5 pu:1", "pack:2 numa:4 core:3 pu:4", "numa:7 core:2 pu:1", "pu:9",
        "pack:3 core:2 pu:3",
    };
    uint32_t state = 1;

    for (unsigned m = 0; m < UNIT_COUNT(machines); m++) {
        hwloc_topology_t topology = synthetic(machines[m]);
        int threads = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PU);

        for (unsigned round = 0; round < ROUNDS; round++) {
            hwloc_bitmap_t allowed = list(NULL);
            unsigned tasks = 1 + next(&state, round % 2 ? 12 : TASKS);
            unsigned share = 1 + next(&state, 8);
            struct rc_place_request request = ask(topology, tasks, allowed);
            unsigned cores = 0;

            for (int i = 0; i < threads; i++)
                if (next(&state, 8) < share)
                    hwloc_bitmap_set(allowed, (unsigned)i);
            if (hwloc_bitmap_iszero(allowed))
                hwloc_bitmap_set(allowed, next(&state, (unsigned)threads));
            for (hwloc_obj_t o = NULL; (o = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_CORE, o)) != NULL;)
                cores += hwloc_bitmap_intersects(o->cpuset, allowed) ? 1 : 0;
            assert_int_equal(rc_place_tasks(&request, place), 0);
            check_masks(allowed, tasks, tasks <= cores);
            rc_place_free(place, tasks);
            hwloc_bitmap_free(allowed);
        }
        hwloc_topology_destroy(topology);
    }
}

UNIT_TEST(check_wrong, "what cannot be placed")
{
    hwloc_topology_t topology = synthetic("pack:1 core:2 pu:1");
    hwloc_bitmap_t none = list(NULL);
    hwloc_bitmap_t others = list("100-200");
    struct rc_place_request request = ask(topology, 1, none);

    assert_int_equal(rc_place_tasks(&request, place), -1);
    assert_int_equal(errno, EINVAL);
    request = ask(topology, 1, others);
    assert_int_equal(rc_place_tasks(&request, place), -1);
    hwloc_bitmap_free(none);
    hwloc_bitmap_free(others);
    hwloc_topology_destroy(topology);
}

UNIT_TEST(check_node, "the NUMA node of a mask and of an object")
{
    hwloc_topology_t topology = synthetic("pack:2 numa:2 core:2 pu:1");
    hwloc_bitmap_t one = list("2-3");
    hwloc_bitmap_t two = list("3-4");

    assert_int_equal(rc_near_node(topology, one), 1);
    assert_int_equal(rc_near_node(topology, two), -1);
    assert_int_equal(rc_near_numa(topology, hwloc_get_obj_by_type(topology, HWLOC_OBJ_CORE, 7)), 3);
    assert_int_equal(rc_near_numa(topology, hwloc_get_root_obj(topology)), -1);
    hwloc_bitmap_free(one);
    hwloc_bitmap_free(two);
    hwloc_topology_destroy(topology);
}
