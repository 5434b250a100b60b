/* SPDX-License-Identifier: BSD-3-Clause */
/* The roll call's findings: one row a fault, with its exact line; whom they blame; and what 100,000 nodes cost.
 *
 * Cost is counted, not timed: the exchange is compiled once more so that each of
 * its basic blocks calls the counter below (see test_linear.c).
 */
#include "config.h"

#include "launch.h"

static uint64_t blocks;

void __sanitizer_cov_trace_pc(void);

void __sanitizer_cov_trace_pc(void)
{
    blocks++;
}

#define ONE_LAUNCHER "start all tasks with one launcher, and unset what a script exports of another's variables"
#define TWICE                                                                                                   \
    "every rank must be there once; start all tasks with one launcher, or unset RANK and SLURM_PROCID where a " \
    "script exports them"
#define SILENT                                                                                              \
    "within the deadline of 10 s; see what keeps them from starting, or from reaching the node of rank 0; " \
    "deadline=SECONDS waits longer"
#define ON_NO_NODE "on no node; every rank must be there once; " ONE_LAUNCHER
#define ALIKE      "; set it alike on all nodes, or on none"
#define OWN_GPU    "; give each task a GPU of its own (Slurm: N tasks a node, srun --gpus-per-node=N)"
#define ADDRESS    "; all tasks need the address of rank 0's node; unset it where a script exports it"
#define ONE_MODE   "; give all tasks the same one, with --ddp=MODE or ROLLCALL=MODE"
#define NAMES                                                                                             \
    " have the same host name; give each machine a name of its own, and list it once where the launcher " \
    "takes its hosts from"
#define BOOT                                                                                                   \
    "; they are one machine with several names, or copies of one virtual machine: list each machine once, or " \
    "reboot the copies"

