/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/netaddr.h"
#include "effects/lookup.h"
#include "exchange.h"
#include "inventory/inventory.h"
#include "rendezvous/client.h"
#include "rendezvous/session.h"
#include "rendezvous/wire.h"
#include "roll/entry.h"
#include "system/net.h"
#include "system/node.h"
#include "system/program.h"

/* This host's addresses as an endpoint, and rollcall-pmix, which tells it to other nodes. */

extern char **environ;

const char *exchange_write_endpoint(const char *token, uint16_t port, struct rc_arena *arena)
{
    char text[RC_CLIENT_HOSTS_MAX * RC_NETADDR_TEXT];
    struct rc_arena hosts = { .base = text, .size = sizeof(text) };
    const struct rc_endpoint endpoint = {
        .token = rc_str(token),
        .port = port,
        .hosts = rc_str(rc_entry_addresses(RC_CLIENT_HOSTS_MAX, " ", &hosts)),
    };

    return rc_endpoint_write(&endpoint, arena);
}

char *exchange_ask_pmix(const char *argument, struct rc_str input, uint32_t milliseconds, char *line, size_t size)
{
    char path[PATH_MAX];
    struct rc_program program = {
        .kind = RC_PROGRAM_PMIX, .path = path, .argument = argument, .input = input, .milliseconds = milliseconds
    };
    int rc;

    if (!rc_beside_file(".", "rollcall-pmix", path, sizeof(path)).p) {
        snprintf(line, size, "%s", strerror(ENOENT));
        return NULL;
    }
    program.env = (const char *const *)environ;
    rc = rc_program_line(&program, line, size);
    if (rc == -ETIMEDOUT)
        snprintf(line, size, "no answer by the deadline");
    return rc < 0 ? NULL : line;
}

/* One node's part in the exchange. */

/* How long a node waits beyond the server's last moment: it receives the server's decision before its time is up. */
enum { BEYOND_MS = 1500, LINE_SIZE = 8192 };

int exchange_fail(const char *what, const char *why)
{
    printf("failed=%s: %s\n", what, why);
    return 1;
}

/* For a failure after which the other nodes may start without this one. */
static int print_lost(const char *why)
{
    printf("lost=%s\n", why);
    return 1;
}

/* From now on the other nodes may count on this one, whatever becomes of this process. */
static void print_sent(void)
{
    alarm(0);
    fputs(RC_EXCHANGE_SENT, stdout);
    fflush(stdout);
}

static struct rc_str read_input(void)
{
    static char text[RC_WIRE_BODY_MAX];
    size_t n = fread(text, 1, sizeof(text), stdin);

    return (struct rc_str){ text, n };
}

static int64_t alarm_begun;
static unsigned alarm_seconds;

static void begin_alarm(void)
{
    alarm_begun = rc_milliseconds();
    alarm(alarm_seconds);
}

/* A resolver may take longer than the nodes wait. An alarm that is late was due while this process was suspended. */
static void give_up(int number)
{
    static const char line[] = "failed=the rendezvous server: no connection within the deadline\n";

    (void)number;
    if (rc_deadline_resume(0, alarm_begun, alarm_seconds * INT64_C(1000)) > 0) {
        begin_alarm();
        return;
    }
    (void)!write(STDOUT_FILENO, line, sizeof(line) - 1);
    _exit(1);
}

static uint32_t meeting_milliseconds(const struct rc_request *request)
{
    return RC_MEETING_MOST * request->seconds * 1000 + BEYOND_MS;
}

static int request_from_server(const struct rc_request *request, const struct rc_endpoint *endpoint,
                               uint32_t milliseconds)
{
    struct rc_client_part part = { .by_name = true,
                                   .begins = print_sent,
                                   .reach = (request->seconds * 1000 + BEYOND_MS) / 2 };
    struct rc_reply answer;
    int rc;

    signal(SIGALRM, give_up);
    alarm_seconds = request->seconds + 2;
    begin_alarm();
    rc = rc_client_request(endpoint, request->entry, milliseconds, &answer, &part);
    alarm(0);
    if (rc < 0)
        return part.heard ? print_lost(strerror(-rc)) : exchange_fail("the rendezvous server", strerror(-rc));
    fputs(answer.text, stdout);
    free(answer.text);
    return 0;
}

