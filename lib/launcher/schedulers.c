/* SPDX-License-Identifier: BSD-3-Clause */
/* schedulers.c - tasks of LSF's blaunch, and of PBS.
 *
 * LSF_PM_TASKID counts a blaunch's tasks from 1 (a job script has none); LSB_DJOB_NUMPROC is the number of slots.
 * LSB_MCPU_HOSTS has each host with its slots, "n1 2 n2 2": without a list of hosts blaunch starts a task per slot in
 * this order. A slot on another listed node is RC114: blaunch -z and -u choose hosts that no variable has. Rank 0
 * checks that it is on the first host.
 * Source: prrte src/mca/ess/lsf (counted from 1); IBM Spectrum LSF 10.1, environment variables and blaunch(1); OpenLava
 * lib/lib.rexec.c (LSF_PM_TASKID is the parallel job's number of the task); mpich
 * src/pm/hydra/tools/bootstrap/external/lsf_query_node_list.c, which reads only LSB_MCPU_HOSTS. */
#include "launcher/hosts.h"
#include "launcher/launcher.h"

enum rc_claim rc_lsf_recognise(struct rc_reader *reader, struct rc_facts *facts)
{
    struct rc_str text = rc_env_get(reader->env, "LSF_PM_TASKID");
    struct rc_str job = rc_env_get(reader->env, "LSB_JOBID");
    struct rc_number *rank = &facts->field[RC_RANK];
    uint32_t number;

    if (!job.n)
        return RC_CLAIM_ABSENT;
    if (!text.n)
        return RC_CLAIM_OUTSIDE;
    if (!rc_parse_u32(text, RC_MAX_TASKS, &number) || number == 0) {
        rc_say(reader->messages, RC101,
               "LSF_PM_TASKID is %pQ, not a number from 1 to %u; nothing is set; start the command "
               "with blaunch again, or unset LSF_PM_TASKID",
               &text, RC_MAX_TASKS);
        return RC_CLAIM_BROKEN;
    }
    *rank = (struct rc_number){ number - 1, "LSF_PM_TASKID" };
    rc_facts_name(reader, facts, "lsf", job);
    return RC_CLAIM_TASK;
}

_Static_assert((int)RC_HOSTFILE_BITS <= (int)RC_SCRATCH_BITS, "the filter is in the scratch");

static bool read_slots(struct rc_reader *reader, const struct rc_facts *facts, struct rc_hostfile *slots)
{
    struct rc_str text = rc_env_get(reader->env, "LSB_MCPU_HOSTS");

    if (!text.n)
        return rc_missing(reader, "LSF_PM_TASKID", "LSB_MCPU_HOSTS");
    if (!rc_hostfile_read(text, RC_HOSTFILE_PAIRS, reader->scratch, slots) || slots->repeats)
        return rc_say(reader->messages, RC105,
                      "LSB_MCPU_HOSTS is %pQ, not a list with each host once, such as n1 2 n2 1; nothing is set; "
                      "unset it if it was exported by hand",
                      &text);
    if (slots->slots == facts->field[RC_WORLD_SIZE].value)
        return true;
    return rc_say(reader->messages, RC103,
                  "LSB_MCPU_HOSTS has %u slots, but LSB_DJOB_NUMPROC is %u; nothing is set; start the command with "
                  "blaunch again",
                  slots->slots, facts->field[RC_WORLD_SIZE].value);
}

/* Return false with RC114 on another node of the list. */
static bool is_here(struct rc_reader *reader, const struct rc_facts *facts, const struct rc_hostfile *slots,
                    const struct rc_hostfile_place *place)
{
    uint32_t here;

    if (!rc_seen(reader->here, RC_LEARN_HOST, RC_ABSENT))
        return true;
    here = rc_hostfile_find(slots, reader->here->host);
    if (here == RC_UNKNOWN || here == place->index)
        return true;
    return rc_say(reader->messages, RC114,
                  "the slot of task %u is on %pS, but this is %pS; nothing is set; start the command with "
                  "blaunch alone, without -z, -u or a host",
                  facts->field[RC_RANK].value + 1, &place->host, &reader->here->host);
}

static void fill_place(struct rc_facts *facts, const struct rc_hostfile *slots, const struct rc_hostfile_place *place)
{
    struct rc_number *field = facts->field;

    field[RC_LOCAL_RANK] = (struct rc_number){ place->local, "slots before this one on its host" };
    field[RC_LOCAL_WORLD_SIZE] = (struct rc_number){ place->local_slots, "slots of this host" };
    field[RC_NODE_RANK] = (struct rc_number){ place->index, "order of the slots' hosts" };
    field[RC_NNODES] = (struct rc_number){ slots->hosts, "hosts of the slots" };
    facts->min_local_size = place->smallest;
    facts->max_local_size = place->largest;
    facts->node_order_rank = field[RC_RANK];
}