static const struct launch_row rows[] = {
    { TEXT("n1 0 0-3; n2 1 4-7"), 2, 8, "", "a sound launch" },
    { TEXT("n1 0 0,2,4,6; n2 1 1,3,5,7"), 2, 8, "", "ranks that are dealt out" },
    { TEXT("n1 0 0-2; n2 1 3"), 2, 4, "", "an uneven layout" },
    { TEXT("n1 0 0-3 gpu=0:A gpu=1:B; n2 1 4-7 gpu=4:C gpu=5:D gpu=5:E gpu=5:E"), 2, 8, "", "GPUs" },
    { TEXT("n1 0 0-3 user=NCCL_A=1 user=B=; n2 1 4-7 user=B= user=NCCL_A=1"), 2, 8, "", "variables" },
    { TEXT("n1 0 0-3; n2 1 4-7 boot= addr= mode= version="), 2, 8, "", "values that are absent are no others" },

    { TEXT("n1 0 0-3; n2 1 4-7"), 4, 16, "RC601 nothing from nodes 2-3 (tasks 8-15) " SILENT, "two are missing" },
    { TEXT("n1 0 0-3; n2 1 4-7; n4 3 12-15"), 4, 16, "RC601 nothing from node 2 (tasks 8-11) " SILENT,
      "one is missing" },
    { TEXT("n1 0 0-3 hosts=n[1-4]; n2 1 4-7"), 4, 16, "RC601 nothing from n[3-4] (tasks 8-15) " SILENT,
      "two are missing of hosts that are known" },
    { TEXT("n1 0 0 hosts=n[1-99]"), 99, 99, "RC601 nothing from n[2-17] and 82 more (tasks 1-98) " SILENT,
      "many are missing of hosts that are known" },
    { TEXT("n1 0 0-3"), 100000, 400000, "RC601 nothing from nodes 1-99999 (tasks 4-399999) " SILENT, "many" },
    { TEXT("n1 0 0; n2 0 0; n3 1 1"), 4, 4,
      "RC602 rank 0 comes more than once: on n[1-2]; " TWICE "\nRC601 nothing from 1 of 4 nodes " SILENT,
      "it is not known which one" },
    { TEXT("n1 0 0-3; n2 1 4-5"), 2, 8, "RC614 tasks 6-7 are " ON_NO_NODE, "tasks are missing" },
    { TEXT("n1 0 0-3 world=8 nodes=2"), 0, 0, "RC601 nothing from node 1 (tasks 4-7) " SILENT,
      "the entry alone knows the sizes" },
    { TEXT("n1 0 0-3; n2 1 4-7 world=9 nodes=3; n3 2 8 world=9 nodes=3"), 0, 0, "", "the caller knows no sizes" },

    { TEXT("n1 0 0-3; n2 1 3-7"), 2, 8, "RC602 rank 3 comes more than once: on n[1-2]; " TWICE, "a rank twice" },
    { TEXT("n1 0 0; n2 0 0; n3 0 0; n4 0 0"), 4, 4, "RC602 rank 0 comes more than once: on n[1-4]; " TWICE,
      "all are rank 0" },
    { TEXT("n1 0 0-1; n2 1 1-2; n3 2 2-3; n4 3 2"), 4, 4, "RC602 ranks 1-2 come more than once: on n[1-4]; " TWICE,
      "some twice, some three times" },
    { TEXT("n1 0 0-3; n1 1 3-7"), 2, 8,
      "RC602 rank 3 comes more than once: on n1; " TWICE "\nRC607 nodes 0-1 (tasks 0-7 on n1)" NAMES,
      "twice on one host" },

    { TEXT("n1 0 0-3; n2 1 4-7 world=16; n3 2 8-11"), 3, 12,
      "RC603 the number of tasks is 12 for tasks 0-3,8-11 on n[1,3], 16 for tasks 4-7 on n2; " ONE_LAUNCHER,
      "another world" },
    { TEXT("n1 0 0-3 nodes=3; n2 1 4-7 nodes=2"), 0, 8,
      "RC603 the number of nodes is 3 for tasks 0-3 on n1, 2 for tasks 4-7 on n2; " ONE_LAUNCHER, "other nodes" },
    { TEXT("n1 0 0 world=4; n2 1 1 world=5; n3 2 2 world=6; n4 3 3 world=7"), 4, 0,
      "RC603 the number of tasks is 4 for task 0 on n1, 5 for task 1 on n2, "
      "6 for task 2 on n3 and 1 more; " ONE_LAUNCHER,
      "another world each" },
    { TEXT("n1 0 0-3 world=4; n2 1 6-7 world=8"), 2, 0,
      "RC603 the number of tasks is 4 for tasks 0-3 on n1, 8 for tasks 6-7 on n2; " ONE_LAUNCHER,
      "no task is missing for whoever is right" },
    { TEXT("n1 0 0-3; n2 0 4-7"), 1, 8,
      "RC603 node 0 of tasks 0-7 on n[1-2] have the same node rank; every node needs a different one; " ONE_LAUNCHER,
      "one node rank" },

    { TEXT("n1 0 0-3 addr=n1; n2 1 4-7 addr=n2; n3 2 8-11 addr=n1; n4 3 12-15 addr="), 4, 16,
      "RC604 MASTER_ADDR is 'n1' for tasks 0-3,8-11 on n[1,3], 'n2' for tasks 4-7 on n2" ADDRESS, "another master" },
    { TEXT("n1 0 0-3 addr=n1 user=MASTER_ADDR=n1; n2 1 4-7 addr=n2 user=MASTER_ADDR=n2"), 2, 8,
      "RC604 MASTER_ADDR is 'n1' for tasks 0-3 on n1, 'n2' for tasks 4-7 on n2" ADDRESS, "said once" },
    { TEXT("n1 0 0-3; n2 1 4-7; n3 2 8-11; n4 3 12-15 mode=launcher"), 4, 16,
      "RC605 the mode is 'worker' for tasks 0-11 on n[1-3], 'launcher' for tasks 12-15 on n4" ONE_MODE,
      "another mode" },

    { TEXT("n1 0 0-3 gpu=0:GPU-1c gpu=1:GPU-1c gpu=2:GPU-2; n2 1 4-7 gpu=4:GPU-4"), 2, 8,
      "RC606 GPU 'GPU-1c' is used by tasks 0-1 on n1" OWN_GPU, "a GPU of two tasks" },
    { TEXT("n1 0 0-3 gpu=0:A gpu=1:A gpu=2:B gpu=3:B; n2 1 4-7 gpu=4:C gpu=5:C"), 2, 8,
      "RC606 GPU 'A' is used by tasks 0-1 on n1 (and 2 more like it)" OWN_GPU, "several" },

    { TEXT("n1 0 0-3; n1 1 4-7"), 2, 8, "RC607 nodes 0-1 (tasks 0-7 on n1)" NAMES, "one machine as two nodes" },
    { TEXT("n1 0 0-3; n1 0 0-3; n2 1 4-7"), 2, 8, "RC602 ranks 0-3 come more than once: on n1; " TWICE,
      "a node that is there twice is not several" },
    { TEXT("n1 0 0-3; n1 0 4-7; n1 1 8-11"), 2, 12,
      "RC603 node 0 of tasks 0-7 on n1 have the same node rank; every node needs a different one; " ONE_LAUNCHER
      "\nRC607 nodes 0-1 (tasks 0-11 on n1)" NAMES,
      "twice, and another node" },
    { TEXT("n1 0 0-3 boot=; n1 1 4-7 boot="), 2, 8, "RC607 nodes 0-1 (tasks 0-7 on n1)" NAMES, "without boot ids" },
    { TEXT("n1 0 0-3 boot=a; n2 1 4-7; n1 2 8-11 boot=b"), 3, 12, "RC607 nodes 0,2 (tasks 0-3,8-11 on n1)" NAMES,
      "one name" },
    { TEXT("a 0 0 boot=1; a 1 1 boot=2; b 2 2 boot=3; b 3 3 boot=4; c 4 4; c 5 5; d 6 6"), 7, 7,
      "RC607 nodes 0-1 (tasks 0-1 on a) have the same host name (and 2 more like it); give each machine a name of its "
      "own, and list it once where the launcher takes its hosts from",
      "several names" },
    { TEXT("n1 0 0-3 boot=x; n2 1 4-7 boot=x; n3 2 8-11"), 3, 12,
      "RC607 nodes 0-1 (tasks 0-7 on n[1-2]) have the same boot id" BOOT, "one boot id" },
    { TEXT("a 0 0 boot=x; b 1 1 boot=y; c 2 2 boot=y; d 3 3 boot=x"), 4, 4,
      "RC607 nodes 0,3 (tasks 0,3 on a,d) have the same boot id (and 1 more like it)" BOOT, "two boot ids" },

    { TEXT("n1 0 0-3; n2 1 4-7 version=0.2.0"), 2, 8,
      "RC608 rollcall is version '0.1.0' for tasks 0-3 on n1, '0.2.0' for tasks 4-7 on n2; install the same version "
      "on all nodes",
      "another version" },

    { TEXT("n1 0 0-3 user=NCCL_IB_HCA=a; n2 1 4-7 user=NCCL_IB_HCA=b"), 2, 8,
      "RC609 NCCL_IB_HCA is 'a' for tasks 0-3 on n1, 'b' for tasks 4-7 on n2" ALIKE, "another value" },
    { TEXT("n1 0 0-3 user=GLOO_A=; n2 1 4-7"), 2, 8,
      "RC609 GLOO_A is '' for tasks 0-3 on n1, unset for tasks 4-7 on n2" ALIKE, "set on one node only" },
    { TEXT("n1 0 0 user=A=a; n2 1 1 user=A=b; n3 2 2; n4 3 3 user=A=a"), 4, 4,
      "RC609 A is 'a' for tasks 0,3 on n[1,4], 'b' for task 1 on n2, unset for task 2 on n3" ALIKE,
      "several values, and none" },
    { TEXT("n1 0 0 user=NCCL_A=1 user=NCCL_A1=1 user=NCCL_AB=1; n2 1 1 user=NCCL_A=2 user=NCCL_A1=1 user=NCCL_AB=1"), 2,
      2, "RC609 NCCL_A is '1' for task 0 on n1, '2' for task 1 on n2" ALIKE, "names that begin alike" },
    { TEXT("n1 0 0 user=NCCL_A=1 user=NCCL_B=1 user=NCCL_C=1 user=NCCL_D=1; n2 1 1"), 2, 2,
      "RC609 NCCL_A is '1' for task 0 on n1, unset for task 1 on n2" ALIKE
      "\nRC609 NCCL_B is '1' for task 0 on n1, unset for task 1 on n2" ALIKE
      "\nRC609 NCCL_C is '1' for task 0 on n1, unset for task 1 on n2" ALIKE
      "\nRC609 NCCL_D differs, too; set each alike on all nodes, or on none",
      "four variables" },
    { TEXT("n1 0 0 user=A=1 user=B=1 user=C=1 user=D=1 user=E=1 user=F=1 user=G=1; n2 1 1"), 2, 2,
      "RC609 A is '1' for task 0 on n1, unset for task 1 on n2" ALIKE
      "\nRC609 B is '1' for task 0 on n1, unset for task 1 on n2" ALIKE
      "\nRC609 C is '1' for task 0 on n1, unset for task 1 on n2" ALIKE
      "\nRC609 D and 3 more differ, too; set each alike on all nodes, or on none",
      "many variables" },

    { TEXT("n1 0 0-3; n2 1 4-7; n3 0 0-3 scope=slurm:41.0"), 2, 8,
      "RC610 the launch is 'slurm:42.0' for tasks 0-7 on n[1-2], 'slurm:41.0' for tasks 0-3 on n3; " ONE_LAUNCHER,
      "another launch" },
    { TEXT("n1 0 0-3; n2 1 0-3 scope=mpi:1"), 2, 8,
      "RC610 the launch is 'slurm:42.0' for tasks 0-3 on n1, 'mpi:1' for tasks 0-3 on n2; " ONE_LAUNCHER,
      "another launch instead of one's own" },
    { TEXT("n1 0 0-3; n2 0 0-3 scope=mpi:1"), 3, 8,
      "RC610 the launch is 'mpi:1' for tasks 0-3 on n2, 'slurm:42.0' for tasks 0-3 on n1; " ONE_LAUNCHER
      "\nRC601 nothing from 1 of 3 nodes " SILENT,
      "and another one is missing" },
    { TEXT("n1 0 0-3; n2 1 0-3 scope=mpi:1"), 3, 8,
      "RC610 the launch is 'slurm:42.0' for tasks 0-3 on n1, 'mpi:1' for tasks 0-3 on n2; " ONE_LAUNCHER
      "\nRC601 nothing from node 2 " SILENT,
      "and one is missing" },
};