/* The server itself, on the node of RANK 0. */
static int receive_all(const struct rc_request *request)
{
    static struct rc_verdict verdict;
    char token[RC_WIRE_TOKEN + 1];
    char line[LINE_SIZE];
    static char text[RC_WIRE_BODY_MAX];
    struct rc_arena arena = { .base = text, .size = sizeof(text) };
    const char *endpoint;
    struct rc_server *server;
    int64_t start = rc_milliseconds();
    uint32_t used; /* whole seconds */
    uint16_t port;
    int listener = rc_listen(0, 0, 0, &port);
    int rc = listener < 0 ? listener : rc_wire_new_token(token);

    if (rc < 0)
        return exchange_fail("a socket", strerror(-rc));
    endpoint = exchange_write_endpoint(token, port, &arena);
    server = rc_server_create(listener, -1, token);
    if (!server)
        return exchange_fail("the rendezvous server", strerror(ENOMEM));
    print_sent();
    if (!exchange_ask_pmix("put", rc_str(endpoint), request->seconds * 1000, line, sizeof(line))) {
        rc_server_destroy(server);
        return exchange_fail("PMIx", line);
    }
    verdict.check = request->check;
    verdict.same = request->same;
    verdict.seconds = request->seconds;
    /* the other nodes wait no longer because PMIx has taken its time, nor does who has started this program */
    used = (uint32_t)(rc_milliseconds() - start) / 1000;
    rc = rc_server_add(server, request->entry)
             ? rc_server_run(server, used < verdict.seconds ? verdict.seconds - used : 0, rc_verdict_decide, &verdict)
             : -EPROTO;
    if (rc == 0)
        fputs(rc_answer_write(&verdict.answer, &arena), stdout);
    rc_server_destroy(server);
    return rc < 0 ? exchange_fail("the rendezvous server", strerror(-rc)) : 0;
}

static int find_and_request(const struct rc_request *request)
{
    struct rc_endpoint endpoint;
    char line[LINE_SIZE];
    int64_t start = rc_milliseconds();
    uint32_t all = meeting_milliseconds(request);
    uint32_t used;

    if (!exchange_ask_pmix("get", rc_str(""), request->seconds * 1000, line, sizeof(line)))
        return exchange_fail("PMIx", line);
    used = (uint32_t)(rc_milliseconds() - start);
    if (!rc_endpoint_read(rc_program_reason(rc_str(line), "endpoint="), &endpoint))
        return exchange_fail("PMIx", "what the node of rank 0 put there is no endpoint");
    return request_from_server(request, &endpoint, used < all ? all - used : 1);
}

int exchange_inventory(void)
{
    char text[RC_INVENTORY_SIZE];
    struct rc_arena arena = { .base = text, .size = sizeof(text) };

    fputs(rc_inventory_write("", (const char *const *)environ, &arena), stdout);
    return fflush(stdout) == 0 ? 0 : 1;
}

int exchange_lookup(void)
{
    static char text[RC_LOOKUP_SIZE];
    struct rc_arena arena = { .base = text, .size = sizeof(text) };
    struct rc_lookup_question asked = { .kind = RC_ADDRESS_DEFAULT };
    struct rc_lookup lookup;
    const char *answer;

    fputs(RC_LOOKUP_BEGUN, stdout);
    fflush(stdout);
    if (!rc_pairs_read(read_input(), '\n', &rc_lookup_question_form, &asked) || !asked.addr.p)
        return exchange_fail("the question", "cannot be read");
    rc_lookup_find(&asked, &lookup, &arena);
    answer = rc_pairs_write(&rc_lookup_form, &lookup, &arena);
    return answer && fputs(answer, stdout) >= 0 && fflush(stdout) == 0 ? 0 : 1;
}