bool rc_lsf_read(struct rc_reader *reader, struct rc_facts *facts)
{
    struct rc_hostfile slots;
    struct rc_hostfile_place place;

    if (!rc_read_needed(reader, "LSF_PM_TASKID", "LSB_DJOB_NUMPROC", &facts->field[RC_WORLD_SIZE]) ||
        !read_slots(reader, facts, &slots))
        return false;
    if (!rc_hostfile_place(&slots, facts->field[RC_RANK].value, &place))
        return rc_say(reader->messages, RC103,
                      "LSF_PM_TASKID is %u, but LSB_DJOB_NUMPROC is %u; nothing is set; start the command "
                      "with blaunch again",
                      facts->field[RC_RANK].value + 1, facts->field[RC_WORLD_SIZE].value);
    if (!is_here(reader, facts, &slots, &place))
        return false;
    fill_place(facts, &slots, &place);
    facts->master_host = rc_hostfile_first(slots.text, slots.format);
    facts->master_source = "host of the first slot, checked by rank 0";
    rc_read_gpus(reader, facts);
    return true;
}

const struct rc_launcher rc_launcher_lsf = {
    .id = "lsf",
    .title = "LSF (blaunch)",
    .processes = "res|blaunch",
    .pass = "blaunch env MASTER_ADDR=HOST",
    .each = "bsub -R span[ptile=N]",
    .variables = {
        RC_VARIABLE("LSB_DJOB_NUMPROC", RC_WORLD_SIZE),
    },
};

/* A task of PBS (pbsdsh, pbs_tmrsh; OpenPBS, PBS Professional, Torque).
 *
 * The job script has PBS_NODENUM (the node's index) and PBS_TASKNUM, too: OpenPBS sets PBS_TASKNUM to 1 there, and to
 * eight hexadecimal digits, not a count, in a task; Torque sets PBS_VNODENUM only in a task. pbsdsh starts a task per
 * line of PBS_NODEFILE, with -u one per host, with -n a single one. Only with one line per host (else RC115), a task's
 * number is its node's.
 * PBS keeps PBS_NODEFILE on the first node, and OpenPBS does not export the variable: the user passes the name of a
 * shared copy (RC116). Rank 0 checks that it is on the first host.
 * Source: openpbs 23.06 src/resmom/start_exec.c (start_process, finish_exec), mom_comm.c (momtask_create),
 * src/cmds/pbsdsh.c; torque src/resmom/start_exec.c (InitUserEnv), mom_comm.c (PBS_VNODENUM). */

enum { TASK_DIGITS = 8 };

static bool is_task(const struct rc_env *env)
{
    return rc_env_get(env, "PBS_VNODENUM").n || rc_env_get(env, "PBS_TASKNUM").n >= TASK_DIGITS;
}

enum rc_claim rc_pbs_recognise(struct rc_reader *reader, struct rc_facts *facts)
{
    struct rc_str job = rc_env_get(reader->env, "PBS_JOBID");

    if (!job.n)
        return RC_CLAIM_ABSENT;
    if (!is_task(reader->env))
        return RC_CLAIM_OUTSIDE;
    if (!rc_read_needed(reader, "PBS_TASKNUM", "PBS_NODENUM", &facts->field[RC_RANK]))
        return RC_CLAIM_BROKEN;
    rc_facts_name(reader, facts, "pbs", job);
    return RC_CLAIM_TASK;
}

bool rc_pbs_read(struct rc_reader *reader, struct rc_facts *facts)
{
    struct rc_str path = rc_env_get(reader->env, "PBS_NODEFILE");
    uint32_t node = facts->field[RC_RANK].value;
    uint32_t here = RC_UNKNOWN;
    struct rc_hostfile file;

    if (!path.n || !rc_seen(reader->here, RC_LEARN_HOST_FILE, path) || reader->here->host_file_is_cut ||
        !rc_hostfile_read(reader->here->host_file, RC_HOSTFILE_LINES, reader->scratch, &file))
        return rc_say(reader->messages, RC116,
                      "this task of PBS does not see PBS_NODEFILE, which is on the first node only; nothing is set; "
                      "copy it: cp $PBS_NODEFILE nodes; pbsdsh env PBS_NODEFILE=$PWD/nodes rollcall exec -- COMMAND");
    if (file.repeats)
        return rc_say(reader->messages, RC115,
                      "PBS_NODEFILE names a host several times, and PBS does not number the tasks of one host; nothing "
                      "is set; ask for one slot a host (mpiprocs=1, ppn=1) and start torchrun there, or use mpirun");
    if (rc_seen(reader->here, RC_LEARN_HOST, RC_ABSENT))
        here = rc_hostfile_find(&file, reader->here->host);
    if (here != RC_UNKNOWN && here != node)
        return rc_say(reader->messages, RC114,
                      "PBS_NODENUM is %u, but this node, %pS, is number %u in PBS_NODEFILE; nothing is set; "
                      "pass a copy of this very job's file",
                      node, &reader->here->host, here);
    rc_facts_one_a_node(facts, (struct rc_number){ file.hosts, "hosts in PBS_NODEFILE" });
    facts->master_host = rc_hostfile_first(file.text, file.format);
    facts->master_source = "first host in PBS_NODEFILE, checked by rank 0";
    rc_read_gpus(reader, facts);
    return true;
}

const struct rc_launcher rc_launcher_pbs = {
    .id = "pbs",
    .title = "PBS (pbsdsh)",
    .processes = "pbs_mom",
    .pass = "pbsdsh env MASTER_ADDR=HOST",
    .variables = {
        RC_VARIABLE("PBS_NODENUM", RC_NODE_RANK),
    },
};
