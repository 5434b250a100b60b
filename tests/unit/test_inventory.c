/* SPDX-License-Identifier: BSD-3-Clause */
/* What a node has, from the files of imaginary nodes: what healthy ones differ in makes no difference, and each fault
 * does. */
#include "inventory/inventory.h"

#include <sys/resource.h>

#include "base/pairs.h"
#include "inventorytree.h"
#include "unit.h"

static char root[] = "/tmp/rollcall-inventory.XXXXXX";
static const char *const no_env[] = { NULL };

/* What the files below the root say, which are gone then. */
static const char *take_files(const char *const *env, char lines[2 * RC_INVENTORY_SIZE])
{
    struct rc_arena arena = { .base = lines, .size = 2 * RC_INVENTORY_SIZE };

    rc_inventory_write(root, env, &arena);
    tree_remove(root);
    assert_false(arena.full);
    assert_in_range(strlen(lines), 1, RC_INVENTORY_SIZE);
    return lines;
}

static const char *take_node(const struct tree_node *node, char lines[2 * RC_INVENTORY_SIZE])
{
    tree_make(root, node);
    return take_files(no_env, lines);
}

static bool has_line(const char *lines, const char *line)
{
    size_t n = strcspn(line, "\n");

    for (; *lines; lines = strchr(lines, '\n') + 1)
        if (strncmp(lines, line, n) == 0 && lines[n] == '\n')
            return true;
    return false;
}

/* A row changes one thing of the healthy node. */
struct row {
    struct rc_str input; /* the line that changes, without "has="; absent: none does */
    void (*change)(struct tree_node *node);
    const char *why;
};

#define CHANGE(name, what)                   \
    static void name(struct tree_node *node) \
    {                                        \
        what;                                \
    }

CHANGE(one_gpu_less, node->gpus = 7)
CHANGE(other_model, node->model = "NVIDIA H200")
CHANGE(narrow_gpu, node->narrow_gpu = "8")
CHANGE(closed_driver, node->driver = "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.104.05  Sat Aug 19 01:15:15")
CHANGE(no_channel, node->channel = -1)
CHANGE(one_card_less, node->cards = 7)
CHANGE(port_down, node->port = "1: DOWN")
CHANGE(slow_port, node->rate = "100 Gb/sec (1X NDR)")
CHANGE(narrow_card, node->narrow_card = "8")
CHANGE(slow_card, node->slow_card = "8.0 GT/s PCIe")
CHANGE(other_kernel, node->kernel = "6.8.0-47-generic")
CHANGE(less_memory, node->memory = "2046300160")

static const struct row faults[] = {
    { TEXT("gpus 7 NVIDIA H100 80GB HBM3"), one_gpu_less, "one GPU fewer" },
    { TEXT("gpus 8 NVIDIA H200"), other_model, "another model" },
    { TEXT("gpu_links 7 at x16, 1 at x8 of x16"), narrow_gpu, "a GPU with a narrower link" },
    { TEXT("gpu_driver 535.104.05"), closed_driver, "another driver, not the open one" },
    { NO_TEXT, no_channel, "no IMEX channel" },
    { TEXT("nics 7 mlx5_core MT4129"), one_card_less, "one card fewer" },
    { TEXT("nic_ports 7 ACTIVE InfiniBand 400 Gb/sec (4X NDR), 1 DOWN InfiniBand"), port_down, "a port that is down" },
    { TEXT("nic_ports 7 ACTIVE InfiniBand 400 Gb/sec (4X NDR), 1 ACTIVE InfiniBand 100 Gb/sec (1X NDR)"), slow_port,
      "a port with one lane" },
    { TEXT("nic_links 7 at x16 32.0 GT/s PCIe, 1 at x8 of x16 32.0 GT/s PCIe"), narrow_card,
      "a card with a narrower link" },
    { TEXT("nic_links 7 at x16 32.0 GT/s PCIe, 1 at x16 8.0 GT/s PCIe"), slow_card, "a card with a slower link" },
    { TEXT("kernel 6.8.0-47-generic"), other_kernel, "another kernel" },
    { TEXT("memory 1951 GiB"), less_memory, "a memory module fewer" },
};

CHANGE(other_serials, node->serial = 77)
CHANGE(other_addresses, node->first_bus = 0x60)
CHANGE(other_names, node->backwards = true)
CHANGE(idle_gpus, node->gpu_speed = "2.5 GT/s PCIe")
CHANGE(some_kilobytes, node->memory = "2113410048")
CHANGE(other_channel, node->channel = 1733)
CHANGE(other_build,
       node->driver = "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  550.54.15  Release Build  (x@n2)")
