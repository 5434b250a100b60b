/* SPDX-License-Identifier: BSD-3-Clause */
/* The torch and the libnccl that a task would load, in the folders of imaginary Pythons; and the whole inventory. */
#include "inventory/inventory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/lines.h"
#include "inventorytree.h"
#include "unit.h"

static char root[] = "/tmp/rollcall-libraries.XXXXXX";

struct library_row {
    struct rc_str input; /* the program */
    const char *variable;
    const char *expected;
    const char *why;
};

#define SITE  "/lib/python3.11/site-packages"
#define TORCH "has=torch 2.13.0+cu126 in /opt/venv" SITE "\n"
#define NCCL  "has=nccl 2.27.5 (10 bytes) in /opt/venv" SITE "/nvidia/nccl/lib\n"
#define VENV  "PATH=/empty:/opt/venv/bin:/usr/bin"
#define OTHER "has=nccl 2.21.5 (10 bytes) in /opt/nccl/lib\n"
#define CONDA "has=torch 2.6.0 in /opt/conda" SITE "\n"

static const struct library_row libraries[] = {
    { TEXT("python"), VENV, NCCL TORCH, "a venv, by PATH" },
    { TEXT("/opt/venv/bin/python3"), "PATH=/usr/bin", NCCL TORCH, "by its path" },
    { TEXT("torchrun"), VENV, NCCL TORCH, "a script of the venv" },
    { TEXT("/opt/train.py"), VENV, NCCL TORCH, "a script that asks env for Python" },
    { TEXT("/opt/train.sh"), VENV, "", "a shell script, and no python3 that is a file" },
    { TEXT("python3.11"), "PATH=/usr/bin", "has=torch 2.0.0 in /usr/lib/python3/dist-packages\n", "Debian's own" },
    { TEXT("/opt/conda/bin/python"), "PATH=/usr/bin", "has=nccl 10 bytes in /opt/conda/lib\n" CONDA, "conda" },
    { TEXT("python3.11"), "PATH=/usr/bin PYTHONHOME=/opt/conda", "has=nccl 10 bytes in /opt/conda/lib\n" CONDA,
      "PYTHONHOME" },
    { TEXT("python"), VENV " PYTHONPATH=/opt/mine:/opt/none", NCCL "has=torch 2.14.0a0+git1 in /opt/mine\n",
      "PYTHONPATH comes first" },
    { TEXT("python"), VENV " PYTHONPATH=/local/n7/mine SLURMD_NODENAME=n7",
      NCCL "has=torch 2.15.0 in /local/NODE/mine\n", "a folder that is called by the node" },
    { TEXT("python"), VENV " PYTHONPATH=/local/n7/mine SLURMD_NODENAME=n", NCCL "has=torch 2.15.0 in /local/n7/mine\n",
      "and one that is not" },
    { TEXT("python"), VENV " LD_LIBRARY_PATH=/opt/nccl/lib", NCCL TORCH, "torch's own before LD_LIBRARY_PATH" },
    { TEXT("/opt/all_reduce_perf"), "ROLLCALL_LD_LIBRARY_PATH=/none:/opt/nccl/lib", OTHER, "a program in C" },
    { TEXT("/opt/all_reduce_perf"), "A=1", "", "without a library" },
    { TEXT("nowhere"), VENV, "", "a program that is not there" },
    { TEXT("python3.11"), "PATH=/usr/bin HOME=/home/u", "has=torch 2.9.0 in /home/u/.local" SITE "\n",
      "the user's own" },
    { TEXT("python3.11"), "PATH=/usr/bin HOME=/home/u PYTHONNOUSERSITE=1",
      "has=torch 2.0.0 in /usr/lib/python3/dist-packages\n", "not where they are off" },
    { TEXT("python"), VENV " HOME=/home/u", NCCL TORCH, "nor in a venv" },
    { NO_TEXT, VENV, "", "a container" },
};