/* Here `expected` is who is blamed: "RC601 n3,n4; itself n2". */
#define UNEQUAL "n1 0 0 addr=a; n2 1 1 addr=a; "

static const struct launch_row blamed[] = {
    { TEXT("n1 0 0-3; n2 1 4-7"), 2, 8, "", "a sound launch" },
    { TEXT("n1 0 0-3 hosts=n[1-4]; n2 1 4-7"), 4, 16, "RC601 n3,n4", "those without an entry" },
    { TEXT("n1 0 0-3; n2 1 4-7"), 4, 16, "", "nobody knows their names" },
    { TEXT("n1 0 0 hosts=n[1-40]"), 40, 40,
      "RC601 n2,n3,n4,n5,n6,n7,n8,n9,n10,n11,n12,n13,n14,n15,n16,n17,n18,n19,n20,n21,n22,n23,n24,n25,n26,n27,n28,n29,"
      "n30,n31,n32,n33,n34,n35,n36,n37,n38,n39,n40",
      "all of them, not only those that the line has room for" },
    { TEXT(UNEQUAL "n3 2 2 addr=b"), 3, 3, "RC604 n3", "one of three" },
    { TEXT("n1 0 0 addr=a; n2 1 1; n3 2 2 addr=b; n4 3 3; n5 4 4"), 5, 5, "RC604 n1,n3",
      "each another one, on both sides of what most have" },
    { TEXT(UNEQUAL "n3 2 2 addr=b; n4 3 3 addr=c"), 4, 4, "", "the largest group is no majority" },
    { TEXT("n1 0 0; n2 1 1 version=0.2.0; n3 2 2 mode=launcher"), 3, 3, "RC608 n2; RC605 n3", "two findings" },
    { TEXT("n1 0 0 user=NCCL_A=1; n2 1 1 user=NCCL_A=1; n3 2 2"), 3, 3, "RC609 n3", "a variable that is not set" },
    { TEXT("n1 0 0; n2 1 1; n3 2 2 dead=RC405"), 3, 3, "itself n3", "a node whose tasks do not start" },
    { TEXT("n1.site 0 0 mode=launcher hosts=n[1-3]; n2 1 1; n3 2 2"), 3, 3, "RC605 n1", "its short name is listed" },
    { TEXT("left 0 0; other 1 1 launcher=slurm mode=launcher hosts=n[1-3]; right 2 2"), 3, 3, "RC605 n2",
      "srun lists nodes as it counts them" },
    { TEXT("left 0 0; other 1 1 launcher=mpi mode=launcher hosts=n[1-3]; right 2 2"), 3, 3, "RC605 other",
      "another launcher's list may be in another order" },
    { TEXT("n1 0 0-3; n2 1 3-7; n3 2 8-11"), 3, 12, "", "a rank twice is nobody's own fault" },
    { TEXT("n1 0 0; n2 1 1; n3 2 2 world=4"), 3, 3, "", "nor is another count" },
    { TEXT("n1 0 0-1 gpu=0:A gpu=1:A; n2 1 2-3; n3 2 4-5"), 3, 6, "", "nor a GPU of two tasks" },
};

