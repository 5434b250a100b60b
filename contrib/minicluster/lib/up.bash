# SPDX-License-Identifier: BSD-3-Clause
# up.bash - up, status, down

# shellcheck shell=bash disable=SC2154,SC2034 # what the parts share

make_state()
{
    local node
    mkdir -p "$state"/{bin,etc,log,door,here,node,spool/slurmctld,shared} || exit 1
    chmod 1777 "$state/shared"
    for node in login "${node_names[@]}"; do
        mkdir -p "$state/node/$node"/{tmp,cgroup,dev,root} "$state/spool/$node${domain:+.$domain}" || exit 1
        chmod 1777 "$state/node/$node/tmp"
        echo "$node" > "$state/node/$node/node"
        mkfifo -m 600 "$state/node/$node/door" || exit 1
    done
    # The nodes run a copy: the original may lie below /tmp, or change.
    cp -r -- "$here/minicluster" "$here/lib" "$state/bin/" || exit 1
    [ "$gpu_cgroup" = no ] || make_cgroups
}

start_holder()
{
    (
        # Nothing of the caller's stays open in what outlives it: a test runner would wait for it.
        for fd in "/proc/$BASHPID/fd"/*; do
            fd=${fd##*/}
            [ "$fd" -le 2 ] || eval "exec $fd>&-"
        done
        cd /
        exec env -i PATH="$system_path" HOME=/root LANG=C.UTF-8 MINICLUSTER_STATE="$base" \
            setsid unshare --fork --pid --kill-child --mount-proc --net --ipc -- \
            /bin/bash "$state/bin/minicluster" __holder "$(holder_mark)" "$state"
    ) < /dev/null > "$state/log/holder.log" 2>&1 &
    disown
}

# In the cluster: the state of the nodes, one line each
node_states()
{
    "$self" run --name "$name" -i login sinfo -h -N -o '%N %T' 2>> "$state/log/up.log"
}