static void make_program(const char *name, const char *text)
{
    char path[256];

    tree_file(root, name, text);
    snprintf(path, sizeof(path), "%s/%s", root, name);
    chmod(path, 0700);
}

static void make_libraries(void)
{
    static const char header[] = "#ifndef NCCL_H_\n#define NCCL_H_\n\n#define NCCL_MAJOR 2\n#define NCCL_MINOR 27\n"
                                 "#define NCCL_PATCH 5\n#define NCCL_SUFFIX \"\"\n";

    make_program("usr/bin/python3.11", "\177ELF");
    make_program("opt/conda/bin/python3.11", "\177ELF");
    make_program("opt/all_reduce_perf", "\177ELF");
    make_program("opt/train.py", "#!/usr/bin/env python3.11\nimport torch");
    make_program("opt/train.sh", "#!/bin/bash\npython train.py");
    make_program("opt/venv/bin/torchrun", "#!/opt/venv/bin/python\n# -*- coding: utf-8 -*-");
    tree_link(root, "opt/venv/bin/python", "python3.11");
    tree_link(root, "opt/conda/bin/python", "python3.11");
    tree_file(root, "opt/venv/pyvenv.cfg", "home = /usr/bin\ninclude-system-site-packages = false\nversion = 3.11.2");
    tree_file(root, "opt/venv" SITE "/torch/version.py", "from typing import Optional\n__version__ = '2.13.0+cu126'");
    tree_file(root, "opt/venv" SITE "/nvidia/nccl/lib/libnccl.so.2", "123456789");
    tree_file(root, "opt/venv" SITE "/nvidia/nccl/include/nccl.h", header);
    tree_file(root, "opt/conda" SITE "/torch/version.py", "__version__ = \"2.6.0\"");
    tree_file(root, "opt/conda/lib/libnccl.so.2", "123456789");
    tree_file(root, "usr/lib/python3/dist-packages/torch/version.py", "__version__ = '2.0.0'");
    tree_file(root, "home/u/.local" SITE "/torch/version.py", "__version__ = '2.9.0'");
    tree_file(root, "opt/mine/torch/version.py", "__version__ = '2.14.0a0+git1'");
    tree_file(root, "local/n7/mine/torch/version.py", "__version__ = '2.15.0'");
    tree_file(root, "opt/nccl/lib/libnccl.so.2.21.5", "123456789");
    tree_link(root, "opt/nccl/lib/libnccl.so.2", "libnccl.so.2.21.5");
}

static void finds_libraries(const void *data)
{
    const struct library_row *row = data;
    char variables[256];
    const char *env[8];
    unsigned count = 0;
    char text[RC_INVENTORY_SIZE];
    struct rc_arena arena = { .base = text, .size = sizeof(text) };
    struct rc_inventory_request request = { .root = root, .env = env, .program = row->input };

    snprintf(variables, sizeof(variables), "%s", row->variable);
    for (char *word = strtok(variables, " "); word && count < 7; word = strtok(NULL, " "))
        env[count++] = word;
    env[count] = NULL;
    make_libraries();
    /* the link of a venv leads to an absolute path, which is below the root here */
    tree_link(root, "opt/venv/bin/python3.11", "../../../usr/bin/python3.11");
    tree_link(root, "opt/venv/bin/python3", "python3.11");
    if (strcmp(row->why, "a shell script, and no python3 that is a file") == 0)
        tree_link(root, "opt/venv/bin/python3", "nowhere");
    rc_inventory_write_libraries(&request, &arena);
    tree_remove(root);
    assert_string_equal(text, row->expected);
}

static const char *const any_texts[] = {
    "",
    "\n\n\n",
    "=",
    "[[]",
    "99999999999999999999",
    "-1",
    "\x1b[2J\x7f\xff",
    ": : :",
    "GT/s",
    "32.999999 GT/s",
    "#!",
    "#! /",
    "__version__ = '\x01\x02'",
    "__version__ = '",
    "version = 3.",
    "home",
    "#define NCCL_MAJOR ",
    "Model:",
    "HugePages_Total:",
};

