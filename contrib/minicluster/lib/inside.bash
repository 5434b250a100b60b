# SPDX-License-Identifier: BSD-3-Clause
# inside.bash - what runs in the namespaces: the holder, a node's first process, a command

# shellcheck shell=bash disable=SC2154 # state, name, ... come from common.bash

subnet=10.77
fabric_subnet=10.78
subnet6=fd00:77::

# The holder: first process of the cluster's process namespace, in the network namespace of the switch.
holder_main()
{
    local node number=0
    state=$2
    read_settings || exit 1
    ip link set lo up
    make_switch br0 || exit 1
    [ -z "$fabric" ] || make_switch br1 || exit 1
    for node in login "${node_names[@]}"; do
        unshare --mount --net --uts --ipc -- \
            "$BASH" "$self" __wire "wire:$state" "$state" "$node" "$number" < /dev/null &
        number=$((number + 1))
    done
    # As the first process it also inherits the orphans of its children: bash reaps that.
    while :; do
        wait
        sleep infinity &
    done
}

make_switch()
{
    ip link add "$1" type bridge forward_delay 0 stp_state 0 && ip link set "$1" up
}

# address_of NUMBER [SUBNET]: of a node; of the login node for 0
address_of()
{
    local net=${2:-$subnet}
    if [ "$ipv6" = yes ]; then
        printf '%s%x\n' "$subnet6" $(($1 + 1))
    elif [ "$1" -eq 0 ]; then
        echo "$net.255.1"
    else
        echo "$net.$(($1 / 250)).$(($1 % 250 + 1))"
    fi
}

# plug_in INTERFACE PORT SWITCH ADDRESS/BITS: a link from this node to a switch, where process 1 is
plug_in()
{
    ip link add "$1" type veth peer name "$2" netns 1 || return 1
    case $4 in
        # An IPv6 address is otherwise of no use for the second or two that the kernel asks who else has it.
        *:*) ip addr add "$4" dev "$1" nodad ;;
        *) ip addr add "$4" dev "$1" ;;
    esac && ip link set "$1" up && nsenter --net=/proc/1/ns/net -- ip link set "$2" master "$3" up
}

# Wires a node to the switch. Still in the holder's process namespace, where the switch is process 1.
wire_main()
{
    local node=$3 number=$4 bits=16
    state=$2
    read_settings || exit 1
    local -a spaces=(--pid)
    [ "$ipv6" = no ] || bits=64
    if [ "$gpu_cgroup" = yes ] && [ "$node" != login ]; then
        enter_cgroups "$node" || exit 1
        spaces+=(--cgroup)
    fi
    ip link set lo up && plug_in eth0 "port$number" br0 "$(address_of "$number")/$bits" || exit 1
    if [ -n "$fabric" ]; then
        plug_in "$fabric" "fabric$number" br1 "$(ipv6=no address_of "$number" $fabric_subnet)/16" || exit 1
    fi
    exec unshare --fork "${spaces[@]}" --kill-child -- \
        "$BASH" "$self" __node "minicluster:$state:$node" "$state" "$node"
}

