/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "rendezvous/store.h"

#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "roll/names.h"

#define BEGIN "store "

struct item {
    struct rc_str key;
    struct rc_str value; /* absent: not put yet */
    uint64_t count;
    struct rc_queue waiting;
};

struct rc_store {
    void *tree; /* of struct item, by key */
    size_t size;
};

struct rc_store *rc_store_create(void)
{
    return calloc(1, sizeof(struct rc_store));
}

static void free_item(void *more)
{
    struct item *item = more;

    free((char *)(uintptr_t)item->key.p);
    free((char *)(uintptr_t)item->value.p);
    free(item);
}

void rc_store_destroy(struct rc_store *store)
{
    if (!store)
        return;
    tdestroy(store->tree, free_item);
    free(store);
}

static int by_key(const void *a, const void *b)
{
    return rc_text_order(((const struct item *)a)->key, ((const struct item *)b)->key);
}

bool rc_store_is_key(struct rc_str key)
{
    for (size_t i = 0; i < key.n; i++)
        if (!memchr("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz._:/-", key.p[i], 67))
            return false;
    return key.n > 0 && key.n <= RC_STORE_KEY_MAX;
}

/* Copies a text; absent where there is no room or no memory. The NUL after it keeps an
 * empty text from being absent. */
static struct rc_str copy_text(struct rc_store *store, struct rc_str text, size_t more)
{
    char *to;

    if (text.n + more > RC_STORE_SIZE_MAX - store->size || !(to = malloc(text.n + 1)))
        return RC_ABSENT;
    memcpy(to, text.p, text.n);
    to[text.n] = '\0';
    store->size += text.n + more;
    return (struct rc_str){ to, text.n };
}

/* Finds the item of a key, or adds one; NULL without room. */
static struct item *find_item(struct rc_store *store, struct rc_str key)
{
    struct item wanted = { .key = key };
    struct item *const *found = tfind(&wanted, &store->tree, by_key);
    struct item *item;

    if (found)
        return *found;
    item = calloc(1, sizeof(*item));
    if (!item)
        return NULL;
    item->key = copy_text(store, key, sizeof(*item));
    if (!item->key.p || !tsearch(item, &store->tree, by_key)) {
        free_item(item);
        return NULL;
    }
    return item;
}

bool rc_store_is_question(struct rc_str text)
{
    return rc_str_starts(text, BEGIN);
}

bool rc_store_ask(struct rc_store *store, struct rc_str question, struct rc_store_answer *answer)
{
    struct rc_store_answer made = { .waiting = NULL };
    struct rc_str value;
    struct rc_str line = rc_str_split(question, '\n', &value);
    struct rc_str begin = rc_str_split(line, ' ', &line);
    struct rc_str what = rc_str_split(line, ' ', &line);
    bool puts = rc_str_is(what, "put");
    bool counts = rc_str_is(what, "count");
    bool was_there;
    struct item *item;

    if (!rc_str_is(begin, "store") || !(puts || counts || rc_str_is(what, "get")) || !rc_store_is_key(line) ||
        !value.p || value.n > (puts ? RC_STORE_VALUE_MAX : 0))
        return false;
    item = find_item(store, line);
    was_there = item && item->value.p;
    if (item && puts && !was_there)
        item->value = copy_text(store, value, 0);
    if (!item || (puts && !item->value.p)) {
        snprintf(made.head, sizeof(made.head), BEGIN "full\n");
    } else if (counts) {
        snprintf(made.head, sizeof(made.head), BEGIN "%llu\n", (unsigned long long)item->count++);
    } else if (was_there) {
        snprintf(made.head, sizeof(made.head), BEGIN "0\n");
        made.value = item->value;
    } else {
        made.waiting = &item->waiting;
        if (puts)
            snprintf(made.head, sizeof(made.head), BEGIN "1\n");
    }
    *answer = made;
    return true;
}
