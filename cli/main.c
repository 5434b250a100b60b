/* SPDX-License-Identifier: BSD-3-Clause */
/* main.c - the rollcall command: a table of subcommands. */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"

static const struct subcommand *const subcommands[] = { &cli_exec,  &cli_show, &cli_explain,
                                                        &cli_check, &cli_map,  &cli_doctor };

enum { COUNT = sizeof(subcommands) / sizeof(*subcommands) };

static void print_help(FILE *out)
{
    fputs("usage: rollcall SUBCOMMAND [OPTION]...\n"
          "\n"
          "Gives each process of a distributed PyTorch job one consistent RANK, LOCAL_RANK,\n"
          "NODE_RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT, whatever launched it.\n"
          "\n",
          out);
    for (unsigned i = 0; i < COUNT; i++)
        fprintf(out, "  %-9s %s\n", subcommands[i]->name, subcommands[i]->summary);
    fputs("\n"
          "  rollcall SUBCOMMAND --help, rollcall --version\n"
          "\n"
          "example:\n"
          "  mpirun -np 4 rollcall exec -- python train.py\n",
          out);
}

static void print_version(void)
{
    printf("rollcall %s\n", PACKAGE_VERSION);
    printf("plugin: %s%s\n", *SLURM_SERIES ? "for Slurm " : "not built: no Slurm headers were found", SLURM_SERIES);
    printf("found at build: PMIx %s, hwloc %s\n", *PMIX_VERSION ? PMIX_VERSION : "no",
           *HWLOC_VERSION ? HWLOC_VERSION : "no");
}

/* Output that was not written (a full disk) is an error. A reader that closes the pipe
 * early (head) looks the same. */
static int finish_output(int status)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return status;
    return console_fail("cannot write to standard output: %s", strerror(errno));
}

static int refuse_subcommand(const char *name)
{
    static const char *const globals[] = { "--help", "--version" };
    const char *what = name[0] == '-' ? "option" : "subcommand";
    const char *names[COUNT];
    const char *nearest;

    for (unsigned i = 0; i < COUNT; i++)
        names[i] = subcommands[i]->name;
    nearest = name[0] == '-' ? console_nearest(name, globals, 2) : console_nearest(name, names, COUNT);
    if (nearest)
        return console_fail("unknown %s '%.64s'; did you mean %s?", what, name, nearest);
    return console_fail("unknown %s '%.64s'; see rollcall --help", what, name);
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        print_help(stderr);
        return STATUS_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        print_help(stdout);
        return finish_output(STATUS_RESOLVED);
    }
    if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0) {
        print_version();
        return finish_output(STATUS_RESOLVED);
    }
    for (unsigned i = 0; i < COUNT; i++)
        if (strcmp(argv[1], subcommands[i]->name) == 0)
            return finish_output(subcommands[i]->run(argc - 1, argv + 1));
    return refuse_subcommand(argv[1]);
}
