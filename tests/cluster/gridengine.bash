# SPDX-License-Identifier: BSD-3-Clause
# gridengine.bash - a real Grid Engine on the cluster's nodes: Debian's, which need_gridengine of tests/setup/fetch.bash
# has unpacked in $ROLLCALL_GRIDENGINE. Sourced after helpers.bash.
#
#   has_grid_engine         in setup_file: leaves the file's tests out where there is none
#   grid_engine_up          once a file: sge_qmaster on login, sge_execd on n1 to n3, two slots each; the parallel
#                           environments mpi (two slots a host) and node (one)
#   qsub_job QSUB-ARGUMENT...   a job script's commands are standard input; waits for the job, $status is its
#                           exit status, and its output comes to $out.
#
# Everything lies in $sge_root, below the cluster's folder, but the daemons' own files on a node, which are in its
# /tmp, as on most sites. It ends with the nodes' process namespace.

# shellcheck shell=bash disable=SC2154,SC2016 # variables of helpers.bash; expanded on the nodes

sge_packages=${ROLLCALL_GRIDENGINE:-$tree/build/gridengine}/usr

has_grid_engine()
{
    [ -z "${SERIES:-}" ] || leave_out "Grid Engine is linked with this machine's libraries, not those of Slurm $SERIES" || return
    [ -x "$sge_packages/lib/gridengine/sge_qmaster" ] || leave_out "no Grid Engine in ${sge_packages%/usr}"
}

grid_engine_up()
{
    sge_root=$shared/gridengine
    sge=(-e SGE_ROOT="$sge_root" -e SGE_CELL=default -e SGE_QMASTER_PORT=6444 -e SGE_EXECD_PORT=6445)
    sge_path=$sge_root/bin/lx-amd64
    if [ ! -e "$sge_root/ready" ]; then
        # what did not come up is not tried again: it would only take as long again
        [ ! -e "$sge_root" ] || {
            echo "Grid Engine did not come up before" >&2
            return 1
        }
        grid_engine_folder && grid_engine_start || explain_grid_engine || return 1
        : > "$sge_root/ready"
    fi
}

