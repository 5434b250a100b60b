/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "rendezvous/server.h"

#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "rendezvous/owner.h"
#include "system/node.h"

enum { FAREWELL_MS = 2000, SRUN_MS = 1000, FOREIGN_SIZE = 96, HOST_SIZE = 64, LINE_SIZE = 512 };

#define MAPPED "::ffff:" /* IPv4 prefix at a dual-stack listener */

struct rc_server {
    struct rc_connections connections;
    char token[RC_WIRE_TOKEN + 1];
    struct rc_gathers gathers;
    rc_server_decide *decide; /* NULL: the roll call is an ordinary gather */
    void *more;
    struct rc_notices notices;
    struct rc_owner owner;
    struct rc_server_settings settings; /* of the roll call */
    bool is_brief;                      /* serve one roll call */
    int srun;                           /* socket to srun; or -1 */
    bool signalled;                     /* the step received a signal */
    bool ended;                         /* srun knows that a failure ends the step */
    char foreign[FOREIGN_SIZE];         /* first member with another wire version; empty: none */
};

static rc_connections_handle handle_message;

static void forget_member(void *more, struct rc_connection *connection)
{
    struct rc_server *server = more;

    if (connection->gather && connection->member != RC_UNKNOWN)
        rc_gather_depart(&server->gathers, connection->gather, connection->member);
}

int rc_server_create(const int listener[RC_LISTENERS_MAX], const char *token, struct rc_server **created)
{
    struct rc_server *server = calloc(1, sizeof(*server));
    int rc;

    if (!server)
        return -ENOMEM;
    memcpy(server->token, token, RC_WIRE_TOKEN);
    server->srun = server->owner.fd = -1;
    rc = rc_connections_open(&server->connections, listener, server->token, handle_message, forget_member, server);
    if (rc == 0)
        *created = server;
    else
        free(server);
    return rc;
}

void rc_server_destroy(struct rc_server *server)
{
    for (struct rc_link *link = server->gathers.open.first; link; link = link->next)
        while (rc_gather_of(link)->waiting.first)
            rc_queue_join(&server->connections.authenticated, rc_gather_of(link)->waiting.first);
    rc_gathers_free(&server->gathers);
    rc_connections_close(&server->connections);
    rc_owner_leave(&server->owner);
    rc_notices_free(&server->notices);
    free(server);
}

void rc_server_gather(struct rc_server *server, const struct rc_gather_request *request)
{
    struct rc_gather *gather = rc_gathers_find(&server->gathers, request->name, request->of);

    if (gather)
        rc_gather_arrive(&server->gathers, gather, request, rc_milliseconds());
}

struct rc_gather *rc_server_find(const struct rc_server *server, const char *name)
{
    return rc_gathers_look(&server->gathers, name);
}

void rc_server_watch(struct rc_server *server, const struct rc_server_settings *settings, uint32_t silence,
                     rc_server_say *say)
{
    rc_notices_begin(&server->notices, settings, silence, say, &server->gathers);
}

bool rc_server_name_missing(struct rc_server *server)
{
    return rc_muster_name(&server->notices.nodes, rc_gathers_look(&server->gathers, RC_GATHER_NODES));
}

static int watch_owner(struct rc_server *server, uint32_t pid)
{
    int rc = rc_connections_live(&server->connections, -1);

    rc_owner_watch(&server->owner, pid);
    return rc < 0 ? rc : rc_connections_live(&server->connections, server->owner.fd);
}

static bool reply_text(struct rc_connection *connection, struct rc_str text)
{
    struct rc_body *body = rc_body_make(text);

    rc_connection_reply_with(connection, body, text.n);
    rc_body_drop(body);
    return body != NULL;
}

static bool take_member(struct rc_server *server, const struct rc_gather_request *request,
                        struct rc_connection *connection)
{
    struct rc_gather *gather = rc_gathers_find(&server->gathers, request->name, request->of);

    if (!gather)
        return false;
    /* a duplicate among a node's tasks only waits; among nodes it is a contradiction */
    connection->member = server->is_brief && rc_gather_has(gather, request->member) ? RC_UNKNOWN : request->member;
    if (connection->member != RC_UNKNOWN)
        rc_gather_arrive(&server->gathers, gather, request, rc_milliseconds());
    rc_wire_free(&connection->wire);
    /* only the first member gets the values */
    if (gather->over && gather->to_first)
        return reply_text(connection, RC_STR(RC_GATHERED_NOTHING));
    if (!gather->over) {
        connection->gather = gather;
        rc_queue_join(&gather->waiting, &connection->link);
        return true;
    }
    rc_gather_serve(gather, connection);
    rc_gathers_tidy(&server->gathers, gather);
    return true;
}