wait_ready()
{
    local deadline=$((SECONDS + 60 + ${#node_names[@]})) idle states
    until [ -n "$(first_processes "$(node_mark login)")" ]; do
        [ $SECONDS -lt $deadline ] || { reason="the login node did not start"; return 1; }
        sleep 0.1
    done
    while :; do
        states=$(node_states)
        idle=$(grep -c ' idle$' <<< "$states")
        [ "$idle" -lt ${#node_names[@]} ] || break
        if reason=$(grep -hoEs 'fatal: .*' "$state"/log/slurm*); then
            reason=${reason%%$'\n'*}
            return 1
        fi
        if [ $SECONDS -ge $deadline ]; then
            reason="$idle of ${#node_names[@]} nodes are idle: ${states//$'\n'/, }"
            return 1
        fi
        sleep 0.1
    done
    timeout 60 "$self" run --name "$name" -i login srun -N "${#node_names[@]}" true > "$state/log/up.log" 2>&1 || {
        reason="the first step failed: $(tail -n 1 "$state/log/up.log")"
        return 1
    }
}

cmd_up()
{
    local wanted='' nodes=2 cpus=4 gpus=0 mpi=none prefix=n plugstack='' slurm='' from='' number reason log lock
    local ipv6=no fabric='' domain='' gpu_cgroup=no topology=''
    local -a conf_lines=() node_names=() binds=()
    local series root began=$EPOCHREALTIME
    while [ $# -gt 0 ]; do
        case $1 in
            --*=*) set -- "${1%%=*}" "${1#*=}" "${@:2}" ;;
        esac
        case $1 in
            --ipv6)
                ipv6=yes
                shift
                continue
                ;;
            --gpu-cgroup)
                gpu_cgroup=yes
                shift
                continue
                ;;
            --fabric) value "$1" $#; fabric=$2 ;;
            --topology) value "$1" $#; topology=$2 ;;
            --domain) value "$1" $#; domain=$2 ;;
            --name) value "$1" $#; wanted=$2 ;;
            --nodes) value "$1" $#; nodes=$2 ;;
            --cpus) value "$1" $#; cpus=$2 ;;
            --gpus) value "$1" $#; gpus=$2 ;;
            --mpi) value "$1" $#; mpi=$2 ;;
            --prefix) value "$1" $#; prefix=$2 ;;
            --slurm) value "$1" $#; slurm=$2 ;;
            --root) value "$1" $#; from=$2 ;;
            --plugstack) value "$1" $#; plugstack=$2 ;;
            --conf) value "$1" $#; conf_lines+=("$2") ;;
            --bind)
                value "$1" $#
                [ -e "$2" ] || die_usage "--bind: '$2' is not there"
                binds+=("$(readlink -f -- "$2")")
                ;;
            *) die_usage "unknown option '$1' of up" ;;
        esac
        shift 2
    done
    [[ $nodes =~ ^[1-9][0-9]{0,2}$ ]] || die_usage "--nodes '$nodes' is not a number from 1 to 999"
    [[ $cpus =~ ^[1-9][0-9]{0,3}$ ]] || die_usage "--cpus '$cpus' is not a number from 1 to 9999"
    [[ $gpus =~ ^[0-9]{1,2}$ ]] || die_usage "--gpus '$gpus' is not a number from 0 to 99"
    [ "$gpu_cgroup" = no ] || [ "$gpus" -gt 0 ] || die_usage "--gpu-cgroup needs --gpus"
    [[ $prefix =~ ^[a-z]([a-z0-9-]{0,30}[a-z-])?$ ]] ||
        die_usage "--prefix '$prefix' is not lower case letters, digits and dashes, a letter first and no digit last"
    [[ $fabric =~ ^([a-z]{1,8}[0-9]{1,2})?$ && $fabric != eth0 ]] ||
        die_usage "--fabric '$fabric' is not the name of an interface, such as ib0"
    [[ $domain =~ ^([a-z][a-z0-9-]*(\.[a-z][a-z0-9-]*)*)?$ ]] || die_usage "--domain '$domain' is not a domain"
    [ -z "$topology" ] || [ -n "$(topology_kind "$topology")" ] ||
        die_usage "--topology '$topology' is neither a topology.conf nor such as tree:n[3-4],n[1-2]"
    [[ $mpi =~ ^[a-z0-9_]+$ ]] || die_usage "--mpi '$mpi' is not the name of a plugin"
    [ -z "$plugstack" ] || [ -r "$plugstack" ] || die_usage "--plugstack: cannot read '$plugstack'"
    use_name "$wanted"
    need_root
    case $(readlink -m -- "$state")/ in
        /tmp/*) die "state folder $state is below /tmp, which every node has its own of: set MINICLUSTER_STATE" ;;
    esac
    # slurmstepd makes sockets below it, and a socket's path has 107 characters at most.
    [ ${#state} -le 60 ] || die "state folder $state is longer than 60 characters: set MINICLUSTER_STATE"
    choose_slurm "$slurm" "$from"
    [ "$(topology_kind "$topology")" != block ] || [ "${series/./}" -ge 2311 ] ||
        die "--topology: Slurm $series has no topology/block, 23.11 and newer have"
    check_machine
    [ "$gpu_cgroup" = no ] || check_cgroups
    # The node's own /etc/hosts is mounted over it; debootstrap and mmdebstrap make none.
    [ -e "$root/etc/hosts" ] || : > "$root/etc/hosts" || die "there is no $root/etc/hosts: make one, an empty one will do"
    mkdir -p -- "$base" || exit 1
    # One at a time, until the holder is there for others to see.
    exec {lock}< "$base"
    flock "$lock"
    [ -z "$(first_processes "$(holder_mark)")" ] || die "cluster '$name' is up already: minicluster down --name $name"
    clean_up || exit 1
    for ((number = 1; number <= nodes; number++)); do
        node_names+=("$prefix$number")
    done
    trap 'clean_up; trap - EXIT; exit 130' INT TERM HUP
    make_state
    write_settings
    write_hosts
    write_slurm_conf
    [ -z "$topology" ] || write_topology
    start_holder
    exec {lock}<&-
    if ! wait_ready; then
        say "cluster '$name' did not become ready: $reason"
        for log in "$state"/log/*; do
            [ -s "$log" ] && tail -n 5 "$log" | sed "s|^|${log##*/}: |" >&2
        done
        clean_up
        exit 1
    fi
    number=$(((${EPOCHREALTIME/[.,]/} - ${began/[.,]/}) / 100000))
    echo "cluster '$name': Slurm $series, login and ${node_names[0]}..${node_names[-1]}, ready in $((number / 10)).$((number % 10)) s"
}

