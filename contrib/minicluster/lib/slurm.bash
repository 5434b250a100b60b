# SPDX-License-Identifier: BSD-3-Clause
# slurm.bash - which Slurm, what the machine lacks, and Slurm's configuration

# shellcheck shell=bash disable=SC2154,SC2034 # what the parts share

# lacks TOOL:PACKAGE...: adds to missing and packages what is not in the root folder or here
lacks()
{
    local top=$1 entry tool package folder
    shift
    for entry; do
        tool=${entry%:*}
        package=${entry#*:}
        for folder in ${system_path//:/ }; do
            [ ! -x "$top$folder/$tool" ] || continue 2
        done
        missing+=" $tool"
        [[ " $packages " == *" $package "* ]] || packages+=" $package"
    done
}

# Reports all that is missing at once.
check_machine()
{
    local missing='' packages='' complaint=
    local -a slurm_tools=(slurmctld:slurmctld slurmd:slurmd srun:slurm-client sinfo:slurm-client)
    lacks "" unshare:util-linux nsenter:util-linux setpriv:util-linux setsid:util-linux flock:util-linux \
        mount:mount ip:iproute2 grep:grep sed:sed
    [ -n "$root" ] || lacks "" "${slurm_tools[@]}"
    [[ $packages != *slurm* ]] || packages+=" slurm-wlm-basic-plugins"
    [ -z "$missing" ] || {
        say "not found:$missing; install with: apt-get install --no-install-recommends$packages"
        complaint=yes
    }
    if [ -n "$root" ]; then
        missing=''
        packages=''
        lacks "$root" bash:bash env:coreutils setpriv:util-linux flock:util-linux mount:mount "${slurm_tools[@]}"
        [[ $packages != *slurm* ]] || packages+=" slurm-wlm-basic-plugins"
        [ -z "$missing" ] || {
            say "not found in $root:$missing; install with:" \
                "chroot $root apt-get install --no-install-recommends$packages"
            complaint=yes
        }
    fi
    [ -z "$complaint" ] || exit 1
}

# The series of the Slurm in a root folder, or of the installed one. Not asked of srun: without a
# configuration it would look for one in the DNS.
series_in()
{
    local text
    if [ -n "$1" ]; then
        text=$(PATH=$system_path chroot "$1" slurmctld -V 2> /dev/null)
    else
        text=$(PATH=$system_path slurmctld -V 2> /dev/null)
    fi
    [[ $text =~ ([0-9]+\.[0-9]+) ]] && echo "${BASH_REMATCH[1]}"
}

# choose_slurm SERIES FOLDER: sets series and root, the root folder to take it from (empty: the installed one)
choose_slurm()
{
    local wanted=$1 from=$2 installed folder list
    local -a found=()
    if [ -n "$from" ]; then
        root=$(readlink -f -- "$from")
        [ -x "$root/usr/sbin/slurmctld" ] || die "there is no Slurm in '$from'"
        series=$(series_in "$root")
        [ -n "$series" ] && [ "${wanted:-$series}" = "$series" ] ||
            die "$root holds Slurm ${series:-that does not start}, not ${wanted:-one that starts}"
        return
    fi
    installed=$(series_in "")
    root=
    series=$installed
    if [ -z "$wanted" ] || [ "$wanted" = "$installed" ]; then
        return
    fi
    root=$roots/$wanted
    if [ -x "$root/usr/sbin/slurmctld" ]; then
        root=$(readlink -f -- "$root")
        series=$(series_in "$root")
        [ "$series" = "$wanted" ] || die "$root holds Slurm ${series:-that does not start}, not $wanted: rename it"
        return
    fi
    for folder in "$roots"/*/usr/sbin/slurmctld; do
        folder=${folder%/usr/sbin/slurmctld}
        found+=("${folder##*/} (in $roots)")
    done
    found+=(${installed:+"$installed (installed)"})
    printf -v list '%s, ' "${found[@]:-none}"
    die "no Slurm $wanted, only: ${list%, }; make it with $here/make-root $wanted"
}

write_settings()
{
    {
        declare -p node_names series root binds ipv6 fabric domain gpus gpu_cgroup
    } | sed 's/^declare /declare -g /' > "$state/settings"
}

write_hosts()
{
    local node number=0
    {
        echo "127.0.0.1 localhost"
        [ "$ipv6" = no ] || echo "::1 localhost"
        for node in login "${node_names[@]}"; do
            echo "$(address_of $number)${domain:+ $node.$domain} $node"
            [ -z "$fabric" ] ||
                echo "$(ipv6=no address_of $number $fabric_subnet)${domain:+ $node-${fabric%%[0-9]*}.$domain} $node-${fabric%%[0-9]*}"
            number=$((number + 1))
        done
    } > "$state/etc/hosts"
    : > "$state/etc/resolv.conf"
    sed 's/^hosts:.*/hosts: files/' "$root/etc/nsswitch.conf" > "$state/etc/nsswitch.conf"
}

write_slurm_conf()
{
    local line gres='' last=$((gpus - 1)) proctrack=linuxproc node number=0
    if [ "$gpus" -gt 0 ]; then
        gres=" Gres=gpu:$gpus"
        echo "Name=gpu File=/dev/nvidia[0-$last]" > "$state/gres.conf"
        [ "$last" -gt 0 ] || echo "Name=gpu File=/dev/nvidia0" > "$state/gres.conf"
    fi
    [ "$gpu_cgroup" = no ] || proctrack=cgroup
    cat > "$state/slurm.conf" << CONF
ClusterName=$name
SlurmctldHost=login($(address_of 0))
AuthType=auth/none
CredType=cred/none
SlurmUser=root
SlurmdUser=root
StateSaveLocation=$state/spool/slurmctld
SlurmdSpoolDir=$state/spool/%n
SlurmctldPidFile=$state/spool/slurmctld.pid
SlurmdPidFile=$state/spool/%n.pid
SlurmctldLogFile=$state/log/slurmctld.log
SlurmdLogFile=$state/log/slurmd.%n.log
SlurmctldSyslogDebug=quiet
SlurmdSyslogDebug=quiet
PlugStackConfig=$state/plugstack.conf
ProctrackType=proctrack/$proctrack
MpiDefault=$mpi
# Memory is not counted: it is the machine's, whatever a node claims.
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
PropagateResourceLimits=NONE
GresTypes=gpu
# A cluster that lives for minutes should not wait for half of them.
ReturnToService=2
SchedulerType=sched/backfill
SchedulerParameters=batch_sched_delay=0,sched_interval=1,bf_interval=1
KillWait=2
# sbatch --wait asks at least twice in this time: every 8 s, and not every 32
MinJobAge=16
SlurmctldTimeout=30
SlurmdTimeout=30
MailProg=/bin/true
CONF
    {
        [ "$gpu_cgroup" = no ] || echo "TaskPlugin=task/cgroup"
        [ -z "$topology" ] || echo "TopologyPlugin=topology/$(topology_kind "$topology")"
        [ "$ipv6" = no ] || echo "CommunicationParameters=EnableIPv6,DisableIPv4"
        for node in "${node_names[@]}"; do
            number=$((number + 1))
            echo "NodeName=$node${domain:+.$domain NodeHostname=$node} NodeAddr=$(address_of $number)" \
                "CPUs=$cpus State=UNKNOWN$gres"
        done
        echo "PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP OverSubscribe=YES:64"
        for line in "${conf_lines[@]}"; do
            printf '%s\n' "$line"
        done
    } >> "$state/slurm.conf"
    if [ "$gpu_cgroup" = yes ]; then
        printf '%s\n' CgroupPlugin=cgroup/v1 "CgroupMountpoint=$cgroup_top" ConstrainDevices=yes > "$state/cgroup.conf"
    # Without this a slurmd from 23.11 on wants a cgroup tree that it may write to.
    elif [ "${series/./}" -ge 2311 ]; then
        echo "CgroupPlugin=disabled" > "$state/cgroup.conf"
    fi
    if [ -n "$plugstack" ]; then
        cat -- "$plugstack"
    fi > "$state/plugstack.conf"
}

# topology_kind FILE|SPEC: tree, block and so on, as TopologyPlugin names it; nothing for what is neither
topology_kind()
{
    local line
    if [[ $1 =~ ^(tree|block):[^[:space:]]+$ ]]; then
        echo "${1%%:*}"
    elif [ -f "$1" ]; then
        while read -r line; do
            case ${line,,} in
                switchname=*) echo tree; break ;;
                blockname=* | blocksizes=*) echo block; break ;;
                ringname=*) echo ring; break ;;
            esac
        done < "$1"
    fi
}

# Slurm 26.05 reads topology.conf as well: topology.yaml only adds several topologies in one cluster.
write_topology()
{
    local kind=${topology%%:*} group number=0
    case $topology in
        tree:* | block:*) ;;
        *) cat -- "$topology" > "$state/topology.conf"; return ;;
    esac
    # A comma in brackets is within a group.
    while read -r group; do
        number=$((number + 1))
        case $kind in
            tree) echo "SwitchName=s$number Nodes=$group" ;;
            block) echo "BlockName=b$number Nodes=$group" ;;
        esac
    done < <(grep -oE '([^],[]|\[[^]]*\])+' <<< "${topology#*:}") > "$state/topology.conf"
    [ "$kind" != tree ] || echo "SwitchName=top Switches=s[1-$number]" >> "$state/topology.conf"
}
