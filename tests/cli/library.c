/* SPDX-License-Identifier: BSD-3-Clause */
/* library.c - a program that uses librollcall: valid C and valid C++.
 *
 *   library own         the process's own environment, as NAME VALUE lines
 *   library calls       what every function does with what it should not get
 *   library elsewhere   MASTER_ADDR is another node's: each call of rank 0's says so
 *   library gather SIZE every rank's bytes, so many of each, "gather BYTES", or how that fails
 *   library share ROOT  broadcasts, and an NCCL id where there is NCCL: "share TEXT", "id BYTES"
 */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200112L /* setenv */
#endif

#include <rollcall.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* as a program asks that is to build with older releases, too */
#if !defined(ROLLCALL_VERSION_AT_LEAST) || !ROLLCALL_VERSION_AT_LEAST(0, 1, 0)
#error "an older rollcall.h"
#endif

static int failures;

#define CHECK(condition)                                           \
    do {                                                           \
        if (!(condition)) {                                        \
            printf("line %d: not so: %s\n", __LINE__, #condition); \
            failures++;                                            \
        }                                                          \
    } while (0)

static int own(void)
{
    struct rollcall_error error;
    struct rollcall *job;

    if (rollcall_create(NULL, &job, &error) < 0) {
        printf("error %d %s\n", error.code, error.text);
        return 1;
    }
    printf("launcher %s\n", rollcall_launcher(job) ? rollcall_launcher(job) : "-");
    printf("mode %s\n", rollcall_mode_name(rollcall_mode(job)));
    printf("rank %d of %d\n", rollcall_rank(job), rollcall_world_size(job));
    printf("local %d of %d\n", rollcall_local_rank(job), rollcall_local_world_size(job));
    printf("node %d of %d\n", rollcall_node_rank(job), rollcall_nnodes(job));
    printf("master %s %d\n", rollcall_master_addr(job) ? rollcall_master_addr(job) : "-", rollcall_master_port(job));
    for (size_t i = 0; i < rollcall_variable_count(job); i++) {
        const struct rollcall_variable *v = rollcall_variable_at(job, i);

        if (v->action == ROLLCALL_SET)
            printf("set %s=%s\n", v->name, v->value);
        else
            printf("%s %s\n", v->action == ROLLCALL_KEEP ? "keep" : "unset", v->name);
        CHECK(v->reason != NULL && *v->reason);
        CHECK(v->action == ROLLCALL_UNSET || v->source != NULL);
    }
    for (size_t i = 0; i < rollcall_message_count(job); i++)
        printf("message %s %d\n", rollcall_message_at(job, i)->id, (int)rollcall_message_at(job, i)->level);
    rollcall_destroy(job);
    return failures;
}

static int calls(void)
{
    static const char *const none[] = { NULL };
    char rank[] = "OMPI_COMM_WORLD_RANK=1";
    const char *const block[] = {
        rank, "OMPI_COMM_WORLD_SIZE=2", "OMPI_COMM_WORLD_LOCAL_RANK=1", "OMPI_COMM_WORLD_LOCAL_SIZE=2", "RANK=7", NULL
    };
    const char *const broken[] = { "OMPI_COMM_WORLD_RANK=1", "OMPI_COMM_WORLD_SIZE=x", NULL };
    const char *const wrong_option[] = { "ROLLCALL=nonsense", NULL };
    struct rollcall_error error;
    struct rollcall *job = NULL;
    struct rollcall *other = NULL;
    char version[32];
    int fd = 4711;

    CHECK(strcmp(rollcall_version(), VERSION) == 0);
    CHECK(strcmp(ROLLCALL_VERSION, VERSION) == 0);
    snprintf(version, sizeof(version), "%d.%d.%d", ROLLCALL_VERSION_MAJOR, ROLLCALL_VERSION_MINOR,
             ROLLCALL_VERSION_PATCH);
    CHECK(strncmp(version, VERSION, strlen(version)) == 0);
    CHECK(ROLLCALL_VERSION_AT_LEAST(ROLLCALL_VERSION_MAJOR, ROLLCALL_VERSION_MINOR, ROLLCALL_VERSION_PATCH));
    CHECK(ROLLCALL_VERSION_AT_LEAST(0, 0, 99));
    CHECK(!ROLLCALL_VERSION_AT_LEAST(ROLLCALL_VERSION_MAJOR, ROLLCALL_VERSION_MINOR, ROLLCALL_VERSION_PATCH + 1));
    CHECK(!ROLLCALL_VERSION_AT_LEAST(ROLLCALL_VERSION_MAJOR, ROLLCALL_VERSION_MINOR + 1, 0));
    CHECK(!ROLLCALL_VERSION_AT_LEAST(ROLLCALL_VERSION_MAJOR + 1, 0, 0));

    /* nothing in it is no error */
    CHECK(rollcall_create(none, &job, &error) == 0);
    CHECK(rollcall_launcher(job) == NULL);
    CHECK(rollcall_mode(job) == ROLLCALL_MODE_NONE);
    CHECK(rollcall_rank(job) == -1 && rollcall_world_size(job) == -1 && rollcall_local_rank(job) == -1);
    CHECK(rollcall_local_world_size(job) == -1 && rollcall_node_rank(job) == -1 && rollcall_nnodes(job) == -1);
    CHECK(rollcall_master_addr(job) == NULL && rollcall_master_port(job) == -1);
    CHECK(rollcall_variable_count(job) == 0 && rollcall_variable_at(job, 0) == NULL);
    CHECK(rollcall_message_count(job) == 0 && rollcall_message_at(job, 0) == NULL);
    errno = 4711;
    rollcall_destroy(job);
    rollcall_destroy(NULL);
    CHECK(errno == 4711);

    /* the block may go afterwards */
    CHECK(rollcall_create(block, &job, NULL) == 0);
    memset(rank, 'x', sizeof(rank) - 1);
    CHECK(strcmp(rollcall_launcher(job), "openmpi") == 0);
    CHECK(rollcall_mode(job) == ROLLCALL_MODE_WORKER);
    CHECK(rollcall_rank(job) == 1 && rollcall_world_size(job) == 2);
    CHECK(rollcall_master_port(job) > 0);
    CHECK(rollcall_variable_count(job) > 0);
    CHECK(rollcall_variable_at(job, rollcall_variable_count(job)) == NULL);
    CHECK(rollcall_variable_at(job, (size_t)-1) == NULL);
    CHECK(rollcall_hold_port(job, &fd, &error) == -1 && error.code == ROLLCALL_INVALID && fd == 4711);
    CHECK(rollcall_hold_port(job, NULL, &error) == -1 && error.code == ROLLCALL_INVALID);
    CHECK(rollcall_hold_port(NULL, &fd, NULL) == -1 && fd == 4711);
    CHECK(rollcall_message_at(job, (size_t)-1) == NULL);

    /* a failure leaves the result as it was, and says why in one printable line */
    other = job;
    CHECK(rollcall_create(broken, &other, &error) == -1);
    CHECK(other == job && error.code == ROLLCALL_CONTRADICTION);
    CHECK(strncmp(error.text, "RC1", 3) == 0 && strchr(error.text, '\n') == NULL);
    CHECK(rollcall_create(broken, &other, NULL) == -1);
    CHECK(rollcall_create(wrong_option, &other, &error) == -1 && strncmp(error.text, "RC201: ROLLCALL", 15) == 0);
    CHECK(rollcall_create(block, NULL, &error) == -1 && error.code == ROLLCALL_INVALID);
    CHECK(rollcall_create(block, NULL, NULL) == -1);
    rollcall_destroy(job);

    CHECK(strcmp(rollcall_mode_name(ROLLCALL_MODE_LAUNCHER), "launcher") == 0);
    CHECK(rollcall_mode_name((enum rollcall_mode)3) != NULL);
    CHECK(rollcall_launcher(NULL) == NULL && rollcall_rank(NULL) == -1 && rollcall_variable_count(NULL) == 0);
    CHECK(rollcall_mode(NULL) == ROLLCALL_MODE_NONE && rollcall_master_port(NULL) == -1);
    return failures;
}

/* What rollcall_broadcast and those behind it do with what they should not get; nobody else is in the job. */
static int wrong_shares(void)
{
    static const char *const none[] = { NULL };
    struct rollcall_error error;
    struct rollcall *job;
    char data[4] = "abc";
    char id[2 * ROLLCALL_NCCL_ID_SIZE];
    char name[66];
    int fd = 4711;

    memset(name, 'x', sizeof(name));
    name[65] = '\0';
    CHECK(rollcall_create(none, &job, NULL) == 0);
    CHECK(rollcall_broadcast(job, "x", data, 3, 0, 0, &error) == -1 && error.code == ROLLCALL_INVALID);
    CHECK(rollcall_nccl_unique_id(job, id, 0, &error) == -1 && error.code == ROLLCALL_INVALID);
    rollcall_destroy(job);
    /* without a launcher there is no rank, and nobody to share with; rollcall exec and apply(alone=True) set these */
    CHECK(rollcall_create(NULL, &job, NULL) == 0);
    CHECK(rollcall_rank(job) == -1 && rollcall_world_size(job) == -1);
    CHECK(rollcall_broadcast(job, "x", data, 3, 0, 0, &error) == -1 && error.code == ROLLCALL_INVALID);
    CHECK(strncmp(error.text, "rollcall_broadcast(\"x\"): this process is no task of a launch; ", 62) == 0);
    CHECK(rollcall_allgather(job, "x", data, 3, id, 0, NULL) == -1);
    CHECK(rollcall_barrier(job, "x", 0, NULL) == -1);
    CHECK(rollcall_nccl_unique_id(job, id, 0, &error) == -1 && error.code == ROLLCALL_INVALID);
    rollcall_destroy(job);
    setenv("RANK", "0", 1);
    setenv("LOCAL_RANK", "0", 1);
    setenv("WORLD_SIZE", "1", 1);
    CHECK(rollcall_create(NULL, &job, NULL) == 0);
    CHECK(rollcall_rank(job) == 0 && rollcall_world_size(job) == 1 && rollcall_local_rank(job) == 0);
    CHECK(rollcall_hold_port(job, &fd, &error) == 0 && fd >= 0 && close(fd) == 0);
    CHECK(rollcall_broadcast(NULL, "x", data, 3, 0, 0, &error) == -1 && error.code == ROLLCALL_INVALID);
    CHECK(rollcall_broadcast(job, NULL, data, 3, 0, 0, &error) == -1 && error.code == ROLLCALL_INVALID);
    CHECK(rollcall_broadcast(job, "", data, 3, 0, 0, &error) == -1 && error.code == ROLLCALL_INVALID);
    CHECK(rollcall_broadcast(job, "a b", data, 3, 0, 0, NULL) == -1);
    CHECK(rollcall_broadcast(job, "a:b", data, 3, 0, 0, NULL) == -1);
    CHECK(rollcall_broadcast(job, name, data, 3, 0, 0, NULL) == -1);
    name[64] = '\0';
    CHECK(rollcall_broadcast(job, name, data, 3, 0, 0, NULL) == 0);
    CHECK(rollcall_broadcast(job, "x", NULL, 3, 0, 0, NULL) == -1);
    CHECK(rollcall_broadcast(job, "x", NULL, 0, 0, 0, NULL) == 0);
    CHECK(rollcall_broadcast(job, "x", data, ROLLCALL_BROADCAST_MAX + 1, 0, 0, NULL) == -1);
    CHECK(rollcall_broadcast(job, "x", data, 3, 1, 0, NULL) == -1);
    CHECK(rollcall_broadcast(job, "x", data, 3, -1, 0, &error) == -1 && error.code == ROLLCALL_INVALID);
    CHECK(rollcall_broadcast(job, "x", data, 3, 0, 0, NULL) == 0 && strcmp(data, "abc") == 0);
    CHECK(rollcall_allgather(NULL, "x", data, 3, id, 0, &error) == -1 && error.code == ROLLCALL_INVALID);
    CHECK(rollcall_allgather(job, "a b", data, 3, id, 0, NULL) == -1);
    CHECK(rollcall_allgather(job, "x", NULL, 3, id, 0, NULL) == -1);
    CHECK(rollcall_allgather(job, "x", data, 3, NULL, 0, &error) == -1);
    CHECK(strcmp(error.text, "rollcall_allgather: all is NULL") == 0);
    CHECK(rollcall_allgather(job, "x", data, 3, id, -5, &error) == -1 && error.code == ROLLCALL_INVALID);
    CHECK(rollcall_broadcast(job, "x", data, 3, 0, -1, &error) == -1);
    CHECK(strcmp(error.text, "rollcall_broadcast(\"x\"): timeout_ms is below 0") == 0);
    CHECK(rollcall_barrier(NULL, "x", 0, &error) == -1 && error.code == ROLLCALL_INVALID);
    CHECK(rollcall_barrier(job, "a b", 0, &error) == -1 && error.code == ROLLCALL_INVALID);
    CHECK(rollcall_barrier(job, "x", -1, NULL) == -1);
    CHECK(rollcall_barrier(job, "x", 0, NULL) == 0);
    CHECK(rollcall_allgather(job, "x", data, ROLLCALL_BROADCAST_MAX + 1, id, 0, NULL) == -1);
    CHECK(rollcall_allgather(job, "x", NULL, 0, NULL, 0, NULL) == 0);
    CHECK(rollcall_allgather(job, "x", data, 4, id, 0, NULL) == 0 && strcmp(id, "abc") == 0);
    CHECK(rollcall_allgather(job, "x", id, 4, id, 0, NULL) == 0 && strcmp(id, "abc") == 0);
    CHECK(rollcall_nccl_unique_id(NULL, id, 0, &error) == -1 && error.code == ROLLCALL_INVALID);
    CHECK(rollcall_nccl_unique_id(job, NULL, 0, NULL) == -1);
    CHECK(rollcall_nccl_unique_ids(job, id, 0, 0, NULL) == -1);
    CHECK(rollcall_nccl_unique_ids(job, id, 2, 0, &error) == -1 && error.code == ROLLCALL_INVALID);
    rollcall_destroy(job);
    return failures;
}

/* A job does not change by what is asked of it, however often. */
static int elsewhere(void)
{
    struct rollcall_error first, error;
    struct rollcall *job;
    int fd;

    CHECK(rollcall_create(NULL, &job, NULL) == 0);
    CHECK(rollcall_hold_port(job, &fd, &first) == -1 && strncmp(first.text, "RC407: ", 7) == 0);
    for (int i = 0; i < 1000; i++)
        CHECK(rollcall_hold_port(job, &fd, &error) == -1 && strcmp(error.text, first.text) == 0);
    rollcall_destroy(job);
    return failures;
}

/* The bytes are at their own place of all. */
static int gather(size_t size)
{
    struct rollcall_error error;
    struct rollcall *job;
    char *all;
    int failed;

    CHECK(rollcall_create(NULL, &job, NULL) == 0);
    all = (char *)calloc((size_t)rollcall_world_size(job), size + 1);
    CHECK(all != NULL);
    memset(all + (size_t)rollcall_rank(job) * size, 'a' + rollcall_rank(job), size);
    failed = rollcall_allgather(job, "all", all + (size_t)rollcall_rank(job) * size, size, all, 60000, &error) ||
             rollcall_barrier(job, "all", 60000, &error);
    if (failed)
        printf("%d %s\n", error.code, error.text);
    else
        printf("gather %s\n", all);
    free(all);
    rollcall_destroy(job);
    return failures;
}

static int share(int root)
{
    struct rollcall_error error;
    struct rollcall *job;
    unsigned char id[ROLLCALL_NCCL_ID_SIZE];
    char text[16] = "";

    if (rollcall_create(NULL, &job, &error) < 0) {
        puts(error.text);
        return 1;
    }
    for (int i = 0; i < 3; i++) {
        snprintf(text, sizeof(text), "%d by %d", i, rollcall_rank(job));
        if (rollcall_broadcast(job, "text", text, sizeof(text), root, 30000, &error) < 0) {
            printf("error %d %s\n", error.code, error.text);
            rollcall_destroy(job);
            return 1;
        }
        printf("share %s\n", text);
    }
    if (rollcall_nccl_unique_id(job, id, 30000, &error) == 0) {
        printf("id ");
        for (int i = 0; i < 36; i++)
            printf("%02x", id[i]);
        putchar('\n');
    } else {
        CHECK(error.code == ROLLCALL_NO_NCCL);
    }
    rollcall_destroy(job);
    return failures;
}

int main(int argc, char **argv)
{
    if (argc > 2 && strcmp(argv[1], "gather") == 0)
        return gather((size_t)atoi(argv[2]));
    if (argc > 2 && strcmp(argv[1], "share") == 0)
        return share(atoi(argv[2]));
    if (argc > 1 && strcmp(argv[1], "elsewhere") == 0)
        return elsewhere();
    return argc > 1 && strcmp(argv[1], "own") == 0 ? own() : calls() + wrong_shares();
}