/* An arena too small by any number of bytes: nothing is added. */
UNIT_TEST(fits_or_not, "an arena that is too small by any number of bytes")
{
    static const struct launch_row row = { TEXT("n1 0 0-3 mode=launcher; n2 1 3-7"), 2, 8, NULL, NULL };
    struct launch *launch = malloc(sizeof(*launch));
    size_t need;

    assert_non_null(launch);
    launch_read(launch, &row);
    assert_true(rc_roll_check(launch->rolls, 2, LAUNCH_KNOWN(0), &launch->messages, NULL, &launch->arena));
    assert_int_equal(launch->messages.count, 2);
    assert_true(launch->messages.has_error);
    need = launch->arena.used;
    for (size_t size = 0; size <= need; size++) {
        struct rc_messages messages = { .count = 0 };
        char *text = malloc(size + 1);
        struct rc_arena arena = { .base = text, .size = size };

        assert_non_null(text);
        assert_int_equal(rc_roll_check(launch->rolls, 2, LAUNCH_KNOWN(0), &messages, NULL, &arena), size == need);
        assert_int_equal(messages.count, size == need ? 2 : 0);
        assert_int_equal(messages.has_error, size == need);
        assert_int_equal(arena.used, size == need ? need : 0);
        free(text);
    }
    free(launch);
}

