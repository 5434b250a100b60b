/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "unit.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>

struct test {
    void (*check)(const void *row);
    const void *row;
    char name[160];
};

/* Grows by pieces, because cmocka keeps pointers to the tests. */
enum { PIECE = 64, PIECES_MAX = 64 };

static struct test *pieces[PIECES_MAX];
static struct CMUnitTest tests[PIECE * PIECES_MAX];
static size_t test_count;

static struct {
    void *base;
    size_t size;
} guarded[256];
static size_t guarded_count;

static void die(const char *why)
{
    fprintf(stderr, "unit: %s\n", why);
    exit(99);
}

static void run_one(void **state)
{
    const struct test *test = *state;

    test->check(test->row);
}

static int forget_guarded(void **state)
{
    (void)state;
    while (guarded_count) {
        guarded_count--;
        munmap(guarded[guarded_count].base, guarded[guarded_count].size);
    }
    return 0;
}

/* A name for one line of TAP: no '#', which TAP reads as a directive. */
static void name_test(char *name, size_t size, const char *what, struct rc_str input, const char *why)
{
    enum { SHOWN = 48 };
    size_t used;

    if (!what) {
        snprintf(name, size, "%s", why);
        return;
    }
    used = (size_t)snprintf(name, size, "%s ", what);
    if (!input.p)
        used += (size_t)snprintf(name + used, size - used, "nothing");
    else
        name[used++] = '\'';
    for (size_t i = 0; input.p && i < input.n && i < SHOWN; i++) {
        unsigned char c = (unsigned char)input.p[i];

        if (c >= ' ' && c < 0x7f && c != '#' && c != '\\')
            name[used++] = (char)c;
        else
            used += (size_t)snprintf(name + used, 5, "\\x%02x", c);
        if (used + 64 > size)
            break;
    }
    if (input.p)
        used += (size_t)snprintf(name + used, size - used, input.n > SHOWN ? "'..." : "'");
    snprintf(name + used, size - used, ": %s", why);
}

void unit_add(void (*check)(const void *row), const void *row, const char *what, struct rc_str input, const char *why)
{
    size_t piece = test_count / PIECE;
    struct test *test;

    if (piece == PIECES_MAX)
        die("too many tests: raise PIECES_MAX");
    if (!pieces[piece])
        pieces[piece] = calloc(PIECE, sizeof(**pieces));
    if (!pieces[piece])
        die("no memory");
    test = &pieces[piece][test_count % PIECE];
    test->check = check;
    test->row = row;
    name_test(test->name, sizeof(test->name), what, input, why);
    tests[test_count] = (struct CMUnitTest){
        .name = test->name, .test_func = run_one, .teardown_func = forget_guarded, .initial_state = test
    };
    test_count++;
}

bool unit_skips(bool lacking, const char *why)
{
    if (lacking)
        print_message("# skipped: %s\n", why);
    return lacking;
}

int unit_run(void)
{
    int failed = _cmocka_run_group_tests(program_invocation_short_name, tests, test_count, NULL, NULL);

    for (size_t i = 0; i < PIECES_MAX; i++)
        free(pieces[i]);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

__attribute__((weak)) int main(void)
{
    return unit_run();
}

void *unit_guard_memory(size_t size)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t whole = (size + page - 1) / page * page;
    char *base = mmap(NULL, whole + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (base == MAP_FAILED || guarded_count == UNIT_COUNT(guarded))
        die("no guarded memory");
    if (mprotect(base + whole, page, PROT_NONE) != 0)
        die("mprotect failed");
    guarded[guarded_count].base = base;
    guarded[guarded_count].size = whole + page;
    guarded_count++;
    return base + whole - size;
}

struct rc_str unit_guard(struct rc_str text)
{
    char *copy;

    if (!text.p)
        return text;
    copy = unit_guard_memory(text.n);
    memcpy(copy, text.p, text.n);
    return (struct rc_str){ copy, text.n };
}

const char *unit_guard_string(const char *text)
{
    return unit_guard((struct rc_str){ text, strlen(text) + 1 }).p;
}

void unit_refuses_bytes(bool (*takes)(struct rc_str text), const char *text, const char *good)
{
    size_t size = strlen(text);
    char *copy = memcpy(unit_guard_memory(size), text, size);

    for (int byte = 0; byte < 256; byte++) {
        copy[strcspn(text, "?")] = (char)byte;
        if (!(byte && strchr(good, byte)) && takes((struct rc_str){ copy, size }))
            fail_msg("'%s' is taken with the byte %d", text, byte);
    }
}

void unit_words(const char *text, const char **words, size_t room)
{
    size_t count = 0;

    for (;;) {
        char word[1024];
        size_t n = 0;
        bool quoted = false;

        while (*text == ' ')
            text++;
        if (!*text)
            break;
        for (; *text && (quoted || *text != ' '); text++) {
            if (*text == '\'')
                quoted = !quoted;
            else if (n + 1 < sizeof(word))
                word[n++] = *text;
        }
        if (count + 1 >= room)
            die("too many words");
        word[n] = '\0';
        words[count++] = unit_guard_string(word);
    }
    words[count] = NULL;
}

bool unit_send(int fd, struct rc_str text)
{
    for (size_t sent = 0; sent < text.n;) {
        ssize_t n = send(fd, text.p + sent, text.n - sent, MSG_NOSIGNAL);

        if (n <= 0)
            return false;
        sent += (size_t)n;
    }
    return true;
}

unsigned unit_open_descriptors(void)
{
    unsigned count = 0;

    for (int fd = 0; fd < 1024; fd++)
        count += fcntl(fd, F_GETFD) >= 0;
    return count;
}
