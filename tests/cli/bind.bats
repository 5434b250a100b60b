#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# bind.bats - which cores rollcall exec gives a task: read back in the task, in its threads and in what it forks.
#
# Under srun --ddp the same rule holds (tests/fake-spank/test_bind.py); where the cores are is in pins.bats and map.bats.

load helper

setup()
{
    map=$prefix/libexec/rollcall/rollcall-map
    [ -x "$map" ] || skip 'built without hwloc'
    all=$(python3 -c 'import os; print(*sorted(os.sched_getaffinity(0)), sep=",")')
    count=$(tr , '\n' <<< "$all" | wc -l)
    [ "$count" -ge 2 ] || skip 'two cores for two tasks'
    # of a step of two tasks on this node, which has all of it
    given=(SLURM_CPUS_ON_NODE="$count")
}

teardown()
{
    [ -z "${folder:-}" ] || rmdir "$folder" || true
}

# one LOCAL [NAME=VALUE...] -- COMMAND...: one of two tasks of a step on this node, which is the step's second: so
# nobody is rank 0, whose port another run of these tests might hold
one()
{
    local local=$1 own=()
    shift
    while [ "$1" != -- ]; do
        own+=("$1")
        shift
    done
    shift
    with "${step[@]}" SLURM_PROCID=$((2 + local)) SLURM_LOCALID="$local" SLURM_NODEID=1 SLURM_GTIDS=2,3 "${own[@]}" "$@"
}