UNIT_TEST(says_no_deadline, "no deadline, no entries")
{
    const struct rc_roll roll = {
        .scope = RC_STR("s"), .host = RC_STR("n1"), .nodes = 2, .world = 2, .tasks = RC_STR("0")
    };
    UNIT_ARENA(arena, 512);
    struct rc_messages messages = { .count = 0 };

    assert_true(rc_roll_check(NULL, 0, LAUNCH_KNOWN(0), &messages, NULL, &arena));
    assert_int_equal(messages.count, 0);
    assert_true(rc_roll_check(&roll, 1, LAUNCH_KNOWN(0), &messages, NULL, &arena));
    assert_string_equal(messages.list[0].text,
                        "nothing from node 1 (task 1); see what keeps them from starting, or from reaching the node "
                        "of rank 0; deadline=SECONDS waits longer");
}

static char *fill(char *text, char with, size_t n)
{
    memset(text, with, n);
    text[n] = '\0';
    return text;
}

/* Everything wrong at once, in the longest words: every line keeps to its limit, and the arena has room. */
UNIT_TEST(keeps_to_its_limits, "everything wrong at once, in the longest words")
{
    enum { NODES = 40 };
    static struct rc_roll rolls[NODES];
    static char words[NODES][8][256];
    static char users[NODES][RC_ROLL_USER_MAX][256];
    static char space[RC_CHECK_ARENA];
    struct rc_arena arena = { .base = space, .size = sizeof(space) };
    struct rc_messages messages = { .count = 0 };
    bool seen[RC_MESSAGE_COUNT] = { false };

    for (unsigned i = 0; i < NODES; i++) {
        struct rc_roll *roll = &rolls[i];
        char mark = (char)('a' + i % 20);

        *roll = (struct rc_roll){ .node = 2 * (i / 2), .nodes = 900000 + i % 7, .world = 9000000 + i % 9 };
        roll->scope = rc_str(fill(words[i][0], i % 10 ? '\'' : '\\', 255 - i % 10));
        if (i % 10)
            roll->scope = rc_str("s");
        roll->version = rc_str(fill(words[i][1], '\'', 255 - i % 20));
        roll->mode = rc_str(fill(words[i][2], '\\', 255 - i % 20));
        roll->addr = rc_str(fill(words[i][3], '\'', 255 - i % 20));
        roll->host = rc_str(fill(words[i][4], mark, i % 4 ? 63 : 255));
        roll->boot = rc_str(fill(words[i][5], 'b', 255 - i % 3));
        snprintf(words[i][6], sizeof(words[i][6]), "%u,%u-%u,%u-%u", 1000000 + 10 * i, 2000000 + 5 * i,
                 2000000 + 5 * i + 7, 3000000 + 10 * i, 3000000 + 10 * i + 3);
        roll->tasks = rc_str(words[i][6]);
        if (i % 10 == 3)
            roll->tasks = rolls[i - 1].tasks;
        for (unsigned k = 0; k < RC_ROLL_USER_MAX - 1; k++) {
            fill(users[i][k], (char)('A' + k), 200);
            memcpy(users[i][k], "NCCL_", 5);
            users[i][k][100 + k] = '=';
            users[i][k][150] = mark;
            roll->user[roll->user_count++] = rc_str(users[i][k]);
        }
        fill(words[i][7], '\'', 255 - i % 5);
        for (unsigned k = 0; k < RC_ROLL_GPUS_MAX; k++)
            roll->gpu[roll->gpu_count++] = (struct rc_roll_gpu){ 1000000 + 10 * i + k, rc_str(words[i][7]) };
    }
    assert_true(rc_roll_check(rolls, NODES, LAUNCH_KNOWN(4000000000u), &messages, NULL, &arena));
    assert_in_range(messages.count, 10, RC_FINDINGS_MAX);
    for (unsigned i = 0; i < messages.count; i++) {
        assert_in_range(strlen(messages.list[i].text), 1, RC_FINDING_MAX);
        seen[messages.list[i].id] = true;
    }
    for (enum rc_message_id id = RC601; id <= RC610; id++)
        if (!seen[id])
            fail_msg("no %s", rc_message_entry(id)->id);
}

