/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "inventorytree.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_SIZE = 512 };

const struct tree_node tree_healthy = {
    .gpus = 8,
    .cards = 8,
    .first_bus = 0x10,
    .serial = 1,
    .model = "NVIDIA H100 80GB HBM3",
    .gpu_speed = "32.0 GT/s PCIe",
    .narrow_gpu = "16",
    .narrow_card = "16",
    .slow_card = "32.0 GT/s PCIe",
    .port = "4: ACTIVE",
    .rate = "400 Gb/sec (4X NDR)",
    .driver = "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  550.54.15  Release Build  (builder@n1)",
    .kernel = "6.8.0-45-generic",
    .memory = "2113411072",
    .channel = 0,
};

static void die(const char *what)
{
    perror(what);
    exit(99);
}

static void make_parents(char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(path, 0700);
        *slash = '/';
    }
}

static void join(const char *root, const char *name, char path[PATH_SIZE])
{
    if (snprintf(path, PATH_SIZE, "%s/%s", root, name) >= PATH_SIZE)
        die(name);
    make_parents(path);
}

void tree_file(const char *root, const char *name, const char *text)
{
    char path[PATH_SIZE];
    FILE *file;

    join(root, name, path);
    unlink(path);
    file = fopen(path, "w");
    if (!file || fprintf(file, "%s\n", text) < 0 || fclose(file) != 0)
        die(path);
}

void tree_link(const char *root, const char *name, const char *to)
{
    char path[PATH_SIZE];

    join(root, name, path);
    unlink(path);
    if (symlink(to, path) < 0)
        die(path);
}

/* A port of the processor, and the device: the folder of the latter goes into `folder`. */
static void make_device(const char *root, unsigned bus, const char *width, const char *speed, char folder[PATH_SIZE],
                        char address[16])
{
    const char *const files[][2] = {
        { "current_link_width", width },
        { "max_link_width", "16" },
        { "current_link_speed", speed },
    };
    char name[2 * PATH_SIZE];
    char link[PATH_SIZE];

    snprintf(address, 16, "0000:%02x:00.0", bus + 3);
    snprintf(folder, PATH_SIZE, "sys/devices/pci0000:%02x/0000:%02x:01.1/%s", bus, bus, address);
    for (unsigned i = 0; i < 3; i++) {
        snprintf(name, sizeof(name), "%s/%s", folder, files[i][0]);
        tree_file(root, name, files[i][1]);
    }
    snprintf(name, sizeof(name), "sys/bus/pci/devices/%s", address);
    if (snprintf(link, sizeof(link), "../../../%s", folder + 4) < (int)sizeof(link))
        tree_link(root, name, link);
}

static void make_gpu(const char *root, const struct tree_node *node, unsigned i)
{
    char folder[PATH_SIZE];
    char address[16];
    char name[PATH_SIZE];
    char text[512];

    make_device(root, node->first_bus + 4 * i, i == 0 ? node->narrow_gpu : "16", node->gpu_speed, folder, address);
    snprintf(name, sizeof(name), "proc/driver/nvidia/gpus/%s/information", address);
    snprintf(text, sizeof(text),
             "Model: \t\t %s\nIRQ:   \t\t %u\nGPU UUID: \t GPU-1c6f%04x-0000-4000-8000-%012u\nVideo BIOS: \t "
             "96.00.74.00.01\nBus Type: \t PCIe\nBus Location: \t %s\nDevice Minor: \t %u",
             node->model, 100 + node->serial * 7 + i, node->serial, i, address, i);
    tree_file(root, name, text);
}

static void make_card(const char *root, const struct tree_node *node, unsigned i)
{
    char folder[PATH_SIZE];
    char address[16];
    char name[PATH_SIZE];
    char text[PATH_SIZE];
    unsigned number = node->backwards ? node->cards - 1 - i : i;
    const struct {
        const char *name;
        const char *text;
    } files[] = {
        { "hca_type", "MT4129" },
        { "board_id", "MT_0000000838" },
        { "fw_ver", "28.39.1002" },
        { "ports/1/state", i == 0 ? node->port : "4: ACTIVE" },
        { "ports/1/rate", i == 0 ? node->rate : "400 Gb/sec (4X NDR)" },
        { "ports/1/link_layer", "InfiniBand" },
    };

    make_device(root, node->first_bus + 4 * (node->gpus + i), i == 0 ? node->narrow_card : "16",
                i == 0 ? node->slow_card : "32.0 GT/s PCIe", folder, address);
    for (unsigned f = 0; f < sizeof(files) / sizeof(files[0]); f++) {
        snprintf(name, sizeof(name), "sys/class/infiniband/mlx5_%u/%s", number, files[f].name);
        tree_file(root, name, files[f].text);
    }
    snprintf(name, sizeof(name), "sys/class/infiniband/mlx5_%u/node_guid", number);
    snprintf(text, sizeof(text), "a088:c203:%04x:%04x", node->serial, i);
    tree_file(root, name, text);
    snprintf(name, sizeof(name), "sys/class/infiniband/mlx5_%u/ports/1/lid", number);
    snprintf(text, sizeof(text), "0x%x", node->serial * 16 + i);
    tree_file(root, name, text);
    snprintf(name, sizeof(name), "sys/class/infiniband/mlx5_%u/device", number);
    if (snprintf(text, sizeof(text), "../../../%s", folder + 4) < (int)sizeof(text))
        tree_link(root, name, text);
    snprintf(name, sizeof(name), "sys/bus/pci/devices/%s/driver", address);
    tree_link(root, name, "../../../../../../bus/pci/drivers/mlx5_core");
}

static void make_kernel(const char *root, const struct tree_node *node)
{
    char text[512];
    char name[64];

    tree_file(root, "proc/driver/nvidia/version", node->driver);
    tree_file(root, "proc/sys/kernel/osrelease", node->kernel);
    snprintf(text, sizeof(text), "MemTotal:       %s kB\nMemFree:        %u kB", node->memory, node->serial * 4711);
    tree_file(root, "proc/meminfo", text);
    tree_file(root, "sys/devices/system/cpu/online", "0-127");
    tree_file(root, "dev/shm/.keep", "");
    if (node->channel < 0)
        return;
    snprintf(name, sizeof(name), "dev/nvidia-caps-imex-channels/channel%d", node->channel);
    tree_file(root, name, "");
}

void tree_make(const char *root, const struct tree_node *node)
{
    for (unsigned i = 0; i < node->gpus; i++)
        make_gpu(root, node, i);
    for (unsigned i = 0; i < node->cards; i++)
        make_card(root, node, i);
    make_kernel(root, node);
}

static int remove_one(const char *path, const struct stat *file, int kind, struct FTW *ftw)
{
    (void)file;
    (void)kind;
    (void)ftw;
    return remove(path);
}

void tree_remove(const char *root)
{
    nftw(root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}