# gone MARK: kills the processes and waits until none is left. At first that of a namespace which all others in it end
# with: its parent ends after the last of them.
gone()
{
    local pids tries
    pids=$(first_processes "$1")
    # shellcheck disable=SC2046,SC2086 # one or more ids
    kill -KILL ${pids:-$(marked_processes "$1")} 2> /dev/null
    for ((tries = 1; tries <= 100; tries++)); do
        pids=$(marked_processes "$1")
        [ -n "$pids" ] || return 0
        # shellcheck disable=SC2086
        [ $((tries % 20)) -ne 0 ] || kill -KILL $pids 2> /dev/null
        sleep 0.03
    done
    say "cluster '$name' does not end: process ${pids//$'\n'/ }"
    return 1
}

# clean_up: ends what runs of this cluster and removes its folder; also after a crash
clean_up()
{
    local unmade=''
    thaw_cgroups
    # The holder is the first process of a namespace: when it ends, the kernel ends all others in it, whatever their
    # session. The processes outside that carry the holder's mark wait for that.
    gone "$(holder_mark)" || return 1
    # Their commands have ended with the nodes, but a stopped process would keep a namespace.
    gone "forward:$state" || return 1
    remove_cgroups || return 1
    [ -e "$state" ] || return 0
    # Never remove through a mount.
    if grep -qF " $state/" /proc/self/mountinfo; then
        say "something is mounted below $state, which is therefore kept: $(grep -oF " $state/" /proc/self/mountinfo | head -n 1)"
        return 1
    fi
    # In a subshell: `up` has set the same variables by now.
    unmade=$(read_settings && echo "$root")
    rm -rf --one-file-system -- "$state" || return 1
    # The root folder had a folder to mount the state on.
    [ -z "$unmade" ] || rmdir -p --ignore-fail-on-non-empty -- "$unmade$state" 2> /dev/null
    rmdir --ignore-fail-on-non-empty -- "$base" 2> /dev/null
    return 0
}

cmd_down()
{
    only_name down "$@"
    need_root
    clean_up
}

# The process namespaces that hold a slurmd or slurmctld. Slurm itself misses one only after a while.
daemon_spaces()
{
    local file
    # shellcheck disable=SC2062 # not a pattern: files
    for file in $(printf '%s\n' slurmd slurmctld | grep -lxFs -f - /proc/[0-9]*/comm); do
        readlink "${file%/comm}/ns/pid"
    done
}

cmd_status()
{
    local states node word pid space running missing=0
    only_name status "$@"
    read_settings || { echo "cluster '$name': not there"; exit 1; }
    echo "cluster '$name': Slurm $series, state in $state"
    states=
    running=$(daemon_spaces)
    for node in login "${node_names[@]}"; do
        pid=$(first_processes "$(node_mark "$node")")
        space=$(readlink "/proc/${pid:-none}/ns/pid")
        word=$(sed -n "s/^$node${domain:+.$domain} //p" <<< "$states")
        if [ -z "$pid" ]; then
            word="stopped"
        elif ! grep -qxF "$space" <<< "$running"; then
            word="its daemon is not running"
        elif [ "$node" = login ]; then
            # It comes first, and its sinfo says the states of the other nodes.
            states=$(timeout 10 "$self" run --name "$name" -i login sinfo -h -N -o '%N %T' 2> /dev/null)
            [ -z "$states" ] || word="slurmctld answers"
        fi
        echo "  $node: ${word:-slurmctld does not answer}"
        case $word in
            '' | stopped | its* | *'*' | down* | unknown*) missing=1 ;;
        esac
    done
    exit $missing
}
