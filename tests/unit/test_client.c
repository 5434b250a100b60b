/* SPDX-License-Identifier: BSD-3-Clause */
/* A client at a server that misbehaves, or has ended: a child that follows a script. */
#include "rendezvous/client.h"
#include "serverchild.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>

#define ENTRY  "roll=1\nscope=s\nhost=n1\nnode=0\nnodes=1\nworld=1\ntasks=0\n"
#define ANSWER "answer=1\nport=24512\n"

enum {
    LONG = 60000, /* milliseconds that nothing here needs */
    SHORT = 600,  /* for what has to be given up */
};

struct server {
    pid_t pid; /* 0: nobody accepts */
    int listener;
    uint16_t port;
};

enum backlog { REFUSES, LISTENS };

/* On 127.0.0.1 alone. */
static struct server open_port(enum backlog backlog)
{
    struct sockaddr_in name = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    struct server server = { .listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0) };
    socklen_t size = sizeof(name);

    assert_true(server.listener >= 0);
    assert_int_equal(bind(server.listener, (struct sockaddr *)&name, sizeof(name)), 0);
    assert_int_equal(getsockname(server.listener, (struct sockaddr *)&name, &size), 0);
    server.port = ntohs(name.sin_port);
    if (backlog == LISTENS)
        assert_int_equal(listen(server.listener, 64), 0);
    return server;
}

/* The client's message; ends the child where it is not what it should be. */
static void take_entry(int fd, size_t size)
{
    struct rc_wire wire = { .limit = RC_WIRE_BODY_MAX };
    enum rc_wire_state state;

    /* rc_wire_read does not wait */
    while ((state = rc_wire_read(&wire, fd, SERVER_TOKEN)) == RC_WIRE_MORE)
        usleep(500);
    if (state != RC_WIRE_WHOLE || wire.used != size || memcmp(wire.body, ENTRY, sizeof(ENTRY) - 1) != 0)
        _exit(4);
    rc_wire_free(&wire);
}

struct script {
    struct rc_str *answers; /* one a client */
    size_t clients;
    size_t entry_size;
    bool drip;
    bool silent; /* goes on holding the connection */
};

static void serve(int listener, const struct script *script)
{
    alarm(SERVER_GUARD);
    for (size_t i = 0; i < script->clients; i++) {
        int fd = accept(listener, NULL, NULL);
        int yes = 1;

        if (fd < 0)
            _exit(2);
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
        take_entry(fd, script->entry_size);
        for (size_t at = 0; script->drip && at < script->answers[i].n; at++)
            if (!unit_send(fd, (struct rc_str){ script->answers[i].p + at, 1 }))
                _exit(3);
        if (!script->drip && !unit_send(fd, script->answers[i]))
            _exit(3);
        if (script->silent)
            pause();
        close(fd);
    }
    _exit(0);
}

static struct server staff(struct script script)
{
    struct server server = open_port(LISTENS);

    if (!script.entry_size)
        script.entry_size = sizeof(ENTRY) - 1;
    server.pid = fork();
    assert_true(server.pid >= 0);
    if (server.pid == 0)
        serve(server.listener, &script);
    return server;
}

static void dismiss(struct server *server, int signal_number)
{
    int status;

    if (signal_number)
        assert_int_equal(kill(server->pid, signal_number), 0);
    assert_int_equal(waitpid(server->pid, &status, 0), server->pid);
    assert_int_equal(status, signal_number);
    close(server->listener);
}

/* It did not come back with an answer; whether its entry may be there is as important as the reason. */
static void fails(const char *hosts, uint16_t port, uint32_t milliseconds, int error, bool heard)
{
    const struct rc_endpoint server = { RC_STR(SERVER_TOKEN), port, rc_str(hosts) };
    struct rc_reply answer = { .text = NULL };
    struct rc_client_part part = { .heard = false };

    assert_int_equal(rc_client_request(&server, RC_STR(ENTRY), milliseconds, &answer, &part), error);
    assert_int_equal(part.heard, heard);
    assert_null(answer.text);
}

static void refused(const char *hosts, uint16_t port, uint32_t milliseconds, int error)
{
    fails(hosts, port, milliseconds, error, false);
}