CHANGE(nothing, (void)node)

/* What nodes without a fault differ in. */
static const struct row alike[] = {
    { NO_TEXT, nothing, "the same node twice" },
    { NO_TEXT, other_serials, "serial numbers, UUIDs, GUIDs, LIDs, interrupts and free memory" },
    { NO_TEXT, other_addresses, "other bus ids" },
    { NO_TEXT, other_names, "the cards' names in another order" },
    { NO_TEXT, idle_gpus, "GPUs that are idle" },
    { NO_TEXT, some_kilobytes, "a MiB more or less of memory" },
    { NO_TEXT, other_channel, "another number of the job's IMEX channel" },
    { NO_TEXT, other_build, "where and when the driver was built" },
};

static const char healthy_lines[] = "has=gpus 8 NVIDIA H100 80GB HBM3\n"
                                    "has=gpu_links 8 at x16\n"
                                    "has=gpu_driver 550.54.15 (open)\n"
                                    "has=imex there\n"
                                    "has=nics 8 mlx5_core MT4129\n"
                                    "has=nic_ports 8 ACTIVE InfiniBand 400 Gb/sec (4X NDR)\n"
                                    "has=nic_links 8 at x16 32.0 GT/s PCIe\n"
                                    "has=kernel 6.8.0-45-generic\n";

UNIT_TEST(reads_healthy, "inventory: a healthy node")
{
    char lines[2 * RC_INVENTORY_SIZE];

    take_node(&tree_healthy, lines);
    assert_memory_equal(lines, healthy_lines, sizeof(healthy_lines) - 1);
    assert_non_null(strstr(lines, "\nhas=memory 2015 GiB\n"));
    assert_non_null(strstr(lines, "\nhas=shm "));
    assert_non_null(strstr(lines, "\nhas=cores 128\n"));
}

UNIT_ROWS(is_alike, "inventory: no difference is", alike)
{
    char first[2 * RC_INVENTORY_SIZE];
    char second[2 * RC_INVENTORY_SIZE];
    struct tree_node node = tree_healthy;

    row->change(&node);
    assert_string_equal(take_node(&node, second), take_node(&tree_healthy, first));
}

/* The fault's line is there, and no other line is another one than that of the healthy node. */
UNIT_ROWS(is_told, "inventory: a difference is", faults)
{
    char first[2 * RC_INVENTORY_SIZE];
    char second[2 * RC_INVENTORY_SIZE];
    char expected[256];
    struct tree_node node = tree_healthy;
    unsigned others = 0;

    row->change(&node);
    take_node(&node, second);
    snprintf(expected, sizeof(expected), "has=%s", row->input.n ? row->input.p : "");
    if (row->input.n)
        assert_true(has_line(second, expected));
    for (const char *before = take_node(&tree_healthy, first); *before; before = strchr(before, '\n') + 1)
        others += !has_line(second, before);
    /* a device that is not there has no link and no port either */
    assert_in_range(others, 1, strstr(row->why, "fewer") ? 3 : 1);
}

UNIT_TEST(reads_nothing, "inventory: a machine without any of the files")
{
    char text[2 * RC_INVENTORY_SIZE];

    take_files(no_env, text);
    assert_null(strstr(text, "has=gpus"));
    assert_null(strstr(text, "has=nics"));
    assert_null(strstr(text, "has=memory"));
    assert_non_null(strstr(text, "has=shm none\n"));
    assert_non_null(strstr(text, "has=nofile "));
}

/* AMD's: eight GPUs, each parted into four, of which this job may read those of one. */
UNIT_TEST(reads_amd, "inventory: AMD's GPUs in parts")
{
    char text[2 * RC_INVENTORY_SIZE];
    char name[128];

    for (unsigned i = 0; i < 8; i++) {
        snprintf(name, sizeof(name), "sys/bus/pci/drivers/amdgpu/0000:%02x:00.0", 0x30 + i);
        tree_link(root, name, "x");
        snprintf(name, sizeof(name), "sys/bus/pci/devices/0000:%02x:00.0/product_name", 0x30 + i);
        tree_file(root, name, "AMD Instinct MI300X OAM");
    }
    for (unsigned i = 0; i < 34; i++) {
        snprintf(name, sizeof(name), "sys/class/kfd/kfd/topology/nodes/%u/%s", i, i < 6 ? "gpu_id" : "caches/0/x");
        tree_file(root, name, i < 2 ? "0" : "4711");
    }
    tree_file(root, "sys/module/amdgpu/version", "6.8.5");
    take_files(no_env, text);
    assert_true(has_line(text, "has=gpus 8 AMD Instinct MI300X OAM in 32 parts"));
    assert_true(has_line(text, "has=gpu_driver amdgpu 6.8.5"));
}

