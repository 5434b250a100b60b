/* SPDX-License-Identifier: BSD-3-Clause */
/* command.h - what the task's command line tells about how workers are started. */
#ifndef ROLLCALL_RESOLVE_COMMAND_H
#define ROLLCALL_RESOLVE_COMMAND_H

#include "resolve/commandoptions.h"

enum rc_command_kind {
    RC_COMMAND_UNKNOWN,
    RC_COMMAND_LAUNCHER, /* torchrun, accelerate, deepspeed, ...: starts the workers itself */
    RC_COMMAND_DAEMON,   /* orted, prted, hydra_pmi_proxy, mpirun, ray, ...: ranks are not its business */
};

struct rc_command {
    enum rc_command_kind kind;
    struct rc_str name;              /* the word that decided */
    bool torchrun;                   /* torchrun or torch.distributed.run|launch: reads PET_* */
    bool accelerate;                 /* accelerate launch: builds torchrun's arguments from its own */
    bool same_on_all_nodes;          /* filled in by the caller: the words are the step's, not this node's alone */
    struct rc_str container;         /* the wrapper that starts it in one; absent if there is none */
    struct rc_str script;            /* the file or module that Python runs; absent for a launcher, and for -c */
    struct rc_command_options given; /* torchrun's or accelerate's options */
};

/* Looks through wrappers (env, numactl, nice, ...) and `sh -c '...'`, and no
 * further than the user's script: what follows it is the script's own. argv is
 * NULL-terminated or NULL. Reads at most a few hundred words. */
void rc_command_read(const char *const *argv, struct rc_command *command);

/* Is the word an option of a container's runtime that mounts a folder, --bind or
 * --bind=/x or -B/x? *value is what stands in the same word, or absent. */
bool rc_command_mounts(struct rc_str word, struct rc_str *value);

/* Is the program with this path one that starts another, and does not do the work
 * itself: a shell, env, numactl, ...? */
bool rc_command_starts_another(struct rc_str program);

#endif
