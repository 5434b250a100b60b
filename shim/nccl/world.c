/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "world.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "device.h"
#include "missing.h"
#include "rendezvous/storeclient.h"
#include "say.h"
#include "talk.h"

/* The store keeps values as long as the step runs: a program that makes communicators
 * of all processes again and again must not fill it. */
enum { CHECKED_MAX = 64, VALUE_SIZE = 512, TEXT_SIZE = 2048 };

/* State of the whole process. */
static struct {
    unsigned calls;   /* of guard_admits */
    unsigned checked; /* how many of them were for a communicator of all processes: the same number in each process */
    bool off;         /* the server failed once: it is not asked again */
    bool waited;      /* a rank was missing once: it does not wait again */
    bool told;        /* it has said why it checks nothing */
    uint64_t made;    /* the last id that it made itself */
} process;

static bool is_set(const bool *flag)
{
    return __atomic_load_n(flag, __ATOMIC_ACQUIRE);
}

static bool set_first(bool *flag)
{
    return !__atomic_exchange_n(flag, true, __ATOMIC_ACQ_REL);
}

unsigned guard_calls(void)
{
    return __atomic_load_n(&process.calls, __ATOMIC_ACQUIRE);
}

void guard_say_inert(const char *why)
{
    char text[TEXT_SIZE];
    struct rc_arena arena = { .base = text, .size = sizeof(text) };

    if (set_first(&process.told))
        guard_say(RC808, rc_format(&arena, "guard=nccl does nothing in this process: %s", why));
}

/* The server is gone, full, or cannot be reached. That is only a note, as the call itself may be right. */
static bool give_up(struct guard_talk *talk, int rc)
{
    __atomic_store_n(&process.off, true, __ATOMIC_RELEASE);
    guard_say_inert(rc_format(&talk->arena, "the rendezvous server: %s", strerror(-rc)));
    return true;
}

/* Identifies a communicator: all processes that join it have the same ids, and no other communicator has them. */
static uint64_t digest_ids(const nccl_id *ids, int count)
{
    return rc_hash(ids, (size_t)count * sizeof(*ids));
}

void guard_made(const nccl_id *id)
{
    __atomic_store_n(&process.made, digest_ids(id, 1), __ATOMIC_RELEASE);
}

/* With NCCL_COMM_ID all communicators have the same id, which cannot tell one from the other. */
static bool is_shared(const nccl_id *id)
{
    const uint64_t magic = 0x0280028002800280u;

    return memcmp(id, &magic, sizeof(magic)) == 0;
}

/* The first process that finds something wrong with this communicator prints the line. It does so before the others
 * get "done": when they end, this process may be ended, too. */
static bool refuse_call(struct guard_talk *talk, enum rc_message_id id, const char *text)
{
    char standing[VALUE_SIZE];
    uint64_t before = 0;
    size_t size;

    if (guard_count(talk, "said", &before) != 0 || before == 0)
        guard_say(id, text);
    (void)guard_put(talk, "done", RC_STR("no"), standing, sizeof(standing), &size);
    return false;
}

static const char *own_name(struct guard_talk *talk)
{
    return guard_member_name(rc_str(talk->member->record), &talk->arena);
}

static bool refuse_rank(struct guard_talk *talk, int rank)
{
    return refuse_call(
        talk, RC802,
        rc_format(&talk->arena,
                  "%s joins an NCCL communicator of all %u processes as rank %s%u, but ranks are 0 to %u; no "
                  "process joins; pass RANK as rollcall set it",
                  own_name(talk), talk->nranks, rank < 0 ? "-" : "", rank < 0 ? 0 - (uint32_t)rank : (uint32_t)rank,
                  talk->nranks - 1));
}

/* Names the own rank of this process, if no process has joined as that one. Where two
 * join as the same rank, that is often the cause. */
static const char *name_absent_rank(struct guard_talk *talk)
{
    const struct guard_member *member = talk->member;

    if (member->rank == RC_UNKNOWN || member->rank == talk->rank || member->rank >= talk->nranks ||
        guard_has_come(talk, member->rank))
        return "";
    return rc_format(&talk->arena, "; rank %u is missing", member->rank);
}

