#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# architectures.bats - the shim of other machines: aarch64 (Grace, Graviton), ppc64le (POWER) and riscv64.
# Debian's gcc builds it for them, qemu runs their programs and hands their system calls to this kernel.

load helper

cross=${ROLLCALL_CROSS:-$top/build/cross}
machines=(aarch64)
# Each of the others, and the rest of aarch64, is a build more.
[ "${ROLLCALL_ALL:-no}" = no ] || machines+=(powerpc64le riscv64)

setup_file()
{
    local machine job jobs=()

    has_cross || return 0
    # without the libraries of this machine: one with Slurm's headers, two without
    mkdir -p "$bin/slurm/include"
    ln -s "$(dirname "$(echo '#include <slurm/spank.h>' | gcc -M -x c - | grep -o '/[^ ]*slurm/spank.h')")" \
        "$bin/slurm/include/slurm"
    for machine in "${machines[@]}"; do
        build "$machine" > "$bin/$machine.log" 2>&1 &
        jobs+=($!)
    done
    for job in "${!jobs[@]}"; do
        wait "${jobs[job]}" || {
            tail -n 30 "$bin/${machines[job]}.log"
            return 1
        }
    done
}

setup()
{
    has_cross || skip "no compilers for other machines in $cross"
}

has_cross()
{
    [ -d "$cross" ]
}

# with_cross COMMAND...: with the compilers, and what those programs are linked with
with_cross()
{
    PATH=$cross/usr/bin:$PATH LD_LIBRARY_PATH=$cross/usr/lib/x86_64-linux-gnu "$@"
}

compiler()
{
    printf '%s' "$1-linux-gnu-gcc-12 --sysroot=$cross"
}

build()
{
    local dir=$bin/build-$1 more=() program

    [ "$1" != aarch64 ] || more=(--with-slurm="$bin/slurm")
    mkdir "$dir" && cd "$dir" || return 1
    with_cross "$top/configure" --host="$1-linux-gnu" CC="$(compiler "$1")" CFLAGS=-O1 --enable-werror "${more[@]}" &&
        with_cross make shim/librollcall-preload.la || return 1
    for program in probe port mask; do
        with_cross $(compiler "$1") -o "$program" "$here/programs/$program.c" || return 1
    done
}

# build_more MACHINE TARGET
build_more()
{
    cd "$bin/build-$1" || return 1
    with_cross make "$2"
}

# in_machine MACHINE [NAME=VALUE...] PROGRAM...: in_task, there
in_machine()
{
    local machine=$1 variables=()
    shift
    while [[ $1 == *=* ]]; do
        variables+=("$1")
        shift
    done
    env -i "${task_environment[@]}" "${variables[@]}" "qemu-${machine/powerpc/ppc}" -L "$cross/usr/${machine}-linux-gnu" \
        -E LD_PRELOAD="$(shim_of "$machine")" "$@"
}

shim_of()
{
    printf '%s' "$bin/build-$1/shim/.libs/librollcall-preload.so"
}

# bats test_tags=all
@test "all of it is built for aarch64; what is there for this machine alone counts as missing, and is said" {
    local file
    (build_more aarch64 all) >> "$bin/aarch64.log" 2>&1
    [ -d "$bin/build-riscv64" ] || build riscv64 > "$bin/riscv64.log" 2>&1
    for file in lib/.libs/librollcall.so spank/.libs/rollcall.so rollcall; do
        readelf -h "$bin/build-aarch64/$file" | grep -q 'Machine: *AArch64'
    done
    run cat "$bin/aarch64.log"
    [[ $output == *"plugin            yes, for Slurm "*$'\n  preload library   yes\n'* ]]
    [[ $output == *"asking PMIx       no"*"unit tests        no"* ]]
    # beside srun there are headers, but of another libc
    run cat "$bin/riscv64.log"
    [[ $output == *"plugin            no"*"costs: srun --ddp"* ]]
}

@test "it imports environ and exports nothing; its segments fit pages of 64 KiB where there are such" {
    local machine shim
    for machine in "${machines[@]}"; do
        shim=$(shim_of "$machine")
        [ "$(readelf --dyn-syms -W "$shim" | awk '$5 == "GLOBAL" || $5 == "WEAK" { print $7, $8 }')" = "UND environ" ]
        run ! grep -E 'NEEDED|TEXTREL' <(readelf -dW "$shim")
        [ "$machine" = riscv64 ] || [ "$(readelf -lW "$shim" | awk '$1 == "LOAD" { print $NF }' | sort -u)" = 0x10000 ]
    done
}

@test "a task has its identity" {
    local machine
    for machine in "${machines[@]}"; do
        run -0 --separate-stderr in_machine "$machine" RANK=9 "$bin/build-$machine/probe" "${names[@]}" ROLLCALL_SCOPE
        [ -z "$stderr" ]
        expect "${identity[@]}" "ROLLCALL_SCOPE=slurm:42.7/3/worker/$(sed -n 's/^getenv MASTER_PORT=//p' <<< "$output") =3/4/1/2/1"
    done
}