explain_grid_engine()
{
    {
        echo "Grid Engine does not come up"
        tail -n 20 "$sge_root"/*.log "$sge_root/default/qmaster/messages"
        on n1 cat /tmp/execd/n1/messages
    } >&2
    return 1
}

# The layout that Grid Engine has by itself; Debian's packages spread it over /usr.
grid_engine_folder()
{
    local program
    mkdir -p "$sge_root"/{bin,lib,utilbin,default/common,default/qmaster/job_scripts} || return 1
    cp -r "$sge_packages/lib/gridengine" "$sge_path" && cp -r "$sge_packages/share/gridengine/util" "$sge_root" &&
        ln -s ../bin/lx-amd64 "$sge_root/lib/lx-amd64" && ln -s ../bin/lx-amd64 "$sge_root/utilbin/lx-amd64" || return 1
    # Debian's programs look for the spooling library in /usr/lib/gridengine only, which is not to be there. With
    # its name alone they look in their own lib/lx-amd64, as Grid Engine's do.
    for program in sge_qmaster spoolinit spooldefaults.bin; do
        LC_ALL=C sed -i 's#/usr/lib/gridengine/%s%s#%s%s\x00/usr/lib/gridengine#' "$sge_path/$program" || return 1
    done
    echo login > "$sge_root/default/common/act_qmaster"
    cat > "$sge_root/default/common/bootstrap" <<CONF
admin_user none
default_domain none
ignore_fqdn true
spooling_method classic
spooling_lib libspoolc
spooling_params $sge_root/default/common;$sge_root/default/qmaster
binary_path $sge_root/bin
qmaster_spool_dir $sge_root/default/qmaster
security_mode none
listener_threads 2
worker_threads 2
scheduler_threads 1
CONF
    # root's jobs are let in, no mail is sent, and nothing waits for a minute
    sed -e 's#^\(execd_spool_dir\).*#\1 /tmp/execd#' -e 's#^\(min_[ug]id\).*#\1 0#' -e 's#^\(mailer\).*#\1 /bin/true#' \
        -e 's#^\(load_report_time\).*#\1 00:00:01#' "$sge_packages/share/gridengine/default-configuration" \
        > "$sge_root/configuration" || return 1
    parallel_environment mpi 2 > "$sge_root/mpi"
    parallel_environment node 1 > "$sge_root/node"
    queue > "$sge_root/queue"
}

# parallel_environment NAME SLOTS-PER-HOST
parallel_environment()
{
    printf '%s\n' "pe_name $1" 'slots 999' 'user_lists NONE' 'xuser_lists NONE' 'start_proc_args NONE' \
        'stop_proc_args NONE' "allocation_rule $2" 'control_slaves TRUE' 'job_is_first_task FALSE' 'urgency_slots min' \
        'accounting_summary FALSE' 'qsort_args NONE'
}

# The hosts in the order of their numbers, however busy they are: a test says which one is the first.
queue()
{
    local name
    printf '%s\n' 'qname all.q' 'hostlist n1 n2 n3' 'seq_no 1,[n2=2],[n3=3]' 'qtype BATCH INTERACTIVE' \
        'pe_list mpi node' 'rerun FALSE' 'slots 2' 'tmpdir /tmp' 'shell /bin/bash' 'shell_start_mode unix_behavior' \
        'priority 0' 'nsuspend 1' 'suspend_interval 00:05:00' 'min_cpu_interval 00:05:00' 'notify 00:00:60' \
        'processors UNDEFINED' 'initial_state default'
    for name in load_thresholds suspend_thresholds ckpt_list prolog epilog starter_method suspend_method resume_method \
        terminate_method owner_list user_lists xuser_lists subordinate_list complex_values projects xprojects calendar; do
        echo "$name NONE"
    done
    for name in rt cpu fsize data stack core rss vmem; do
        printf '%s INFINITY\n' "s_$name" "h_$name"
    done
}

grid_engine_start()
{
    local node
    # Both daemons return when they are up, and their children are.
    on -i "${sge[@]}" login timeout 60 bash -ec '
        cd "$SGE_ROOT" && PATH=$PATH:$SGE_ROOT/bin/lx-amd64
        spoolinit classic libspoolc "$SGE_ROOT/default/common;$SGE_ROOT/default/qmaster" init
        spooldefaults.bin configuration "$SGE_ROOT/configuration"
        spooldefaults.bin complexes "$SGE_ROOT/util/resources/centry"
        spooldefaults.bin usersets "$SGE_ROOT/util/resources/usersets"
        spooldefaults.bin managers root
        sge_qmaster
        until qconf -sh > /dev/null 2>&1; do sleep 0.1; done
        qconf -ssconf | sed "s/^schedule_interval.*/schedule_interval 0:0:1/
            s/^flush_\(submit\|finish\)_sec.*/flush_\1_sec 1/; s/^queue_sort_method.*/queue_sort_method seqno/" > scheduler
        qconf -Msconf scheduler && qconf -ah n1,n2,n3 && qconf -as login && qconf -Ap mpi && qconf -Ap node
    ' > "$sge_root/qmaster.log" 2>&1 < /dev/null 3>&- || return 1
    for node in n1 n2 n3; do
        on -i "${sge[@]}" "$node" timeout 20 bash -c 'mkdir -p /tmp/execd && "$SGE_ROOT/bin/lx-amd64/sge_execd"' \
            > "$sge_root/$node.log" 2>&1 < /dev/null 3>&- || return 1
    done
    # a queue is ready on a host whose load it knows, when no letter stands behind the host's architecture
    on -i "${sge[@]}" login timeout 60 bash -ec '
        cd "$SGE_ROOT" && PATH=$PATH:$SGE_ROOT/bin/lx-amd64
        until [ "$(qconf -sel | grep -cx "n[123]")" = 3 ]; do sleep 0.1; done
        qconf -Aq queue
        until [ "$(qstat -f | grep -cE "^all\.q@n[123] .* lx-amd64 *$")" = 3 ]; do sleep 0.1; done
    ' > "$sge_root/queue.log" 2>&1 < /dev/null 3>&-
}

qsub_job()
{
    grid_engine_up || return 1
    batch_script
    rm -f "$shared/batch.out"
    attempt 180 env SGE_ROOT="$sge_root" SGE_CELL=default SGE_QMASTER_PORT=6444 SGE_EXECD_PORT=6445 \
        PATH="$PATH:$sge_path" PRELOAD="$preload" qsub -sync y -V -j y -o "$shared/batch.out" "$@" "$shared/batch.sh"
    # ended by the clock: why, and the next one finds the slots free
    [ "$status" -lt 124 ] || on -i "${sge[@]}" login sh -c '
        PATH=$PATH:$SGE_ROOT/bin/lx-amd64; qstat -f; qstat -j "*"; qdel -f -u root' >> "$err" 2>&1
    [ ! -e "$shared/batch.out" ] || cat "$shared/batch.out" >> "$out"
}