# "0,1 0,1 0,1 4": mask of the task, of a thread and of a child of its, and OMP_NUM_THREADS
masks=(python3 -c '
import os, threading
def mask(): return ",".join(map(str, sorted(os.sched_getaffinity(0))))
seen = [mask()]
thread = threading.Thread(target=lambda: seen.append(mask()))
thread.start()
thread.join()
read, write = os.pipe()
if os.fork() == 0:
    os.write(write, mask().encode())
    os._exit(0)
os.wait()
print(*seen, os.read(read, 999).decode(), os.environ.get("OMP_NUM_THREADS", "-"))')

# both [NAME=VALUE...] -- OPTION...: $first and $second, what the two tasks print, $said, what the first one says
both()
{
    local own=()
    while [ "$1" != -- ]; do
        own+=("$1")
        shift
    done
    shift
    first=$(one 0 "${own[@]}" -- "$rollcall" exec "$@" -- "${masks[@]}" 2> "$BATS_TEST_TMPDIR/said")
    second=$(one 1 "${own[@]}" -- "$rollcall" exec "$@" -- "${masks[@]}" 2> /dev/null)
    said=$(< "$BATS_TEST_TMPDIR/said")
}

# The two tasks have different cores, and with all that they start the same.
apart()
{
    local a b
    read -r a _ <<< "$first"
    read -r b _ <<< "$second"
    [[ $first == "$a $a $a "* && $second == "$b $b $b "* ]]
    [ -z "$(tr , '\n' <<< "$a,$b" | sort | uniq -d)" ]
}

# A tree with the command and a rollcall-map that keeps what it was asked and answers $1.
fake()
{
    local tree=$BATS_TEST_TMPDIR/tree
    mkdir -p "$tree/bin" "$tree/libexec/rollcall"
    cp "$rollcall" "$tree/bin/rollcall"
    rollcall=$tree/bin/rollcall
    asked=$BATS_TEST_TMPDIR/asked
    printf '#!/bin/sh\n{ cat; echo; } >> %s\ncat << END\n%s\nEND\n' "$asked" "$1" > "$tree/libexec/rollcall/rollcall-map"
    chmod +x "$tree/libexec/rollcall/rollcall-map"
}

@test "two tasks of a step that has the node: cores of their own, a thread for each" {
    both "${given[@]}" -- -v
    apart
    [[ $said == *"note RC913: bound to "*"(bind=auto)"* ]]
    [ "${first##* }" -ge 1 ]
    [ "${first##* }" -le "$count" ]
    # without -v not a word
    both "${given[@]}" --
    [ -z "$said" ]
    # the user's number stays, an empty one too
    both "${given[@]}" OMP_NUM_THREADS=7 --
    apart
    [ "${first##* }" = 7 ]
}

# One of the second node's tasks under mpirun, whose daemon Slurm gave one task's cores of salloc -c.
@test "mpirun's daemon with too few cores: the first task of the node says so, and how to start it" {
    while read -r rank local said; do
        run -0 with "OMPI_COMM_WORLD_RANK=$rank" "OMPI_COMM_WORLD_LOCAL_RANK=$local" OMPI_COMM_WORLD_SIZE=4 \
            OMPI_COMM_WORLD_LOCAL_SIZE=2 OMPI_MCA_orte_num_nodes=2 PMIX_NAMESPACE=71434241 "PMIX_RANK=$rank" \
            'OMPI_MCA_orte_hnp_uri=71434240.0;tcp://192.0.2.1:38789' SLURM_CPUS_PER_TASK=2 SLURM_CPUS_ON_NODE=2 \
            'OMPI_MCA_orte_local_daemon_uri=71434240.1;tcp://192.0.2.2:38789' 'SLURM_JOB_CPUS_PER_NODE=4(x2)' \
            "$rollcall" exec --ddp=bind=off -- true
        [[ $output == $said ]]
    done << 'END'
2 0 rollcall: warning RC914: mpirun's 2 tasks share 2 of the job's 4 cores on this node: *
3 1
END
}

# One core for both tasks of a node, whose job has -c 64. The launch's first task says it; with -v each does.
@test "a task with fewer CPUs than its job promised says why, and what to type; not where rollcall has bound it" {
    local short=(SLURMD_NODENAME=192.0.2.2 SLURM_CPUS_PER_TASK=64 'SLURM_JOB_CPUS_PER_NODE=128(x2)'
        SLURM_CPU_BIND_TYPE=mask_cpu:) line='warning RC915: a task of 192.0.2.2 may use 1 of SLURM_CPUS_PER_TASK=64 CPUs: srun'
    while read -r list bind verbose times; do
        run -0 one 1 "${short[@]}" SLURM_CPU_BIND_LIST="$list" -- \
            taskset -c "${all%%,*}" "$rollcall" exec ${verbose#--} "--ddp=bind=$bind" -- true
        [ "$(grep -c "^rollcall: $line has bound it so; type srun --cpus" <<< "$output")" = "$times" ]
    done << 'END'
0x1 off -v 1
0x1 auto -v 1
0x1 off -- 0
0x3 off -v 0
1 off -v 1
1,1 off -v 0
0x1 cores -v 0
END
}

@test "the user's hwloc variables do not make it another machine" {
    both "${given[@]}" --
    [ "$first / $second" = "$(both "${given[@]}" HWLOC_SYNTHETIC='pack:1 core:1 pu:1' HWLOC_XMLFILE=/no/such/file -- && echo "$first / $second")" ]
}

@test "bind=off: nothing is changed, and nothing is started" {
    fake 'node'
    both "${given[@]}" -- --ddp=bind=off -v
    [ "$first" = "$all $all $all -" ]
    [ ! -e "$asked" ]
    [[ $said != *RC91* ]]
}

@test "bound already, by taskset: stays so, or gives way to bind=cores" {
    last=${all##*,}
    first=$(one 0 "${given[@]}" -- taskset -c "$last" "$rollcall" exec -v -- "${masks[@]}" 2> "$BATS_TEST_TMPDIR/said")
    [ "$first" = "$last $last $last -" ]
    grep -q 'note RC911: not bound to cores: its launcher, taskset or numactl has bound it already' "$BATS_TEST_TMPDIR/said"
    first=$(one 0 "${given[@]}" -- taskset -c "$last" "$rollcall" exec --ddp=bind=cores -- "${masks[@]}")
    second=$(one 1 "${given[@]}" -- taskset -c "$last" "$rollcall" exec --ddp=bind=cores -- "${masks[@]}")
    apart
}

@test "a machine that is not known to be the job's: left alone; by name it is bound" {
    [ "$count" = "$(nproc --all)" ] || skip 'a cpuset, which is known to be the job'\''s'
    for number in 1 '' x 0; do
        both SLURM_CPUS_ON_NODE="$number" -- -v
        [ "$first" = "$all $all $all -" ]
        [[ $said == *"note RC911: not bound to cores: the node's cores are not known to be the job's own"* ]]
    done
    both -- --ddp=bind=cores
    apart
    # all of a socket or of the machine, which they share
    both -- --ddp=bind=numa
    [[ $first != ' '* && $second != ' '* ]]
}

@test "more tasks than cores: all have all cores; by name they share them, and nobody has none" {
    tasks=$((count + 1))
    task=("${step[@]}" SLURM_STEP_NUM_TASKS=$((tasks + 1)) SLURM_NTASKS=$((tasks + 1))
        SLURM_STEP_TASKS_PER_NODE="1,$tasks" SLURM_NODEID=1 SLURM_GTIDS="$(seq -s , 1 "$tasks")" SLURM_CPUS_ON_NODE=64)
    run -0 --separate-stderr with "${task[@]}" SLURM_PROCID=2 SLURM_LOCALID=1 "$rollcall" exec -v -- "${masks[@]}"
    [ "$output" = "$all $all $all -" ]
    [[ $stderr == *'note RC911: not bound to cores: there are fewer cores than tasks'* ]]
    for rank in 0 "$count"; do
        run -0 with "${task[@]}" SLURM_PROCID=$((rank + 1)) SLURM_LOCALID="$rank" "$rollcall" exec \
            --ddp=bind=cores -- "${masks[@]}"
        [[ $output == [0-9]* ]]
    done
}

# As a container's, or Slurm's with ConstrainCores.
@test "a cpuset: its cores are the job's own, and nothing outside is used; one core for eight is one core" {
    folder=/sys/fs/cgroup/cpuset/rollcall-bind-$$
    [ -e /sys/fs/cgroup/cpuset/tasks ] && mkdir "$folder" 2> /dev/null || { folder=; skip 'no cpuset of version 1 that one may make'; }
    cat "${folder%/*}/cpuset.mems" > "$folder/cpuset.mems"
    echo "${all%%,*}" > "$folder/cpuset.cpus"
    inside=(sh -c 'echo $$ > "$0/cgroup.procs" && exec "$@"' "$folder")
    for option in --ddp --ddp=bind=cores --ddp=bind=numa; do
        for rank in 0 1; do
            run -0 one "$rank" -- "${inside[@]}" "$rollcall" exec "$option" -- "${masks[@]}"
            [[ $output == "${all%%,*} ${all%%,*} ${all%%,*} "* ]]
        done
    done
    [ "$count" -gt 2 ] || return 0
    echo "${all%,*}" > "$folder/cpuset.cpus"
    first=$(one 0 -- "${inside[@]}" "$rollcall" exec -- "${masks[@]}")
    second=$(one 1 -- "${inside[@]}" "$rollcall" exec -- "${masks[@]}")
    apart
}

@test "without rollcall-map: unbound, and a line for who asked by name; one that fails: a line of the node's first task" {
    fake 'x'
    both "${given[@]}" -- -v
    [ "$first" = "$all $all $all -" ]
    [[ $said == *'warning RC917: the tasks of '*' are not bound to cores: rollcall-map answers something else'* ]]
    both "${given[@]}" --
    [[ $said == *'warning RC917: the tasks of '*' are not bound to cores: rollcall-map answers something else'* ]]
    one 1 "${given[@]}" -- "$rollcall" exec -- true 2> "$BATS_TEST_TMPDIR/said"
    [ ! -s "$BATS_TEST_TMPDIR/said" ]
    rm "$BATS_TEST_TMPDIR/tree/libexec/rollcall/rollcall-map"
    both "${given[@]}" -- --ddp=bind=cores -v
    [ "$first" = "$all $all $all -" ]
    [[ $said == *'rollcall: warning RC912: bind=cores was asked for, but rollcall-map is not there (a build without hwloc); the tasks run unbound'* ]]
    both "${given[@]}" --
    [ -z "$said" ]
    # a name as long, in the program's list of libraries
    sed 's/libhwloc\.so/libhwnot.so/g' "$prefix/libexec/rollcall/rollcall-map" > "$BATS_TEST_TMPDIR/tree/libexec/rollcall/rollcall-map"
    chmod +x "$BATS_TEST_TMPDIR/tree/libexec/rollcall/rollcall-map"
    both "${given[@]}" -- --ddp=bind=cores -v
    [[ $said == *'warning RC917: the tasks of '*': rollcall-map fails; rollcall map prints the reason'* ]]
}

# All tasks of the node have to ask the same.
@test "which GPUs are asked about" {
    fake $'node\npin cpus='"${all%%,*}"$' cores=1\npin cpus='"${all#*,}"' cores=1'
    asks()
    {
        local expected=$1
        shift
        rm -f "$asked"
        both "${given[@]}" "$@" -- --ddp=worker
        apart
        [ "$(sed -n 's/^gpus=//p' "$asked" | sort -u)" = "$expected" ] || { cat "$asked"; return 1; }
    }
    asks all
    asks 0,1 CUDA_VISIBLE_DEVICES=0,1
    asks 0,1,2,3 ROCR_VISIBLE_DEVICES=0,1,2,3
    asks GPU-b,GPU-a CUDA_VISIBLE_DEVICES=GPU-b,GPU-a
    asks '' CUDA_VISIBLE_DEVICES=
    asks '' CUDA_VISIBLE_DEVICES=-1
    # Slurm's own numbers, where CUDA's count from 0 in a cgroup
    asks 4,6 CUDA_VISIBLE_DEVICES=0,1 SLURM_STEP_GPUS=4,6 SLURM_GPUS_ON_NODE=2
    asks 4,6 CUDA_VISIBLE_DEVICES=0,1 SLURM_JOB_GPUS=4,6
}

# One GPU for two tasks, a list that may be this task's own view, and a task that Slurm has bound to a GPU of its own.
@test "where nothing tells which GPU is this task's own: unbound, and a line for who asked by name" {
    why="it is unknown which of the node's GPUs are this task's"
    unknown()
    {
        both "${given[@]}" "$@" -- -v --ddp=worker
        [ "$first" = "$all $all $all -" ]
        [ "$second" = "$all $all $all -" ]
        [[ $said == *"note RC911: not bound to cores: $why"* ]]
        both "${given[@]}" "$@" -- --ddp=worker,bind=cores
        [ "$first" = "$all $all $all -" ]
        first=$(one 0 "${given[@]}" "$@" -- "$rollcall" exec -v --ddp=worker,bind=cores -- "${masks[@]}" 2> "$BATS_TEST_TMPDIR/said")
        grep -qF "warning RC912: bind=cores was asked for, but $why; the tasks run unbound" "$BATS_TEST_TMPDIR/said"
    }
    unknown CUDA_VISIBLE_DEVICES=0
    unknown CUDA_VISIBLE_DEVICES=1,0
    unknown CUDA_VISIBLE_DEVICES=0 SLURM_STEP_GPUS=4 SLURM_GPUS_ON_NODE=2 SLURMD_TRES_BIND=gpu:per_task:1
}

@test "a launcher keeps its cores and carries those of its workers" {
    agent=("${agent_0[@]}" SLURM_PROCID=1 SLURM_NODEID=1 SLURM_GTIDS=1)
    run -0 --separate-stderr with "${agent[@]}" SLURM_CPUS_ON_NODE="$count" "$rollcall" exec -v --ddp=launcher,nproc=2 -- \
        "$BASH" -c 'echo "$(python3 -c "import os; print(*sorted(os.sched_getaffinity(0)), sep=\",\")") $ROLLCALL_PINS"'
    read -r mask one two <<< "$output"
    [ "$mask" = "$all" ]
    [[ $one == [0-9]* && $two == [0-9]* && $one != "$two" ]]
    [[ $stderr == *'note RC913: 2 workers are to be bound, to '*' (bind=auto)'* ]]
    # nobody says how many: an outer launch's cores are none of theirs
    prints none with "${agent[@]}" SLURM_CPUS_ON_NODE="$count" ROLLCALL_PINS='0 1' "$rollcall" exec --ddp=launcher -- \
        "$BASH" -c 'echo "${ROLLCALL_PINS-none}"'
}

# A runtime of AddressSanitizer's that is a library ends its program if another library comes before it.
@test "launcher: a program with AddressSanitizer's runtime as a library -> no library of rollcall's before it" {
    local dir=$BATS_TEST_TMPDIR program where why="the program needs AddressSanitizer's runtime before all other libraries"
    cd "$dir"
    echo 'int main(void) { return puts(getenv("ROLLCALL_PINS") ? "bound" : "unbound") < 0; }' > p.c
    set -- -include stdio.h -include stdlib.h p.c
    where=-Wl,-rpath,$(dirname "$(clang -print-file-name=libclang_rt.asan-$(uname -m).so)")
    gcc -o plain "$@"
    gcc -fsanitize=address -o gcc-library "$@"
    clang -fsanitize=address -shared-libasan "$where" -o clang-library "$@"
    gcc -fsanitize=address -static-libasan -o gcc-static "$@"
    clang -fsanitize=address -o clang-static "$@"
    gcc -fsanitize=thread -o gcc-thread "$@"
    gcc -fsanitize=leak -o gcc-leak "$@"
    gcc -fsanitize=undefined -o gcc-undefined "$@"
    clang -fsanitize=memory -o clang-memory "$@"
    printf '#!%s/gcc-library\n' "$dir" > script
    printf '#!/usr/bin/env -S gcc-library -x\n' > by-env
    chmod +x script by-env
    agent=("${agent_0[@]}" SLURM_PROCID=1 SLURM_NODEID=1 SLURM_GTIDS=1 SLURM_CPUS_ON_NODE="$count" PATH="$dir:$PATH")
    runs()
    {
        run -0 --separate-stderr with "${agent[@]}" "$rollcall" exec -v --ddp=launcher,nproc=2 -- "$@"
        echo "$*: $output, $stderr"
    }
    for program in plain gcc-static clang-static gcc-thread gcc-leak gcc-undefined clang-memory; do
        runs "./$program"
        [ "$output" = bound ]
    done
    for program in ./gcc-library ./clang-library gcc-library ./script ./by-env 'env A=1 gcc-library' "nice -n 1 ./clang-library"; do
        runs $program
        [ "$output" = unbound ]
        [[ $stderr == *"note RC911: workers are not bound to cores: $why"* ]]
    done
    run -0 --separate-stderr with "${agent[@]}" "$rollcall" exec -v --ddp=launcher,lookup=numeric -- ./gcc-library
    [[ $stderr == *"warning RC505: lookup=numeric was asked for, but $why; "* ]]
    # a shell starts it
    agent+=(ASAN_OPTIONS=detect_leaks=0:verify_asan_link_order=0)
    runs sh -c './gcc-library; true'
    [ "$output" = bound ]
    # the user has put the runtime first
    agent+=(LD_PRELOAD="$(gcc -print-file-name=libasan.so)" ASAN_OPTIONS=detect_leaks=0)
    run -0 --separate-stderr with "${agent[@]}" "$rollcall" exec --ddp=launcher,nproc=2 -- ./gcc-library
    [ "$output" = bound ]
}

@test "a task that rollcall has set already is not bound once more" {
    fake 'node'
    run -0 one 0 "${given[@]}" ROLLCALL_SCOPE=slurm:42.7/2/worker/29500 -- "$rollcall" exec -- "${masks[@]}"
    [ ! -e "$asked" ]
}