/* A virtual machine passes devices through without the ports above them, and knows no link. */
UNIT_TEST(reads_virtual_machine, "inventory: a virtual machine")
{
    char text[2 * RC_INVENTORY_SIZE];

    tree_file(root, "proc/driver/nvidia/gpus/0001:00:00.0/information", "Model: \t\t NVIDIA A100-SXM4-80GB");
    tree_file(root, "proc/driver/nvidia/gpus/0002:00:00.0/information", "IRQ: \t\t 4");
    tree_file(root, "sys/bus/pci/devices/0001:00:00.0/current_link_width", "0");
    tree_file(root, "sys/bus/pci/devices/0001:00:00.0/max_link_width", "0");
    tree_file(root, "sys/bus/pci/devices/0001:00:00.0/current_link_speed", "Unknown");
    take_files(no_env, text);
    assert_true(has_line(text, "has=gpus 1 NVIDIA, 1 NVIDIA A100-SXM4-80GB"));
    assert_null(strstr(text, "has=gpu_links"));
    assert_null(strstr(text, "has=gpu_driver"));
}

/* EFA has no model of its own; Slingshot has interfaces for ports. */
UNIT_TEST(reads_other_cards, "inventory: EFA and Slingshot")
{
    char text[2 * RC_INVENTORY_SIZE];

    tree_file(root, "sys/class/infiniband/rdmap16s27/device/vendor", "0x1d0f");
    tree_file(root, "sys/class/infiniband/rdmap16s27/device/device", "0xefa2");
    tree_link(root, "sys/class/infiniband/rdmap16s27/device/driver", "../../../../bus/pci/drivers/efa");
    tree_file(root, "sys/class/infiniband/rdmap16s27/ports/1/state", "4: ACTIVE");
    tree_file(root, "sys/class/infiniband/rdmap16s27/ports/1/rate", "100 Gb/sec (4X EDR)");
    tree_file(root, "sys/class/infiniband/rdmap16s27/ports/1/link_layer", "Unspecified");
    tree_file(root, "sys/class/cxi/cxi0/device/net/hsn0/operstate", "up");
    tree_file(root, "sys/class/cxi/cxi0/device/net/hsn0/speed", "200000");
    tree_file(root, "sys/class/cxi/cxi1/device/net/hsn1/operstate", "down");
    take_files(no_env, text);
    assert_non_null(strstr(text, "has=nics 2 of no known kind, 1 efa 0x1d0f:0xefa2\n"));
    assert_non_null(strstr(text, "has=nic_ports 1 ACTIVE Unspecified 100 Gb/sec (4X EDR), 1 down, 1 up 200000 Mb/s\n"));
    assert_null(strstr(text, "has=nic_links"));
}

UNIT_TEST(tells_limits, "inventory: the limits of the process")
{
    UNIT_ARENA(arena, RC_INVENTORY_SIZE);
    const char *text = arena.base;
    struct rlimit before;
    struct rlimit files;

    getrlimit(RLIMIT_MEMLOCK, &before);
    getrlimit(RLIMIT_NOFILE, &files);
    setrlimit(RLIMIT_MEMLOCK, &(struct rlimit){ 65536, before.rlim_max });
    setrlimit(RLIMIT_NOFILE, &(struct rlimit){ 64, files.rlim_max });
    rc_inventory_write("", no_env, &arena);
    setrlimit(RLIMIT_MEMLOCK, &before);
    setrlimit(RLIMIT_NOFILE, &files);
    assert_non_null(
        strstr(text, before.rlim_max == 65536 ? "has=memlock 64 KiB\n" : "has=memlock 64 KiB (hard limit "));
    assert_non_null(strstr(text, "has=nofile 64 (hard limit "));
    assert_non_null(strstr(text, "has=kernel "));
    assert_non_null(strstr(text, "has=memory "));
}

/* What the job has on each of its nodes decides whether processors are compared. */
UNIT_TEST(tells_cores, "inventory: processors of a job")
{
    static const char *const even[] = { "SLURM_JOB_CPUS_PER_NODE=8(x4)", NULL };
    static const char *const uneven[] = { "SLURM_JOB_CPUS_PER_NODE=8(x3),4", NULL };
    char text[2 * RC_INVENTORY_SIZE];

    tree_file(root, "sys/devices/system/cpu/online", "0-127");
    assert_non_null(strstr(take_files(even, text), " of 128\n"));
    tree_file(root, "sys/devices/system/cpu/online", "0-127");
    assert_non_null(strstr(take_files(uneven, text), "has=cores 128\n"));
}