static const char *const any_files[] = {
    "proc/driver/nvidia/gpus/0000:13:00.0/information",
    "proc/driver/nvidia/version",
    "proc/meminfo",
    "proc/sys/kernel/osrelease",
    "sys/devices/system/cpu/online",
    "sys/kernel/mm/transparent_hugepage/enabled",
    "sys/class/infiniband/mlx5_0/hca_type",
    "sys/class/infiniband/mlx5_0/ports/1/state",
    "sys/class/infiniband/mlx5_0/ports/1/rate",
    "sys/bus/pci/devices/0000:13:00.0/current_link_width",
    "sys/bus/pci/devices/0000:13:00.0/current_link_speed",
    "sys/bus/pci/devices/0000:13:00.0/max_link_speed",
    "opt/venv/pyvenv.cfg",
    "opt/venv/bin/torchrun",
    "opt/venv" SITE "/torch/version.py",
    "opt/venv" SITE "/nvidia/nccl/include/nccl.h",
};

/* Whatever stands in the files, there are lines of printable characters, each with a name. */
static void takes_anything(const void *data)
{
    static const char *const env[] = { VENV, NULL };
    static char longest[9000];
    const struct rc_inventory_request request = { .root = root, .env = env, .program = RC_STR("torchrun") };

    (void)data;
    memset(longest, 'a', sizeof(longest) - 1);
    for (size_t i = 0; i <= UNIT_COUNT(any_texts); i++) {
        char text[2 * RC_INVENTORY_SIZE];
        struct rc_arena arena = { .base = text, .size = sizeof(text) };

        tree_make(root, &tree_healthy);
        make_libraries();
        tree_link(root, "opt/venv/bin/python3.11", "../../../usr/bin/python3.11");
        for (size_t f = 0; f < UNIT_COUNT(any_files); f++)
            tree_file(root, any_files[f], i < UNIT_COUNT(any_texts) ? any_texts[i] : longest);
        rc_inventory_write_node(&request, &arena);
        rc_join(&arena);
        rc_inventory_write_libraries(&request, &arena);
        tree_remove(root);
        assert_in_range(strlen(text), 1, RC_INVENTORY_SIZE);
        for (const char *line = text; *line; line = strchr(line, '\n') + 1)
            assert_memory_equal(line, "has=", 4);
        for (const char *c = text; *c; c++)
            assert_true(*c == '\n' || rc_lines_printable(*c));
    }
}

/* The whole, on this machine: what the child writes is what this process would. */
static void writes_all(const void *data)
{
    static const char *const env[] = { NULL };
    char text[RC_INVENTORY_SIZE];
    char again[RC_INVENTORY_SIZE];
    struct rc_arena arena = { .base = text, .size = sizeof(text) };
    struct rc_arena own = { .base = again, .size = sizeof(again) };
    const struct rc_inventory_request request = { .root = root, .env = env, .program = RC_STR("/opt/venv/bin/python") };

    (void)data;
    make_libraries();
    tree_link(root, "opt/venv/bin/python3.11", "../../../usr/bin/python3.11");
    tree_make(root, &tree_healthy);
    rc_inventory_write(&request, 60000, &arena);
    rc_inventory_write_node(&request, &own);
    rc_join(&own);
    rc_inventory_write_libraries(&request, &own);
    tree_remove(root);
    assert_string_equal(text, again);
    assert_non_null(strstr(text, TORCH));
}

int main(void)
{
    if (!mkdtemp(root))
        return 99;
    UNIT_TABLE(finds_libraries, "libraries of", libraries);
    unit_add_one(takes_anything, "inventory: files with anything in them");
    unit_add_one(writes_all, "inventory: all of it, by a child");
    return unit_run("libraries");
}
