/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "rendezvous/wire.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/pairs.h"
#include "launcher/hosts.h"
#include "launcher/stamp.h"
#include "rendezvous/local.h"
#include "system/node.h"
#include "system/port.h"

#define MAGIC "rollcall 1 "

int rc_wire_wait(int fd, short events, int64_t deadline)
{
    struct pollfd one = { .fd = fd, .events = events };

    /* count bytes that arrived while this process was suspended, even after the deadline */
    for (;;) {
        int left = rc_milliseconds_left(deadline);
        int64_t before = rc_milliseconds();

        if (poll(&one, 1, left) > 0)
            return 0;
        if (left <= 0)
            return -ETIMEDOUT;
        deadline = rc_deadline_resume(deadline, before, left);
    }
}

/* Return RC_WIRE_WHOLE if bytes arrived. */
static enum rc_wire_state receive_bytes(int fd, char *to, size_t size, size_t *used)
{
    ssize_t n;

    do
        n = recv(fd, to + *used, size - *used, MSG_DONTWAIT);
    while (n < 0 && errno == EINTR);
    if (n <= 0)
        return n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK) ? RC_WIRE_MORE : RC_WIRE_WRONG;
    *used += (size_t)n;
    return RC_WIRE_WHOLE;
}

/* Constant time: the duration must not reveal how much of a guess was right. */
static bool same_token(const char *a, const char *b)
{
    unsigned different = 0;

    for (unsigned i = 0; i < RC_WIRE_TOKEN; i++)
        different |= (unsigned char)a[i] ^ (unsigned char)b[i];
    return !different;
}

static bool read_head(struct rc_wire *wire, struct rc_str head, const char *token)
{
    bool is_foreign = !rc_str_starts(head, MAGIC);
    struct rc_str name = rc_str_split(head, ' ', &head);
    struct rc_str version = rc_str_split(head, ' ', &head);
    struct rc_str given = rc_str_split(head, ' ', &head);
    uint32_t number;
    uint32_t size;

    if (!rc_str_is(name, "rollcall") || !rc_parse_u32(version, UINT16_MAX, &number) || given.n != RC_WIRE_TOKEN ||
        !same_token(given.p, token) || !rc_parse_u32(head, wire->limit, &size))
        return false;
    wire->version = number;
    wire->is_foreign = is_foreign;
    wire->size = size;
    wire->body = malloc((size_t)size + 1);
    return wire->body != NULL;
}

/* Bytes after the head in the same read are the start of the body. */
static enum rc_wire_state take_head(struct rc_wire *wire, int fd, const char *token)
{
    enum rc_wire_state state = receive_bytes(fd, wire->head, sizeof(wire->head), &wire->head_used);
    char *end;
    size_t after;

    if (state != RC_WIRE_WHOLE)
        return state;
    end = memchr(wire->head, '\n', wire->head_used);
    if (!end)
        return wire->head_used == sizeof(wire->head) ? RC_WIRE_WRONG : RC_WIRE_MORE;
    if (!read_head(wire, (struct rc_str){ wire->head, (size_t)(end - wire->head) }, token))
        return RC_WIRE_WRONG;
    after = wire->head_used - (size_t)(end + 1 - wire->head);
    if (after > wire->size)
        return RC_WIRE_WRONG;
    memcpy(wire->body, end + 1, after);
    wire->used = after;
    return RC_WIRE_WHOLE;
}

enum rc_wire_state rc_wire_read(struct rc_wire *wire, int fd, const char *token)
{
    enum rc_wire_state state = wire->body ? RC_WIRE_WHOLE : take_head(wire, fd, token);

    while (state == RC_WIRE_WHOLE && wire->used < wire->size)
        state = receive_bytes(fd, wire->body, wire->size, &wire->used);
    if (state == RC_WIRE_WHOLE)
        wire->body[wire->size] = '\0';
    return state;
}

struct rc_str rc_wire_text(const struct rc_wire *wire)
{
    return (struct rc_str){ wire->body, wire->used };
}

void rc_wire_free(struct rc_wire *wire)
{
    free(wire->body);
    *wire = (struct rc_wire){ .limit = wire->limit };
}

size_t rc_wire_head(const char *token, size_t size, char head[RC_WIRE_HEAD_MAX])
{
    return (size_t)snprintf(head, RC_WIRE_HEAD_MAX, MAGIC "%.*s %zu\n", RC_WIRE_TOKEN, token, size);
}

char *rc_wire_pack(const char *token, struct rc_str text, size_t *size)
{
    char head[RC_WIRE_HEAD_MAX];
    size_t n = rc_wire_head(token, text.n, head);
    char *message = malloc(n + text.n);

    if (!message)
        return NULL;
    memcpy(message, head, n);
    memcpy(message + n, text.p, text.n);
    *size = n + text.n;
    return message;
}

int rc_wire_new_token(char token[RC_WIRE_TOKEN + 1])
{
    static const char digits[] = "0123456789abcdef";
    unsigned char bytes[RC_WIRE_TOKEN / 2];

    /* glibc has getrandom() since 2.25; the wheels support 2.17 */
    if (syscall(SYS_getrandom, bytes, sizeof(bytes), 0) != sizeof(bytes))
        return -EIO;
    for (unsigned i = 0; i < sizeof(bytes); i++) {
        token[2 * i] = digits[bytes[i] >> 4];
        token[2 * i + 1] = digits[bytes[i] & 15];
    }
    token[RC_WIRE_TOKEN] = '\0';
    return 0;
}

bool rc_wire_is_token(struct rc_str text)
{
    for (size_t i = 0; i < text.n; i++)
        if (!(text.p[i] >= '0' && text.p[i] <= '9') && !(text.p[i] >= 'a' && text.p[i] <= 'f'))
            return false;
    return text.n == RC_WIRE_TOKEN;
}

