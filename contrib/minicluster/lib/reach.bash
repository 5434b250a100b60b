# SPDX-License-Identifier: BSD-3-Clause
# reach.bash - run and rsh: a command on a node, from the machine or from another node

# shellcheck shell=bash disable=SC2154 # state, name, ... come from common.bash

# Sets environment to what a command gets.
compose_environment()
{
    local clean=$1 variable
    shift
    environment=()
    if [ "$clean" = yes ]; then
        environment=("PATH=$system_path:$state/bin" "HOME=${HOME:-/root}" USER=root LOGNAME=root SHELL=/bin/bash
            LANG=C.UTF-8 ${TERM:+"TERM=$TERM"})
    else
        while IFS= read -r variable; do
            case $variable in
                # Last, so that `minicluster rsh` is found on a node wherever it came from.
                PATH) environment+=("PATH=$PATH:$state/bin") ;;
                SLURM_* | SBATCH_* | SALLOC_* | TMPDIR | SHLVL | PWD | OLDPWD | _) ;;
                *) environment+=("$variable=${!variable}") ;;
            esac
        done < <(compgen -e)
    fi
    environment+=("SLURM_CONF=$state/slurm.conf" "MINICLUSTER_NAME=$name" "MINICLUSTER_STATE=$base"
        "MINICLUSTER_SHARED=$state/shared")
    for variable; do
        case $variable in
            *=*) environment+=("$variable") ;;
            *) [ -n "${!variable+set}" ] && environment+=("$variable=${!variable}") ;;
        esac
    done
}

known_node()
{
    local node
    for node in login "${node_names[@]}"; do
        [ "$node" = "$1" ] && return
    done
    return 1
}

# reach NODE FOLDER COMMAND...: does not return
reach()
{
    local node=$1 folder=$2 here pid
    local -a spaces=()
    shift 2
    read_settings || die "no cluster named '$name' in $base: start it with minicluster up --name $name"
    known_node "$node" || die "no node '$node' in cluster '$name': it has login ${node_names[*]}"
    if [ -r "$state/here/node" ]; then
        here=$(cat "$state/here/node")
        if [ "$here" = "$node" ]; then
            [ -d "$folder" ] || folder=/
            exec env -i "--chdir=$folder" "${environment[@]}" "PWD=$folder" "$@"
        fi
        ask_node "$node" "$folder" "$@"
    fi
    need_root
    pid=$(first_processes "$(node_mark "$node")")
    [ -n "$pid" ] || die "node '$node' of cluster '$name' is not running: minicluster down --name $name, then up"
    # Entering another mount namespace loses the current folder. This process does not fork: it stays the caller's
    # child, and the command is its grandchild, already in the node's process namespace.
    [ "$gpu_cgroup" = no ] || [ "$node" = login ] || spaces=(--cgroup)
    exec nsenter --target "$pid" --mount --uts --ipc --net --pid "${spaces[@]}" --no-fork -- \
        /bin/bash "$state/bin/minicluster" __forward "forward:$state" "$(foreground)" "$folder" \
        "${#environment[@]}" "${environment[@]}" "$@"
}

# yes when this process is in the foreground of a terminal
foreground()
{
    local -a stat
    read -r stat < "/proc/$$/stat"
    # The name may hold blanks: count after it. Then: state ppid pgrp session tty tpgid
    read -ra stat <<< "${stat##*) }"
    if [ "${stat[4]}" != 0 ] && [ "${stat[5]}" = "${stat[2]}" ]; then
        echo yes
    else
        echo no
    fi
}

# ask_node NODE FOLDER COMMAND...: a process namespace cannot be entered from a sibling, so the other node's
# first process is asked to run the command, with named pipes between.
ask_node()
{
    local node=$1 folder=$2 door=$state/node/$1/door box copier copiers stdin_copier status='' signal tries
    shift 2
    if ! [ -e "$state/node/$node/alive" ] || flock -n "$state/node/$node/alive" true; then
        die "node '$node' of cluster '$name' is not running"
    fi
    box=$(mktemp -d "$state/door/XXXXXXXX") || exit 1
    mkfifo "$box/in" "$box/out" "$box/err" "$box/status" || exit 1
    printf '%s\0' "$@" > "$box/argv"
    printf '%s\0' "${environment[@]}" > "$box/environment"
    [ -d "$folder" ] || folder=/
    printf '%s' "$folder" > "$box/folder"
    # shellcheck disable=SC2064
    for signal in HUP INT QUIT TERM USR1 USR2; do
        trap "echo 'signal ${box##*/} $signal' > '$door'" $signal
    done
    cat <&0 > "$box/in" &
    stdin_copier=$!
    cat < "$box/out" &
    copiers=($!)
    cat < "$box/err" >&2 &
    copiers+=($!)
    echo "start ${box##*/}" > "$door"
    exec 6< "$box/status"
    # A signal interrupts the read; the node's death ends it.
    until read -r -u 6 status; do
        [ $? -gt 128 ] || break
    done
    kill "$stdin_copier" 2> /dev/null
    # A daemon that the command left may keep the output open for good. What has come is still handed on,
    # however slow the reader: a copier is ended only when it has waited for more for a while.
    for ((tries = 0; tries < 10; tries++)); do
        for copier in "${copiers[@]}"; do
            case $(cat "/proc/$copier/wchan" 2> /dev/null) in
                '' | 0 | *pipe_read*) ;;
                *) tries=0 ;;
            esac
        done
        kill -0 "${copiers[0]}" 2> /dev/null || kill -0 "${copiers[1]}" 2> /dev/null || break
        sleep 0.05
    done
    kill "${copiers[@]}" 2> /dev/null
    rm -rf --one-file-system "$box"
    exit "${status:-255}"
}

cmd_run()
{
    local wanted='' clean=no
    local -a extra=() environment
    while [ $# -gt 0 ]; do
        case $1 in
            --name) value "$1" $#; wanted=$2; shift ;;
            --name=*) wanted=${1#*=} ;;
            -e) value "$1" $#; extra+=("$2"); shift ;;
            -i) clean=yes ;;
            --) shift; break ;;
            -*) die_usage "unknown option '$1' of run" ;;
            *) break ;;
        esac
        shift
    done
    [ $# -ge 1 ] || die_usage "run needs a node and a command"
    [ $# -ge 2 ] || die_usage "run needs a command after the node '$1'"
    use_name "$wanted"
    compose_environment "$clean" "${extra[@]}"
    reach "$1" "$PWD" "${@:2}"
}

cmd_rsh()
{
    local wanted='' node
    local -a environment
    while [ $# -gt 0 ]; do
        case $1 in
            --name) value "$1" $#; wanted=$2; shift ;;
            --name=*) wanted=${1#*=} ;;
            # Options that Open MPI and others pass to ssh; they mean nothing here.
            -x | -X | -n | -q | -T) ;;
            --) shift; break ;;
            -*) die_usage "unknown option '$1' of rsh" ;;
            *) break ;;
        esac
        shift
    done
    [ $# -ge 2 ] || die_usage "rsh needs a node and a command line"
    use_name "$wanted"
    node=$1
    shift
    compose_environment yes
    reach "$node" "${HOME:-/root}" /bin/bash -c "$*"
}
