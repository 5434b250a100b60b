/* SPDX-License-Identifier: BSD-3-Clause */
/* lsf.c - a task that LSF's blaunch started.
 *
 * LSF_PM_TASKID counts the tasks of a blaunch from 1; LSB_DJOB_NUMPROC is the
 * number of the job's slots. LSB_HOSTS has a word for each slot; a job with too
 * many for one variable has LSB_MCPU_HOSTS only, "n1 2 n2 2". A job script has
 * them too, but no LSF_PM_TASKID: it is no task.
 *
 * The rule:
 * - rank = LSF_PM_TASKID - 1, size = LSB_DJOB_NUMPROC;
 * - blaunch without a list of hosts starts a task for each slot, in the order
 *   of the list: the slots before this one on the same host make its local
 *   rank, the different hosts, in the order of their first slots, the nodes;
 * - so the list has as many slots as the size (RC103), and the slot of this task
 *   is on this very node, if the list has this node by its own name (RC114):
 *   blaunch -z and -u choose other hosts, which no variable names;
 * - rank 0 is on the host of the first slot. It compares that with its own
 *   addresses.
 * Source: prrte src/mca/ess/lsf (counted from 1); IBM Spectrum LSF 10.1,
 * environment variables and blaunch(1); OpenLava lib/lib.rexec.c, where
 * LSF_PM_TASKID is the number that the parallel job has given to the task.
 */
#include "launcher/hostfile.h"
#include "launcher/layout.h"
#include "launcher/registry.h"

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
        rc_message_add(reader->messages, RC101,
                       rc_format(reader->arena,
                                 "LSF_PM_TASKID is %q, not a number from 1 to %u; nothing is set; start the command "
                                 "with blaunch again, or unset LSF_PM_TASKID",
                                 &text, RC_MAX_TASKS));
        return RC_CLAIM_BROKEN;
    }
    *rank = (struct rc_number){ number - 1, "LSF_PM_TASKID" };
    rc_facts_name(reader, facts, "lsf", job);
    return RC_CLAIM_TASK;
}

static bool read_slots(struct rc_reader *reader, const struct rc_facts *facts, struct rc_hostfile *slots)
{
    struct rc_str words = rc_env_get(reader->env, "LSB_HOSTS");
    struct rc_str pairs = rc_env_get(reader->env, "LSB_MCPU_HOSTS");
    const char *name = words.n ? "LSB_HOSTS" : "LSB_MCPU_HOSTS";
    struct rc_str text = words.n ? words : pairs;

    if (!text.n) {
        rc_message_add(reader->messages, RC102,
                       "LSF_PM_TASKID is set but LSB_HOSTS and LSB_MCPU_HOSTS are not; nothing is set; pass the "
                       "launcher's whole environment to the command");
        return false;
    }
    if (!rc_hostfile_read(text, words.n ? RC_HOSTFILE_WORDS : RC_HOSTFILE_PAIRS, reader->node_set, slots)) {
        rc_message_add(reader->messages, RC105,
                       rc_format(reader->arena,
                                 "%s is %q, not a list such as %s; nothing is set; unset it if it was exported by hand",
                                 name, &text, words.n ? "n1 n1 n2" : "n1 2 n2 1"));
        return false;
    }
    if (slots->slots == facts->field[RC_WORLD_SIZE].value)
        return true;
    rc_message_add(reader->messages, RC103,
                   rc_format(reader->arena,
                             "%s has %u slots, but LSB_DJOB_NUMPROC is %u; nothing is set; start the command with "
                             "blaunch again",
                             name, slots->slots, facts->field[RC_WORLD_SIZE].value));
    return false;
}

/* Whether this node is, by its own name, another one of the list. */
static bool is_here(struct rc_reader *reader, const struct rc_facts *facts, const struct rc_hostfile *slots,
                    const struct rc_hostfile_place *place)
{
    uint32_t here;

    if (!rc_learned(reader, RC_LEARN_HOST))
        return true;
    here = rc_hostfile_find(slots, reader->here->host);
    if (here == RC_UNKNOWN || here == place->index)
        return true;
    rc_message_add(reader->messages, RC114,
                   rc_format(reader->arena,
                             "the slot of task %u is on %S, but this is %S; nothing is set; start the command with "
                             "blaunch alone, without -z, -u or a host",
                             facts->field[RC_RANK].value + 1, &place->host, &reader->here->host));
    return false;
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
    if (place->slots_before == RC_UNKNOWN) {
        /* a host's slots do not follow each other: as far as this one can tell */
        rc_layout_spread(facts);
    } else {
        facts->node_order_rank = (struct rc_number){ place->slots_before + place->local, "order of the slots" };
    }
}

bool rc_lsf_read(struct rc_reader *reader, struct rc_facts *facts)
{
    struct rc_hostfile slots;
    struct rc_hostfile_place place;

    if (!rc_read_number(reader, RC_STR("LSB_DJOB_NUMPROC"), RC_MAX_TASKS, &facts->field[RC_WORLD_SIZE]) ||
        !rc_need_field(reader, facts, RC_WORLD_SIZE, "LSF_PM_TASKID", "LSB_DJOB_NUMPROC") ||
        !read_slots(reader, facts, &slots))
        return false;
    if (!rc_hostfile_place(&slots, facts->field[RC_RANK].value, &place)) {
        rc_message_add(reader->messages, RC103,
                       rc_format(reader->arena,
                                 "LSF_PM_TASKID is %u, but LSB_DJOB_NUMPROC is %u; nothing is set; start the command "
                                 "with blaunch again",
                                 facts->field[RC_RANK].value + 1, facts->field[RC_WORLD_SIZE].value));
        return false;
    }
    if (!is_here(reader, facts, &slots, &place))
        return false;
    fill_place(facts, &slots, &place);
    if (rc_hostfile_nth(&slots, 0, &facts->master_host, NULL))
        facts->master_source = "host of the first slot, checked by rank 0";
    rc_read_gpus(reader, facts);
    return true;
}

const struct rc_launcher rc_launcher_lsf = {
    .id = "lsf",
    .title = "LSF (blaunch)",
    .processes = "res blaunch",
    .pass = "blaunch env MASTER_ADDR=HOST",
    .each = "bsub -R span[ptile=N]",
    .variables = {
        RC_VARIABLE("LSB_DJOB_NUMPROC", RC_WORLD_SIZE),
    },
};
