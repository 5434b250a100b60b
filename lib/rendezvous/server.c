/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "rendezvous/server.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/pairs.h"
#include "rendezvous/connections.h"
#include "rendezvous/store.h"
#include "system/node.h"

/* SAY_SIZE: RC711 takes up to 1,700 bytes, with its pieces, and RC621 may be there before. */
enum { FAREWELL_MS = 2000, SRUN_MS = 1000, SAY_SIZE = 4096 };

/* Authenticated connections wait for the answer, or for the end of their reply; for a value, in the store's queues. */
struct rc_server {
    struct rc_connections connections;
    char token[RC_WIRE_TOKEN + 1];
    struct rc_roll *rolls; /* the entries, in the order in which they came */
    char **texts;          /* that they are slices of */
    size_t count;
    uint32_t nodes; /* the lowest number of them that an entry has */
    struct rc_store *store;
    struct rc_arrivals arrivals;
    struct rc_failures failures;
    rc_server_say *say; /* NULL: nobody hears it */
    struct rc_callers callers;
    struct rc_reports reports;
    bool signalled; /* the step has received a signal */
    bool ended;     /* srun knows that a failure ends the step */
    int64_t first;  /* when the first entry came; -1: none yet */
    int64_t last;
    char *answer; /* as it goes over the wire; NULL: not yet */
    size_t answer_size;
};

static rc_connections_handle handle_message;

struct rc_server *rc_server_create(int listener, int life, const char *token)
{
    struct rc_server *server = calloc(1, sizeof(*server));

    if (!server)
        return NULL;
    memcpy(server->token, token, RC_WIRE_TOKEN);
    server->first = -1;
    server->store = rc_store_create();
    if (!server->store ||
        rc_connections_open(&server->connections, listener, life, server->token, handle_message, server) < 0) {
        rc_store_destroy(server->store);
        free(server);
        return NULL;
    }
    return server;
}

void rc_server_destroy(struct rc_server *server)
{
    rc_connections_close(&server->connections);
    rc_store_destroy(server->store);
    rc_arrivals_free(&server->arrivals);
    rc_callers_free(&server->callers);
    rc_reports_free(&server->reports);
    for (size_t i = 0; i < server->count; i++)
        free(server->texts[i]);
    free(server->texts);
    free(server->rolls);
    free(server->answer);
    free(server);
}

void rc_server_watch(struct rc_server *server, const struct rc_server_settings *settings, uint32_t silence,
                     rc_server_say *say)
{
    server->arrivals.seconds = settings->watch_seconds;
    server->arrivals.job = settings->job;
    server->say = say;
    if (settings->nodes > 0)
        rc_callers_expect(&server->callers, settings->hosts, settings->nodes, silence, rc_milliseconds());
}

struct rc_callers *rc_server_callers(struct rc_server *server)
{
    return &server->callers;
}

/* The arrays grow whenever they have a power of two. */
static bool make_room(struct rc_server *server)
{
    size_t room = server->count ? 2 * server->count : 1;
    struct rc_roll *rolls;
    char **texts;

    if (server->count & (server->count - 1))
        return true;
    rolls = realloc(server->rolls, room * sizeof(*rolls));
    if (rolls)
        server->rolls = rolls;
    texts = realloc(server->texts, room * sizeof(*texts));
    if (texts)
        server->texts = texts;
    return rolls && texts;
}

/* Keeps a copy. */
bool rc_server_add(struct rc_server *server, struct rc_str entry)
{
    struct rc_roll *roll;
    char *text;

    if (!make_room(server) || !(text = malloc(entry.n + 1)))
        return false;
    memcpy(text, entry.p, entry.n);
    text[entry.n] = '\0';
    roll = &server->rolls[server->count];
    if (!rc_roll_read((struct rc_str){ text, entry.n }, roll)) {
        free(text);
        return false;
    }
    if (server->count == 0 || roll->nodes < server->nodes)
        server->nodes = roll->nodes;
    server->texts[server->count++] = text;
    server->last = rc_milliseconds();
    if (server->first < 0)
        server->first = server->last;
    return true;
}

