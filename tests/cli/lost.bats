#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# lost.bats - what rollcall sets, and the program does not get: removed on the way, or changed since.

load helper

here=("${task_0[@]}" "$own_job" MASTER_ADDR=192.0.2.1)

@test "a wrapper that clears the environment: one line; one that does not: none" {
    for command in 'env -i true' 'env -u A --ignore-environment true' 'nice env -i true' 'sh -c "env -i true"' 'env - true'; do
        run -0 --separate-stderr env "${here[@]}" "$rollcall" exec --ddp=addr=given -- sh -c ': ; exec true' "$command"
        [ -z "$stderr" ]
        eval "set -- $command"
        run -0 --separate-stderr env "${here[@]}" "$rollcall" exec --ddp=addr=given -- "$@"
        [ "${#stderr_lines[@]}" -eq 1 ]
        [[ $stderr == 'rollcall: warning RC506: env -'*' keeps RANK and all other variables of rollcall from the program; '* ]]
    done
    for command in 'docker run --rm -it' 'podman run --network host' 'podman exec -w /x' 'enroot start' \
        'apptainer exec --cleanenv' 'singularity run --nv -e' 'apptainer exec -C --nv' 'apptainer -d exec --containall'; do
        run env "${here[@]}" "$rollcall" show --json -- $command image.sif python train.py
        [[ $output == *'"RC506"'* ]]
    done
    run env "${here[@]}" APPTAINER_CLEANENV=1 "$rollcall" show --json -- apptainer exec image.sif python train.py
    [[ $output == *'"APPTAINER_CLEANENV='* || $output == *'APPTAINER_CLEANENV='* ]]
    for command in 'docker run -e RANK image x' 'docker run -eRANK image x' 'docker start -a c' 'docker run --env-file=f image x' 'podman run --env-host image x' \
        'enroot start -e RANK image x' 'docker pull image' 'enroot create -n x image' 'podman-hpc run image x' \
        'env A=-i true' 'apptainer exec --env A=-e image.sif python train.py -e' 'apptainer exec -c image.sif x' 'env -u A -C / true' 'python train.py -i'; do
        run env "${here[@]}" "$rollcall" show --json -- $command
        [[ $output != *RC506* ]]
    done
    # which of a shell's commands has the program is not known
    for text in 'docker run -d redis && python train.py' 'docker run --name c image python train.py; docker rm c'; do
        run env "${here[@]}" "$rollcall" show --json -- bash -c "$text"
        [[ $output != *RC506* ]]
    done
    run env "${agent_0[@]}" "$rollcall" show -- docker run --gpus all image torchrun train.py
    [[ $output == *'add -e NAME for each variable that rollcall show lists'* ]]
}

@test "show in a stamped task: a number or a port that something has set since is named, and nothing else is" {
    run env "${here[@]}" "$rollcall" exec --ddp=addr=given -- env RANK=99 WORLD_SIZE=7 MASTER_PORT=29500 "$rollcall" show --json
    [[ $output == *"RANK is '99' and not 0, WORLD_SIZE is '7' and not 4, MASTER_PORT is '29500' and not "* ]]
    run env "${here[@]}" "$rollcall" exec --ddp=addr=given -- env -u LOCAL_RANK "$rollcall" show --json
    [[ $output == *"LOCAL_RANK is '' and not 0, as rollcall"* ]]
    run env "${here[@]}" "$rollcall" exec --ddp=addr=given -- env -u MASTER_ADDR -u MASTER_PORT "$rollcall" show --json
    [[ $output == *"MASTER_PORT is '' and not "*", MASTER_ADDR is '' and not a host, as rollcall"* ]]
    run env "${here[@]}" MASTER_PORT=29400 "$rollcall" exec --ddp=addr=given -- "$rollcall" show --json
    [[ $output != *RC507* ]]
}
