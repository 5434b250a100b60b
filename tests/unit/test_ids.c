/* SPDX-License-Identifier: BSD-3-Clause */
/* What a GPU is called: from files as the drivers make them, below a folder of the test's own. */
#define _GNU_SOURCE /* nftw */
#include "placement/gpus.h"
#include "unit.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

/* Makes a file, or with NULL a folder, and all folders before it. */
static void make(const char *name, const char *text)
{
    char path[512];
    FILE *file;

    snprintf(path, sizeof(path), "%s%s", root, name);
    for (char *p = path + sizeof(root); (p = strchr(p, '/')); p++) {
        *p = '\0';
        mkdir(path, 0755);
        *p = '/';
    }
    if (!text) {
        mkdir(path, 0755);
        return;
    }
    file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static void find(const char *from, struct rc_gpu_ids ids[4])
{
    hwloc_topology_t topology;
    struct rc_pci_gpus list;

    assert_int_equal(hwloc_topology_init(&topology), 0);
    hwloc_topology_set_io_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
    assert_int_equal(hwloc_topology_set_xmlbuffer(topology, machine, sizeof(machine)), 0);
    assert_int_equal(hwloc_topology_load(topology), 0);
    assert_int_equal(rc_pci_gpus_find(topology, &list), 0);
    assert_int_equal(list.count, 4);
    rc_gpu_ids_find(&list, from, ids);
    free(list.gpu);
    hwloc_topology_destroy(topology);
}

static void expect(const struct rc_gpu_ids *ids, const char *uuid, const char *render, int minor, int rocr)
{
    assert_string_equal(ids->uuid, uuid);
    assert_string_equal(ids->render, render);
    assert_int_equal(ids->minor, minor);
    assert_int_equal(ids->rocr, rocr);
}

UNIT_TEST(nothing_is_there, "a machine whose drivers say nothing")
{
    struct rc_gpu_ids ids[4];

    for (unsigned round = 0; round < 2; round++) {
        find(round ? "/nowhere" : NULL, ids);
        for (unsigned i = 0; i < 4; i++)
            expect(&ids[i], "", "", -1, -1);
    }
}

/* Not one literal: two question marks and a dash would be a trigraph. */
#define UNUSED \
    "?"        \
    "?"        \
    "?"        \
    "?"        \
    "?"        \
    "?"        \
    "?"        \
    "?"        \
    "-"        \
    "?"        \
    "?"        \
    "?"        \
    "?"
#define NVIDIA "/proc/driver/nvidia/"
#define KFD    "/sys/class/kfd/kfd/topology/nodes/"
#define PCI    "/sys/bus/pci/devices/"

/* Minors need not go as bus ids do; nodes 0 and 1 of AMD's driver are processors, 2 is c6, 10 is c1. */
UNIT_TEST(names_are_read, "UUID, minor, MIG, render node, ROCr's index")
{
    struct rc_gpu_ids ids[4];

    make(NVIDIA "gpus/0000:07:00.0/information",
         "Model: \t\t NVIDIA A100-SXM4-40GB\n"
         "GPU UUID: \t GPU-8d2b7a04-55c1-4b7e-9c52-0b5f3a1c7e11\nDevice Minor: \t 1\n");
    make(NVIDIA "gpus/0000:0f:00.0/information", "GPU UUID: \t GPU-" UNUSED "\nDevice Minor: \t 0\n");
    make(NVIDIA "capabilities/gpu1/mig/gi2/ci1/access", "");
    make(NVIDIA "capabilities/gpu1/mig/gi2/ci0/access", "");
    make(NVIDIA "capabilities/gpu1/mig/gi11/ci0/access", "");
    make(NVIDIA "capabilities/gpu1/mig/gi2/access", "");
    make(NVIDIA "capabilities/gpu2/mig/gi0/ci0/access", "");
    make(PCI "0000:07:00.0/drm/card0", NULL);
    make(PCI "0000:07:00.0/drm/renderD129", NULL);
    make(PCI "0001:c1:00.0/drm/renderD130", NULL);
    make(KFD "0/properties", "cpu_cores_count 64\nsimd_count 0\nlocation_id 0\ndomain 0\n");
    make(KFD "1/properties", "");
    /* c6:00.0 is 50688, c1:00.0 is 49408 */
    make(KFD "2/properties", "simd_count 440\nlocation_id 50688\ndomain 1\nunique_id 15866324801083369133\n");
    make(KFD "10/properties", "simd_count 440\nlocation_id 49408\ndomain 1\nunique_id 0\n");
    find(root, ids);
    expect(&ids[0], "GPU-8d2b7a04-55c1-4b7e-9c52-0b5f3a1c7e11", "renderD129", 1, -1);
    assert_string_equal(ids[0].slices, "gi2/ci0,gi2/ci1,gi11/ci0");
    assert_int_equal(ids[0].slice_count, 3);
    /* its UUID nobody knows yet */
    expect(&ids[1], "", "", 0, -1);
    assert_int_equal(ids[1].slice_count, 0);
    expect(&ids[2], "", "renderD130", -1, 1);
    expect(&ids[3], "GPU-dc308257db8b66ad", "", -1, 0);
}

UNIT_TEST(broken_files_are_harmless, "broken files")
{
    struct rc_gpu_ids ids[4];
    char name[128];
    char line[4096];

    memset(line, 'x', sizeof(line) - 1);
    line[sizeof(line) - 1] = '\0';
    make(NVIDIA "gpus/0000:07:00.0/information", line);
    make(NVIDIA "gpus/0000:0f:00.0/information", "GPU UUID\nGPU UUID: MIG-1\nDevice Minor: -1\nDevice Minor:\n:\n\n");
    make(KFD "2/properties", line);
    make(KFD "10/properties", "simd_count 99999999999999999999999999 location_id x\n");
    find(root, ids);
    expect(&ids[0], "", "renderD129", -1, -1);
    expect(&ids[1], "", "", -1, -1);
    /* more than there is room for: counted, and whole names alone */
    make(NVIDIA "gpus/0000:07:00.0/information", "Device Minor: 1\n");
    for (unsigned i = 0; i < 60; i++) {
        snprintf(name, sizeof(name), NVIDIA "capabilities/gpu1/mig/gi%u/ci0/access", i + 100);
        make(name, "");
    }
    find(root, ids);
    assert_int_equal(ids[0].slice_count, 63);
    assert_true(strlen(ids[0].slices) < sizeof(ids[0].slices));
    assert_string_equal(ids[0].slices + strlen(ids[0].slices) - 4, "/ci0");
}

static void add_device(const char *folder, const char *class, const char *vendor)
{
    static unsigned number;
    char name[128];

    number++;
    snprintf(name, sizeof(name), "/bus/%s/0000:%02x:00.0/class", folder, number);
    make(name, class);
    snprintf(name, sizeof(name), "/bus/%s/0000:%02x:00.0/vendor", folder, number);
    make(name, vendor);
}

static bool has_gpu(const char *folder)
{
    char path[512];

    snprintf(path, sizeof(path), "%s/bus/%s", root, folder);
    return rc_pci_gpus_are_there(path);
}

/* Devices as sysfs has them; what is no GPU is what stands beside one, or looks like one. */
UNIT_TEST(gpus_are_there, "whether there is a GPU at all")
{
    static const char *const others[][2] = {
        { "0x068000\n", "0x10de\n" }, /* a switch of NVLink */
        { "0x030000\n", "0x1a03\n" }, /* a BMC's VGA */
        { "0x120000\n", "0x8086\n" }, /* an accelerator of Intel's */
        { "0x020700\n", "0x15b3\n" }, { "", "0x10de\n" },
    };
    static const char *const gpus[][2] = {
        { "0x030200\n", "0x10de\n" },
        { "0x030000\n", "0x8086\n" },
        { "0x120000\n", "0x1002\n" },
        { "0x038000\n", "0x1002\n" },
    };
    char folder[16];

    assert_false(has_gpu("nothing"));
    for (unsigned i = 0; i < UNIT_COUNT(others); i++)
        add_device("others", others[i][0], others[i][1]);
    assert_false(has_gpu("others"));
    for (unsigned i = 0; i < UNIT_COUNT(gpus); i++) {
        snprintf(folder, sizeof(folder), "gpu%u", i);
        add_device(folder, others[0][0], others[0][1]);
        add_device(folder, gpus[i][0], gpus[i][1]);
        assert_true(has_gpu(folder));
    }
}

static int discard(const char *path, const struct stat *status, int kind, struct FTW *where)
{
    (void)status;
    (void)kind;
    (void)where;
    return remove(path);
}

int main(void)
{
    int status;

    assert_non_null(mkdtemp(root));
    status = unit_run();
    return nftw(root, discard, 16, FTW_DEPTH | FTW_PHYS) == 0 ? status : 1;
}
