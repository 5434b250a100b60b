/* SPDX-License-Identifier: BSD-3-Clause */
/* host.h - a Slurm that one can break: what the fake host is told to play.
 *
 * fake-spank reads a scenario from standard input, one word and one value a line (%XX for any byte), loads the real
 * plugin as slurmstepd, srun or sbatch would, calls it back, and prints what happened, one JSON object a line.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <slurm/spank.h>

enum { WORDS_MAX = 4096, NODES_MAX = 256, TASKS_MAX = 32768 };

struct words {
    char *word[WORDS_MAX + 1]; /* NULL-terminated */
    int count;
};

struct node {
    uint32_t *rank; /* of its tasks, in order of local id */
    uint32_t tasks;
};

struct scenario {
    char *plugin;
    enum spank_context context;
    struct words arguments;  /* after the plugin's path in plugstack.conf */
    struct words env;        /* the step's, before a task has any of its own */
    struct words task_env;   /* what PMIx and GRES plugins add for a task */
    struct words own_env;    /* the same for one task: "1 CUDA_VISIBLE_DEVICES=1"; without "=" it is taken away */
    struct words devices;    /* below /dev: "nvidia0", and "!nvidia1", which a task may not open */
    struct words own_device; /* the same for one task, which then has no others: "1 nvidia1" */
    struct words argv;
    struct words options; /* values of --ddp, in the order of the callbacks */
    struct words lie;     /* names that spank_setenv takes and does not set */
    struct words refuse;  /* names that spank_setenv and spank_unsetenv refuse */
    struct words missing; /* items that spank_get_item does not have */
    struct words skip;    /* callbacks that are not called */
    struct words hosts;   /* of the nodes */
    struct words
        names; /* "n1=192.0.2.1": what the resolver knows; without any 127.0.0.1; "silent": no name server answers */
    struct node node[NODES_MAX];
    uint32_t nodes;
    uint32_t total_tasks;   /* S_JOB_TOTAL_TASK_COUNT */
    uint32_t cpus_per_task; /* S_STEP_CPUS_PER_TASK: -c as srun took it */
    uint32_t job_id;
    uint32_t step_id;
    uint32_t rank_offset; /* het steps: the environment counts over all components, the items do not */
    uint32_t node_offset;
    uint32_t allocations; /* after so many, malloc fails within the plugin */
    uint32_t descriptors; /* RLIMIT_NOFILE */
    uint32_t lookup_ms;   /* that the resolver takes */
    bool twice;           /* option callbacks of slurmstepd, up to 23.11 */
    bool null_env;        /* S_JOB_ENV has no block */
    bool same_network;    /* the machine's ports, not a namespace's own */
    char *order;          /* of a node's tasks: "1,0" one after the other, "0+1" at the same time; NULL: 0,1,2 */
    char *layout_hosts;   /* slurm_job_step_layout_get, in srun */
    uint32_t distribution;
};

extern struct scenario scenario;

/* What is going on right now. */
extern struct now {
    const char *callback; /* NULL outside of the plugin */
    uint32_t node;
    int task;   /* local id, or -1 */
    char **env; /* the block that spank_setenv works on; NULL in srun */
    struct spank_option option;
    bool registered;
    uint32_t countdown; /* to the failing malloc; 0: none fails */
    int inside;         /* the host's own code, whose allocations do not fail */
} now;

bool scenario_read(void);

/* One line of output; the values are quoted here. */
void print_event(const char *event, const char *key, const char *text, int rc);
void print_quoted(const char *text);

/* How such a line begins. */
void write_where(char *text, size_t size, const char *event);

/* Slurm's own handling of an environment (22.05 src/common/env.c), malloc'd. */
char **env_copy(const struct words *words);
void env_overwrite(char ***env, const char *name, const char *value);
void env_unset(char **env, const char *name);
char *env_value(char **env, const char *name);
