#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# gpu.bats - what only a machine with NVIDIA GPUs can show: that a plan is about the devices which CUDA uses.
# Reported as skipped elsewhere.

load helper

setup()
{
    shopt -s nullglob
    devices=(/dev/nvidia[0-9]*)
    gpus=${#devices[@]}
    [ "$gpus" -gt 0 ] || skip 'there is no NVIDIA GPU'
    "${PYTHON:-python3}" -c 'import sys, torch; sys.exit(not torch.cuda.is_available())' || skip 'there is no torch with CUDA'
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 CUDA_DEVICE_ORDER=PCI_BUS_ID
    cat > "$BATS_TEST_TMPDIR/who.py" <<'PYTHON'
import os, sys, torch, torch.distributed
rank = int(os.environ["RANK"])
device = torch.cuda.get_device_properties(int(os.environ["LOCAL_RANK"]))
cpus = ",".join(map(str, sorted(os.sched_getaffinity(0))))
os.write(1, f"{rank} {device.pci_domain_id:04x}:{device.pci_bus_id:02x}:{device.pci_device_id:02x}.0 {cpus}\n".encode())
if "nccl" in sys.argv:
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    torch.distributed.init_process_group("nccl")
    size = int(os.environ["WORLD_SIZE"])
    ranks = torch.tensor([rank + 1.0], device="cuda")
    torch.distributed.all_reduce(ranks)
    assert ranks.item() == size * (size + 1) / 2
    torch.distributed.destroy_process_group()
PYTHON
}

# A rank for each GPU: cuda:LOCAL_RANK and cores as rollcall map says.
@test "cuda:LOCAL_RANK and its cores are those of the map, and NCCL reduces over them" {
    "$rollcall" map --json --tasks "$gpus" > "$BATS_TEST_TMPDIR/map.json"
    run -0 --separate-stderr mpirun --oversubscribe --bind-to none -np "$gpus" "$rollcall" exec --ddp=worker,bind=cores -- \
        "$PYTHON" "$BATS_TEST_TMPDIR/who.py" nccl
    python3 - "$BATS_TEST_TMPDIR/map.json" "$gpus" <<PYTHON
import json, sys
tasks = json.load(open(sys.argv[1]))["tasks"]
lines = """$output""".split("\n")
assert len(lines) == int(sys.argv[2]), lines
for line in lines:
    rank, bus_id, cpus = line.split()
    task = tasks[int(rank)]
    wanted = set()
    for part in task["cpus"].split(","):
        first, _, last = part.partition("-")
        wanted.update(range(int(first), int(last or first) + 1))
    assert bus_id == task["pci"], (line, task)
    assert set(map(int, cpus.split(","))) == wanted, (line, task)
PYTHON
}
