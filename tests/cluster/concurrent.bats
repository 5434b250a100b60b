#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# concurrent.bats - twenty steps at once in one job, again and again, beside a program that takes all ports it gets.

load helpers

steps=20

cluster=(--nodes 3 --cpus 32 --mpi pmix)

teardown()
{
    [ -z "${left_out:-}" ] || return 0
    [ -z "${greedy:-}" ] || { kill "$greedy" && wait "$greedy"; } || true
    login scancel --user="$(id -un)"
}

# What a step could leave on a node: files, processes, and those that nobody waits for.
remains()
{
    local node
    for node in login n1 n2 n3; do
        on "$node" sh -c 'find /tmp /dev/shm -mindepth 1 2> /dev/null
            sed -nE "s/^[0-9]+ \((srun|slurmstepd|rollcall.*)\) .*/process \1/p; s/^[0-9]+ \((.*)\) Z .*/zombie \1/p" \
                /proc/[0-9]*/stat 2> /dev/null' | sed "s/^/$node: /"
    done | sort
}

# It may take a moment to end.
nothing_more_remains()
{
    local tries
    for tries in {1..100}; do
        remains | comm -13 "$BATS_TEST_TMPDIR/before" - > "$BATS_TEST_TMPDIR/more"
        [ -s "$BATS_TEST_TMPDIR/more" ] || return 0
        sleep 0.1
    done
    cat "$BATS_TEST_TMPDIR/more" >> "$err"
    explain "after $tries tries something is left"
}

# A program on n1 that binds one port after the other, keeps each for some seconds and says when it got it, in
# seconds since the start of the machine: "BEFORE AFTER PORT".
be_greedy()
{
    on n1 timeout 3000 python -c '
import collections, socket, time
taken = collections.deque()
while True:
    s = socket.socket()
    before = time.clock_gettime(time.CLOCK_BOOTTIME)
    s.bind(("", 0))
    print(before, time.clock_gettime(time.CLOCK_BOOTTIME), s.getsockname()[1], flush=True)
    taken.append(s)
    if len(taken) > 900:
        taken.popleft().close()
    time.sleep(0.004)' > "$BATS_TEST_TMPDIR/greedy" 3>&- < /dev/null &
    greedy=$!
    until [ -s "$BATS_TEST_TMPDIR/greedy" ]; do
        kill -0 $greedy
        sleep 0.1
    done
}