/* Adds as many whole lines to the entry as there is room for. */
static void add_lines(struct rc_request *request, struct rc_str lines)
{
    static char text[RC_ROLL_SIZE];

    if (request->entry.n > sizeof(text))
        return;
    if (request->entry.p != text)
        memcpy(text, request->entry.p, request->entry.n);
    request->entry.p = text;
    while (lines.n > 0) {
        struct rc_str line = rc_str_split(lines, '\n', &lines);

        if (request->entry.n + line.n + 1 > sizeof(text))
            return;
        memcpy(text + request->entry.n, line.p, line.n);
        text[request->entry.n + line.n] = '\n';
        request->entry.n += line.n + 1;
    }
}

/* Add what the node has, or nothing if that is not known in time: such a node is compared with none. */
static void add_inventory(struct rc_request *request)
{
    char path[PATH_MAX];
    char lines[RC_INVENTORY_SIZE + 1];
    struct rc_program program = {
        .path = path,
        .argument = EXCHANGE_INVENTORY,
        .env = (const char *const *)environ,
        .milliseconds = RC_SESSION_INVENTORY_MS,
    };
    int status;

    if (request->same == RC_CHECK_UNSET || request->same == RC_CHECK_OFF)
        return;
    if (rc_beside_file(".", RC_EXCHANGE, path, sizeof(path)).p &&
        rc_program_run(&program, lines, sizeof(lines), &status) >= 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0)
        add_lines(request, rc_str(lines));
}

/* The address by which this node reaches srun, as a line of the entry; "" if it is not known. */
static const char *write_via(const struct rc_request *request, struct rc_arena *arena)
{
    struct rc_str rest = request->transport == RC_TRANSPORT_SRUN && request->root ? request->endpoint.hosts : RC_ABSENT;
    struct rc_netaddr server, source;
    char text[RC_NETADDR_TEXT];

    while (rest.p)
        if (rc_netaddr_read(rc_str_split(rest, ' ', &rest), &server) && !rc_netaddr_is_loopback(&server) &&
            rc_source_towards(&server, &source))
            return rc_format(arena, "via=%s\n", rc_netaddr_text(&source, text));
    return "";
}

/* Adds what MASTER_ADDR leads to here, so that all nodes can take another address if it leads one of them astray. */
static void add_leads(struct rc_request *request)
{
    char path[PATH_MAX];
    char answer[RC_LOOKUP_SIZE];
    char text[2 * RC_LEADS_MAX];
    struct rc_arena arena = { .base = text, .size = sizeof(text) };
    struct rc_roll roll;
    struct rc_lookup lookup;

    if (!request->leads || !rc_roll_read(request->entry, &roll) || !roll.addr.n ||
        !rc_beside_file(".", RC_EXCHANGE, path, sizeof(path)).p)
        return;
    rc_lookup_ask(
        path,
        &(struct rc_lookup_question){ .addr = roll.addr, .nodes = roll.nodes, .node_rank = roll.node, .once = true },
        RC_SESSION_LEADS_MS, answer);
    /* a program that had to be ended has waited for name servers */
    if (!rc_lookup_read(rc_str(answer), &lookup) || lookup.unstarted)
        return;
    if (!lookup.leads.n)
        lookup.leads = RC_STR(RC_LEADS_UNANSWERED);
    rc_format(&arena, "leads=%pS\n", &lookup.leads);
    rc_join(&arena);
    write_via(request, &arena);
    if (!arena.full)
        add_lines(request, rc_str(text));
}

int exchange_node(void)
{
    struct rc_request request;
    int status;

    if (!rc_request_read(read_input(), &request))
        return exchange_fail("the request", "cannot be read");
    add_leads(&request);
    add_inventory(&request);
    if (request.transport == RC_TRANSPORT_SRUN)
        status = request_from_server(&request, &request.endpoint, meeting_milliseconds(&request));
    else
        status = request.root ? receive_all(&request) : find_and_request(&request);
    return fflush(stdout) == 0 ? status : 1;
}
