/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "pmixask.h"

/* Becomes rollcall-map (see its head), which reads the options. */
static int run_map(int argc, char **argv)
{
    char path[PATH_MAX];

    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            fputs(cli_map.help, stdout);
            return STATUS_RESOLVED;
        }
    }
    if (cli_own_program("rollcall-map", path) == 0)
        execv(path, argv);
    if (errno == ENOENT)
        return console_fail(
            "map: this rollcall was built without hwloc; install it (Debian: libhwloc-dev) and build again");
    return console_fail("map: cannot start rollcall-map: %s", strerror(errno));
}

const struct subcommand cli_map = {
    .name = "map",
    .summary = "which GPU, cores and NIC belong together on a node; binds nothing",
    .help = "usage: rollcall map [OPTION]... [PICTURE]\n"
            "\n"
            "Shows which GPU, cores, memory and network card belong together for each task\n"
            "of this machine, from its topology: whole cores next to the task's GPU, none\n"
            "for two; and what nic=auto would tell NCCL, UCX and gloo of the cards. Opens no\n"
            "driver and changes nothing.\n"
            "\n"
            "PICTURE, a file that ends in .svg, .pdf or .png, shows the machine with its\n"
            "tasks instead. lstopo draws it.\n"
            "\n"
            "      --tasks N     so many tasks; else those of the launch that this process is\n"
            "                    a task of, else one a GPU\n"
            "      --gpus LIST   the GPUs of local rank 0, 1, ...; over again where there are\n"
            "                    more tasks: indices by PCI bus id, or bus ids (3b:00.0)\n"
            "      --cpus LIST   of these hardware threads alone, such as 0-15,64-79\n"
            "      --from FILE   the topology of another machine, as its lstopo writes it:\n"
            "                    lstopo FILE.xml\n"
            "      --json        one JSON object instead of text\n"
            "      --xml FILE    the topology with the tasks' colours, to draw it elsewhere:\n"
            "                    lstopo -i FILE --no-factorize\n"
            "  -h, --help        this help\n"
            "\n"
            "Exit status: 0 shown, 2 wrong usage, a topology that cannot be read, or no\n"
            "lstopo for a picture; else lstopo's.\n"
            "\n"
            "  srun -l --ntasks-per-node=1 rollcall map\n",
    .operands = OPERANDS_FILES,
    .run = run_map,
};