/* Return false without memory. */
static bool take_request(struct rc_server *server, const struct rc_gather_request *request,
                         struct rc_connection *connection)
{
    struct rc_gather *gather;

    if (request->verb == RC_LOOKS)
        return rc_gathers_show(&server->gathers, request->name, connection);
    if (rc_str_is(request->name, RC_GATHER_ROLL))
        rc_notices_attend(&server->gathers, request->member);
    if (request->verb == RC_GATHERS)
        return take_member(server, request, connection);
    gather = rc_gathers_find(&server->gathers, request->name, request->of);
    if (gather && request->member < gather->of)
        rc_gather_attend(gather, request->member, rc_milliseconds());
    return gather && reply_text(connection, RC_STR(""));
}

/* Return false if srun ended, with its last byte unread. */
static bool follow_srun(struct rc_server *server)
{
    char byte;

    while (recv(server->srun, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 1 && byte == RC_LIFE_FAILED) {
        server->ended = true;
        (void)!recv(server->srun, &byte, 1, 0);
    }
    return recv(server->srun, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 && errno == EAGAIN;
}

/* End the step at the first failure, unless it received a signal. Return when srun has set that. */
static void end_step(struct rc_server *server)
{
    const char failed = RC_LIFE_FAILED;
    int64_t deadline = rc_milliseconds() + SRUN_MS;

    if (server->signalled || server->ended || server->srun < 0 || send(server->srun, &failed, 1, MSG_NOSIGNAL) != 1)
        return;
    while (!server->ended && rc_wire_wait(server->srun, POLLIN, deadline) == 0 && follow_srun(server))
        continue;
}

/* From a task's next program after the owner's end, or for a roll call after other calls. */
static bool take_settings(struct rc_server *server, struct rc_str text)
{
    struct rc_server_settings settings;
    struct rc_str words;

    if (!rc_str_starts(text, RC_SERVER_SETTINGS))
        return false;
    rc_str_split(text, ' ', &words);
    if (!rc_server_settings_read(words, &settings) || !settings.owner)
        return false;
    if (server->owner.pid && rc_owner_has_ended(&server->owner))
        watch_owner(server, settings.owner);
    settings.hosts = settings.local = RC_ABSENT; /* point into the message */
    if (settings.seconds)
        server->settings = settings;
    return true;
}

/* Note a member with another wire version, which shares the head and the first words. */
static void note_foreign(struct rc_server *server, const struct rc_connection *connection)
{
    struct rc_arena arena = { .base = server->foreign, .size = sizeof(server->foreign) };
    char text[HOST_SIZE] = "", line[LINE_SIZE];
    struct rc_arena late = { .base = line, .size = sizeof(line) };
    const struct rc_gather *roll;
    const char *at;
    struct sockaddr_storage peer;
    socklen_t size = sizeof(peer);

    if (server->foreign[0] || !rc_str_starts(rc_wire_text(&connection->wire), "gather " RC_GATHER_ROLL " "))
        return;
    if (getpeername(connection->fd, (struct sockaddr *)&peer, &size) == 0)
        getnameinfo((struct sockaddr *)&peer, size, text, sizeof(text), NULL, 0, NI_NUMERICHOST);
    at = rc_str_starts(rc_str(text), MAPPED) ? text + strlen(MAPPED) : text;
    rc_format(&arena, "%u%s%s", connection->wire.version, *at ? ", at " : "", at);
    /* end the roll call even if no other node arrived */
    roll = rc_gathers_find(&server->gathers, RC_STR(RC_GATHER_ROLL), 1);
    if (roll && roll->over && server->notices.say)
        server->notices.say(RC608,
                            rc_format(&late, RC_FOREIGN "its tasks do not start; " RC_FOREIGN_CURE, server->foreign));
}

static bool take_state(struct rc_server *server, struct rc_str text)
{
    if (rc_str_is(text, RC_SERVER_SIGNALLED))
        server->signalled = true;
    else if (rc_str_is(text, RC_SERVER_FAILED))
        end_step(server);
    else
        return false;
    return true;
}

static bool handle_message(void *more, struct rc_connection *connection)
{
    struct rc_server *server = more;
    struct rc_str text = rc_wire_text(&connection->wire);
    struct rc_gather_request request;
    bool good = false;

    if (connection->wire.is_foreign)
        note_foreign(server, connection);
    else if (rc_gather_request_read(text, &request))
        return take_request(server, &request, connection);
    /* nodes that left print the line themselves */
    else if (!rc_str_starts(text, RC_SERVER_REPORTED) || !rc_connection_has_left(connection))
        good = rc_notices_take(&server->notices, &server->gathers, text) || take_settings(server, text) ||
               take_state(server, text);
    return reply_text(connection, good ? RC_STR("") : RC_STR(RC_SERVER_REFUSED));
}

static void end_gather(struct rc_server *server, struct rc_gather *gather)
{
    bool is_roll = strcmp(gather->name, RC_GATHER_ROLL) == 0;
    const struct rc_roll_call call = { gather, &server->settings, server->foreign[0] ? server->foreign : NULL };
    char space[RC_GATHER_HEAD_MAX];
    struct rc_arena arena = { .base = space, .size = sizeof(space) };
    const char *missing = NULL;
    struct rc_str text = RC_ABSENT;

    if (gather->is_full)
        text = RC_STR("full\n");
    else if (is_roll && server->decide)
        text = server->decide(server->more, &call);
    else if (!rc_gather_is_whole(gather))
        missing = rc_muster_missing(gather, rc_gathers_look(&server->gathers, RC_GATHER_ROLL), &arena);
    rc_gather_end(&server->gathers, gather, text, missing, is_roll);
    /* a member may reconnect for its next roll call */
    if (server->is_brief)
        rc_connections_shut(&server->connections);
    while (gather->waiting.first) {
        struct rc_connection *connection = rc_connection_of(gather->waiting.first);

        rc_gather_serve(gather, connection);
        rc_connections_reply(&server->connections, connection);
    }
    rc_gathers_tidy(&server->gathers, gather);
}

/* End complete and overdue gathers. */
static void end_gathers(struct rc_server *server)
{
    int64_t now = rc_milliseconds();

    for (struct rc_link *link = server->gathers.open.first, *next; link; link = next) {
        struct rc_gather *gather = rc_gather_of(link);
        bool is_refused = server->foreign[0] && strcmp(gather->name, RC_GATHER_ROLL) == 0;

        next = link->next;
        if (rc_gather_is_whole(gather) || now >= rc_gather_due(gather) || gather->is_full || is_refused)
            end_gather(server, gather);
    }
}

static int64_t lesser(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t find_due(const struct rc_server *server)
{
    int64_t due = lesser(rc_gathers_due(&server->gathers), rc_notices_due(&server->notices, &server->gathers));

    return lesser(due, rc_owner_due(&server->owner));
}

/* Serve one round. Return false when the server must end. */
static bool serve_round(struct rc_server *server, int64_t until)
{
    int64_t before = rc_milliseconds();
    bool has_sign;

    until = lesser(until, find_due(server));
    has_sign = !rc_connections_serve(&server->connections, until);
    if (has_sign && server->srun >= 0 && !follow_srun(server)) {
        char ending = RC_ENDED_SOMEHOW;

        (void)!read(server->srun, &ending, 1);
        rc_notices_end(&server->notices, &server->gathers, ending, server->signalled || server->foreign[0]);
        return false;
    }
    if (rc_owner_has_ended(&server->owner))
        rc_connections_live(&server->connections, -1);
    /* after a suspension, count members that arrived and postpone the deadlines */
    if (until > 0 && rc_deadline_resume(until, until, 0) > until) {
        rc_gathers_postpone(&server->gathers, rc_milliseconds() - before);
        rc_connections_serve(&server->connections, 0);
    }
    end_gathers(server);
    rc_notices_speak(&server->notices, &server->gathers);
    return rc_milliseconds() < rc_owner_end(&server->owner);
}

/* An unread connection may be a late node; closing it would end that node's tasks. */
static bool has_callers(const struct rc_server *server)
{
    return server->connections.authenticated.first || server->connections.pending.first;
}

/* The last round serves late members. */
static void serve_roll(struct rc_server *server)
{
    const struct rc_gather *roll;
    int64_t end;
    bool waits;

    while (!((roll = rc_server_find(server, RC_GATHER_ROLL)) && roll->over) && serve_round(server, INT64_MAX))
        continue;
    end = rc_milliseconds() + FAREWELL_MS;
    do
        waits = has_callers(server);
    while (serve_round(server, waits ? end : 0) && (waits || has_callers(server)) && rc_milliseconds() < end);
}

int rc_server_run(struct rc_server *server, int srun, const struct rc_server_settings *settings,
                  rc_server_decide *decide, void *more)
{
    int rc = 0;

    server->decide = decide;
    server->more = more;
    server->srun = srun;
    server->settings = *settings;
    server->owner.grace = settings->grace;
    server->is_brief = srun < 0 && !settings->owner;
    if (srun >= 0)
        rc = rc_connections_live(&server->connections, srun);
    else if (settings->owner)
        rc = watch_owner(server, settings->owner);
    if (rc < 0)
        return rc;
    end_gathers(server);
    if (server->is_brief)
        serve_roll(server);
    else
        while (serve_round(server, INT64_MAX))
            continue;
    return 0;
}
