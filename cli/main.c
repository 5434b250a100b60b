/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli.h"
#include "inspect.h"
#include "system/program.h"

enum { MAP_SIZE = 1 << 20, MAP_MS = 60000 };

/* Run rollcall-map for its text, or become it. */
static int print_map(FILE *out, void *more)
{
    static char text[MAP_SIZE];
    char **argv = more;
    char path[PATH_MAX];
    struct rc_program program = {
        .kind = RC_PROGRAM_USER,
        .path = path,
        .argument = argv[1],
        .more = (const char *const *)argv + (argv[1] ? 2 : 1),
        .with_errors = true,
        .env = (const char *const *)environ,
        .milliseconds = MAP_MS,
    };
    bool found = cli_own_program("rollcall-map", path) == 0;
    int status;

    if (found && out != stdout) {
        if (rc_program_run(&program, text, sizeof(text), &status) >= 0 && WIFEXITED(status)) {
            fputs(text, WEXITSTATUS(status) == 0 ? out : stderr);
            return WEXITSTATUS(status);
        }
        return console_fail("map: rollcall-map failed or took too long");
    }
    if (found)
        execv(path, argv);
    if (errno == ENOENT)
        return console_fail(
            "map: this rollcall was built without hwloc; install it (Debian: libhwloc-dev) and build again");
    return console_fail("map: cannot start rollcall-map: %s", strerror(errno));
}

/* rollcall-map reads the other options. */
static int run_map(char **argv)
{
    struct cli_scope scope = { .by_node = true };
    int kept = 1;

    for (int i = 1; argv[i]; i++) {
        struct rc_str word = rc_str(argv[i]);
        const char *rank = rc_str_starts(word, "--rank=") ? strchr(argv[i], '=') + 1 : NULL;

        scope.plain = scope.plain || rc_str_is(word, "--json");
        if (rc_str_is(word, "--rank") && !(rank = argv[++i]))
            return console_fail("map: --rank needs a value; see rollcall map --help");
        if (rc_str_is(word, "--all"))
            scope.all = true;
        else if (rank)
            scope.rank = rank;
        else
            argv[kept++] = argv[i];
    }
    if (!cli_scope_read(&scope))
        return STATUS_USAGE;
    argv[kept] = NULL;
    return cli_report_own(&scope, print_map, argv);
}

const struct subcommand cli_map = {
    .name = "map",
    .summary = "which GPU, cores and NIC belong together on a node; binds nothing",
    .help = "usage: rollcall map [OPTION]...\n"
            "\n"
            "Shows which GPU, cores, memory and network card belong together for each task\n"
            "of this machine, from its topology: whole cores next to the task's GPU, none\n"
            "for two; and the cards that nic=auto would set for NCCL, UCX and gloo. Opens no\n"
            "driver and changes nothing.\n"
            "\n"
            "      --tasks N     so many tasks; else those of the launch that this process is\n"
            "                    a task of, else one a GPU\n"
            "      --gpus LIST   the GPUs of local rank 0, 1, ...; over again where there are\n"
            "                    more tasks: indices by PCI bus id, or bus ids (3b:00.0)\n"
            "      --cpus LIST   of these hardware threads alone, such as 0-15,64-79\n"
            "      --from FILE   the topology of another machine, as its lstopo writes it:\n"
            "                    lstopo FILE.xml\n"
            "      --rank N      in a launch of several tasks rank N's map alone\n"
            "      --all         the map of each task, in order\n"
            "      --json        one JSON object instead of text\n"
            "  -h, --help        this help\n"
            "\n"
            "Exit status: 0 printed, 2 wrong usage or a topology that cannot be read.\n"
            "\n"
            "  srun -N2 --ntasks-per-node=1 rollcall map\n",
    .run = run_map,
};

/* The rollcall command: a table of subcommands. */

const struct subcommand *const cli_subcommands[] = { &cli_exec, &cli_show,   &cli_explain,  &cli_check,
                                                     &cli_map,  &cli_doctor, &cli_rehearse, NULL };

enum { COUNT = sizeof(cli_subcommands) / sizeof(*cli_subcommands) - 1 };

static void print_help(FILE *out)
{
    fputs("usage: rollcall SUBCOMMAND [OPTION]...\n"
          "\n"
          "Gives each process of a distributed PyTorch job one consistent RANK, LOCAL_RANK,\n"
          "NODE_RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT, whatever launched it.\n"
          "\n",
          out);
    for (unsigned i = 0; i < COUNT; i++)
        fprintf(out, "  %-9s %s\n", cli_subcommands[i]->name, cli_subcommands[i]->summary);
    fputs("\n"
          "  rollcall SUBCOMMAND --help (or rollcall help SUBCOMMAND), rollcall --version\n"
          "\n"
          "example:\n"
          "  mpirun -np 4 rollcall exec -- python train.py\n",
          out);
}

/* Also for `rollcall python train.py`, `rollcall train.py`, `rollcall run ...` and `rollcall -- python train.py`. */
static int refuse_subcommand(const char *word)
{
    bool is_option = word[0] == '-' && strcmp(word, "--") != 0;

    return console_fail("unknown %s '%.64s'; to run a command: rollcall exec -- CMD...; see rollcall --help",
                        is_option ? "option" : "subcommand", word);
}

static int print_subcommand_help(const struct subcommand *subcommand)
{
    fputs(subcommand->help, stdout);
    if (subcommand->more) {
        cli_print_ddp_help();
        fputs(subcommand->more, stdout);
    }
    return STATUS_RESOLVED;
}

static int run_subcommand(char **argv)
{
    const struct subcommand *const *subcommand = cli_subcommands;

    while (*subcommand && strcmp(argv[0], (*subcommand)->name) != 0)
        subcommand++;
    if (!*subcommand)
        return refuse_subcommand(argv[0]);
    for (char **word = argv + 1; *word && **word == '-'; word++)
        if (rc_str_which(rc_str(*word), "--help|-h"))
            return print_subcommand_help(*subcommand);
    return (*subcommand)->run(argv);
}

/* rollcall help [COMMAND] */
static int run_help(int argc, char **argv)
{
    char *words[] = { argv[1], (char[]){ "--help" }, NULL };

    if (argc > 1)
        return run_subcommand(words);
    print_help(stdout);
    return STATUS_RESOLVED;
}

int main(int argc, char **argv)
{
    static char room[1 << 16]; /* one write, so that lines of several tasks do not mix */

    setvbuf(stdout, room, _IOFBF, sizeof(room));
    if (argc < 2) {
        print_help(stderr);
        return STATUS_USAGE;
    }
    if (rc_str_which(rc_str(argv[1]), "help|--help|-h"))
        return console_finish(run_help(argc - 1, argv + 1));
    if (rc_str_which(rc_str(argv[1]), "version|--version|-V")) {
        printf("rollcall %s\n", PACKAGE_VERSION);
        cli_print_plugin();
        printf("found at build: Slurm %s, PMIx %s, hwloc %s\n", *SLURM_SERIES ? SLURM_SERIES : "no",
               *PMIX_VERSION ? PMIX_VERSION : "no", *HWLOC_VERSION ? HWLOC_VERSION : "no");
        return console_finish(STATUS_RESOLVED);
    }
    if (strcmp(argv[1], "complete") == 0)
        return console_finish(cli_complete(argc - 1, argv + 1));
    return console_finish(run_subcommand(argv + 1));
}
