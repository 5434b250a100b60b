#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# containers.bats - tasks in a container: started by the task's command (charliecloud's ch-run), and by a plugin before
# ours, as pyxis does it (programs/intocontainer.c). The image has a shell and Python, and nothing of rollcall.

load helpers
load containers

setup_file()
{
    needs_root || return 0
    [ -z "${SERIES:-}" ] || leave_out "the image, ch-run and the plugin are this machine's" || return 0
    unshare --user --map-root-user --mount true || leave_out "this kernel lets nobody make a user namespace" || return 0
    # not in $shared: plugstack.conf wants its plugins to be there
    folder=$(mktemp -d /var/tmp/rollcall-containers.XXXXXX)
    export folder image=$folder/image
    make_image "$image" "$ROLLCALL_PREFIX"
    cp "$programs"/{meet,whoami}.py "$image/work"
    # its name is what counts
    cp "$programs/whoami.py" "$image/usr/bin/torchrun"
    gcc -O2 -Wall -Wextra -Werror -shared -fPIC -o "$folder/intocontainer.so" "$programs/intocontainer.c"
    printf 'required %s\noptional %s\n' "$folder/intocontainer.so" "$plugin_file" > "$folder/plugstack.conf"
    cluster_up --nodes 2 --cpus 4 --mpi pmix --plugstack "$folder/plugstack.conf"
    # ch-run wants to know who it is
    export USER=root
}

teardown_file()
{
    local status=0
    [ -z "${MINICLUSTER_NAME:-}" ] || cluster_down || status=1
    [ -z "${folder:-}" ] || rm -rf --one-file-system "$folder"
    return "$status"
}

# step WORDS OPTION... -- COMMAND...: a step of four tasks in ch-run, with --ddp=WORDS
step()
{
    local words=$1 options=()
    shift
    while [ "$1" != -- ]; do
        options+=("$1")
        shift
    done
    attempt 60 srun --ddp="$words" -N2 --ntasks-per-node="${tasks:-2}" ch-run "${options[@]}" "$image" "$@"
}

@test "ch-run: each rank is there once, and all meet at the port that rollcall holds" {
    ROLLCALL_DEBUG=1 step auto -- python /work/meet.py
    everybody whoami world=4 nodes=2
    said 'held by rank 0, which sent it to all nodes'
}

@test "ch-run: torchrun in there is found, and none of rollcall's libraries is asked for that is not there" {
    tasks=1 step bind=cores,nproc=2,lookup=numeric -- torchrun --nproc-per-node=2 train.py
    everybody launcher nodes=2 nproc=2
    said 'warning RC912: .* but a container \(ch-run\) does not see librollcall-pins\.so'
    said 'warning RC505: .* but a container \(ch-run\) does not see librollcall-lookup\.so'
    unsaid 'preload'
    # bind=auto makes no noise of it
    tasks=1 step nproc=2 -- torchrun --nproc-per-node=2 train.py
    everybody launcher nodes=2 nproc=2
    unsaid 'RC9|preload'
}

# A step of four tasks, which a plugin has taken into the image when ours sees them.
within()
{
    local words=$1
    shift
    TEST_IMAGE=$image attempt 60 srun --ddp="$words" -N2 --ntasks-per-node=2 "$@"
}

@test "a plugin's container: the nodes meet all the same, and the tasks stay in there" {
    ROLLCALL_DEBUG=1 within auto python /work/meet.py
    everybody whoami world=4 nodes=2
    said 'held by rank 0, which sent it to all nodes'
    unsaid 'warning'
    within exchange=pmix,bind=cores sh -c '[ -e /work/meet.py ] && [ ! -e "$0" ] && pwd' "$ROLLCALL_PREFIX/bin/rollcall"
    succeeded
    [ "$(grep -cx / "$out")" -eq 4 ]
    unsaid 'RC'
}

@test "a plugin's container: what it does not see is not asked for, and what is mounted is" {
    within lookup=numeric,watch sh -c 'echo "list=$LD_PRELOAD$PYTHONPATH."'
    succeeded
    [ "$(grep -cx 'list=.' "$out")" -eq 4 ]
    said 'warning RC505: .* but the container does not see librollcall-lookup\.so'
    said 'warning RC505: .* but the container does not see its folder share/rollcall/watch'
    TEST_MOUNTS=$ROLLCALL_PREFIX within lookup=numeric,watch sh -c 'echo "list=$LD_PRELOAD:$PYTHONPATH."'
    succeeded
    [ "$(grep -cx "list=$ROLLCALL_PREFIX/lib/librollcall-lookup.so:$ROLLCALL_PREFIX/share/rollcall/watch." "$out")" -eq 4 ]
    unsaid 'RC|preload'
}

@test "rollcall exec outside of the container, and inside of it" {
    identifies 60 srun -N2 --ntasks-per-node=2 rollcall exec -- ch-run "$image" -- python /work/meet.py
    identifies 60 srun -N2 --ntasks-per-node=2 ch-run --bind "$ROLLCALL_PREFIX" "$image" -- \
        "$ROLLCALL_PREFIX/bin/rollcall" exec -- python /work/meet.py
}

# bats test_tags=all
@test "mpirun: rollcall exec outside of the container, and inside of it" {
    from=n1
    identifies 60 mpirun "${over_rsh[@]}" -n 4 rollcall exec -- ch-run "$image" -- python /work/meet.py
    identifies 60 mpirun "${over_rsh[@]}" -n 4 ch-run --bind "$ROLLCALL_PREFIX" "$image" -- \
        "$ROLLCALL_PREFIX/bin/rollcall" exec -- python /work/meet.py
}

# bats test_tags=all
@test "ch-run: real torch, with a task for each rank and with torchrun" {
    # this machine's libraries and PYTHON, in the image's places; rollcall is not among them
    python_binds
    mounts=()
    for path in /usr "$cluster_tests" "${python_binds[@]}"; do
        [[ $path != --bind && $path != /usr/* ]] || continue
        [ -e "$image$path" ] || mkdir -p "$image$path"
        mounts+=(--bind "$path")
    done
    python=("$(command -v "$PYTHON")")
    step auto "${mounts[@]}" -- "${python[@]}" "$programs/torchrun_train.py"
    everybody ranks world=4 nodes=2
    python+=(-m torch.distributed.run --nproc-per-node=2)
    tasks=1 ROLLCALL_DEBUG=1 step bind=cores "${mounts[@]}" -- "${python[@]}" "$programs/torchrun_train.py"
    everybody ranks world=4 nodes=2
    said 'launcher mode'
    unsaid 'preload'
}
