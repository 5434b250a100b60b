/* SPDX-License-Identifier: BSD-3-Clause */
/* What rollcall-pmix answers, and what a task makes of it. */
#include "launcher/families.h"
#include "resolve/resolve.h"
#include "unit.h"

/* Rank 4 of 5 on n1 (2), n2 (2), n3 (1). */
#define JOB    "map=(vector,(0,2,2),(2,1,1))|tasks=2(x2),1|host=n1|"
#define BEFORE "rank=4|size=5|local_rank=0|node=2|"
#define UNEVEN BEFORE JOB

static const struct {
    struct rc_str input; /* lines, | for their ends; of rank 4 */
    const char *answer;  /* rank, local rank, node rank, sizes, nodes, rank 0's host; or the ids of all messages */
    const char *why;
} answers[] = {
    { TEXT(UNEVEN), "4 0 2 5 1 3 n1", "an uneven job" },
    { TEXT("host=n1|tasks=3,2|map=(vector,(0,2,1),(0,2,1),(0,1,1))|node=0|local_rank=2|size=5|rank=4|"),
      "4 2 0 5 3 2 n1", "by node, the lines in another order" },
    { TEXT("version=9|" UNEVEN), "4 0 2 5 1 3 n1", "a line that nobody knows" },
    { TEXT("rank=4|size=5|local_rank=4|node=0|map=(vector,(0,1,5))|tasks=5|host=n1|"), "4 4 0 5 5 1 n1",
      "one node, which loopback would do for; its name does as well" },
    { TEXT(BEFORE "map=(vector,(0,2,2),(2,1,1))|tasks=2(x2),1|"), "RC404", "no host of rank 0" },
    { TEXT(BEFORE "map=(vector,(0,2,2),(2,1,1))|tasks=2(x2),1|host=n 1|"), "RC404", "a host that is none" },
    { TEXT("failed=program Permission denied|"), "RC120", "the program is not there" },
    { TEXT("failed=library file too short|"), "RC120", "no libpmix" },
    { TEXT("failed=server PMIx_Init: UNREACHABLE|"), "RC120", "no server" },
    { TEXT("failed=answer pmix.job.size of the job: NOT-FOUND|"), "RC120", "the server does not know" },
    { TEXT("failed=|"), "RC120", "it failed without a word" },
    { TEXT("failed=else|" UNEVEN), "RC120", "both" },
    { TEXT(""), "RC120", "an empty answer" },
    { TEXT("|||"), "RC120", "empty lines" },
    { TEXT("rank"), "RC120", "half a line" },
    { TEXT("rank=4|"), "RC120", "one line" },
    { TEXT("rank=4|size=5|"), "RC120", "no local rank" },
    { TEXT("rank=4|size=5|local_rank=0|"), "RC120", "no node" },
    { TEXT(BEFORE), "RC120", "no tasks" },
    { TEXT(BEFORE "tasks=2(x2),1|host=n1|"), "RC120", "no map" },
    { TEXT(BEFORE "map=(vector,(0,2,2),(2,1,1))|host=n1|"), "RC120", "no tasks beside the map" },
    { TEXT("rank=-1|size=5|local_rank=0|node=2|" JOB), "RC120", "a rank with a sign" },
    { TEXT("rank=3|size=5|local_rank=1|node=1|" JOB), "RC120", "of another rank than PMIX_RANK" },
    { TEXT("rank=4|size=4|local_rank=0|node=2|map=(vector,(0,2,2))|tasks=2(x2)|host=n1|"), "RC120",
      "a rank that is no rank of so many" },
    { TEXT("rank=4|size=4294967295|local_rank=0|node=0|map=(vector,(0,1,4294967295))|tasks=4294967295|host=n1|"),
      "RC120", "a size that cannot be" },
    { TEXT("rank=4|size=5|local_rank=1|node=2|" JOB), "RC103", "a local rank as high as the local size" },
    { TEXT("rank=4|size=5|local_rank=0|node=3|" JOB), "RC120", "a node that there is not" },
    { TEXT("rank=4|size=5|local_rank=0|node=65536|" JOB), "RC120", "more nodes than there is room for" },
    { TEXT("rank=4|size=5|local_rank=0|node=1|map=(vector,(1,1,2),(0,1,2),(2,1,1))|tasks=2(x2),1|host=n1|"), "RC120",
      "nodes that are not in order of their lowest rank" },
    { TEXT(BEFORE "map=(vector,(0,2,2),(2,1,1))|tasks=2(x2),2|host=n1|"), "RC120", "tasks that are not as many" },
    { TEXT(BEFORE "map=(vector,(0,2,2),(2,1,1))|tasks=1,2(x2)|host=n1|"), "RC120",
      "tasks in another order than the map" },
    { TEXT(BEFORE "map=(vector,(0,2,2))|tasks=2(x2),1|host=n1|"), "RC120", "a map that is too short" },
    { TEXT(BEFORE "map=(vector,(0,2,2),(2,1,1)|tasks=2(x2),1|host=n1|"), "RC120", "a map that is open" },
    { TEXT(BEFORE "map=n1,n1,n2,n2,n3|tasks=2(x2),1|host=n1|"), "RC120", "a map by names" },
};

