/* SPDX-License-Identifier: BSD-3-Clause */
/* apinfo.h - the file that tells Cray's PMI where each task of an application runs.
 *
 * PALS_APINFO names it, on each node. PALS writes it, and so do Slurm's
 * mpi/cray_shasta and Flux's cray-pals for the same library. A header with the
 * offset, the size and the number of the records of each table, of which two
 * matter: the tasks in order of rank, with the index of their node, and the
 * nodes with their names. Versions 1 and 5 are alike in that.
 * Source: flux-framework/flux-coral2 src/common/libapinfo/apinfo{1,5}.h.
 */
#ifndef ROLLCALL_LAUNCHER_APINFO_H
#define ROLLCALL_LAUNCHER_APINFO_H

#include "launcher/facts.h"

struct rc_apinfo {
    struct rc_str bytes;
    uint32_t tasks;
    uint32_t nodes;
    uint64_t task_size;
    uint64_t task_offset;
    uint64_t node_size;
    uint64_t node_offset;
};

/* False, with *out untouched, for anything else than such a file, all of it:
 * every task is on a node that is there. */
bool rc_apinfo_read(struct rc_str bytes, struct rc_apinfo *out);

/* Where a task is; rank < info->tasks. */
void rc_apinfo_task(const struct rc_apinfo *info, uint32_t rank, uint32_t *node, uint32_t *local_rank);

/* The name of a node, node < info->nodes; absent for an empty one. */
struct rc_str rc_apinfo_host(const struct rc_apinfo *info, uint32_t node);

/* Fills in what the file that PALS_APINFO names says of the task with the rank in
 * *facts. RC_APINFO_WRONG, with a message, where it contradicts what
 * the facts hold already; RC_APINFO_NONE where there is no such file. */
enum rc_apinfo_answer { RC_APINFO_NONE, RC_APINFO_WRONG, RC_APINFO_READ };
enum rc_apinfo_answer rc_apinfo_fill(struct rc_reader *reader, struct rc_facts *facts);

#endif
