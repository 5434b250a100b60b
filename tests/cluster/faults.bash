# SPDX-License-Identifier: BSD-3-Clause
# faults.bash - how something goes wrong in the exchange of a step, and what must be true then. After helpers.bash.
#
# A fault is a script that another plugin runs before rollcall's in the first task of a node (programs/fault.c), or one in
# the place of rollcall-exchange or rollcall-pmix on that node: nodes have mounts of their own.

# shellcheck disable=SC2154 # mpi, shared, out and status come from helpers.bash

helper=$ROLLCALL_PREFIX/libexec/rollcall/rollcall-exchange

# faults_up ARGUMENT...: cluster_up with these, in setup_file; $transports are the ways to meet.
faults_up()
{
    local folder=$tree/build/faults${SERIES:+-$SERIES}
    mkdir -p "$folder"
    gcc -O2 -Wall -Wextra -Werror -shared -fPIC ${SERIES:+-I "$tree/build/slurm-$SERIES/include"} \
        -o "$folder/fault.$$" "$programs/fault.c"
    mv "$folder/fault.$$" "$folder/fault.so"
    plugin_before=$folder/fault.so cluster_up "$@"
    # nodes see the same files, wherever what they call / is
    mkdir -p "$shared/real"
    cp -r "${helper%/*}"/* "$shared/real"
    export transports='srun pmix'
    [ "$mpi" = pmix ] || transports=srun
}

# faults_end: in teardown.
faults_end()
{
    local node
    [ -z "${walled:-}" ] || firewall n1 -F
    rm -f "$shared"/fault.n?
    for node in n1 n2 n3 login; do
        while on "$node" umount "$helper" 2> /dev/null || on "$node" umount "${helper%/*}/rollcall-pmix" 2> /dev/null ||
            on "$node" umount "$plugin_file" 2> /dev/null; do :; done
    done
}

# firewall NODE RULE...: iptables, in the node's network; a node of another series has no such program.
firewall()
{
    # the one that lives as long as the node
    nsenter --target "$(pgrep -o -f "minicluster:[^ ]*/$MINICLUSTER_NAME:$1( |\$)")" --net iptables "${@:2}"
}

needs_firewall()
{
    firewall n1 -A INPUT -p tcp --dport 1 -j REJECT --reject-with tcp-reset || skip "this kernel has no such firewall"
    firewall n1 -F
    walled=yes
}

# inject NODE...: standard input is what runs there before the node calls, until the test ends.
inject()
{
    local node
    { echo '#!/bin/sh'; cat; } > "$shared/fault.new"
    chmod 755 "$shared/fault.new"
    for node; do
        cp -p "$shared/fault.new" "$shared/fault.$node"
    done
}

# changes EXPRESSION NODE...: sed's, of what the node sends to srun's server.
changes()
{
    inject "${@:2}" <<< "exec '$PYTHON' '$programs/between.py' change '$1'"
}

# helper_is NAME NODE...: standard input is what that program is there, until the test ends; the real one is $real.
helper_is()
{
    local name=$1 script node
    shift
    script=$shared/helper.$BATS_TEST_NUMBER.$1
    { printf '#!/bin/sh\nreal=%s/%s\n' "$shared/real" "$name"; cat; } > "$script"
    chmod 755 "$script"
    for node; do
        on "$node" mount --bind "$script" "${helper%/*}/$name"
    done
}

# at_server NODE COMMAND: what comes before the server that an srun of that node starts, in its shell
at_server()
{
    local script=$shared/server.$BATS_TEST_NUMBER
    printf '#!/bin/sh\n[ "$1" != server ] || { %s; }\nexec %s/rollcall-exchange "$@"\n' "$2" "$shared/real" > "$script"
    chmod 755 "$script"
    on "$1" mount --bind "$script" "$helper"
}

# step SECONDS SRUN-ARGUMENT...: its tasks say "port RANK MASTER_PORT".
step()
{
    local seconds=$1
    shift
    attempt "$seconds" srun "$@" /bin/sh -c 'echo "port $RANK $MASTER_PORT"'
}

# one_port COUNT: the step succeeded; so many tasks have started, all with one port.
one_port()
{
    succeeded && ports "$1"
}

# meets COUNT SECONDS SRUN-ARGUMENT...: a step of which that is true.
meets()
{
    step "${@:2}"
    one_port "$1"
}

# ports COUNT: so many tasks have started, all with one port, however the step ended.
ports()
{
    [ "$(grep -c '^port [0-9]' "$out")" -eq "$1" ] || explain "not $1 tasks" || return 1
    [ "$(sed -n 's/^port [0-9]* //p' "$out" | sort -u | wc -l)" -eq 1 ] || explain "not one port"
}

# Processes of rollcall-exchange and rollcall-pmix on any node, zombies too; there may be no third one.
count_helpers()
{
    local node
    for node in login n1 n2 n3; do
        on "$node" sh -c 'cat /proc/[0-9]*/comm' 2> /dev/null || true
    done | grep -cE '^rollcall-(exchan|pmix)' || true
}

# Nothing of it stays: it may take a moment to end; a store server that is left alone by Slurm, some seconds.
nothing_remains()
{
    local tries
    for tries in {1..300}; do
        [ "$(count_helpers)" -ne 0 ] || return 0
        sleep 0.1
    done
    explain "after $tries tries there are $(count_helpers) processes of rollcall's"
}