enum { ROOM = 512 };

/* room: NULL where nobody could ask. */
static const char *resolve_in(const char *const *block, struct rc_str lines, char *room)
{
    static struct rc_result result;
    static char text[256];
    struct rc_here here = { .learned = ~0u, .gpus = RC_UNKNOWN };
    struct rc_context context = { .env = block, .here = &here, .options = { .mode = RC_MODE_WORKER } };
    const uint32_t *field = result.identity.field;
    char nodes[16] = "?";
    size_t used = 0;

    for (size_t i = 0; i < lines.n; i++)
        room[ROOM - lines.n + i] = lines.p[i] == '|' ? '\n' : lines.p[i];
    if (room)
        here.pmix = (struct rc_str){ room + ROOM - lines.n, lines.n };
    rc_resolve(&context, &result);
    if (field[RC_NNODES] != RC_UNKNOWN)
        snprintf(nodes, sizeof(nodes), "%u", field[RC_NNODES]);
    text[0] = '\0';
    for (unsigned i = 0; result.status == RC_CONTRADICTION && i < result.messages.count; i++)
        used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s", i ? " " : "",
                                 rc_message_entry(result.messages.list[i].id)->id);
    if (result.status != RC_CONTRADICTION)
        snprintf(text, sizeof(text), "%u %u %u %u %u %s %s", field[RC_RANK], field[RC_LOCAL_RANK], field[RC_NODE_RANK],
                 field[RC_WORLD_SIZE], field[RC_LOCAL_WORLD_SIZE], nodes, result.master.addr);
    return text;
}

static const char *resolve(struct rc_str lines, char *room)
{
    static const char *const block[] = { "PMIX_NAMESPACE=prterun-n1-76@1", "PMIX_RANK=4",
                                         "CUDA_VISIBLE_DEVICES=", NULL };

    return resolve_in(block, lines, room);
}

/* A task of Open MPI 5 whose variables do not tell its node. */
struct mpi_row {
    struct rc_str input;
    const char *answer;
    const char *why;
    const char *block[8];
};

#define MPI(daemon, rank, size, local_rank, local_size)                                                       \
    {                                                                                                         \
        "PMIX_NAMESPACE=prterun-n1-76@1", "PMIX_SERVER_URI41=prterun-n1-76@0." #daemon ";tcp4://127.0.0.1:1", \
            "PMIX_RANK=" #rank, "OMPI_COMM_WORLD_RANK=" #rank, "OMPI_COMM_WORLD_SIZE=" #size,                 \
            "OMPI_COMM_WORLD_LOCAL_RANK=" #local_rank, "OMPI_COMM_WORLD_LOCAL_SIZE=" #local_size, NULL        \
    }

