/* SPDX-License-Identifier: BSD-3-Clause */
/* volcano.c - a pod of a Volcano job.
 *
 * Volcano's pytorch plugin writes RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT
 * into the pods of one master and its workers. RANK is the pod's index and
 * WORLD_SIZE the number of pods, but neither name says so: the names of the
 * pods do, which the svc plugin (always on beside it) gives by group, as
 * VC_MASTER_HOSTS=job-master-0.job and VC_WORKER_HOSTS=job-worker-0.job,job-worker-1.job.
 *
 * The rule:
 * - recognised by VC_TASK_INDEX, VK_TASK_INDEX (the env plugin), VC_MASTER_HOSTS
 *   or VC_WORKER_HOSTS, without LOCAL_RANK (pernode.h). Groups may have any
 *   name: every variable VC_..._HOSTS counts;
 * - the pytorch plugin: RANK is the pod's index and WORLD_SIZE the number of
 *   pods, where MASTER_ADDR is the only name of one group and WORLD_SIZE is one more
 *   than another group has. MASTER_ADDR names the launch, MASTER_PORT is the
 *   plugin's;
 * - no such plugin (neither RANK nor WORLD_SIZE) and one group alone:
 *   VC_TASK_INDEX is the place in its list, whose first name is the master. The
 *   plugins of MPI, TensorFlow and Ray have two groups;
 * - where spec.hostname is set it stands once for all pods of a group, so that
 *   list must begin with the name that Volcano gives to a pod, "...-0.";
 * - all else is left to env.c: where no name of a pod is there (svc with
 *   --inject-hosts-env=false), RANK may count anything.
 * A pod's name is in DNS only once it is up.
 * Source: volcano-sh/volcano pkg/controllers/job/plugins: distributed-framework/
 * pytorch/pytorch.go, svc/svc.go (GenerateHosts), env/env.go (2026-08).
 */
#include "launcher/pernode.h"
#include "launcher/registry.h"

struct groups {
    uint32_t count;
    struct rc_str list; /* of the last one */
    bool has_master;    /* MASTER_ADDR is one whole list */
    bool has_workers;   /* another list has WORLD_SIZE - 1 names */
};

static bool is_list_name(struct rc_str name)
{
    static const char end[] = "_HOSTS";
    enum { LENGTH = sizeof(end) - 1 };

    return rc_str_starts(name, "VC_") && name.n > sizeof("VC_") - 1 + LENGTH &&
           rc_str_is((struct rc_str){ name.p + name.n - LENGTH, LENGTH }, end);
}

static struct groups find_groups(const struct rc_env *env)
{
    struct rc_str master = rc_env_get(env, "MASTER_ADDR");
    struct groups groups = { .count = 0 };
    uint32_t size;

    if (!rc_parse_u32(rc_env_get(env, "WORLD_SIZE"), RC_MAX_TASKS, &size))
        size = 0;
    for (const char *const *entry = env->block; *entry; entry++) {
        struct rc_str list;
        struct rc_str name = rc_str_split(rc_str(*entry), '=', &list);

        if (!list.n || !is_list_name(name))
            continue;
        groups.count++;
        groups.list = list;
        if (rc_str_eq(list, master))
            groups.has_master = true;
        else if (rc_str_pieces(list, ',') + 1 == size)
            groups.has_workers = true;
    }
    groups.has_workers |= size == 1;
    return groups;
}

/* What the pytorch plugin has numbered. */
static struct rc_pernode plugin_names(const struct rc_env *env)
{
    return (struct rc_pernode){
        .family = "volcano",
        .index = RC_STR("RANK"),
        .count = RC_STR("WORLD_SIZE"),
        .run_id = rc_env_get(env, "MASTER_ADDR"),
        .master = RC_STR("MASTER_ADDR"),
        .port = RC_STR("MASTER_PORT"),
        .by_dns = true,
    };
}

static bool plugin_is_there(const struct rc_env *env, const struct groups *groups)
{
    return groups->has_master && groups->has_workers && rc_env_get(env, "RANK").n;
}

/* The first name of a list that has one for each pod, "job-worker-0.job"; else absent. */
static struct rc_str first_pod(struct rc_str list)
{
    struct rc_str domain;
    struct rc_str first = rc_str_split(list, ',', &list);
    struct rc_str pod = rc_str_split(first, '.', &domain);

    return domain.n && pod.n > 2 && pod.p[pod.n - 1] == '0' && pod.p[pod.n - 2] == '-' ? first : RC_ABSENT;
}

/* Whether numbers may follow from a place in a list: nobody has given any, but a rollcall in this task. */
static bool is_unnumbered(const struct rc_reader *reader)
{
    return (!rc_env_get(reader->env, "RANK").n && !rc_env_get(reader->env, "WORLD_SIZE").n) ||
           rc_launcher_has_scope(&rc_launcher_volcano, reader->stamp.scope);
}

enum rc_claim rc_volcano_recognise(struct rc_reader *reader, struct rc_facts *facts)
{
    struct groups groups = find_groups(reader->env);
    struct rc_pernode node = plugin_names(reader->env);
    struct rc_number index;

    if (plugin_is_there(reader->env, &groups))
        return rc_pernode_recognise(reader, facts, &node);
    node.run_id = first_pod(groups.list);
    if (groups.count != 1 || !node.run_id.p || !is_unnumbered(reader))
        return RC_CLAIM_ABSENT;
    if (!rc_read_either(reader, RC_STR("VC_TASK_INDEX"), RC_STR("VK_TASK_INDEX"), RC_MAX_TASKS, &index))
        return RC_CLAIM_BROKEN;
    if (index.value == RC_UNKNOWN)
        return RC_CLAIM_ABSENT;
    return rc_pernode_claim(reader, facts, &node, index.value, index.source);
}

bool rc_volcano_read(struct rc_reader *reader, struct rc_facts *facts)
{
    struct groups groups = find_groups(reader->env);
    struct rc_pernode node = plugin_names(reader->env);

    if (plugin_is_there(reader->env, &groups)) {
        if (!rc_pernode_read(reader, facts, &node))
            return false;
    } else {
        rc_pernode_fill(facts, rc_str_pieces(groups.list, ','), "names of the job's pods");
        facts->master_host = first_pod(groups.list);
        facts->master_source = "first of the job's pods";
        facts->master_comes_later = true;
    }
    rc_read_gpus(reader, facts);
    return true;
}

/* No table: RANK and WORLD_SIZE are in torchrun's. */
const struct rc_launcher rc_launcher_volcano = {
    .id = "volcano",
    .title = "Volcano",
};