static void unanswered(const struct server *server, uint32_t milliseconds, int error)
{
    fails("127.0.0.1", server->port, milliseconds, error, true);
}

static void answered(const char *hosts, uint16_t port)
{
    const struct rc_endpoint server = { RC_STR(SERVER_TOKEN), port, rc_str(hosts) };
    struct rc_reply reply;

    assert_int_equal(rc_client_request(&server, RC_STR(ENTRY), LONG, &reply, NULL), 0);
    assert_string_equal(reply.text, ANSWER);
    assert_int_equal(reply.size, strlen(ANSWER));
    free(reply.text);
}

/* Lives until the next call. */
static struct rc_str packed(const char *token, struct rc_str text)
{
    static char *message;
    size_t size;

    free(message);
    message = rc_wire_pack(token, text, &size);
    assert_non_null(message);
    return (struct rc_str){ message, size };
}

/* The linker's wrappers of libc's: one is not to be called, the other suspends its process once. */
static unsigned names_asked;
static bool stops;

int __real_getaddrinfo(const char *, const char *, const struct addrinfo *, struct addrinfo **);
int __wrap_getaddrinfo(const char *, const char *, const struct addrinfo *, struct addrinfo **);

int __wrap_getaddrinfo(const char *name, const char *service, const struct addrinfo *hints, struct addrinfo **list)
{
    names_asked++;
    return __real_getaddrinfo(name, service, hints, list);
}

int __real_connect(int fd, const struct sockaddr *address, socklen_t size);
int __wrap_connect(int fd, const struct sockaddr *address, socklen_t size);

int __wrap_connect(int fd, const struct sockaddr *address, socklen_t size)
{
    if (stops)
        raise(SIGSTOP);
    stops = false;
    return __real_connect(fd, address, size);
}

UNIT_TEST(check_answer, "client: two requests -> answered")
{
    struct rc_str message = packed(SERVER_TOKEN, RC_STR(ANSWER));
    struct rc_str answers[] = { message, message };
    struct server server = staff((struct script){ .answers = answers, .clients = UNIT_COUNT(answers) });

    answered("127.0.0.1", server.port);
    answered("127.0.0.1", server.port);
    dismiss(&server, 0);
}

UNIT_TEST(check_drip, "client: answer byte by byte -> read")
{
    struct rc_str answer = packed(SERVER_TOKEN, RC_STR(ANSWER));
    struct server server = staff((struct script){ .answers = &answer, .clients = 1, .drip = true });

    answered("127.0.0.1", server.port);
    dismiss(&server, 0);
}

UNIT_TEST(check_cut, "client: answer cut anywhere -> -EPROTO")
{
    struct rc_str whole = packed(SERVER_TOKEN, RC_STR(ANSWER));
    struct rc_str answers[128];
    struct server server;

    assert_true(whole.n < UNIT_COUNT(answers));
    for (size_t i = 0; i < whole.n; i++)
        answers[i] = (struct rc_str){ whole.p, i };
    server = staff((struct script){ .answers = answers, .clients = whole.n });
    for (size_t i = 0; i < whole.n; i++)
        unanswered(&server, LONG, -EPROTO);
    dismiss(&server, 0);
}

UNIT_TEST(check_silence, "client: server that stays silent -> -ETIMEDOUT, and it may have the text")
{
    struct rc_str half = { packed(SERVER_TOKEN, RC_STR(ANSWER)).p, 20 };
    struct rc_str nothing = RC_STR("");
    struct server server = staff((struct script){ .answers = &nothing, .clients = 1, .silent = true });

    unanswered(&server, SHORT, -ETIMEDOUT);
    dismiss(&server, SIGKILL);
    server = staff((struct script){ .answers = &half, .clients = 1, .silent = true });
    unanswered(&server, SHORT, -ETIMEDOUT);
    dismiss(&server, SIGKILL);
}

UNIT_TEST(check_nobody, "client: server that does not accept -> -ETIMEDOUT")
{
    struct server server = open_port(LISTENS);

    unanswered(&server, SHORT, -ETIMEDOUT);
    close(server.listener);
}