@test "RANK 0 holds the master port: the numbers of socket, bind, fcntl, and what they answer" {
    local machine
    for machine in "${machines[@]}"; do
        run -0 --separate-stderr in_machine "$machine" "${rank_0[@]}" "$bin/build-$machine/port"
        [ -z "$stderr" ]
        [ "$output" = $'held\nlistening' ]
        # another task has no hold on it
        run in_machine "$machine" "$bin/build-$machine/port"
        [ "$output" = $'free\nlistening' ]
    done
}

# An errno comes back as a positive number on ppc64le, as a negative one on the others.
@test "a port that a stranger has is an error, said with its id, and nothing is set" {
    local machine port
    for machine in "${machines[@]}"; do
        run --separate-stderr in_machine "$machine" "${rank_0[@]}" "$bin/build-$machine/probe" MASTER_PORT
        [ -z "$stderr" ]
        port=$(sed -n 's/^getenv MASTER_PORT=//p' <<< "$output")
        run -0 --separate-stderr beside_stranger "$port" \
            in_machine "$machine" "${rank_0[@]}" "$bin/build-$machine/probe" RANK MASTER_PORT
        [ -z "$output" ]
        [[ $stderr == "rollcall: error RC405: port $port of "* ]]
    done
}

@test "MASTER_PORT: another machine's build -> the port that this machine's computes" {
    local machine port
    run in_task sh -c 'echo $MASTER_PORT'
    port=$output
    [ "$port" -ge 1024 ]
    for machine in "${machines[@]}"; do
        run in_machine "$machine" "$bin/build-$machine/probe" MASTER_PORT
        expect MASTER_PORT="$port"
    done
}

@test "an error is one line, ROLLCALL_DEBUG's answer less than 512 bytes" {
    local machine
    for machine in "${machines[@]}"; do
        run -0 --separate-stderr in_machine "$machine" SLURM_LOCALID=7 "$bin/build-$machine/probe" RANK
        [ -z "$output" ]
        [ "${#stderr_lines[@]}" -eq 1 ]
        [[ $stderr =~ ^rollcall:\ error\ RC1[0-9][0-9]:\  ]]
        run --separate-stderr in_machine "$machine" ROLLCALL_DEBUG=2 "$bin/build-$machine/probe" RANK
        expect RANK=3
        [ "${#stderr}" -lt 512 ]
        [[ $stderr == "rollcall: launcher slurm, mode worker"*"rollcall: RANK='3'"* ]]
    done
}

@test "a launcher's own daemon is left alone: the command line is known there, too" {
    local machine
    for machine in "${machines[@]}"; do
        mkdir "$BATS_TEST_TMPDIR/$machine"
        cp "$bin/build-$machine/probe" "$BATS_TEST_TMPDIR/$machine/orted"
        run -0 in_machine "$machine" "$BATS_TEST_TMPDIR/$machine/orted" RANK ROLLCALL_SCOPE
        [ -z "$output" ]
    done
}

@test "a launcher's worker goes to its cores" {
    local machine first second
    read -r first second _ < <(python3 -c 'import os; print(*sorted(os.sched_getaffinity(0)))')
    [ -n "${second:-}" ] || skip "a machine with one hardware thread"
    for machine in "${machines[@]}"; do
        run -0 --separate-stderr taskset -c "$first,$second" env -i \
            "$(type -P "qemu-${machine/powerpc/ppc}")" -L "$cross/usr/${machine}-linux-gnu" \
            -E LD_PRELOAD="$(shim_of "$machine")",TORCHELASTIC_RUN_ID=1,RANK=1,LOCAL_RANK=1,LOCAL_WORLD_SIZE=2 \
            -E ROLLCALL_PINS="$first $second" "$bin/build-$machine/mask"
        [ -z "$stderr" ]
        [ "$output" = "$second 1" ]
    done
}

# A char without a sign, and whatever else is different.
# bats test_tags=all
@test "aarch64's core answers each recorded environment as this machine's does" {
    make -C "${ROLLCALL_BUILD:-$top/build/release}" check-oracle-programs
    (build_more aarch64 tests/oracle/resolve_stream) >> "$bin/aarch64.log" 2>&1
    PYTHONPATH="$top/tests/vectors" python3 -B - > "$BATS_TEST_TMPDIR/requests" <<'PYTHON'
import sys
import recordings
for recording in recordings.recordings():
    block = [entry.encode("utf-8", "surrogateescape") for entry in recording.entries]
    # options, pid, flags, no command, the block
    sys.stdout.buffer.write(b"\0".join([b"-", b"7", b"x", b"-", str(len(block)).encode(), *block, b""]))
PYTHON
    answers()
    {
        "$@" < "$BATS_TEST_TMPDIR/requests" | sed 's/"nanoseconds": [0-9]*, //'
    }
    answers "${ROLLCALL_BUILD:-$top/build/release}/tests/oracle/resolve_stream" > "$BATS_TEST_TMPDIR/here"
    answers qemu-aarch64 -L "$cross/usr/aarch64-linux-gnu" "$bin/build-aarch64/tests/oracle/resolve_stream" \
        > "$BATS_TEST_TMPDIR/there"
    [ "$(wc -l < "$BATS_TEST_TMPDIR/here")" -eq "$(python3 -B "$top/tests/vectors/expectation.py" print | wc -l)" ]
    cmp "$BATS_TEST_TMPDIR/here" "$BATS_TEST_TMPDIR/there"
}