static bool refuse_twin(struct guard_talk *talk, struct rc_str other)
{
    const char *absent = name_absent_rank(talk);

    return refuse_call(
        talk, RC801,
        rc_format(&talk->arena,
                  "%s and %s both join an NCCL communicator as rank %u of %u%s; no process joins; pass RANK as "
                  "rollcall set it",
                  own_name(talk), guard_member_name(other, &talk->arena), talk->rank, talk->nranks, absent));
}

static bool refuse_size(struct guard_talk *talk, struct rc_str value)
{
    struct rc_str record;
    struct rc_str size = rc_str_split(value, ' ', &record);
    struct rc_str rank = rc_str_split(record, ' ', &record);

    return refuse_call(
        talk, RC803,
        rc_format(&talk->arena,
                  "%s joins an NCCL communicator as rank %u of %u, but %s joins it as rank %S of %S; no process "
                  "joins; pass WORLD_SIZE in all",
                  own_name(talk), talk->rank, talk->nranks, guard_member_name(record, &talk->arena), &rank, &size));
}

/* The first process puts the number of ranks. NCCL waits for ever where another process has another number. */
static bool check_size(struct guard_talk *talk)
{
    const char *value = rc_format(&talk->arena, "%u %u %s", talk->nranks, talk->rank, talk->member->record);
    char standing[VALUE_SIZE];
    struct rc_str rest;
    uint32_t nranks;
    size_t size = 0;
    int rc = guard_put(talk, "size", rc_str(value), standing, sizeof(standing), &size);

    if (rc < 0)
        return give_up(talk, rc);
    return rc == 1 ||
           !rc_parse_u32(rc_str_split((struct rc_str){ standing, size }, ' ', &rest), RC_MAX_TASKS, &nranks) ||
           nranks == talk->nranks || refuse_size(talk, (struct rc_str){ standing, size });
}

/* NCCL itself finds two ranks on one GPU; this names the processes. */
static void check_device(struct guard_talk *talk)
{
    char uuid[GUARD_DEVICE_SIZE];
    char key[GUARD_KEY_SIZE];
    char standing[VALUE_SIZE];
    struct rc_arena name = { .base = key, .size = sizeof(key) };
    const char *shared = getenv("NCCL_MULTI_RANK_GPU_ENABLE");
    struct rc_str other;
    uint64_t before = 0;
    size_t size;

    if (getenv("NCCL_HOSTID") || (shared && !strcmp(shared, "1")) || !guard_device(uuid))
        return;
    if (guard_put(talk, rc_format(&name, "gpu-%s", uuid), rc_str(talk->member->record), standing, sizeof(standing),
                  &size) != 0)
        return;
    other = (struct rc_str){ standing, size };
    if (guard_member_is(talk->member, other) || guard_count(talk, "gpus", &before) != 0 || before != 0)
        return;
    guard_say(RC805, rc_format(&talk->arena,
                               "%s and %s use the same GPU, %s, which NCCL refuses; use cuda:LOCAL_RANK, or set "
                               "NCCL_MULTI_RANK_GPU_ENABLE=1",
                               own_name(talk), guard_member_name(other, &talk->arena), uuid));
}

/* Whether the call goes on with this value of "done". */
static bool heed_verdict(const char *done, size_t size)
{
    return !rc_str_is((struct rc_str){ done, size }, "no");
}

/* The last process tells the others. Each other one waits for that until the deadline. */
static bool await_ranks(struct guard_talk *talk, bool last, bool waits)
{
    char done[VALUE_SIZE];
    size_t size = 0;
    int rc;

    if (last) {
        rc = guard_put(talk, "done", RC_STR("ok"), done, sizeof(done), &size);
        return rc < 0 ? give_up(talk, rc) : rc == 1 || heed_verdict(done, size);
    }
    if (!waits || is_set(&process.waited))
        return true;
    rc = guard_await(talk, done, sizeof(done), &size);
    if (rc == 0)
        return heed_verdict(done, size);
    if (rc != -ETIMEDOUT)
        return give_up(talk, rc);
    if (set_first(&process.waited))
        guard_say_missing(talk);
    return true;
}

