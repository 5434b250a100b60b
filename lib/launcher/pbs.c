/* SPDX-License-Identifier: BSD-3-Clause */
/* pbs.c - a task that PBS itself started: pbsdsh, pbs_tmrsh (OpenPBS, PBS Professional, Torque).
 *
 * PBS_JOBID, PBS_NODENUM (this node's place in the job) and PBS_TASKNUM are in
 * the job script as well as in a task. The script is no task of a launch:
 * - OpenPBS writes PBS_TASKNUM as 1 there and as eight hexadecimal digits into a
 *   task, a number that tells tasks apart but does not count them;
 * - Torque gives a task, and only that, PBS_VNODENUM, the place of its slot.
 * Which tasks were started besides, PBS does not say: pbsdsh starts one for each
 * line of PBS_NODEFILE, with -u one a host, with -n a single one. Only where
 * each host has one line these are the same, and the task's number is its node's.
 *
 * The rule:
 * - one task a node: rank = node rank = PBS_NODENUM, local rank 0 of 1;
 * - PBS_NODEFILE tells the number of nodes. PBS keeps the file on the first node
 *   only, and OpenPBS does not hand the variable on: the user copies the file to
 *   where all nodes see it and passes the copy's name (RC116 says how). Where it
 *   cannot be read, Torque's PBS_NUM_NODES counts the nodes, if PBS_NUM_PPN is 1;
 * - a host with several lines, or PBS_NUM_PPN above 1: RC115;
 * - this node, by its own name, has to be at PBS_NODENUM's place in the file, if
 *   it is there at all (RC114); Torque's PBS_VNODENUM has to be PBS_NODENUM
 *   (RC103), which also holds because no host has two slots;
 * - rank 0 is on the file's first host. It compares that with its own addresses.
 * Source: openpbs 23.06 src/resmom/start_exec.c (start_process, finish_exec),
 * mom_comm.c (momtask_create), src/cmds/pbsdsh.c; torque src/resmom/start_exec.c
 * (InitUserEnv), mom_comm.c (PBS_VNODENUM).
 */
#include "launcher/hostfile.h"
#include "launcher/registry.h"

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
    if (!rc_read_number(reader, RC_STR("PBS_NODENUM"), RC_MAX_TASKS, &facts->field[RC_RANK]) ||
        !rc_need_field(reader, facts, RC_RANK, "PBS_TASKNUM", "PBS_NODENUM"))
        return RC_CLAIM_BROKEN;
    rc_facts_name(reader, facts, "pbs", job);
    return RC_CLAIM_TASK;
}

static bool refuse_several(struct rc_reader *reader, const char *what)
{
    rc_message_add(reader->messages, RC115,
                   rc_format(reader->arena,
                             "%s, and PBS does not number the tasks of one host; nothing is set; ask for one slot a "
                             "host (mpiprocs=1, ppn=1) and start torchrun there, or use mpirun",
                             what));
    return false;
}

static bool from_file(struct rc_reader *reader, struct rc_facts *facts, const struct rc_hostfile *file)
{
    uint32_t node = facts->field[RC_RANK].value;
    uint32_t here = RC_UNKNOWN;
    struct rc_str name;

    if (file->slots != file->hosts)
        return refuse_several(
            reader, rc_format(reader->arena, "PBS_NODEFILE has %u slots on %u hosts", file->slots, file->hosts));
    if (rc_learned(reader, RC_LEARN_HOST))
        here = rc_hostfile_find(file, reader->here->host);
    if (here != RC_UNKNOWN && here != node) {
        rc_message_add(reader->messages, RC114,
                       rc_format(reader->arena,
                                 "PBS_NODENUM is %u, but this node, %S, is number %u in PBS_NODEFILE; nothing is set; "
                                 "pass a copy of this very job's file",
                                 node, &reader->here->host, here));
        return false;
    }
    facts->field[RC_NNODES] = (struct rc_number){ file->hosts, "hosts in PBS_NODEFILE" };
    if (rc_hostfile_nth(file, 0, &name, NULL)) {
        facts->master_host = name;
        facts->master_source = "first host in PBS_NODEFILE, checked by rank 0";
    }
    return true;
}

static bool from_counts(struct rc_reader *reader, struct rc_facts *facts)
{
    struct rc_number nodes;
    struct rc_number each;

    if (!rc_read_number(reader, RC_STR("PBS_NUM_NODES"), RC_MAX_TASKS, &nodes) ||
        !rc_read_number(reader, RC_STR("PBS_NUM_PPN"), RC_MAX_TASKS / 256, &each))
        return false;
    if (nodes.value == RC_UNKNOWN || each.value == RC_UNKNOWN) {
        rc_message_add(reader->messages, RC116,
                       "this task of PBS does not see PBS_NODEFILE, which is on the first node only; nothing is set; "
                       "copy it: cp $PBS_NODEFILE nodes; pbsdsh env PBS_NODEFILE=$PWD/nodes rollcall exec -- COMMAND");
        return false;
    }
    if (each.value != 1)
        return refuse_several(reader, rc_format(reader->arena, "PBS_NUM_PPN is %u", each.value));
    facts->field[RC_NNODES] = nodes;
    return true;
}

/* PBS_VNODENUM is Torque's number of the slot. With one slot a node that is the node's. */
static bool agrees_with_vnodenum(struct rc_reader *reader, const struct rc_facts *facts)
{
    struct rc_number slot;

    if (!rc_read_number(reader, RC_STR("PBS_VNODENUM"), RC_MAX_TASKS, &slot))
        return false;
    if (slot.value == RC_UNKNOWN || slot.value == facts->field[RC_RANK].value)
        return true;
    rc_message_add(reader->messages, RC103,
                   rc_format(reader->arena,
                             "PBS_NODENUM is %u, but PBS_VNODENUM is %u; nothing is set; start the command with pbsdsh "
                             "again",
                             facts->field[RC_RANK].value, slot.value));
    return false;
}

bool rc_pbs_read(struct rc_reader *reader, struct rc_facts *facts)
{
    struct rc_str path = rc_env_get(reader->env, "PBS_NODEFILE");
    struct rc_number *field = facts->field;
    struct rc_hostfile file;
    bool good;

    if (path.n && rc_learned_file(reader, path) &&
        rc_hostfile_read(reader->here->host_file, RC_HOSTFILE_LINES, reader->node_set, &file))
        good = from_file(reader, facts, &file);
    else
        good = from_counts(reader, facts);
    if (!good || !agrees_with_vnodenum(reader, facts))
        return false;
    field[RC_NODE_RANK] = field[RC_RANK];
    field[RC_WORLD_SIZE] = field[RC_NNODES];
    field[RC_LOCAL_RANK] = (struct rc_number){ 0, "one task a node" };
    field[RC_LOCAL_WORLD_SIZE] = (struct rc_number){ 1, "one task a node" };
    facts->min_local_size = facts->max_local_size = 1;
    facts->node_order_rank = field[RC_RANK];
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