/* A launch of that many nodes, each with two tasks, and with what is wrong in it. */
static uint64_t cost(size_t count, unsigned fault)
{
    struct rc_roll *rolls = calloc(count, sizeof(*rolls));
    char(*words)[5][64] = calloc(count, sizeof(*words));
    static char space[RC_CHECK_ARENA];
    struct rc_arena arena = { .base = space, .size = sizeof(space) };
    struct rc_messages messages = { .count = 0 };

    assert_non_null(rolls);
    assert_non_null(words);
    for (size_t i = 0; i < count; i++) {
        size_t k = i * 7919 % count; /* in disorder */

        snprintf(words[i][0], sizeof(words[i][0]), "n%06zu", fault == 1 ? k / 2 : k);
        snprintf(words[i][1], sizeof(words[i][1]), "boot-%zu", fault == 1 ? k / 3 : k);
        snprintf(words[i][2], sizeof(words[i][2]), "%zu,%zu", fault == 2 ? k : 2 * k, 2 * k + 1);
        if (fault == 2)
            snprintf(words[i][2], sizeof(words[i][2]), "%zu-%zu", k, k + 9);
        snprintf(words[i][3], sizeof(words[i][3]), "NCCL_A%zu=%zu", fault == 3 ? k : 0, fault == 4 ? k : 0);
        snprintf(words[i][4], sizeof(words[i][4]), "%zu MiB", fault == 7 ? k * k : 515800 + k % 64);
        rolls[i] = (struct rc_roll){
            .scope = RC_STR("slurm:42.0"),
            .host = rc_str(words[i][0]),
            .boot = rc_str(words[i][1]),
            .node = (uint32_t)k,
            .nodes = (uint32_t)count,
            .world = (uint32_t)(2 * count),
            .tasks = rc_str(words[i][2]),
            .addr = fault == 4 ? rc_str(words[i][0]) : RC_STR("n0"),
            .user = { rc_str(words[i][3]) },
            .user_count = 1,
            .gpu = { { (uint32_t)(2 * k), fault == 5 ? RC_STR("GPU") : rc_str(words[i][0]) } },
            .gpu_count = 1,
            .item = { [RC_ITEM_gpus] = RC_STR("8 H100"), [RC_ITEM_memory] = rc_str(words[i][4]) },
            .has_items = true,
        };
    }
    blocks = 0;
    assert_true(
        rc_roll_check(rolls, fault == 6 ? count / 2 : count, LAUNCH_KNOWN(LAUNCH_DEADLINE), &messages, NULL, &arena));
    assert_int_equal(messages.count > 0, fault > 0);
    free(words);
    free(rolls);
    return blocks;
}

/* Twice the nodes cost little more than twice as much. */
UNIT_TEST(cost_grows_gently, "twice the nodes cost little more than twice as much, up to 100,000")
{
    for (unsigned fault = 0; fault <= 7; fault++) {
        uint64_t before = cost(3125, fault);

        assert_int_not_equal(before, 0);
        for (size_t count = 6250; count <= (fault ? 12500 : 100000); count *= 2) {
            uint64_t now = cost(count, fault);

            if (now > before * 24 / 10)
                fail_msg("fault %u: %zu nodes cost %llu steps, half of them %llu", fault, count,
                         (unsigned long long)now, (unsigned long long)before);
            before = now;
        }
    }
}

UNIT_TABLE(launch_finds, "finds:", rows);
UNIT_TABLE(launch_finds_in_any_order, "in any order:", rows);
UNIT_TABLE(launch_blames, "blames:", blamed);