static bool reply_text(const struct rc_server *server, struct rc_connection *connection, struct rc_str text)
{
    connection->reply = connection->own_reply = rc_wire_pack(server->token, text, &connection->reply_size);
    return connection->reply != NULL;
}

/* Without an answer the connection waits for it. */
static bool reply_answer(const struct rc_server *server, struct rc_connection *connection)
{
    connection->reply = server->answer;
    connection->reply_size = server->answer_size;
    return true;
}

/* All entries, a blank line after each. */
static bool tell_roll(const struct rc_server *server, struct rc_connection *connection)
{
    size_t size = 0;
    char *text, *end;
    bool good;

    for (size_t i = 0; i < server->count; i++)
        size += strlen(server->texts[i]) + 1;
    end = text = malloc(size + 1);
    if (!text)
        return false;
    for (size_t i = 0; i < server->count; i++) {
        end = stpcpy(end, server->texts[i]);
        *end++ = '\n';
    }
    good = reply_text(server, connection, (struct rc_str){ text, size });
    free(text);
    return good;
}

static bool reply_value(const struct rc_server *server, struct rc_connection *connection,
                        const struct rc_store_answer *answer)
{
    char text[RC_STORE_HEAD_MAX + RC_STORE_VALUE_MAX];
    size_t head = strlen(answer->head);

    memcpy(text, answer->head, head);
    if (answer->value.n)
        memcpy(text + head, answer->value.p, answer->value.n);
    return reply_text(server, connection, (struct rc_str){ text, head + answer->value.n });
}

/* Asks the store once more for a waiting connection, as there is a reply now. */
static void wake_waiting(struct rc_server *server, struct rc_connection *connection)
{
    struct rc_store_answer answer;

    if (rc_store_ask(server->store, rc_wire_text(&connection->wire), &answer))
        reply_value(server, connection, &answer);
    rc_connections_wake(&server->connections, connection);
}

static bool ask_store(struct rc_server *server, struct rc_connection *connection)
{
    struct rc_store_answer answer;

    if (!rc_store_ask(server->store, rc_wire_text(&connection->wire), &answer))
        return false;
    if (!*answer.head) {
        rc_queue_join(answer.waiting, &connection->link);
        return true;
    }
    while (answer.waiting && answer.waiting->first)
        wake_waiting(server, rc_connection_of(answer.waiting->first));
    return reply_value(server, connection, &answer);
}

static void speak(struct rc_server *server)
{
    char space[SAY_SIZE];
    int64_t now = rc_milliseconds();
    enum rc_message_id id;
    const char *text;

    do {
        struct rc_arena arena = { .base = space, .size = sizeof(space) };

        text = rc_callers_say(&server->callers, now, &id, &arena);
        text = text ? text : rc_reports_say(&server->reports, &server->callers, now, &id, &arena);
        text = text ? text : rc_arrivals_say(&server->arrivals, server->rolls, server->count, now, &id, &arena);
        if (!text && now >= rc_failures_due(&server->failures)) {
            id = RC711;
            text = rc_failures_say(&server->failures, &arena);
        }
        if (text && server->say)
            server->say(id, text);
    } while (text);
}

/* Returns false for a word of another release. Its line is printed before the task goes on. */
static bool take_word(struct rc_server *server, struct rc_str text)
{
    int64_t now = rc_milliseconds();
    bool taken;

    if (rc_str_starts(text, RC_SERVER_RAISED))
        taken = rc_failures_take(&server->failures, text, now);
    else if (rc_str_starts(text, RC_SERVER_REPORTED))
        taken = rc_reports_take(&server->reports, text, &server->callers, now);
    else
        taken = rc_arrivals_take(&server->arrivals, text, server->count ? server->rolls[0].world : 0, now);
    speak(server);
    return taken;
}

/* For what is not understood, though it has the token: it is of another release. */
static bool refuse_release(struct rc_server *server, struct rc_connection *connection)
{
    struct rc_roll foreign = { .version = RC_ABSENT };
    char room[256];
    struct rc_arena arena = { .base = room, .size = sizeof(room) };

    rc_roll_read_foreign(rc_wire_text(&connection->wire), &foreign);
    return reply_text(server, connection,
                      rc_str(rc_format(&arena,
                                       "failed=this node's rollcall%s%pS and the server's " PACKAGE_VERSION
                                       " do not understand each other (install one release on all hosts)\n",
                                       foreign.version.n ? " " : "", &foreign.version)));
}

