/* SPDX-License-Identifier: BSD-3-Clause */
/* commandoptions.h - the options that torchrun or accelerate was given, as they stand there.
 *
 * What they mean beside a launch is for arguments.h to say.
 */
#ifndef ROLLCALL_RESOLVE_COMMANDOPTIONS_H
#define ROLLCALL_RESOLVE_COMMANDOPTIONS_H

#include "resolve/words.h"

/* Absent where it was not given; else a slice of the command line. */
struct rc_command_options {
    struct rc_str nnodes;      /* --nnodes, --num_machines */
    struct rc_str node_rank;   /* --node_rank, --machine_rank */
    struct rc_str nproc;       /* --nproc_per_node */
    struct rc_str processes;   /* --num_processes, of all machines */
    struct rc_str backend;     /* --rdzv_backend */
    struct rc_str endpoint;    /* --rdzv_endpoint */
    struct rc_str master_addr; /* --master_addr, --main_process_ip */
    struct rc_str port;        /* --main_process_port */
    bool standalone;           /* torchrun --standalone */
};

/* Reads the words behind the launcher's name, up to the user's script: what follows it is the script's own. */
void rc_command_options_read(struct rc_words *words, struct rc_command_options *given);

#endif
