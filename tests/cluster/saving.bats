#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# saving.bats - after a step with --ddp has received a signal, no task's exit ends it: the others finish saving.

# bats file_tags=series

load helpers

# longer than KillWait, after which Slurm kills the tasks of a step that it ends
save=6
cluster=(--nodes 2 --cpus 8 --conf KillWait=3 --conf PreemptType=preempt/partition_prio --conf PreemptMode=CANCEL
    --conf 'PartitionName=low Nodes=ALL GraceTime=60 PreemptMode=CANCEL PriorityTier=1'
    --conf 'PartitionName=high Nodes=ALL PriorityTier=9')

setup()
{
    rm -f "$shared"/{ready,left}.* "$shared/saving"
    # On a signal rank 1 leaves with a status, and rank 0 saves after that.
    cat > "$shared/saves" << END
#!/bin/bash
end()
{
    trap : USR1 TERM
    if [ "\$SLURM_PROCID" = 1 ]; then : > $shared/left.1; exit \${STATUS:-143}; fi
    : > $shared/saving
    until [ -e $shared/left.1 ]; do sleep 0.1; done
    sleep $save && echo SAVED
    exit 0
}
trap end USR1 TERM
[ -z "\$DEAF" ] || [ "\$SLURM_PROCID" = 0 ] || trap '' USR1
touch $shared/ready.\$SLURM_PROCID
until [ -e $shared/saving ] && [ "\$SLURM_PROCID" = 1 ] && [ -n "\$DEAF" ]; do sleep 0.1; done
touch $shared/left.1
exit 3
END
    chmod 755 "$shared/saves"
}

# signalled SECONDS COMMAND -- CMD...: COMMAND, in this shell, once both tasks are ready; $id is the job's
signalled()
{
    local seconds=$1 command=$2 tries=600 pid
    shift 3
    : > "$out"
    : > "$err"
    status=0
    "$minicluster" run --name "$MINICLUSTER_NAME" login timeout -k 5 $((seconds * patience)) "$@" \
        > "$out" 2> "$err" 3>&- < /dev/null &
    pid=$!
    until [ -e "$shared/ready.0" ] && [ -e "$shared/ready.1" ]; do
        ((tries-- > 0)) && kill -0 $pid || explain 'the tasks have not started'
        sleep 0.1
    done
    id=$(login squeue --noheader --states=running -o %A)
    eval "$command"
    wait $pid || status=$?
    await_end_of_jobs
}

# srun_receives SIGNAL...: 0.2 s apart, also on a busy machine
srun_receives()
{
    local pid signal
    pid=$(pgrep -o -f "^srun .*$shared")
    for signal; do
        kill "-$signal" "$pid"
        sleep 0.2
    done
}

saved()
{
    said '^SAVED$'
}

@test "saving: a signal, then a task that leaves -> the others finish, whoever sent it" {
    local way
    for way in 'login scancel --signal=TERM $id.0' 'login scancel --signal=USR1 $id' 'srun_receives USR1' \
        'srun_receives INT; sleep 2; srun_receives USR1'; do
        signalled 60 "$way" -- srun --ddp -N2 -n2 "$shared/saves"
        saved
        setup
    done
    signalled 60 'login scancel --signal=USR1 --full $id' -- sbatch --wait --ddp -N2 -n2 -o "$shared/job.out" \
        --wrap "trap : USR1; srun $shared/saves"
    grep -q '^SAVED$' "$shared/job.out" || explain "$(cat "$shared/job.out")"
}

@test "saving: status 1, 3, or an end by the signal itself, or a failure of its own after it -> the others finish" {
    local number
    for number in 1 3; do
        signalled 60 'login scancel --signal=USR1 $id' -- env STATUS=$number srun --ddp -N2 -n2 "$shared/saves"
        saved
        setup
    done
    # rank 1 ignores the signal, and fails by itself when rank 0 has begun to save
    signalled 60 'login scancel --signal=USR1 $id' -- env DEAF=yes srun --ddp -N2 -n2 "$shared/saves"
    saved
    said 'task 1: Exited with exit code 3'
    setup
    signalled 60 'login scancel --signal=USR1 $id; touch "$shared/left.1"' -- srun --ddp -N2 -n2 sh -c \
        "[ \$SLURM_PROCID = 0 ] && exec $shared/saves; touch $shared/ready.1; exec sleep 500"
    saved
    said 'task 1: User defined signal 1'
}

@test "saving: preemption with a grace time -> the others finish" {
    signalled 120 'login srun -p high -N2 -n16 true > /dev/null 2>&1 3>&- & high=$!' \
        -- srun -p low --ddp -N2 -n2 "$shared/saves"
    wait "$high"
    saved
}

@test "saving: srun -K, and two interrupts within a second -> Slurm ends the step" {
    signalled 60 'login scancel --signal=USR1 $id' -- srun -K --ddp -N2 -n2 "$shared/saves"
    unsaid '^SAVED$'
    setup
    signalled 60 'srun_receives INT INT' -- srun --ddp -N2 -n2 "$shared/saves"
    unsaid '^SAVED$'
    [ "$status" -ne 124 ] || explain 'the step goes on'
}

@test "saving: torchrun on one node leaves -> the worker on the other node finishes" {
    cat > "$shared/worker.py" << END
import os, signal, sys, time
rank = os.environ["RANK"]
def end(*_):
    if rank == "0":
        while not os.path.exists("$shared/left.1"):
            time.sleep(0.1)
        time.sleep($save)
        print("SAVED", flush=True)
    else:
        open("$shared/left.1", "w")
    sys.exit(0)
signal.signal(signal.SIGTERM, end)
open("$shared/ready." + rank, "w")
while True:
    time.sleep(0.1)
END
    signalled 90 'login scancel --signal=TERM $id.0' -- srun --ddp=nproc=1 -N2 -n2 torchrun "$shared/worker.py"
    saved
}

@test "saving: Lightning, one rank of which leaves with a traceback -> the other finishes its checkpoint" {
    cat > "$shared/light.py" << END
import os, time
import torch, lightning
from torch.utils.data import DataLoader
class Model(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 1)
    def training_step(self, batch, index):
        time.sleep(0.1)
        if index == 2:
            open("$shared/ready.%d" % self.global_rank, "w")
        return self.layer(batch).sum()
    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), 0.1)
class Save(lightning.Callback):
    def on_exception(self, trainer, module, exception):
        if trainer.global_rank == 1:
            open("$shared/left.1", "w")
            os._exit(1)
        while not os.path.exists("$shared/left.1"):
            time.sleep(0.1)
        time.sleep($save)
        torch.save(module.state_dict(), "$shared/checkpoint")
        print("SAVED", flush=True)
trainer = lightning.Trainer(accelerator="cpu", devices=1, num_nodes=2, max_epochs=-1, logger=False,
    enable_progress_bar=False, enable_checkpointing=False, enable_model_summary=False, callbacks=[Save()])
trainer.fit(Model(), DataLoader(torch.rand(4000, 4)))
END
    signalled 120 'login scancel --signal=TERM $id.0' -- srun --ddp -N2 -n2 python "$shared/light.py"
    saved
}
