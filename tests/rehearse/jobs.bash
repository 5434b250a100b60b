# SPDX-License-Identifier: BSD-3-Clause
# jobs.bash - for tests of `rollcall rehearse`: training programs, job scripts and what must be said of them.
#
#   job TASKS LINES     writes job.sh: 2 nodes of 2 GPUs with TASKS tasks each (N4: --ntasks=4 instead)
#   wrong ID TASKS LINES   the rehearsal of such a job finds ID, an error
#   warned ID TASKS LINES  likewise, a warning at most
#   right TASKS LINES   it finds nothing

bats_require_minimum_version 1.5.0

top=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
prefix=${ROLLCALL_PREFIX:-$top/build/prefix}

for name in ${!SLURM_@} ${!SBATCH_@} ${!OMPI_@} ${!PMIX_@} ${!PMI_@} ${!PET_@} ${!ROLLCALL@} RANK WORLD_SIZE LOCAL_RANK \
    MASTER_ADDR MASTER_PORT CUDA_VISIBLE_DEVICES LD_PRELOAD; do
    [ "$name" = ROLLCALL_PREFIX ] || unset -v "$name"
done
unset -v name

setup()
{
    cd "$BATS_TEST_TMPDIR" || return 1
    PATH=$prefix/bin:$PATH
    write_programs
}

write_programs()
{
    # reads torch's names
    cat > train.py << 'END'
import os
import torch
import torch.distributed as dist
dist.init_process_group("nccl")
local_rank = int(os.environ["LOCAL_RANK"])
torch.cuda.set_device(local_rank)
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(2, 2).cuda())
END
    # reads Slurm's
    cat > slurm.py << 'END'
import os
import torch
import torch.distributed as dist
rank, size = int(os.environ["SLURM_PROCID"]), int(os.environ["SLURM_NTASKS"])
dist.init_process_group("nccl", rank=rank, world_size=size)
torch.cuda.set_device(int(os.environ["SLURM_LOCALID"]))
END
    # takes itself for the only process if nothing is set
    cat > default.py << 'END'
import os
import torch
rank = int(os.getenv("RANK", "0"))
world = int(os.getenv("WORLD_SIZE", "1"))
torch.cuda.set_device(int(os.getenv("LOCAL_RANK", "0")))
if world > 1:
    torch.distributed.init_process_group("nccl")
END
    cat > lightning_train.py << 'END'
import lightning as L
trainer = L.Trainer(accelerator="gpu", devices=2, num_nodes=2, strategy="ddp")
END
    printf 'import torch\nx = torch.nn.Linear(2, 2).cuda()\n' > single.py
    printf 'export RANK=$SLURM_PROCID LOCAL_RANK=$SLURM_LOCALID WORLD_SIZE=$SLURM_NTASKS\n' > vars.sh
    { printf '#!/bin/bash\n' && cat vars.sh && printf 'exec "$@"\n'; } > wrap.sh
    chmod +x wrap.sh
}

job()
{
    local tasks="--ntasks-per-node=$1"
    [ "$1" != N4 ] || tasks=--ntasks=4
    printf '#!/bin/bash\n#SBATCH --nodes=2\n#SBATCH %s\n#SBATCH --gpus-per-node=2\n%s\n' "$tasks" "$2" > job.sh
}

rehearsed()
{
    run -"$1" rollcall rehearse sbatch job.sh
    # shellcheck disable=SC2154  # of bats
    [ -z "${2:-}" ] || [[ $output == *" $2 "* || $output == *" $2:"* ]]
}

wrong()
{
    job "$2" "$3"
    rehearsed 3 "$1"
}

warned()
{
    job "$2" "$3"
    rehearsed 1 "$1"
}

right()
{
    job "$1" "$2"
    rehearsed 0
    [[ $output == *$'\nverdict nothing found' ]]
}
