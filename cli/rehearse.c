/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "system/program.h"

enum { CATALOGUE = 1 << 16, FIRST_WORDS = 7 };

/* The findings as main.py reads them: ID, level, why, what to change. */
static void write_catalogue(char text[CATALOGUE])
{
    size_t n = 0;

    for (enum finding_id id = 0; id < FINDING_COUNT; id++) {
        const struct cli_catalogue_entry *entry = cli_catalogue_finding(id);
        bool is_used = entry->id[1] == '4' || entry->id[1] == '5' || entry->id[1] == '6';
        int written = snprintf(text + n, CATALOGUE - n, "%s\t%s\t%s\t%s\n", entry->id, rc_level_name(entry->level),
                               entry->cause, entry->cure);

        if (is_used && written > 0 && (size_t)written < CATALOGUE - n)
            n += (size_t)written;
        text[n] = '\0';
    }
}

/* Becomes `python3 -I main.py`. */
static int run_rehearse(char **argv)
{
    static char catalogue[CATALOGUE];
    char python[PATH_MAX], director[PATH_MAX], wall[PATH_MAX], self[PATH_MAX] = "";
    char **words;
    char isolated[] = "-I";
    char series[] = SLURM_SERIES;
    size_t count = 0;

    if (!rc_program_find(getenv("PATH"), "python3", python))
        return console_fail("rehearse: there is no python3 on PATH; put one (3.6 or later) there");
    if (cli_own_program("rehearse/main.py", director) < 0 && errno != EACCES)
        return console_fail("rehearse: %s is not there; install rollcall again", "rehearse/main.py");
    if (cli_own_program("rollcall-rehearse", wall) < 0)
        return console_fail("rehearse: cannot start rollcall-rehearse: %s; install rollcall again", strerror(errno));
    if (readlink("/proc/self/exe", self, sizeof(self) - 1) < 0)
        return console_fail("rehearse: cannot read /proc/self/exe: %s", strerror(errno));
    while (argv[count])
        count++;
    words = calloc(count + FIRST_WORDS + 1, sizeof(*words));
    if (!words)
        return console_fail("rehearse: %s", strerror(ENOMEM));
    write_catalogue(catalogue);
    memcpy(words, (char *[]){ python, isolated, director, self, wall, series, catalogue },
           FIRST_WORDS * sizeof(*words));
    memcpy(words + FIRST_WORDS, argv + 1, count * sizeof(*words)); /* with the NULL at its end */
    execv(python, words);
    return console_fail("rehearse: cannot start %s: %s", python, strerror(errno));
}

const struct subcommand cli_rehearse = {
    .name = "rehearse",
    .summary = "what each process of a job would be started with, before it waits",
    .help = "usage: rollcall rehearse [OPTION]... COMMAND [ARG]...\n"
            "\n"
            "Put it in front of what you would type: sbatch job.sh, srun, mpirun, ./submit.sh.\n"
            "It runs the shell lines of the script in an imagined job, with each program\n"
            "replaced, and prints one line for each process of each launch. Nothing outside\n"
            "of a folder of its own is written, removed or connected to.\n"
            "\n"
            "  rollcall rehearse sbatch -N2 job.sh\n"
            "  rollcall rehearse srun --ddp -N2 --ntasks-per-node=4 python train.py\n"
            "\n"
            "      --slurm SERIES  as Slurm 22.05, 24.11 or 26.05\n"
            "      --json          one JSON object instead of text\n"
            "  -h, --help          this help\n"
            "\n"
            "Exit status: 0 nothing found, 1 warnings, 2 wrong usage, 3 errors, 4 something\n"
            "was not known.\n",
    .run = run_rehearse,
};
