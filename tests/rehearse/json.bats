#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# rollcall rehearse --json: one object, schema 1.
# shellcheck disable=SC2016

load jobs

@test "--json: a job -> its launches, processes, findings and what is not known" {
    job 2 'export RANK=$SLURM_PROCID MASTER_ADDR=$(nslookup x) MASTER_PORT=1234
srun python train.py'
    run -3 rollcall rehearse --json sbatch job.sh
    printf '%s\n' "$output" > answer
    python3 - << 'END'
import json
answer = json.load(open("answer"))
assert answer["schema"] == 1 and answer["verdict"] == "errors", answer["verdict"]
assert answer["allocation"]["nodes"] == ["n1", "n2"] and answer["allocation"]["tasks"] == 4
launch, = answer["launches"]
assert launch["at"] == "job.sh:6" and launch["kind"] == "srun" and launch["counted"] == 4
process = launch["processes"][3]
assert process["argv"] == ["python", "train.py"] and process["node"] == "n2" and process["task"] == 3
assert process["environment"]["SLURM_PROCID"] == "3" and process["environment"]["RANK"] == "0"
assert process["identity"]["rank"] == "0" and "addr" not in process["identity"]
assert {row["id"] for row in answer["findings"]} >= {"D601"}, answer["findings"]
assert any("nslookup" in row["text"] for row in answer["unknown"])
END
}

@test "--json: no job -> no allocation" {
    run -0 rollcall rehearse --json bash -c 'python single.py'
    [[ $(tr -d ' \n' <<< "$output") == '{"schema":1,"allocation":null,'* ]]
}
