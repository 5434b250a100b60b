# SPDX-License-Identifier: BSD-3-Clause
# common.bash - names, messages, and how a cluster's processes are found

# shellcheck shell=bash disable=SC2034,SC2154 # what the parts share

base=${MINICLUSTER_STATE:-/var/lib/minicluster}
# A node's copy of this program knows where it is, whatever a job's environment has lost.
if [ -r "$here/../here/node" ]; then
    base=$(readlink -f -- "$here/../..")
fi
roots=${MINICLUSTER_ROOTS:-/var/lib/minicluster-roots}
system_path=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin

say()
{
    printf 'minicluster: %s\n' "$*" >&2
}

die()
{
    say "$*"
    exit 1
}

die_usage()
{
    say "$*; see minicluster --help"
    exit 2
}

# use_name NAME: sets name and state. Inside a node there is only one cluster to mean.
use_name()
{
    local marks
    if [ -z "$1" ]; then
        marks=("$base"/*/here/node)
        if [ ${#marks[@]} -eq 1 ]; then
            name=${marks[0]%/here/node}
            name=${name##*/}
        else
            name=default
        fi
    else
        name=$1
    fi
    [[ $name =~ ^[A-Za-z0-9][A-Za-z0-9_.-]{0,31}$ ]] ||
        die_usage "name '$name' is not letters, digits, '_', '.', '-' (32 at most)"
    state=$base/$name
}

need_root()
{
    [ "$EUID" -eq 0 ] || die "needs root: namespaces and virtual links are made"
}

# value OPTION COUNT: stops unless a value follows OPTION
value()
{
    [ "$2" -ge 2 ] || die_usage "option $1 needs a value"
}

# only_name COMMAND ARGUMENT...: use_name, of a command that has no other option
only_name()
{
    local command=$1 wanted=''
    shift
    while [ $# -gt 0 ]; do
        case $1 in
            --name) value "$1" $#; wanted=$2; shift ;;
            --name=*) wanted=${1#*=} ;;
            *) die_usage "unknown argument '$1' of $command" ;;
        esac
        shift
    done
    use_name "$wanted"
}

# first_processes MARK: the ids of processes with MARK as one of their arguments that are the first
# of a process namespace. A process id kept in a file could by now be another process's; an argument
# that holds the state folder's name cannot.
first_processes()
{
    local file line ids
    while IFS= read -r file; do
        file=${file%/cmdline}
        while IFS= read -r line; do
            if [[ $line == NSpid:* ]]; then
                read -ra ids <<< "${line#NSpid:}"
                [ ${#ids[@]} -gt 1 ] && [ "${ids[-1]}" = 1 ] && echo "${file#/proc/}"
            fi
        done 2> /dev/null < "$file/status"
    done < <(marked_files "$1")
}

# grep reads the mark from a pipe: as an argument of its own, grep would find itself.
marked_files()
{
    # shellcheck disable=SC2062 # not a pattern: files
    printf '%s\n' "$1" | grep -lzxFs -f - /proc/[0-9]*/cmdline
}

# The same for any process, first or not.
marked_processes()
{
    local file
    while IFS= read -r file; do
        file=${file%/cmdline}
        echo "${file#/proc/}"
    done < <(marked_files "$1")
}

holder_mark()
{
    echo "minicluster:$state"
}

node_mark()
{
    echo "minicluster:$state:$1"
}

# read_settings: what `up` has noted; sets node_names, series, root, ...
read_settings()
{
    [ -r "$state/settings" ] || return 1
    # shellcheck source=/dev/null
    . "$state/settings"
}