UNIT_TEST(check_gone, "client: server that has ended -> -ECONNREFUSED before the deadline")
{
    struct server server = open_port(REFUSES);

    refused("127.0.0.1", server.port, LONG, -ECONNREFUSED);
    refused("127.0.0.1", server.port, 0, -ETIMEDOUT);
    close(server.listener);
}

/* The first connection that it begins stops it. */
static pid_t start_suspended(const struct rc_endpoint *endpoint)
{
    struct rc_reply reply;
    pid_t client = fork();

    if (client == 0) {
        stops = true;
        _exit(rc_client_request(endpoint, RC_STR(ENTRY), SHORT, &reply, NULL) != 0);
    }
    return client;
}

UNIT_TEST(check_suspended, "client: suspended for longer than its deadline as it connects -> answered")
{
    struct rc_str message = packed(SERVER_TOKEN, RC_STR(ANSWER));
    struct server server = staff((struct script){ .answers = &message, .clients = 1 });
    const struct rc_endpoint endpoint = { RC_STR(SERVER_TOKEN), server.port, RC_STR("127.0.0.1") };
    pid_t client = start_suspended(&endpoint);
    int status;

    assert_int_equal(waitpid(client, &status, WUNTRACED), client);
    assert_true(WIFSTOPPED(status));
    usleep((SHORT + 1500) * 1000);
    assert_int_equal(kill(client, SIGCONT), 0);
    assert_int_equal(waitpid(client, &status, 0), client);
    assert_int_equal(status, 0);
    dismiss(&server, 0);
}

UNIT_TEST(check_hosts, "client: several addresses -> answered at the one that is right")
{
    struct rc_str message = packed(SERVER_TOKEN, RC_STR(ANSWER));
    struct rc_str answers[] = { message, message, message };
    struct server server = staff((struct script){ .answers = answers, .clients = UNIT_COUNT(answers) });
    char hosts[512];

    answered("127.0.0.2 127.0.0.1", server.port);
    answered("  127.0.0.1 127.0.0.2", server.port);
    memset(hosts, 'n', 300);
    strcpy(hosts + 300, " 127.0.0.1");
    answered(hosts, server.port);
    dismiss(&server, 0);
}

UNIT_TEST(check_names, "client: name among addresses -> not looked up")
{
    struct rc_str answer = packed(SERVER_TOKEN, RC_STR(ANSWER));
    struct server server = staff((struct script){ .answers = &answer, .clients = 1 });

    names_asked = 0;
    refused("localhost", server.port, SHORT, -ETIMEDOUT);
    answered("n1.example 127.0.0.1", server.port);
    assert_int_equal(names_asked, 0);
    dismiss(&server, 0);
}

UNIT_TEST(check_too_many_hosts, "client: more than 8 addresses -> the others are not tried")
{
    struct server server = open_port(LISTENS);

    refused("127.0.0.2 127.0.0.2 127.0.0.2 127.0.0.2 127.0.0.2 127.0.0.2 127.0.0.2 127.0.0.2 127.0.0.1", server.port,
            LONG, -ECONNREFUSED);
    close(server.listener);
}

UNIT_TEST(check_large_entry, "client: text larger than a socket takes at once -> sent")
{
    enum { SIZE = RC_WIRE_BODY_MAX };
    struct rc_str answer = packed(SERVER_TOKEN, RC_STR(ANSWER));
    struct server server = staff((struct script){ .answers = &answer, .clients = 1, .entry_size = SIZE });
    char *entry = calloc(1, SIZE);
    const struct rc_endpoint place = { RC_STR(SERVER_TOKEN), server.port, RC_STR("127.0.0.1") };
    struct rc_reply got;

    assert_non_null(entry);
    memset(entry, 'x', SIZE);
    memcpy(entry, ENTRY, sizeof(ENTRY) - 1);
    assert_int_equal(rc_client_request(&place, (struct rc_str){ entry, SIZE }, LONG, &got, NULL), 0);
    assert_string_equal(got.text, ANSWER);
    free(got.text);
    free(entry);
    dismiss(&server, 0);
}