bool rc_endpoint_read(struct rc_str text, struct rc_endpoint *endpoint)
{
    struct rc_endpoint read;
    struct rc_str rest;
    uint32_t port;

    read.token = rc_str_split(text, ' ', &rest);
    if (!rc_wire_is_token(read.token) || !rc_parse_u32(rc_str_split(rest, ' ', &read.hosts), UINT16_MAX, &port) ||
        port == 0 || read.hosts.n == 0)
        return false;
    read.port = (uint16_t)port;
    *endpoint = read;
    return true;
}

const char *rc_endpoint_write(const struct rc_endpoint *endpoint, struct rc_arena *arena)
{
    return rc_format(arena, "%pS %u %pS", &endpoint->token, (uint32_t)endpoint->port, &endpoint->hosts);
}

bool rc_endpoint_of_srun(const struct rc_env *env, struct rc_endpoint *endpoint, struct rc_str *step,
                         struct rc_arena *arena)
{
    struct rc_step_server server;
    struct rc_str address = rc_env_get(env, "SLURM_LAUNCH_NODE_IPADDR");
    struct rc_str name = rc_env_get(env, "SLURM_SRUN_COMM_HOST");

    if (!rc_step_server_read(env, &server) || address.n == 0 ||
        !rc_endpoint_read(rc_str(rc_format(arena, "%pS %pS %pS%s%pS", &server.token, &server.port, &address,
                                           name.n ? " " : "", &name)),
                          endpoint))
        return false;
    *step = server.step;
    return true;
}

bool rc_endpoint_is_own_step(const struct rc_env *env, struct rc_str step)
{
    struct rc_str number;
    struct rc_str job = rc_str_split(step, '.', &number);

    return rc_str_eq(job, rc_env_get(env, "SLURM_JOB_ID")) && rc_str_eq(number, rc_env_get(env, "SLURM_STEP_ID"));
}

enum { BACKLOG = 4096 };

static int listen_at(uint16_t port, enum rc_port_binding binding)
{
    int fd = rc_port_bind(port, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, binding);
    int rc;

    if (fd < 0 || listen(fd, BACKLOG) == 0)
        return fd;
    rc = -errno;
    close(fd);
    return rc;
}

/* Probe without listening, so other programs can bind these ports meanwhile. */
static bool are_free(uint16_t first, uint16_t last, uint32_t count)
{
    for (uint32_t port = first; count > 0 && port <= last; port++) {
        int fd = rc_port_hold((uint16_t)port);

        count -= fd >= 0;
        rc_port_release(fd);
    }
    return count == 0;
}

int rc_listen(uint16_t first, uint16_t last, uint32_t left, uint16_t *port)
{
    uint32_t span = (uint32_t)last - first + 1;
    uint32_t start = (uint32_t)rc_milliseconds() % span;
    int fd = -EADDRINUSE;

    /* Steps of one host share the range, so start at different ports. Ports in TIME_WAIT, which a finished server
     * leaves for a minute, come last. */
    for (uint32_t i = 0; fd == -EADDRINUSE && i < 2 * span; i++)
        fd = listen_at((uint16_t)(first + (start + i) % span), i < span ? RC_PORT_EXCLUSIVE : RC_PORT_SHARED);
    if (fd >= 0 && !are_free(first, last, left)) {
        close(fd);
        fd = -EADDRINUSE;
    }
    if (fd >= 0)
        *port = rc_port_number(fd);
    return fd;
}

static const struct rc_row settings_rows[] = {
    RC_ROW_NUMBER(struct rc_server_settings, seconds, 0, UINT16_MAX),
    RC_ROW_CHOICE(struct rc_server_settings, check, rc_words_check),
    RC_ROW_NUMBER(struct rc_server_settings, watch_seconds, 0, RC_WATCH_SECONDS_MAX),
    RC_ROW_NUMBER(struct rc_server_settings, job, 0, UINT32_MAX),
    RC_ROW_NUMBER(struct rc_server_settings, nodes, 0, RC_MAX_TASKS),
    RC_ROW_CHOICE(struct rc_server_settings, same, rc_words_check),
    RC_ROW_TEXT(struct rc_server_settings, hosts, RC_WIRE_BODY_MAX),
    RC_ROW_NUMBER(struct rc_server_settings, owner, 1, INT32_MAX),
    RC_ROW_NUMBER(struct rc_server_settings, grace, 0, INT32_MAX),
    RC_ROW_TEXT(struct rc_server_settings, local, RC_LOCAL_NAME),
    RC_ROW_NUMBER(struct rc_server_settings, pmix, 1, 1),
};

static const struct rc_form settings_form = { RC_FORM_ROWS(settings_rows) };

const char *rc_server_settings_write(const struct rc_server_settings *settings, struct rc_arena *arena)
{
    size_t start = arena->used;
    const char *text = rc_pairs_write(&settings_form, settings, arena);

    for (size_t i = start; i < arena->used; i++)
        if (arena->base[i] == '\n')
            arena->base[i] = ' ';
    return text;
}

bool rc_server_settings_read(struct rc_str text, struct rc_server_settings *settings)
{
    struct rc_server_settings read = { .same = RC_CHECK_WARN };

    if (!rc_pairs_read(text, ' ', &settings_form, &read) || read.check == RC_CHECK_UNSET ||
        (read.owner && !read.local.n))
        return false;
    *settings = read;
    return true;
}

struct rc_str rc_hosts_of(const struct rc_server_settings *settings)
{
    uint32_t count;

    return rc_hostlist_count(settings->hosts, &count) && count == settings->nodes ? settings->hosts : RC_ABSENT;
}