/* Of an entry of another version of the wire, what every version can read. */
static bool add_foreign(struct rc_server *server, struct rc_str text)
{
    char room[RC_ROLL_SIZE];
    struct rc_arena arena = { .base = room, .size = sizeof(room) };
    struct rc_roll roll;
    const char *entry = rc_roll_read_foreign(text, &roll) ? rc_roll_write(&roll, &arena) : NULL;

    return entry && rc_server_add(server, rc_str(entry));
}

/* An entry that comes after the answer is not read. The reply to a node that takes no part is empty. */
static bool take_entry(struct rc_server *server, struct rc_connection *connection)
{
    struct rc_str text = rc_wire_text(&connection->wire);

    if (!server->answer && !(connection->wire.is_foreign ? add_foreign(server, text) : rc_server_add(server, text)))
        return refuse_release(server, connection);
    rc_wire_free(&connection->wire);
    if (!server->answer && server->rolls[server->count - 1].absent.p)
        return reply_text(server, connection, RC_STR(""));
    return reply_answer(server, connection);
}

/* Reads what srun has written. False if srun has ended: the byte that it wrote before is left. */
static bool follow_srun(struct rc_server *server)
{
    int life = server->connections.life;
    char byte;

    while (recv(life, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 1 && (byte == RC_LIFE_STARTED || byte == RC_LIFE_FAILED)) {
        if (byte == RC_LIFE_STARTED)
            rc_callers_start(&server->callers, rc_milliseconds());
        else
            server->ended = true;
        (void)!recv(life, &byte, 1, 0);
    }
    return recv(life, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 && errno == EAGAIN;
}

/* The first failure ends the step, unless it has received a signal. Returns when srun has set that. */
static void end_step(struct rc_server *server)
{
    const char failed = RC_LIFE_FAILED;
    int64_t deadline = rc_milliseconds() + SRUN_MS;
    int life = server->connections.life;

    if (server->signalled || server->ended || life < 0 || send(life, &failed, 1, MSG_NOSIGNAL) != 1)
        return;
    while (!server->ended && rc_wire_wait(life, POLLIN, deadline) == 0 && follow_srun(server))
        continue;
}

static bool handle_message(void *more, struct rc_connection *connection)
{
    struct rc_server *server = more;
    struct rc_str text = rc_wire_text(&connection->wire);

    if (rc_str_starts(text, "roll=") || rc_str_starts(text, RC_SERVER_GREETING))
        rc_callers_take(&server->callers, text, rc_milliseconds());
    if (connection->wire.is_foreign && (rc_str_is(text, RC_SERVER_QUESTION) || rc_store_is_question(text)))
        return refuse_release(server, connection);
    if (rc_str_is(text, RC_SERVER_QUESTION))
        return tell_roll(server, connection);
    server->signalled |= rc_str_is(text, RC_SERVER_SIGNALLED);
    if (rc_str_is(text, RC_SERVER_FAILED))
        end_step(server);
    if (rc_str_starts(text, RC_SERVER_GREETING) || rc_str_starts(text, RC_SERVER_STATE))
        return reply_text(server, connection, RC_STR(""));
    if (rc_str_is(text, RC_SERVER_ANSWER))
        return reply_answer(server, connection);
    if (rc_store_is_question(text))
        return ask_store(server, connection) || refuse_release(server, connection);
    /* a node that no longer waits for this server has printed its line */
    if (rc_str_starts(text, RC_SERVER_REPORTED) && rc_connection_has_left(connection))
        return false;
    if (rc_str_starts(text, RC_SERVER_REACHED) || rc_str_starts(text, RC_SERVER_RAISED) ||
        rc_str_starts(text, RC_SERVER_REPORTED))
        return take_word(server, text) ? reply_text(server, connection, RC_STR(""))
                                       : refuse_release(server, connection);
    return take_entry(server, connection);
}

/* By the lowest number of nodes that an entry names: nobody waits for nodes that only one knows of. */
static bool is_complete(const struct rc_server *server)
{
    return server->count > 0 && server->count >= server->nodes;
}

static int answer_all(struct rc_server *server, rc_server_decide *decide, void *more)
{
    struct rc_str text = decide ? decide(more, server->rolls, server->count, is_complete(server))
                                : RC_STR("failed=no roll call is held here\n");

    server->answer = rc_wire_pack(server->token, text, &server->answer_size);
    if (!server->answer)
        return -ENOMEM;
    for (struct rc_link *link = server->connections.authenticated.first, *next; link; link = next) {
        next = link->next;
        if (!rc_connection_of(link)->reply)
            reply_answer(server, rc_connection_of(link));
        rc_connections_reply(&server->connections, rc_connection_of(link));
    }
    return 0;
}

static void speak_at_end(struct rc_server *server)
{
    char space[SAY_SIZE];
    struct rc_arena arena = { .base = space, .size = sizeof(space) };
    char ending = RC_ENDED_SOMEHOW;
    enum rc_message_id id;
    const char *text;

    if (!server->say)
        return;
    while ((text = rc_reports_say(&server->reports, &server->callers, INT64_MAX, &id, &arena)))
        server->say(id, text);
    (void)!read(server->connections.life, &ending, 1);
    /* a step that was ended from outside may have ended before its tasks began */
    text = server->signalled ? NULL : rc_callers_end(&server->callers, (enum rc_ending)ending, &arena);
    if (text)
        server->say(RC621, text);
    text = ending == RC_ENDED_WELL ? NULL : rc_failures_say(&server->failures, &arena);
    if (text)
        server->say(RC711, text);
}

/* One round; false once its life is over. */
static bool serve_round(struct rc_server *server, int64_t deadline)
{
    const int64_t due[] = {
        rc_arrivals_due(&server->arrivals),
        rc_callers_due(&server->callers),
        rc_failures_due(&server->failures),
        rc_reports_due(&server->reports),
    };

    for (size_t i = 0; i < sizeof(due) / sizeof(*due); i++)
        deadline = due[i] < deadline ? due[i] : deadline;
    if (!rc_connections_serve(&server->connections, deadline) && !follow_srun(server)) {
        speak_at_end(server);
        return false;
    }
    speak(server);
    return true;
}

/* A connection that was not read yet may be a late node: closing it would end that node's tasks. */
static bool has_callers(const struct rc_connections *connections)
{
    return connections->authenticated.first || connections->pending.first || connections->sent_away > 0;
}

static int64_t find_deadline(const struct rc_server *server, uint32_t seconds)
{
    int64_t each = seconds * INT64_C(1000);
    int64_t most = server->first < 0 ? INT64_MAX : server->first + RC_MEETING_MOST * each;

    return server->first < 0 || server->last + each > most ? most : server->last + each;
}

int rc_server_run(struct rc_server *server, uint32_t seconds, rc_server_decide *decide, void *more)
{
    bool stays = server->connections.life >= 0;
    int64_t deadline = INT64_MAX;
    bool waits;
    int rc;

    /* entries that came while this process was suspended count, and that time does not */
    for (size_t count = 0; !is_complete(server) && (server->count > count || rc_milliseconds() < deadline);) {
        int64_t until = find_deadline(server, seconds), late;

        count = server->count;
        if (!serve_round(server, until))
            return 0;
        late = rc_deadline_resume(0, until, 0);
        server->first += server->first < 0 ? 0 : late;
        server->last += late;
        deadline = find_deadline(server, seconds);
    }
    if ((rc = answer_all(server, decide, more)) < 0)
        return rc;
    deadline = stays ? INT64_MAX : rc_milliseconds() + FAREWELL_MS;
    /* the last round is for one who has come meanwhile */
    do
        waits = stays || has_callers(&server->connections);
    while (serve_round(server, waits ? deadline : 0) && (waits || has_callers(&server->connections)) &&
           rc_milliseconds() < deadline);
    return 0;
}