#define NODE "SLURM_HET_SIZE=2 SLURMD_NODENAME=h2 SLURM_JOB_ID=7 "

/* A node is compared with those of its component alone. */
UNIT_TEST(tells_component, "inventory: components of a job")
{
    static const struct {
        const char *env;
        const char *first_line;
    } rows[] = {
        { NODE "SLURM_JOB_ID_HET_GROUP_0=7 SLURM_JOB_NODELIST_HET_GROUP_0=h3 SLURM_JOB_NODELIST_HET_GROUP_1=h[1-2]",
          "has=component 1\n" },
        { NODE "SLURM_JOB_ID_PACK_GROUP_0=7 SLURM_JOB_NODELIST_PACK_GROUP_0=h2 SLURM_JOB_NODELIST_PACK_GROUP_1=h1",
          "has=component 0\n" }, /* by srun */
        { NODE, "has=component h2\n" },
        { "", "has=kernel " },
    };
    char text[2 * RC_INVENTORY_SIZE];

    for (unsigned i = 0; i < UNIT_COUNT(rows); i++) {
        const char *env[8];

        unit_words(rows[i].env, env, UNIT_COUNT(env));
        tree_file(root, "proc/sys/kernel/osrelease", "6.8.0");
        assert_memory_equal(take_files(env, text), rows[i].first_line, strlen(rows[i].first_line));
    }
}

/* Twelve kinds of GPU and of ports: lines are cut, and the last ones are left out. */
UNIT_TEST(has_room, "inventory: lines without room are left out")
{
    UNIT_ARENA(arena, 420);
    const char *text = arena.base;
    char name[128];

    tree_make(root, &tree_healthy);
    for (unsigned i = 0; i < 8; i++) {
        char model[80];

        snprintf(name, sizeof(name), "proc/driver/nvidia/gpus/0000:%02x:00.0/information", 0x13 + 4 * i);
        snprintf(model, sizeof(model), "Model: %u%060d", i, 0);
        tree_file(root, name, model);
    }
    rc_inventory_write(root, no_env, &arena);
    tree_remove(root);
    assert_false(arena.full);
    assert_in_range(strlen(text), 300, 419);
    assert_memory_equal(text, "has=gpus 1 0000", 15);
    assert_int_equal(text[strlen(text) - 1], '\n');
    assert_null(strstr(text, "has=memory"));
}

static const char *const any_texts[] = {
    "",     "\n\n\n",         "=",      "[[]",       "99999999999999999999", "-1", "\x1b[2J\x7f\xff", ": : :",
    "GT/s", "32.999999 GT/s", "Model:", "MemTotal:",
};

static const char *const any_files[] = {
    "proc/driver/nvidia/gpus/0000:13:00.0/information",
    "proc/driver/nvidia/version",
    "proc/meminfo",
    "proc/sys/kernel/osrelease",
    "sys/devices/system/cpu/online",
    "sys/class/infiniband/mlx5_0/hca_type",
    "sys/class/infiniband/mlx5_0/ports/1/state",
    "sys/class/infiniband/mlx5_0/ports/1/rate",
    "sys/bus/pci/devices/0000:13:00.0/current_link_width",
    "sys/bus/pci/devices/0000:13:00.0/current_link_speed",
    "sys/bus/pci/devices/0000:13:00.0/max_link_width",
};

/* Whatever is in the files, there are lines of printable characters, each with a name. */
UNIT_TEST(takes_anything, "inventory: files with anything in them")
{
    static char longest[9000];

    memset(longest, 'a', sizeof(longest) - 1);
    for (size_t i = 0; i <= UNIT_COUNT(any_texts); i++) {
        char text[2 * RC_INVENTORY_SIZE];

        tree_make(root, &tree_healthy);
        for (size_t f = 0; f < UNIT_COUNT(any_files); f++)
            tree_file(root, any_files[f], i < UNIT_COUNT(any_texts) ? any_texts[i] : longest);
        take_files(no_env, text);
        for (const char *line = text; *line; line = strchr(line, '\n') + 1)
            assert_memory_equal(line, "has=", 4);
        for (const char *c = text; *c; c++)
            assert_true(*c == '\n' || rc_is_printable(*c));
    }
}

int main(void)
{
    if (!mkdtemp(root))
        return 99;
    return unit_run();
}