static const struct mpi_row mpi_answers[] = {
    { TEXT(UNEVEN), "4 0 2 5 1 3 n1", "no task of 2, 2 and 1 takes itself for one of an even job", MPI(3, 4, 5, 0, 1) },
    { TEXT("rank=3|size=4|local_rank=0|node=2|map=(vector,(0,1,2),(1,2,1))|tasks=2,1(x2)|host=n1|"), "RC110",
      "2, 1 and 1: on the first node it looks like two nodes", MPI(2, 3, 4, 0, 1) },
    { TEXT("rank=1|size=3|local_rank=1|node=0|map=(vector,(0,1,2),(1,1,1))|tasks=2,1|host=n1|"), "1 1 0 3 2 2 n1",
      "2 and 1 from a login node", MPI(1, 1, 3, 1, 2) },
    { TEXT("rank=0|size=4|local_rank=0|node=0|map=(vector,(0,2,1),(0,1,2))|tasks=3,1|host=n1|"), "RC110",
      "3 and 1 by node: the second looks like one of four nodes", MPI(0, 0, 4, 0, 3) },
    { TEXT("rank=1|size=3|local_rank=1|node=0|map=(vector,(0,1,2),(1,1,1))|tasks=2,1|host=n1|"), "1 1 0 3 2 2 n1",
      "2 and 1 on mpirun's own node and another", MPI(0, 1, 3, 1, 2) },
    { TEXT("rank=2|size=4|local_rank=0|node=1|map=(vector,(0,2,2))|tasks=2(x2)|host=n1|"), "2 0 1 4 2 ? n1",
      "mpirun's own node is not the first of the hosts (Open MPI 6)", MPI(0, 2, 4, 0, 2) },
    { TEXT("rank=2|size=4|local_rank=1|node=1|map=(vector,(0,2,2))|tasks=2(x2)|host=n1|"), "RC120",
      "another local rank than the launcher's", MPI(0, 2, 4, 0, 2) },
    { TEXT("rank=2|size=4|local_rank=0|node=1|map=(vector,(0,2,2))|tasks=2(x2)|host=n7|"), "2 0 1 4 2 ? n7",
      "an even job from a login node: the server knows rank 0's host", MPI(2, 2, 4, 0, 2) },
    { TEXT("rank=2|size=4|local_rank=0|node=1|map=(vector,(0,1,2),(1,2,1))|tasks=2,1(x2)|host=n1|"), "RC110",
      "2, 1 and 1 from a login node: asked for rank 0's host alone", MPI(2, 2, 4, 0, 1) },
    { TEXT("failed=server none|"), "RC120", "the server does not answer", MPI(2, 2, 4, 0, 2) },
    { TEXT("failed=server none|"),
      "1 1 0 4 2 ? n1",
      "mpirun's own daemon, and an older server's name alone",
      { "PMIX_NAMESPACE=prterun-n1-76@1", "PMIX_SERVER_URI4=prterun-n1-76@0.0;tcp4://127.0.0.1:1", "PMIX_RANK=1",
        "OMPI_COMM_WORLD_RANK=1", "OMPI_COMM_WORLD_SIZE=4", "OMPI_COMM_WORLD_LOCAL_RANK=1",
        "OMPI_COMM_WORLD_LOCAL_SIZE=2", NULL } },
};

UNIT_ROWS(answers_mpi, "pmixjob answers Open MPI 5", mpi_answers)
{
    assert_string_equal(resolve_in(row->block, row->input, unit_guard_memory(ROOM)), row->answer);
}

UNIT_ROWS(answers_so, "pmixjob answers", answers)
{
    assert_string_equal(resolve(row->input, unit_guard_memory(ROOM)), row->answer);
}

UNIT_TEST(is_refused_unasked, "where nobody can ask, the rank alone is no identity")
{
    assert_string_equal(resolve(RC_ABSENT, NULL), "RC109");
}

/* Whatever is cut off, nobody gets another identity. */
UNIT_TEST(pieces_are_refused, "an answer that was cut off")
{
    struct rc_str whole = RC_STR(UNEVEN);
    char *room = unit_guard_memory(ROOM);

    for (size_t n = 0; n < whole.n - 4; n++) {
        const char *answer = resolve((struct rc_str){ whole.p, n }, room);

        assert_true(strcmp(answer, "RC120") == 0 || strcmp(answer, "RC404") == 0);
    }
}
