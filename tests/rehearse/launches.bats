#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Job scripts as people write them, and what their rehearsal finds: wrong ones errors, right ones nothing.
# shellcheck disable=SC2016

load jobs

master='export MASTER_ADDR=n1 MASTER_PORT=29500'
agents='torchrun --nnodes=2 --nproc_per_node=2'
static='--node_rank=$SLURM_NODEID --master_addr=n1 --master_port=29500'
nodes='nodes=($(scontrol show hostnames))'

# ranks and sizes

@test "RANK=\$SLURM_PROCID exported in the batch script -> each task has rank 0" {
    wrong D601 2 "export RANK=\$SLURM_PROCID WORLD_SIZE=\$SLURM_NTASKS LOCAL_RANK=\$SLURM_LOCALID
$master
srun python train.py"
}

@test "the same, but the program reads SLURM_PROCID -> nothing found" {
    right 2 'export RANK=$SLURM_PROCID
srun python slurm.py'
}

@test "RANK=0 WORLD_SIZE=4 before srun, before mpirun -> each process has rank 0" {
    wrong D601 2 "export RANK=0 WORLD_SIZE=4
$master
srun python train.py"
    wrong D601 2 'export RANK=0 WORLD_SIZE=4
mpirun -np 4 python default.py'
}

@test "plain srun, plain mpirun, defaults of os.getenv -> nothing sets RANK" {
    wrong D602 2 'srun python train.py'
    wrong D602 2 'srun python default.py'
    wrong D602 2 'mpirun -np 4 python default.py'
}

@test "srun --export without ALL -> RANK of the batch script is lost" {
    wrong D602 2 'srun --export=MASTER_ADDR=n1,MASTER_PORT=29500 python train.py'
}

@test "a container with --cleanenv loses the variables; without, they are there" {
    wrong D602 2 "$master
srun ./wrap.sh apptainer exec --nv --cleanenv t.sif python train.py"
    right 2 "$master
srun ./wrap.sh apptainer exec --nv t.sif python train.py"
}

@test "WORLD_SIZE of a number that Slurm did not set -> not the number of processes" {
    wrong D603 N4 "$master
export WORLD_SIZE=\$((SLURM_NNODES*SLURM_NTASKS_PER_NODE))
srun bash -c 'RANK=\$SLURM_PROCID LOCAL_RANK=\$SLURM_LOCALID python train.py'"
}

@test "srun in each task of a step -> the step starts several times" {
    wrong D612 2 "printf '#!/bin/bash\nsrun ./wrap.sh python train.py\n' > inner.sh
chmod +x inner.sh
$master
srun ./inner.sh"
}

# masters

@test "a port of RANDOM in each task, MASTER_ADDR of hostname in each task -> they differ" {
    wrong D604 2 "export MASTER_ADDR=n1
srun bash -c 'MASTER_PORT=\$((20000+RANDOM%1000)) ./wrap.sh python train.py'"
    wrong D604 2 "export MASTER_PORT=29500
srun bash -c 'MASTER_ADDR=\$(hostname) ./wrap.sh python train.py'"
}

@test "MASTER_ADDR: the list of nodes, loopback, a node without rank 0 -> rank 0 is not there" {
    wrong D605 2 'export MASTER_PORT=29500 MASTER_ADDR=$(scontrol show hostnames "$SLURM_JOB_NODELIST")
srun ./wrap.sh python train.py'
    wrong D605 2 'export MASTER_ADDR=127.0.0.1 MASTER_PORT=29500
srun ./wrap.sh python train.py'
    wrong D605 2 "$nodes
export MASTER_ADDR=\${nodes[0]} MASTER_PORT=29500
srun -N1 -n2 -x \${nodes[0]} ./wrap.sh python train.py"
}

# local ranks and GPUs

@test "LOCAL_RANK of SLURM_PROCID, of RANK -> the second node has no such GPU" {
    wrong D606 2 "$master WORLD_SIZE=\$SLURM_NTASKS
srun bash -c 'RANK=\$SLURM_PROCID LOCAL_RANK=\$SLURM_PROCID python train.py'"
    wrong D606 2 "$master WORLD_SIZE=\$SLURM_NTASKS
srun bash -c 'export RANK=\$SLURM_PROCID; LOCAL_RANK=\$RANK python train.py'"
}

@test "more workers than GPUs -> a local rank without a GPU" {
    wrong D606 1 "srun bash -c 'torchrun --nnodes=2 --nproc_per_node=4 $static train.py'"
}

@test "programs in the background -> all on the first GPU; each with its own -> nothing found" {
    wrong D607 1 'for f in 0 1 2 3; do python single.py & done; wait'
    right 2 'for f in 0 1; do CUDA_VISIBLE_DEVICES=$f python single.py & done; wait'
}

@test "idle GPUs, idle nodes -> a warning" {
    warned D610 1 "$master
srun ./wrap.sh python train.py"
    warned D610 2 "$master
srun -N1 -n2 ./wrap.sh python train.py"
}

# agents

@test "torchrun: --node_rank, --master_addr expanded once -> the agents disagree" {
    wrong D609 1 "srun $agents $static train.py"
    wrong D609 1 "srun bash -c '$agents --node_rank=\$SLURM_NODEID --master_addr=\$(hostname) --master_port=29500 train.py'"
}

@test "torchrun: each node's own number and one master -> nothing found" {
    right 1 "srun bash -c '$agents $static train.py'"
}

@test "torchrun: one task for two nodes, --standalone on two, two tasks a node -> not one agent a node" {
    wrong D608 1 "srun -N1 -n1 $agents --rdzv_backend=c10d --rdzv_endpoint=n1:29500 train.py"
    wrong D608 1 'srun torchrun --standalone --nproc_per_node=2 train.py'
    wrong D608 2 "srun $agents --rdzv_backend=c10d --rdzv_endpoint=n1:29500 train.py"
}

