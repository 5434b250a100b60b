#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# releases.bats - an upgrade of rollcall that has come halfway: nodes and login host of two releases, in each order.
#
# The newer release is a copy of the installed one with another number, and with another version of the wire. A node
# that has it sees it at the place of the installed one: nodes have mounts of their own.

load helpers
load faults

old=$("$ROLLCALL_PREFIX/bin/rollcall" --version | sed 's/.* //; q')
new=${old%?}x

setup_file()
{
    needs_root || return 0
    cluster_up --nodes 4 --cpus 8 --mpi pmix
    make_release alike 1
    make_release other 2
}

teardown()
{
    local node
    for node in login n1 n2 n3 n4; do
        while on "$node" umount "$ROLLCALL_PREFIX" 2> /dev/null; do :; done
    done
}

# make_release NAME WIRE: a release $new, in $shared/NAME, whose messages have that version
make_release()
{
    local path=$ROLLCALL_PREFIX
    mkdir "$shared/$1"
    cp -a "$path/bin" "$path/lib" "$path/libexec" "$path/share" "$shared/$1"
    find "$shared/$1" -type f \( -name '*.so*' -o -name 'rollcall*' \) \
        -exec env LC_ALL=C sed -i "s/rollcall 1 /rollcall $2 /g; s/${old//./\\.}/$new/g" {} +
    "$shared/$1/bin/rollcall" --version | grep -qF "$new"
}

# gets RELEASE NODE...: they have it from now on
gets()
{
    local release=$1 node
    shift
    for node; do
        on "$node" mount --bind "$shared/$release" "$ROLLCALL_PREFIX"
    done
}

# warned LINE: that one line of rollcall's was said, and all four tasks have one port
warned()
{
    one_port 4
    said "rollcall: warning RC608: rollcall is version $1"
    [ "$(grep -c 'rollcall: ' "$err")" -eq 1 ] || explain "more than one line"
}

# A step that waits for its deadline fails here.
upgraded_step()
{
    step 40 --ddp=deadline=300 -N4 -n4
}

# refused: no task started, and one line says why
refused()
{
    failed
    unsaid '^port '
    said "rollcall: warning RC608: a node uses version [12], at .*, of the protocol, and rollcall .* here another one; no task starts; "
    [ "$(grep -c RC608 "$err")" -eq 1 ] || explain "more than one line"
}

# bats test_tags=series
@test "another wire, on some nodes or all, or on the login host alone -> no task starts, and one line has the reason" {
    gets other n4
    upgraded_step
    refused
    gets other n1 n2 n3
    upgraded_step
    refused
    gets other login
    upgraded_step
    one_port 4
    silent
}

@test "another wire, over PMIx: the server is RANK 0's node's -> no task starts" {
    [ "$mpi" = pmix ] || skip "this Slurm has no PMIx"
    gets other n3 n4
    step 40 --ddp=exchange=pmix,deadline=300 -N4 -n4
    refused
}

# bats test_tags=series
@test "the same wire: the nodes speak to each other as ever, and a warning names those that differ" {
    gets alike n3 n4
    upgraded_step
    warned "'$old' for tasks 0-1 on n\[1-2\], '$new' for tasks 2-3 on n\[3-4\]; install the same version on all nodes"
    gets alike n1 n2
    upgraded_step
    one_port 4
    silent
}

# replaces FROM: its files are put beside those of $shared/live, which slurmd and the running step have mapped, and renamed
replaces()
{
    (cd "$shared/$1" && find bin lib libexec -type f) | while IFS= read -r file; do
        cp -p "$shared/$1/$file" "$shared/live/$file.new"
        mv "$shared/live/$file.new" "$shared/live/$file"
    done
}

# bats test_tags=series
@test "a step that runs while its nodes get another release runs on, and is told why it has no roll there" {
    cp -a "$shared/alike" "$shared/live"
    gets live login n1 n2 n3 n4
    login srun --ddp -N2 -n2 \
        sh -c 'echo started; until [ -e "$0" ]; do sleep 0.1; done; echo "ended $RANK"' "$shared/over" \
        > "$BATS_TEST_TMPDIR/long" 2>&1 3>&- &
    until [ "$(grep -c started "$BATS_TEST_TMPDIR/long")" = 2 ]; do sleep 0.2; done
    replaces other
    attempt 30 srun --jobid="$(login squeue --noheader --states=RUNNING -o %i)" --overlap -N1 -n1 rollcall check
    failed
    said 'does not answer: it is of another release of rollcall'
    : > "$shared/over"
    wait $!
    [ "$(grep -c ended "$BATS_TEST_TMPDIR/long")" -eq 2 ]
    upgraded_step
    one_port 4
    silent
}
