/* SPDX-License-Identifier: BSD-3-Clause */
/* schedulers.c - a task that LSF's blaunch started.
 *
 * LSF_PM_TASKID counts the tasks of a blaunch from 1; LSB_DJOB_NUMPROC is the number of the job's slots. LSB_MCPU_HOSTS
 * has each host with its slots, "n1 2 n2 2"; LSB_HOSTS says the same with a word for each slot, in jobs that are not
 * too large for it. A job script has them too, but no LSF_PM_TASKID: it is no task.
 *
 * The rule:
 * - rank = LSF_PM_TASKID - 1, size = LSB_DJOB_NUMPROC;
 * - blaunch without a list of hosts starts a task for each slot, in the order of the list: the slots before this one on
 *   its host make its local rank, the order of the hosts the nodes. A list that names a host twice is refused (RC105);
 * - so the list has as many slots as the size (RC103), and the slot of this task is on this very node, if the list has
 *   this node by its own name (RC114): blaunch -z and -u choose other hosts, which no variable names;
 * - rank 0 is on the host of the first slot. It compares that with its own addresses.
 * Source: prrte src/mca/ess/lsf (counted from 1); IBM Spectrum LSF 10.1, environment variables and blaunch(1); OpenLava
 * lib/lib.rexec.c, where LSF_PM_TASKID is the number that the parallel job has given to the task; mpich
 * src/pm/hydra/tools/bootstrap/external/lsf_query_node_list.c, which reads LSB_MCPU_HOSTS alone. */
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

/* Whether this node is, by its own name, another one of the list. */
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

/* A task that PBS itself started: pbsdsh, pbs_tmrsh (OpenPBS, PBS Professional, Torque).
 *
 * PBS_JOBID, PBS_NODENUM (this node's place in the job) and PBS_TASKNUM are in
 * the job script as well as in a task. The script is no task of a launch:
 * - OpenPBS writes PBS_TASKNUM as 1 there and as eight hexadecimal digits into a
 *   task, a number that tells tasks apart but does not count them;
 * - Torque gives a task, and only that, PBS_VNODENUM, the place of its slot.
 * Which other tasks were started, PBS does not say: pbsdsh starts one for each line of PBS_NODEFILE, with -u one a
 * host, with -n a single one. Only where each host has one line these are the same, and a task's number is its node's.
 *
 * The rule:
 * - one task a node: rank = node rank = PBS_NODENUM, local rank 0 of 1;
 * - PBS_NODEFILE tells the number of nodes. PBS keeps the file on the first node only, and OpenPBS does not hand the
 *   variable on: the user copies the file to where all nodes see it and passes the copy's name (RC116 says how);
 * - a host with several lines: RC115;
 * - this node, by its own name, has to be at PBS_NODENUM's place in the file, if it is there at all (RC114);
 * - rank 0 is on the file's first host. It compares that with its own addresses.
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
