/* SPDX-License-Identifier: BSD-3-Clause */
/* Tasks at a real server, which runs in a child: what one of them leaves there, the others find. */
#include "config.h"

#include "rendezvous/client.h"
#include "serverchild.h"

#include <pthread.h>

#define ENTRY "roll=1\nscope=s\nhost=n1\nnode=0\nnodes=1\nworld=1\ntasks=0\n"

enum {
    LONG = 60000, /* milliseconds that nothing here needs */
    SHORT = 150,  /* for what has to be given up */
    CLIENTS = 64,
};

static struct server_child server;

static void gets(const char *key, const char *expected)
{
    char value[64] = "";
    size_t size;

    assert_int_equal(rc_store_client_get(&server.endpoint, key, LONG, value, sizeof(value) - 1, &size), 0);
    assert_int_equal(size, strlen(expected));
    assert_string_equal(value, expected);
}

/* Nobody asks what was there before. */
static int put(const char *key, struct rc_str value)
{
    return rc_store_client_put(&server.endpoint, key, value, LONG, NULL, 0, NULL);
}

UNIT_TEST(check_notes, "store and counters")
{
    char standing[64] = "";
    size_t size = 0;
    uint64_t before = 99;

    server = server_open((struct server_start){ .seconds = 0 });
    assert_int_equal(rc_store_client_put(&server.endpoint, "a", RC_STR("one"), LONG, standing, sizeof(standing), &size),
                     1);
    assert_string_equal(standing, "");
    assert_int_equal(rc_store_client_put(&server.endpoint, "a", RC_STR("two"), LONG, standing, sizeof(standing), &size),
                     0);
    assert_string_equal(standing, "one");
    assert_int_equal(size, 3);
    assert_int_equal(put("a", RC_STR("two")), 0);
    gets("a", "one");
    assert_int_equal(put("empty", RC_ABSENT), 1);
    gets("empty", "");
    for (uint64_t i = 0; i < 3; i++) {
        assert_int_equal(rc_store_client_count(&server.endpoint, "a", LONG, &before), 0);
        assert_int_equal(before, i);
    }
    server_close(&server);
}

/* Room for a part of it: the rest is not written, its size is told. */
UNIT_TEST(check_room, "less room than there is value")
{
    char value[] = "........";
    size_t size;

    server = server_open((struct server_start){ .seconds = 0 });
    assert_int_equal(put("a", RC_STR("abcdef")), 1);
    assert_int_equal(rc_store_client_get(&server.endpoint, "a", LONG, value, 4, &size), 0);
    assert_string_equal(value, "abcd....");
    assert_int_equal(size, 6);
    server_close(&server);
}

UNIT_TEST(check_wrong, "what cannot be, and nobody there")
{
    static char large[RC_STORE_VALUE_MAX + 1];
    char value[8];
    size_t size;
    uint64_t before;

    server = server_open((struct server_start){ .seconds = 0 });
    assert_int_equal(rc_store_client_get(&server.endpoint, "", LONG, value, sizeof(value), &size), -EINVAL);
    assert_int_equal(rc_store_client_get(&server.endpoint, NULL, LONG, value, sizeof(value), &size), -EINVAL);
    assert_int_equal(rc_store_client_count(&server.endpoint, "a b", LONG, &before), -EINVAL);
    assert_int_equal(put("a", (struct rc_str){ large, sizeof(large) }), -EINVAL);
    assert_int_equal(put("a", (struct rc_str){ large, sizeof(large) - 1 }), 1);
    server_close(&server);
    assert_int_equal(rc_store_client_get(&server.endpoint, "a", LONG, value, sizeof(value), &size), -ECONNREFUSED);
}

UNIT_TEST(check_deadline, "a note that does not come in time")
{
    char value[8];
    size_t size;

    server = server_open((struct server_start){ .seconds = 0 });
    assert_int_equal(rc_store_client_get(&server.endpoint, "a", SHORT, value, sizeof(value), &size), -ETIMEDOUT);
    assert_int_equal(put("a", RC_STR("late")), 1);
    gets("a", "late");
    server_close(&server);
}

static void *wait_for_note(void *result)
{
    size_t size;

    *(int *)result = rc_store_client_get(&server.endpoint, "a", LONG, (char[8]){ 0 }, 8, &size) == 0 ? (int)size : -1;
    return NULL;
}

/* Most are at the server before the note is, some come after it. */
UNIT_TEST(check_crowd, "many who wait")
{
    pthread_t thread[CLIENTS];
    int result[CLIENTS];

    server = server_open((struct server_start){ .seconds = 0 });
    for (unsigned i = 0; i < CLIENTS; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, wait_for_note, &result[i]), 0);
    /* the nodes' roll is called in between, and those who wait do not get its answer */
    server_answers(&server, ENTRY, "answer=1\nport=1\n");
    server_decides(&server, "1 1\n");
    assert_int_equal(put("b", RC_STR("other")), 1);
    assert_int_equal(put("a", RC_STR("this")), 1);
    for (unsigned i = 0; i < CLIENTS; i++) {
        assert_int_equal(pthread_join(thread[i], NULL), 0);
        assert_int_equal(result[i], 4);
    }
    server_close(&server);
}

/* The server goes while somebody waits there. */
UNIT_TEST(check_end, "the server goes")
{
    pthread_t thread;
    int result = 0;

    server = server_open((struct server_start){ .seconds = 0 });
    assert_int_equal(pthread_create(&thread, NULL, wait_for_note, &result), 0);
    /* half of the time it is there by now, and else it finds nobody: -1 either way */
    usleep(SHORT * 1000);
    server_close(&server);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(result, -1);
}
