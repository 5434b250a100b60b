/* SPDX-License-Identifier: BSD-3-Clause */
/* sagemaker.c - a host of a training job on Amazon SageMaker.
 *
 * Its training toolkit starts the user's script once on each host, without a
 * rank: SM_HOSTS is a JSON list of all hosts' names (["algo-1","algo-2"]),
 * SM_CURRENT_HOST is one of them, SM_NUM_GPUS the number of GPUs of this one.
 * With torch_distributed the toolkit starts torchrun itself, and with MPI
 * mpirun: those families are further inside.
 *
 * The rule:
 * - recognised by SM_HOSTS and SM_CURRENT_HOST, without LOCAL_RANK (families.h);
 *   SM_HOSTS alone is half of it (RC102);
 * - the node's index is the place of SM_CURRENT_HOST in SM_HOSTS as it stands
 *   there (the toolkit sorts it as text: algo-1, algo-10, algo-2), the number of
 *   nodes is its length, one task a node. SM_CURRENT_HOST not there, or twice,
 *   is RC103;
 * - SM_NUM_GPUS is the number of GPUs (a narrower CUDA_VISIBLE_DEVICES first);
 * - the master is the first of SM_HOSTS, as in the toolkit; a MASTER_ADDR that
 *   the user sets is kept;
 * - the launch is named by TRAINING_JOB_NAME.
 * The list is read strictly: strings of printable ASCII without escapes, which
 * is what a host name is, parted by a comma and blanks. Anything else is RC105.
 * Source: aws/sagemaker-training-toolkit src/sagemaker_training/environment.py
 * (to_env_vars, get_master_hostname), mapping.py, torch_distributed.py.
 */
#include "launcher/families.h"
#include "launcher/launcher.h"

struct hosts {
    uint32_t count;
    uint32_t place; /* of the wanted one, RC_UNKNOWN: not there */
    bool twice;
    struct rc_str first;
};

static struct rc_str without_blanks(struct rc_str text)
{
    while (text.n && (text.p[0] == ' ' || text.p[0] == '\t'))
        text = (struct rc_str){ text.p + 1, text.n - 1 };
    return text;
}

static bool skip_character(struct rc_str *text, char c)
{
    *text = without_blanks(*text);
    if (!text->n || text->p[0] != c)
        return false;
    *text = (struct rc_str){ text->p + 1, text->n - 1 };
    return true;
}

static bool take_string(struct rc_str *text, struct rc_str *string)
{
    size_t n = 0;

    if (!skip_character(text, '"'))
        return false;
    while (n < text->n && text->p[n] > ' ' && text->p[n] < 0x7f && text->p[n] != '"' && text->p[n] != '\\')
        n++;
    *string = (struct rc_str){ text->p, n };
    *text = (struct rc_str){ text->p + n, text->n - n };
    return n && skip_character(text, '"');
}

static bool read_list(struct rc_str text, struct rc_str wanted, struct hosts *hosts)
{
    *hosts = (struct hosts){ .place = RC_UNKNOWN };
    if (!skip_character(&text, '['))
        return false;
    do {
        struct rc_str host;

        if (!take_string(&text, &host) || hosts->count == RC_MAX_TASKS)
            return false;
        if (hosts->count == 0)
            hosts->first = host;
        if (rc_str_eq(host, wanted)) {
            hosts->twice = hosts->place != RC_UNKNOWN;
            hosts->place = hosts->count;
        }
        hosts->count++;
    } while (skip_character(&text, ','));
    return skip_character(&text, ']') && without_blanks(text).n == 0;
}

static bool read_hosts(struct rc_reader *reader, struct rc_str current, struct hosts *hosts)
{
    struct rc_str text = rc_env_get(reader->env, "SM_HOSTS");

    if (!read_list(text, current, hosts)) {
        return rc_say(reader->messages, RC105,
                      "SM_HOSTS is %pQ, not a list of host names; nothing is set; it should look like "
                      "[\"algo-1\",\"algo-2\"]",
                      &text);
    }
    if (hosts->place == RC_UNKNOWN || hosts->twice) {
        return rc_say(reader->messages, RC103,
                      "SM_CURRENT_HOST is %pQ, which is %s SM_HOSTS %pQ; nothing is set; pass the platform's "
                      "own values",
                      &current, hosts->twice ? "twice in" : "not in", &text);
    }
    return true;
}

enum rc_claim rc_sagemaker_recognise(struct rc_reader *reader, struct rc_facts *facts)
{
    struct rc_pernode node = { .family = "sagemaker", .run_id = rc_env_get(reader->env, "TRAINING_JOB_NAME") };
    struct rc_str current = rc_env_get(reader->env, "SM_CURRENT_HOST");
    struct hosts hosts;

    if (!rc_env_get(reader->env, "SM_HOSTS").n)
        return RC_CLAIM_ABSENT;
    if (!current.n) {
        rc_missing(reader, "SM_HOSTS", "SM_CURRENT_HOST");
        return RC_CLAIM_BROKEN;
    }
    if (!read_hosts(reader, current, &hosts))
        return RC_CLAIM_BROKEN;
    return rc_pernode_claim(reader, facts, &node, hosts.place, "place of SM_CURRENT_HOST in SM_HOSTS");
}

bool rc_sagemaker_read(struct rc_reader *reader, struct rc_facts *facts)
{
    struct hosts hosts;

    if (!read_hosts(reader, rc_env_get(reader->env, "SM_CURRENT_HOST"), &hosts))
        return false;
    rc_pernode_fill(facts, hosts.count, "length of SM_HOSTS");
    facts->master_host = hosts.first;
    facts->master_source = "first of SM_HOSTS";
    rc_pernode_gpus(reader, facts, RC_STR("SM_NUM_GPUS"));
    return true;
}

const struct rc_launcher rc_launcher_sagemaker = {
    .id = "sagemaker",
    .title = "SageMaker",
};