/* The same process, rank and id once more: NCCL decides about that. */
static bool check_again(struct guard_talk *talk)
{
    char done[VALUE_SIZE];
    size_t size;

    return !guard_is_there(talk, "done", done, sizeof(done), &size) || heed_verdict(done, size);
}

static bool check_world(struct guard_talk *talk, int rank, bool waits)
{
    const struct guard_member *member = talk->member;
    char key[GUARD_KEY_SIZE];
    char standing[VALUE_SIZE];
    uint64_t before = 0;
    size_t size = 0;
    int rc;

    if (rank < 0 || (uint32_t)rank >= talk->nranks)
        return refuse_rank(talk, rank);
    if (!check_size(talk))
        return false;
    if (is_set(&process.off))
        return true;
    rc = guard_put(talk, guard_rank_key(key, "r", talk->rank), rc_str(member->record), standing, sizeof(standing),
                   &size);
    if (rc < 0)
        return give_up(talk, rc);
    if (rc == 0)
        return guard_member_is(member, (struct rc_str){ standing, size })
                   ? check_again(talk)
                   : refuse_twin(talk, (struct rc_str){ standing, size });
    if (member->size == talk->nranks && member->rank != talk->rank && member->other != talk->rank)
        guard_say(RC804, rc_format(&talk->arena, "%s joins as rank %u of %u; right if all tasks are renumbered so",
                                   own_name(talk), talk->rank, talk->nranks));
    check_device(talk);
    rc = guard_count(talk, "n", &before);
    return rc < 0 ? give_up(talk, rc) : await_ranks(talk, before + 1 == talk->nranks, waits);
}

/* A communicator of some processes is not checked, unless others use the same id for one of all
 * processes. This process will not join theirs, so "done" keeps them from waiting. */
static bool check_other(struct guard_talk *talk)
{
    char standing[VALUE_SIZE];
    size_t size = 0;
    int rc;

    if (!check_size(talk))
        return false;
    if (is_set(&process.off))
        return true;
    rc = guard_put(talk, "done", RC_STR("some"), standing, sizeof(standing), &size);
    return rc < 0 ? give_up(talk, rc) : rc == 1 || heed_verdict(standing, size);
}

static bool is_blocking(const struct nccl_config *config)
{
    const char *blocking = getenv("NCCL_COMM_BLOCKING");

    return !(blocking && !strcmp(blocking, "0")) &&
           !(config && config->magic == NCCL_CONFIG_MAGIC && config->size >= sizeof(*config) && config->blocking == 0);
}

bool guard_admits(const nccl_id *ids, int count, int nranks, int rank, const struct nccl_config *config)
{
    bool first = __atomic_fetch_add(&process.calls, 1, __ATOMIC_ACQ_REL) == 0;
    struct guard_member member;
    struct guard_talk talk;
    char text[TEXT_SIZE];
    const char *inert;

    if (nranks < 2 || count < 1 || !ids || is_set(&process.off))
        return true;
    inert = guard_member_read(&member);
    if (!inert && is_shared(ids))
        inert = "with NCCL_COMM_ID all communicators have one id";
    if (inert) {
        guard_say_inert(inert);
        return true;
    }
    guard_talk_begin(&talk, &member, digest_ids(ids, count), text, sizeof(text));
    talk.nranks = (uint32_t)nranks;
    talk.rank = (uint32_t)rank;
    talk.own = digest_ids(ids, count) == __atomic_load_n(&process.made, __ATOMIC_ACQUIRE);
    if (talk.nranks != member.size && talk.nranks != member.world)
        return !first || rank < 0 || rank >= nranks || check_other(&talk);
    if (__atomic_fetch_add(&process.checked, 1, __ATOMIC_ACQ_REL) >= CHECKED_MAX)
        return true;
    return check_world(&talk, rank, is_blocking(config));
}
