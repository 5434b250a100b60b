/* SPDX-License-Identifier: BSD-3-Clause */
/* who - who is this process?
 *
 *   mpirun -np 4 ./who        srun -N2 -n4 ./who        torchrun --nproc-per-node 2 --no-python ./who
 *
 * Under any launcher; alone it is rank 0 of 1.
 */
#include <rollcall.h>
#include <stdio.h>

int main(void)
{
    struct rollcall_error error;
    struct rollcall *job;

    if (rollcall_create(NULL, &job, &error) < 0) {
        fprintf(stderr, "who: %s\n", error.text);
        return error.code;
    }
    if (rollcall_launcher(job))
        printf("%s: rank %d of %d, local rank %d, node %d of %d\n", rollcall_launcher(job), rollcall_rank(job),
               rollcall_world_size(job), rollcall_local_rank(job), rollcall_node_rank(job), rollcall_nnodes(job));
    else
        printf("no launcher: rank 0 of 1\n");
    rollcall_destroy(job);
    return 0;
}
