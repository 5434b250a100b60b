# SPDX-License-Identifier: BSD-3-Clause
# cgroup.bash - device cgroups (version 1), a part of this machine's trees for each node
#
# Slurm makes /slurm/uid_0/job_1/... in them, the same on every node: so each node has a folder of its
# own, which is the root of the tree for it (a cgroup namespace, and a mount in the machine's place).

# shellcheck shell=bash disable=SC2154 # state, name, ... come from common.bash

cgroup_top=/sys/fs/cgroup
# devices: task/cgroup with ConstrainDevices; freezer: proctrack/cgroup
cgroup_trees=(devices freezer)

# The cluster's folder in a tree, in one word
cgroup_folder()
{
    echo "$cgroup_top/$1/minicluster${state//\//!}"
}

# Stops unless this machine and this Slurm can do it.
check_cgroups()
{
    local tree folder plugins probe made=yes
    for tree in "${cgroup_trees[@]}"; do
        # only version 1 has this file
        [ -e "$cgroup_top/$tree/tasks" ] ||
            die "--gpu-cgroup: no cgroup tree of version 1 is mounted at $cgroup_top/$tree"
        folder=$(cgroup_folder "$tree")
        [ -d "$folder" ] || { mkdir "$folder" && rmdir "$folder"; } 2> /dev/null ||
            die "--gpu-cgroup: $cgroup_top/$tree cannot be written to"
    done
    probe=$(mktemp -d) || exit 1
    mknod "$probe/gpu" c 240 0 2> /dev/null || made=no
    rm -r -- "$probe"
    [ $made = yes ] || die "--gpu-cgroup: no device can be made here (mknod is not permitted)"
    for plugins in "$root"/usr/{lib,lib64}{,/*}/slurm*/task_cgroup.so; do
        [ -e "${plugins%/*}/cgroup_v1.so" ] || die "--gpu-cgroup: Slurm $series has no plugin cgroup/v1"
    done
}

make_cgroups()
{
    local tree node
    for tree in "${cgroup_trees[@]}"; do
        for node in "${node_names[@]}"; do
            mkdir -p "$(cgroup_folder "$tree")/$node" || die "--gpu-cgroup: no folder for $node in $cgroup_top/$tree"
        done
    done
}

# enter_cgroups NODE: this process, and all that it starts
enter_cgroups()
{
    local tree
    for tree in "${cgroup_trees[@]}"; do
        echo 0 > "$(cgroup_folder "$tree")/$1/cgroup.procs" || return 1
    done
}

# own_cgroups NODE TOP: what is at the trees' places below TOP from now on is the node's part of them
own_cgroups()
{
    local tree
    for tree in "${cgroup_trees[@]}"; do
        mount --bind "$2$(cgroup_folder "$tree")/$1" "$2$cgroup_top/$tree" || return 1
    done
}

# A process that is frozen would not even be killed.
thaw_cgroups()
{
    local file
    while IFS= read -r file; do
        echo THAWED > "$file"
    done < <(find "$(cgroup_folder freezer)" -name freezer.state 2> /dev/null)
}

# When no process is left. The last ones may take a moment to leave a folder.
remove_cgroups()
{
    local tree folder tries
    for tree in "${cgroup_trees[@]}"; do
        folder=$(cgroup_folder "$tree")
        for ((tries = 0; tries < 100; tries++)); do
            [ -d "$folder" ] || continue 2
            find "$folder" -depth -type d -exec rmdir {} + 2> /dev/null
            [ ! -d "$folder" ] || sleep 0.03
        done
        say "the cgroup $folder is in use, and therefore kept"
        return 1
    done
}