# A /dev of the node's own, in which are the GPUs that it claims and what else this machine's has.
own_devices()
{
    local dev=$1 table=$2 entry gpu
    local -a links=() folders=()
    mount -t tmpfs -o mode=755,nosuid tmpfs "$dev" || return 1
    for entry in /dev/*; do
        case $entry in
            /dev/nvidia[0-9]* | /dev/tty[0-9]* | /dev/vcs* | *[[:space:]]*) continue ;;
        esac
        if [ -L "$entry" ]; then
            links+=("$entry")
            continue
        elif [ "$entry" = /dev/ptmx ]; then
            # The kernel looks for pts beside it, where a bind mount's own folder is not.
            mknod -m 666 "$dev/ptmx" c 5 2 2> /dev/null || ln -s pts/ptmx "$dev/ptmx" || return 1
            continue
        elif [ -d "$entry" ]; then
            folders+=("$dev/${entry##*/}")
        else
            : > "$dev/${entry##*/}" || return 1
        fi
        echo "$entry $dev/${entry##*/} none rbind"
    done > "$table"
    # one process each, whatever there is
    [ ${#folders[@]} -eq 0 ] || mkdir "${folders[@]}" || return 1
    [ ${#links[@]} -eq 0 ] || cp -P -- "${links[@]}" "$dev" || return 1
    mount --all --fstab "$table" || return 1
    # 240 is a major number set aside for local use: nothing answers there. open() fails with ENXIO
    # or ENODEV where the cgroup allows the device, and with EPERM where it does not.
    for ((gpu = 0; gpu < gpus; gpu++)); do
        mknod -m 666 "$dev/nvidia$gpu" c 240 "$gpu" 2> /dev/null || : > "$dev/nvidia$gpu"
    done
}

# A node's own view of the machine. All mounts are in its mount namespace and vanish with it.
furnish()
{
    local node=$1 own=$state/node/$1 top='' file folder devices=all
    mount --make-rprivate / || return 1
    [ "$gpus" -eq 0 ] || [ "$node" = login ] || devices=own
    if [ -n "$root" ]; then
        # A root folder with a Slurm of its own: becomes / of the node, with the machine's devices,
        # the state folder and what the user asked for in it.
        top=$own/root
        mount --bind "$root" "$top" || return 1
        [ "$devices" = own ] || mount --rbind /dev "$top/dev" || return 1
        for folder in "$state" "${binds[@]}"; do
            if [ -d "$folder" ]; then
                mkdir -p "$top$folder" || return 1
            elif [ ! -e "$top$folder" ]; then
                mkdir -p "$top${folder%/*}" && : >> "$top$folder" || return 1
            fi
            mount --bind "$folder" "$top$folder" || return 1
        done
    fi
    if [ "$devices" = own ]; then
        own_devices "$own/dev" "$own/fstab" && mount --move "$own/dev" "$top/dev" || return 1
    fi
    mount -t proc -o nosuid,nodev,noexec proc "$top/proc" &&
        mount --bind "$own/tmp" "$top/tmp" &&
        mount --bind "$own" "$top$state/here" &&
        mount -t tmpfs -o mode=1777,nosuid,nodev tmpfs "$top/dev/shm" || return 1
    # Names come from files alone: a query to the outside finds no route and waits for its timeout.
    for file in hosts resolv.conf nsswitch.conf; do
        [ -e "$top/etc/$file" ] || continue
        mount --bind "$state/etc/$file" "$(readlink -f "$top/etc/$file")" || return 1
    done
    # Only a new sysfs shows the node's own network links; the cgroup tree is carried over into it.
    if mount --rbind /sys/fs/cgroup "$own/cgroup" 2> /dev/null; then
        if mount -t sysfs -o nosuid,nodev,noexec sysfs "$top/sys"; then
            mount --rbind "$own/cgroup" "$top/sys/fs/cgroup"
        fi
        umount -l "$own/cgroup"
    fi
    if [ "$gpu_cgroup" = yes ] && [ "$node" != login ]; then
        own_cgroups "$node" "$top" || return 1
    fi
    if [ -n "$top" ]; then
        # For a moment the old root is mounted over the new one; "." is the old one then.
        cd "$top" && pivot_root . . && umount -l . && cd / || return 1
        hash -r
    fi
    printf '%s\n' "$node" > /proc/sys/kernel/hostname
}

daemon()
{
    local log=$1
    shift
    setsid env -i --default-signal=INT,QUIT PATH="$system_path" HOME=/root LANG=C.UTF-8 \
        SLURM_CONF="$state/slurm.conf" "$@" < /dev/null >> "$log" 2>&1 3>&- 4>&- &
}

# A node's first process: starts its daemon and serves requests from other nodes.
node_main()
{
    local node=$3 request
    state=$2
    read_settings || exit 1
    furnish "$node" || exit 1
    # Held as long as this process lives, which is how others know that it does.
    exec 4> "$state/node/$node/alive" && flock -n 4 || exit 1
    # Opened for reading and writing, so that it has a reader and a writer at any time.
    exec 3<> "$state/node/$node/door" || exit 1
    if [ "$node" = login ]; then
        daemon "$state/log/slurmctld.out" slurmctld -D -f "$state/slurm.conf"
    else
        daemon "$state/log/slurmd.$node.out" slurmd -D -f "$state/slurm.conf"
    fi
    while :; do
        if read -r -u 3 request; then
            serve "$request"
        fi
    done
}

# serve "start ID" or "signal ID NAME"
serve()
{
    local verb id what
    read -r verb id what <<< "$1"
    [ -d "$state/door/$id" ] || return
    case $verb in
        start) serve_start "$state/door/$id" 3>&- 4>&- & ;;
        signal) kill -s "$what" -- "-$(cat "$state/door/$id/pid")" 2> /dev/null ;;
    esac
}

serve_start()
{
    local box=$1 folder pid status argv environment
    # Opened first: when this process dies, the other side reads the end of the file.
    exec 5> "$box/status"
    mapfile -d '' -t argv < "$box/argv"
    mapfile -d '' -t environment < "$box/environment"
    folder=$(cat "$box/folder")
    setsid env -i --default-signal=INT,QUIT "--chdir=$folder" "${environment[@]}" "PWD=$folder" "${argv[@]}" \
        < "$box/in" > "$box/out" 2> "$box/err" 5>&- &
    pid=$!
    echo "$pid" > "$box/pid"
    wait "$pid"
    status=$?
    echo "$status" >&5
}

# __forward MARK FOREGROUND FOLDER COUNT VAR=VALUE... COMMAND...
# In the node's namespaces, but a child of the caller's shell and seen by the machine's process ids.
forward_main()
{
    local foreground=$2 folder=$3 count=$4 child status signal caught=1 session=(setsid)
    local -a environment
    shift 4
    environment=("${@:1:count}")
    shift "$count"
    # On a terminal Ctrl-C reaches the command by itself, and must not a second time.
    [ "$foreground" = yes ] && session=()
    # shellcheck disable=SC2064
    for signal in HUP INT QUIT TERM USR1 USR2 CONT; do
        trap "caught=1; pass $signal $foreground" $signal
    done
    [ -d "$folder" ] || {
        say "folder $folder is not there on this node, using / (each node has a /tmp of its own)"
        folder=/
    }
    child=
    "${session[@]}" setpriv --pdeathsig KILL -- env -i --default-signal=INT,QUIT "--chdir=$folder" \
        "${environment[@]}" "PWD=$folder" "$@" <&0 &
    child=$!
    while [ -n "$caught" ]; do
        caught=
        # bash would print a line about a command that was killed.
        wait "$child" 2> /dev/null
        status=$?
    done
    exit "$status"
}

# pass SIGNAL FOREGROUND: hands a signal on; child is the caller's
pass()
{
    [ -n "$child" ] || return
    # In the foreground the terminal tells the command about the first two.
    case $2:$1 in
        yes:INT | yes:QUIT) ;;
        yes:*) kill -s "$1" "$child" ;;
        *) kill -s "$1" -- "-$child" ;;
    esac 2> /dev/null
}
