#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# What stands in EXAMPLES of the manual pages and in docs/developer.md, as it stands there. Those that need a cluster run
# in tests/cluster.

load helper
load ../pages

# example PAGE MARK NUMBER: one of them, without its roff; fails where there is none
example()
{
    awk -v mark="$2" -v number="$3" -f "$top/tests/examples.awk" "$prefix/share/man/$1" > "$BATS_TEST_TMPDIR/example"
    [ -s "$BATS_TEST_TMPDIR/example" ]
}

setup()
{
    export PATH=$prefix/bin:$PATH PYTHONPATH=$prefix/share/rollcall/python PYTHONDONTWRITEBYTECODE=1
    export PKG_CONFIG_PATH=$prefix/lib/pkgconfig LD_LIBRARY_PATH=$prefix/lib
    mkdir "$BATS_TEST_TMPDIR/python"
    ln -s "$(command -v python3)" "$BATS_TEST_TMPDIR/python/python"
    command -v python > /dev/null || PATH=$PATH:$BATS_TEST_TMPDIR/python
    cd "$BATS_TEST_TMPDIR"
    echo 'print("trained")' > train.py
}

# in_folder NAME CMD...: with a train.py, and no file of another example; it has to print something
in_folder()
{
    mkdir "$1"
    cp train.py "$1"
    (cd "$1" && "${@:2}" > said && [ -s said ])
}

@test "rollcall(1): every command of its examples" {
    number=0
    while example man1/rollcall.1 run $((number + 1)); do
        number=$((number + 1))
        cat example
        # in a task of a job, and outside
        in_folder "task.$number" env "${task_3[@]}" bash -euo pipefail -x ../example
        in_folder "alone.$number" bash -euo pipefail -x ../example
    done
    [ "$number" -ge 4 ]
}

@test "librollcall(3): its programs, alone and as a task" {
    number=0
    while example man3/librollcall.3 'run C' $((number + 1)); do
        number=$((number + 1))
        cp example program.c
        gcc -Wall -Wextra -Werror -o program program.c $(pkg-config --cflags --libs rollcall)
        ./program > "alone.$number" || [ "$number" = 2 ]
    done
    [ "$number" = 2 ]
    [ "$(cat alone.1)" = 'rank -1 of -1' ]
    [[ $(cat alone.2) == *': this process is no task of a launch; start it with '* ]]
    example man3/librollcall.3 'run Python' 1
    [[ $(python3 example 2>&1) == "None None"*'this process is no task of a launch; '* ]]
    task=(RANK=0 WORLD_SIZE=1 LOCAL_RANK=0 LOCAL_WORLD_SIZE=1 MASTER_ADDR=127.0.0.1 MASTER_PORT=29500)
    [ "$(env "${task[@]}" python3 example)" = "0 1"$'\n'/scratch/run-7 ]
    [ "$(env "${task[@]}" ./program)" = /scratch/run-7 ]
}

@test "docs/user.md: the lines of vLLM and SGLang tell each node's server its place" {
    page_blocks "$top/docs/user.md" sh 1 > lines
    printf '#!/bin/sh\necho "${0##*/} $*"\n' > vllm
    cp vllm sglang
    # two pods of a LeaderWorkerSet, which need no network
    cat > srun <<'SH'
#!/bin/bash
while [ "$1" != sh ]; do shift; done
for node in 0 1; do
    env LWS_LEADER_ADDRESS=192.0.2.7 LWS_GROUP_SIZE=2 LWS_WORKER_INDEX=$node rollcall exec --ddp=port=29511 -- "$@"
done
SH
    chmod +x vllm sglang srun
    PATH=$PWD:$PATH bash -euo pipefail lines > said
    cat said
    place='--nnodes 2 --node-rank %s --master-addr 192.0.2.7 --master-port 29511'
    sizes='--tensor-parallel-size 8 --pipeline-parallel-size 2'
    [ "$(sed -n 1p said)" = "vllm serve MODEL $sizes $(printf -- "$place" 0)" ]
    [ "$(sed -n 2p said)" = "vllm serve MODEL $sizes $(printf -- "$place" 1) --headless" ]
    place='--nnodes 2 --node-rank 1 --dist-init-addr 192.0.2.7:29511'
    [ "$(sed -n 4p said)" = "sglang serve --model-path MODEL --tp 16 $place" ]
}

# As tasks: rank 0 of 1.
@test "docs/developer.md: its programs in C and Python, alone and as a task" {
    task=(RANK=0 WORLD_SIZE=1 LOCAL_RANK=0 LOCAL_WORLD_SIZE=1 MASTER_ADDR=127.0.0.1 MASTER_PORT=29500)
    page_blocks "$top/docs/developer.md" c 1 > program.c
    gcc -Wall -Wextra -Werror -o program program.c $(pkg-config --cflags --libs rollcall)
    [ "$(./program)" = 'rank -1 of -1' ]
    [ "$(env "${task[@]}" ./program)" = 'rank 0 of 1' ]
    [ "$(rollcall exec -- ./program)" = 'rank 0 of 1' ]
    page_blocks "$top/docs/developer.md" python 1 > optional.py
    [ "$(env "${task[@]}" python3 optional.py)" = 'rank 0 of 1' ]
    [ "$(env -u PYTHONPATH python3 -I optional.py)" = 'rank 0 of 1' ]
    page_blocks "$top/docs/developer.md" python 3 > bytes.py
    [ "$(env "${task[@]}" python3 bytes.py)" = 'rank 0: /scratch/run-7' ]
    page_blocks "$top/docs/developer.md" python 4 > hosts.py
    [ "$(env "${task[@]}" python3 hosts.py)" = '1 ranks on 1 nodes' ]
    ! page_blocks "$top/docs/developer.md" python 5 || { echo "nobody runs this program"; return 1; }
}

@test "docs/developer.md: CMake finds the library for C++" {
    page_blocks "$top/docs/developer.md" cmake 1 > CMakeLists.txt
    page_blocks "$top/docs/developer.md" cpp 1 > who.cpp
    command=$(page_lines "$top/docs/developer.md" '## C++ with CMake')
    mkdir home
    ln -s "$prefix" home/rollcall
    HOME=$PWD/home bash -e -c "$command"
    [ "$(build/who)" = 'rank -1 of -1' ]
}