@test "torchrun: no endpoint, localhost -> the agents do not meet" {
    wrong D609 1 "srun $agents --rdzv_backend=c10d train.py"
    wrong D605 1 "srun bash -c '$agents --node_rank=\$SLURM_NODEID --master_addr=localhost --master_port=29500 train.py'"
}

@test "torchrun: with \$SLURM_NNODES tasks, with --ntasks-per-node=1 -> nothing found" {
    right 1 "head=\$(scontrol show hostnames \"\$SLURM_JOB_NODELIST\" | head -n 1)
srun -n \$SLURM_NNODES $agents --rdzv_id=\$SLURM_JOB_ID --rdzv_backend=c10d --rdzv_endpoint=\$head:29500 train.py"
    right 2 "$nodes
srun -n 2 -N 2 --ntasks-per-node=1 $agents --rdzv_backend=c10d --rdzv_endpoint=\${nodes[0]}:29500 train.py"
}

@test "torchrun on one node after the other, by srun -w, by ssh -> one training" {
    local loop="$agents --node_rank=\$i --master_addr=\${nodes[0]} --master_port=29500 train.py"
    right 1 "$nodes
for i in 0 1; do srun -N1 -n1 -w \${nodes[\$i]} $loop & done; wait"
    right 1 "$nodes
for i in 0 1; do ssh \${nodes[\$i]} \"cd \$PWD; $loop\" & done; wait"
}

@test "torchrun's workers read SLURM_PROCID -> they share one number" {
    wrong D611 1 "srun bash -c '$agents $static slurm.py'"
}

@test "accelerate launch with --machine_rank of each task -> nothing found" {
    right 1 'head=$(scontrol show hostname $SLURM_NODELIST | head -n1)
export LAUNCHER="accelerate launch --num_processes 4 --num_machines 2 --rdzv_backend c10d --main_process_ip $head"
srun bash -c "$LAUNCHER --machine_rank \$SLURM_NODEID train.py"'
}

# Lightning, wrappers, rollcall

@test "Lightning: --ntasks=4, one task a node for devices=2 -> its numbers are not Slurm's; two -> nothing found" {
    wrong D613 N4 'srun python lightning_train.py'
    wrong D613 1 'srun python lightning_train.py'
    right 2 'srun python lightning_train.py'
}

@test "a wrapper, by its name, by bash, sourced -> nothing found" {
    right 2 "$master
srun ./wrap.sh python train.py"
    right 2 "$master
srun bash wrap.sh python train.py"
    right 2 "$master
srun bash -c \"source vars.sh; python train.py\""
}

@test "srun --ddp, rollcall exec under srun and mpirun, --ddp with torchrun -> nothing found" {
    right 2 'srun --ddp python train.py'
    right 2 'srun -K rollcall exec -- python train.py'
    right 2 'mpirun -np 4 rollcall exec -- python train.py'
    right 1 'srun --ddp torchrun --nproc_per_node=2 train.py'
    right 2 'srun --ddp python slurm.py'
    right 1 'srun --ddp accelerate launch train.py'
}

# rollcall

@test "--ddp in #SBATCH, ROLLCALL=auto, the preload library -> each task has its rank" {
    job 2 'srun python train.py'
    sed -i '2i #SBATCH --ddp' job.sh
    rehearsed 0
    right 2 'export ROLLCALL=auto; srun python train.py'
    right 2 "export LD_PRELOAD=$prefix/lib/librollcall-preload.so; srun python train.py"
}

# Slurm

@test "sbatch in \$(...), and a job that depends on it -> the number of the job, and nothing else" {
    job 2 "$master
srun --ddp python train.py; echo out"
    printf '#!/bin/bash\nid=$(sbatch --parsable job.sh) && sbatch -d afterok:$id job.sh\n' > submit.sh
    run -0 rollcall rehearse bash submit.sh
    [ "$(grep -c '^job.sh: ' <<< "$output")" = 2 ]
}

@test "srun A : B without a job -> a job of two components" {
    run -0 rollcall rehearse srun --ddp -n1 python train.py : --ddp -n1 python train.py
    [[ $output == *'  1     n2    1 '* && $output != *component* ]]
}

@test "--gres of several kinds -> only gpu counts" {
    job 2 'srun --ddp python train.py'
    sed -i 's/^#SBATCH --gpus.*/#SBATCH --gres=gpu:v100:2,nvme:100/' job.sh
    rehearsed 0
    [[ $output == *', 2 GPUs a node'* ]]
}

@test "an option that Slurm does not have -> not known; line ends of DOS -> refused, as by sbatch" {
    job 2 'srun --ddp python train.py'
    sed -i '2i #SBATCH --tiem=10' job.sh
    rehearsed 4
    [[ $output == *'Slurm has no option --tiem=10'* ]]
    sed -i 's/$/\r/' job.sh
    rehearsed 3 D615
}

@test "a folder that does not exist -> named with its line; \$_ and substitutions -> as in the script" {
    warned D614 2 'cd /var/tmp/no-such-folder; srun --ddp python "$OLDPWD/train.py"'
    [[ $output == *'job.sh:5: the folder /var/tmp/no-such-folder does not exist'* ]]
    right 2 'mkdir -p runs/a && cd $_ && srun --ddp python $PWD/../../train.py
source <(echo once >> log; echo :); [ "$(cat log)" = once ] || exit 1'
}

@test "a file of --multi-prog with words for numbers -> refused, not lost" {
    wrong D615 2 'printf "0-a python train.py\n" > conf; srun --multi-prog conf'
}
