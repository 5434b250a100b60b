/* SPDX-License-Identifier: BSD-3-Clause */
/* GPUs and what they are called, from files as the drivers make them, below a folder of the test's own. */
#include "inventorytree.h"
#include "placement/placement.h"
#include "unit.h"

#define OBJECT "cpuset=\"0x1\" complete_cpuset=\"0x1\" nodeset=\"0x1\" complete_nodeset=\"0x1\""
#define GPU(index, domain, bus, id)                                                                             \
    "<object type=\"PCIDev\" gp_index=\"" index "\" pci_busid=\"" domain ":" bus ":00.0\" pci_type=\"0302 [" id \
    "] [0000:0000] 00\" pci_link_speed=\"0\"/>"

/* Two of NVIDIA's, and in another domain two of AMD's. */
static const char machine[] =
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?><!DOCTYPE topology SYSTEM \"hwloc2.dtd\"><topology version=\"2.0\">"
    "<object type=\"Machine\" os_index=\"0\" " OBJECT " allowed_cpuset=\"0x1\" allowed_nodeset=\"0x1\" gp_index=\"1\">"
    "<object type=\"NUMANode\" os_index=\"0\" " OBJECT " gp_index=\"2\" local_memory=\"1\"/>"
    "<object type=\"PU\" os_index=\"0\" " OBJECT " gp_index=\"3\"/>"
    "<object type=\"Bridge\" gp_index=\"4\" bridge_type=\"0-1\" "
    "depth=\"0\" bridge_pci=\"0000:[00-ff]\">" GPU("5", "0000", "07", "10de:20b0") GPU(
        "6", "0000", "0f", "10de:20b0") "</object><object type=\"Bridge\" gp_index=\"7\" bridge_type=\"0-1\" "
                                        "depth=\"0\" bridge_pci=\"0001:[00-ff]\">" GPU("8", "0001", "c1", "1002:7408")
                                            GPU("9", "0001", "c6", "1002:7408") "</object></object></topology>";

static char root[] = "/tmp/rollcall-ids.XXXXXX";

static struct rc_pci_gpus list;

/* Finds the machine's GPUs, with their names below `from`. The pci objects are gone when it returns. */
static void find(const char *from)
{
    hwloc_topology_t topology;

    free(list.gpu);
    assert_int_equal(hwloc_topology_init(&topology), 0);
    hwloc_topology_set_io_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
    assert_int_equal(hwloc_topology_set_xmlbuffer(topology, machine, sizeof(machine)), 0);
    assert_int_equal(hwloc_topology_load(topology), 0);
    assert_int_equal(rc_pci_gpus_find(topology, &list), 0);
    assert_int_equal(list.count, 4);
    rc_pci_gpus_name(&list, from);
    hwloc_topology_destroy(topology);
}

static void expect(unsigned i, const char *uuid, int minor)
{
    assert_string_equal(list.gpu[i].uuid, uuid);
    assert_int_equal(list.gpu[i].minor, minor);
}

UNIT_TEST(nothing_is_there, "a machine whose drivers say nothing")
{
    find("/nowhere");
    for (unsigned i = 0; i < 4; i++)
        expect(i, "", -1);
}

#define NVIDIA "proc/driver/nvidia/"
#define PCI    "sys/bus/pci/devices/"

/* Minors need not go as bus ids do. */
UNIT_TEST(names_are_read, "UUID and minor")
{
    tree_file(root, NVIDIA "gpus/0000:07:00.0/information",
              "Model: \t\t NVIDIA A100-SXM4-40GB\n"
              "GPU UUID: \t GPU-8d2b7a04-55c1-4b7e-9c52-0b5f3a1c7e11\nDevice Minor: \t 1");
    tree_file(root, NVIDIA "gpus/0000:0f:00.0/information", "GPU UUID: \t " TREE_NO_UUID "\nDevice Minor: \t 0");
    tree_file(root, PCI "0001:c1:00.0/unique_id", "0000000000000000");
    tree_file(root, PCI "0001:c6:00.0/unique_id", "dc308257db8b66ad");
    find(root);
    expect(0, "GPU-8d2b7a04-55c1-4b7e-9c52-0b5f3a1c7e11", 1);
    /* its UUID nobody knows yet */
    expect(1, "", 0);
    expect(2, "", -1);
    expect(3, "GPU-dc308257db8b66ad", -1);
}

UNIT_TEST(broken_files_are_harmless, "broken files")
{
    char line[4096];

    memset(line, 'x', sizeof(line) - 1);
    line[sizeof(line) - 1] = '\0';
    tree_file(root, NVIDIA "gpus/0000:07:00.0/information", line);
    tree_file(root, NVIDIA "gpus/0000:0f:00.0/information",
              "GPU UUID\nGPU UUID: MIG-1\nDevice Minor: -1\nDevice Minor:\n:\n");
    tree_file(root, PCI "0001:c1:00.0/unique_id", line);
    tree_file(root, PCI "0001:c6:00.0/unique_id", "dc308257");
    find(root);
    for (unsigned i = 0; i < 4; i++)
        expect(i, "", -1);
}

/* Input: a name of a GPU; expected: its place in the list, or -1. */
static const struct {
    struct rc_str input;
    int expected;
    const char *why;
} names[] = {
    { TEXT("0"), 0, "an index" },
    { TEXT("2"), 2, "the last one" },
    { TEXT("3"), -1, "one too many" },
    { TEXT("0000:3b:00.0"), 1, "a bus id" },
    { TEXT("3B:00.0"), 1, "without its domain, in capitals" },
    { TEXT("af:00.0"), -1, "of another domain" },
    { TEXT("10000:af:00.0"), 2, "with that domain" },
    { TEXT("3b:00"), -1, "half a bus id" },
    { TEXT("GPU-22222222-0000-0000-0000-000000000000"), 1, "a UUID" },
    { TEXT("GPU-1"), 0, "its first digit" },
    { TEXT("GPU-"), -1, "the first digits of two" },
    { TEXT("GPU-3"), -1, "of nobody" },
    { TEXT("GPU-22222222-0000-0000-0000-0000000000000"), -1, "a digit too many" },
    { TEXT("MIG-22222222"), -1, "a part of a GPU" },
    { TEXT(""), -1, "nothing" },
};

UNIT_ROWS(check_name, "named", names)
{
    static struct rc_pci_gpu gpu[] = {
        { .bus_id = "0000:07:00.0", .uuid = "GPU-11111111-0000-0000-0000-000000000000" },
        { .bus_id = "0000:3b:00.0", .uuid = "GPU-22222222-0000-0000-0000-000000000000" },
        { .bus_id = "10000:af:00.0" },
    };
    const struct rc_pci_gpus gpus = { .gpu = gpu, .count = 3, .used = 3 };
    unsigned index = 77;

    assert_int_equal(rc_pci_gpus_named(&gpus, unit_guard(row->input), &index), row->expected >= 0);
    assert_int_equal(index, row->expected >= 0 ? row->expected : 77);
}

int main(void)
{
    int status;

    assert_non_null(mkdtemp(root));
    status = unit_run();
    tree_remove(root);
    return status;
}