# concurrent ROUNDS SECONDS SRUN-ARGUMENT...: in each round the tasks of all steps wait for each other, say
# "step ROUND STEP RANK PORT SINCE UNTIL" and end.
concurrent()
{
    local rounds=$1 seconds=$2
    shift 2
    rm -rf "$shared/concurrent"
    mkdir -p "$shared/concurrent"
    cat > "$shared/concurrent.sh" <<'SH'
folder=$1 rounds=$2 steps=$3
shift 3
for round in $(seq "$rounds"); do
    mkdir "$folder/$round"
    pids=
    for step in $(seq "$steps"); do
        srun --overlap -N3 -n3 "$@" sh -c '
            read -r since rest < /proc/uptime
            : > "$3/$1/$2.$RANK"
            for i in $(seq 3000); do
                set -- "$1" "$2" "$3" "$4" "$3/$1"/*
                [ $(($# - 4)) -lt "$4" ] || break
                sleep 0.1
            done
            [ $(($# - 4)) -ge "$4" ] || echo "the others did not come"
            read -r until rest < /proc/uptime
            echo "step $1 $2 $RANK $MASTER_PORT $since $until"' \
            sh "$round" "$step" "$folder" $((3 * steps)) < /dev/null &
        pids="$pids $!"
    done
    for pid in $pids; do
        wait "$pid" || echo "a step of round $round ended with $?"
    done
    rm -r "$folder/${round:?}"
done
SH
    remains > "$BATS_TEST_TMPDIR/before"
    be_greedy
    attempt "$seconds" salloc -N3 --ntasks-per-node="$steps" sh "$shared/concurrent.sh" "$shared/concurrent" "$rounds" "$steps" "$@"
    succeeded || return 1
    unsaid 'did not come|ended with|RC6' || return 1
    "$PYTHON" - "$out" "$BATS_TEST_TMPDIR/greedy" "$rounds" "$steps" <<'PYTHON' || explain "not as it has to be" || return 1
import collections, sys
rounds, steps = int(sys.argv[3]), int(sys.argv[4])
tasks = collections.defaultdict(dict)
for line in open(sys.argv[1]):
    word = line.split()
    if word[:1] == ["step"]:
        tasks[int(word[1]), int(word[2])][int(word[3])] = (int(word[4]), float(word[5]), float(word[6]))
assert len(tasks) == rounds * steps and all(sorted(t) == [0, 1, 2] for t in tasks.values()), "not all tasks"
assert all(len({port for port, *_ in t.values()}) == 1 for t in tasks.values()), "tasks of one step have several ports"
held = collections.defaultdict(list)
for number in range(1, rounds + 1):
    ports = [tasks[number, step][0][0] for step in range(1, steps + 1)]
    assert len(set(ports)) == steps, f"two steps of round {number} have one port: {sorted(ports)}"
    # all live at once: the last one came before the first one went
    here = [tasks[number, step][0] for step in range(1, steps + 1)]
    assert max(since for _, since, _ in here) <= min(until for *_, until in here), "the steps were not there at once"
    for port, since, until in here:
        held[port].append((since, until))
greedy = 0
for line in open(sys.argv[2]):
    if not line.endswith("\n"):
        break
    before, after, port = (float(word) for word in line.split())
    greedy += 1
    assert not any(since < before and after < until for since, until in held[int(port)]), f"a held port was taken: {port}"
print(f"{rounds * steps} steps, {greedy} other ports")
assert greedy > 10 * rounds
PYTHON
    kill $greedy
    wait $greedy || true
    greedy=
    nothing_more_remains
}

# bats test_tags=series
@test "twenty steps at once: a port for each, and none is anybody else's" {
    concurrent 1 120 --ddp
}

# Each srun takes some of its ports, and the server beside it one, which is in TIME_WAIT for a minute after: 13 ports for
# three. On a busy machine servers of two rounds may be about to leave; if those of three stayed, 20 would be too few.
# One srun after the other: where two bind a port before either listens, Slurm before 23.11 (7f56bc07ca) gives up.
# bats test_tags=series
@test "a narrow SrunPortRange: steps at once, again and again, and then plain srun" {
    login sh -c '{ cat "$SLURM_CONF"; echo SrunPortRange=60001-60020; } > "$0"' "$shared/narrow.conf"
    attempt 120 env "SLURM_CONF=$shared/narrow.conf" salloc -N3 --ntasks-per-node=6 sh -c '
        for options in --ddp=exchange=srun --ddp=exchange=srun --ddp=exchange=srun --ddp=exchange=srun "" ""; do
            for step in 1 2 3; do
                srun --overlap $options -N3 -n3 sh -c ": > $0.$step
                    until [ -e $0.3 ]; do sleep 0.1; done; sleep 2; echo step ${options:-plain}" < /dev/null &
                pids="$pids $!"
                until [ -e "$0.$step" ]; do kill -0 $! || exit; sleep 0.1; done
            done
            for pid in $pids; do wait $pid || exit; done
            pids=
            rm "$0".?
        done' "$shared/narrow"
    succeeded
    unsaid 'RC6|exhausted'
    [ "$(grep -c '^step --ddp' "$out")" -eq 36 ]
    [ "$(grep -c '^step plain' "$out")" -eq 18 ]
}

# srun binds four ports (three with Slurm 26.05), and one more for mpi/pmix, which the server always leaves.
# bats test_tags=series
@test "SrunPortRange: as many ports as srun needs -> the step runs, and RC624; two more -> the server has one" {
    local ports
    for ports in 3 4 5; do
        login sh -c '{ cat "$SLURM_CONF"; echo SrunPortRange=60101-6010$1; } > "$0"' "$shared/few.conf" "$ports"
        attempt 60 env "SLURM_CONF=$shared/few.conf" srun -N2 -n2 true
        [ "$status" -ne 0 ] || break
    done
    succeeded
    succeeds 60 env "SLURM_CONF=$shared/few.conf" srun --ddp=exchange=srun -N2 -n2 true
    said 'RC624: srun cannot start rollcall-exchange: SrunPortRange has no free port beside those that srun needs'
    login sed -i "s/60101-6010$ports/60101-6010$((ports + 2))/" "$shared/few.conf"
    succeeds 60 env "SLURM_CONF=$shared/few.conf" srun --ddp=exchange=srun -N2 -n2 true
    unsaid RC6
}

# Fifty times with this machine's Slurm; with the others five, which is what their code adds. CONCURRENT_ROUNDS is
# one's own wish.
rounds=${CONCURRENT_ROUNDS:-50}
[ -z "${SERIES:-}" ] || rounds=${CONCURRENT_ROUNDS:-5}

# bats test_tags=all
@test "again and again, at srun's server" {
    concurrent "$rounds" 550 --ddp=exchange=srun
}

# bats test_tags=all
@test "again and again, over PMIx" {
    [ "$mpi" = pmix ] || skip "this Slurm has no PMIx"
    concurrent "$rounds" 550 --ddp=exchange=pmix
}

# bats test_tags=all
@test "again and again, without PMIx" {
    concurrent "$rounds" 550 --ddp --mpi=none
}
