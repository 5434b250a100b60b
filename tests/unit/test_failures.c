/* SPDX-License-Identifier: BSD-3-Clause */
/* Which process of a step failed first: what is taken, what is said and when, and a real server in a child. */
#include "config.h"

#include <signal.h>
#include <unistd.h>

#include "rendezvous/wire.h"
#include "serverchild.h"

#define RANK_3 "raised=1\ntask=3\nrank=3\nsize=4\nhost=n2\nerror=RuntimeError: of rank 3\n"

static const struct unit_text wrong[] = {
    { TEXT("raised="), "nothing" },
    { TEXT("raised=1\n"), "no task" },
    { TEXT("raised=2\ntask=3\nerror=x\n"), "of another form" },
    { TEXT("raised=1\ntask=3\n"), "no error" },
    { TEXT("raised=1\ntask=3\nerror=\n"), "an empty error" },
    { TEXT("raised=1\ntask=16777216\nerror=x\n"), "more tasks than there can be" },
    { TEXT("raised=1\ntask=3\nrank=-1\nerror=x\n"), "a rank below zero" },
    { TEXT("raised=1\ntask=3\nerror=x\033[2J\n"), "a terminal's escape" },
    { TEXT("raised=1\ntask=3\nerror=x\nerror=y\n"), "two errors" },
};

UNIT_ROWS(refuses, "failure text: malformed -> refused", wrong)
{
    struct rc_failures failures = { .alike = 0 };

    assert_false(rc_failures_take(&failures, unit_guard(row->input), 1));
    assert_int_equal(rc_failures_due(&failures), INT64_MAX);
}

#define OTHER(rank, error) "raised=1\ntask=" #rank "\nrank=" #rank "\nsize=4\nhost=n1\nerror=" error "\n"
#define FIRST              "the first exception came from rank 3 on n2: RuntimeError: of rank 3"

/* What comes after rank 3 has failed, half a second each. */
static const struct {
    struct rc_str input;
    const char *more[2];
    const char *expected;
    const char *why;
} rows[] = {
    { TEXT(""), { NULL }, FIRST "; begin with its output", "nobody else" },
    { TEXT(OTHER(1, "DistBackendError: NCCL error")),
      { OTHER(0, "OSError: reset") },
      FIRST "; 0.5 s later rank 1 on n1: DistBackendError: NCCL error; begin with its output",
      "others by its consequences" },
    { TEXT(OTHER(1, "RuntimeError: of rank 1")),
      { OTHER(0, "RuntimeError: of rank 10") },
      "3 of 4 ranks failed alike, rank 3 on n2 among them: RuntimeError: of rank 3; begin with its output",
      "others by the same, but for a number" },
    { TEXT(OTHER(1, "RuntimeError: of rank x")),
      { OTHER(0, "RuntimeError: of rank 3") },
      "2 of 4 ranks failed alike, rank 3 on n2 among them: RuntimeError: of rank 3; "
      "0.5 s later rank 1 on n1: RuntimeError: of rank x; begin with its output",
      "one by another, one by the same" },
    { TEXT(OTHER(1, "RuntimeError: of rank 3 and more")),
      { NULL },
      FIRST "; 0.5 s later rank 1 on n1: RuntimeError: of rank 3 and more; begin with its output",
      "the beginning alone is the same" },
    { TEXT(OTHER(1, "RuntimeError: [pair.cc:553] Connection closed by peer [10.77.0.3]:63210.")),
      { NULL },
      FIRST "; 0.5 s later rank 1 on n1: RuntimeError: [pair.cc:553] Connection closed by peer [10.77.0.3..."
            "; begin with its output",
      "one by a long text" },
    { TEXT("raised=1\ntask=1\nerror=OSError\n"),
      { NULL },
      FIRST "; 0.5 s later task 1: OSError; begin with its output",
      "one without a rank" },
    { TEXT("raised=1\ntask=1\nattempt=1\nerror=x\noutput=/tmp/err.1\n"),
      { "raised=1\ntask=2\nattempt=1\nerror=x\n" },
      "2 processes failed alike, task 1 among them: x; begin with its output, /tmp/err.1",
      "torchrun's next attempt" },
    { TEXT(OTHER(0, "OSError: reset")),
      { OTHER(2, "SIGKILL\nkilled=yes"), OTHER(1, "OSError: reset") },
      "a signal ended rank 2 on n1: SIGKILL; 0.5 s later rank 1 on n1: OSError: reset; begin with its output",
      "torchrun tells of a signal" },
    { TEXT("raised=1\ntask=1\nattempt=1\nerror=OSError: reset\n"),
      { "raised=1\ntask=2\nerror=SIGKILL\nkilled=yes\n", "raised=1\ntask=0\nattempt=1\nerror=OSError: closed\n" },
      "a signal ended task 2: SIGKILL; 0.5 s later task 0: OSError: closed; begin with its output",
      "torchrun tells of a signal in its next attempt" },
};

UNIT_ROWS(names, "RC711 after rank 3 has failed", rows)
{
    struct rc_failures failures = { .alike = 0 };
    UNIT_ARENA(arena, 2048);
    int64_t now = 1000;

    assert_true(rc_failures_take(&failures, unit_guard(RC_STR(RANK_3)), now));
    assert_int_equal(rc_failures_due(&failures), 3000);
    assert_true(!row->input.n || rc_failures_take(&failures, unit_guard(row->input), now += 500));
    for (unsigned i = 0; i < 2 && row->more[i]; i++)
        assert_true(rc_failures_take(&failures, unit_guard(rc_str(row->more[i])), now += 500));
    assert_string_equal(rc_failures_say(&failures, &arena), row->expected);
    assert_null(rc_failures_say(&failures, &arena));
    assert_int_equal(rc_failures_due(&failures), INT64_MAX);
}

UNIT_TEST(at_a_server, "server: failure, step goes on -> RC711 after two seconds")
{
    struct server_child server = server_open((struct server_start){ .watch = 60 });

    server_answers(&server, RANK_3, "");
    server_says(&server, "RC711 " FIRST "; begin with its output\n");
    server_answers(&server, OTHER(1, "OSError: reset"), "");
    server_close(&server);
}

UNIT_TEST(at_the_end, "server: failure, step ends -> RC711 at once")
{
    struct server_child server = server_open((struct server_start){ .watch = 60 });

    server_answers(&server, RANK_3, "");
    assert_int_equal(write(server.life, &(const char){ RC_ENDED_BADLY }, 1), 1);
    close(server.life);
    server.life = -1;
    server_says(&server, "RC711 " FIRST "; begin with its output\n");
    server_close(&server);
}

UNIT_TEST(of_the_longest, "server: the longest failure -> its line fits")
{
    static const char form[] =
        "raised=1\ntask=16777215\nrank=16777214\nsize=16777216\nhost=%0*d\nerror=%s%0299d\noutput=/%0511d\n";
    struct server_child server = server_open((struct server_start){ .watch = 60 });
    char text[RC_FAILURE_SIZE];

    snprintf(text, sizeof(text), form, 64, 0, "a", 0, 0);
    server_answers(&server, text, "");
    snprintf(text, sizeof(text), form, 64, 0, "b", 0, 0);
    server_answers(&server, text, "");
    server_says(&server, "RC711 the first exception came from rank 16777214 on 0000");
    server_close(&server);
}

/* A line of one node, at a server that expects n1 and n2. */
static void report(struct server_child *server, enum rc_message_id id, uint32_t node, const char *line)
{
    UNIT_ARENA(text, 2048);

    server_answers(server, rc_report_write(id, node, line, &text), "");
}

UNIT_TEST(nodes_report_alike,
          "reports: lines that differ only in numbers -> one line, and the names of the other nodes")
{
    struct server_child server = server_open((struct server_start){ .silence = SERVER_GUARD });

    report(&server, RC418, 0, "the resolver of n1 took 5 s");
    server_says(&server, "RC418 the resolver of n1 took 5 s\n");
    report(&server, RC422, 1, "n2 cannot reach port 1");
    server_says(&server, "RC422 n2 cannot reach port 1\n");
    report(&server, RC418, 1, "the resolver of n2 took 25 s");
    report(&server, RC418, 1, "the resolver of n2 took 25 s");
    server_says(&server, "RC418 the same on n2 as 'the resolver of n1 took 5 s'\n");
    server_close(&server);
}

UNIT_TEST(node_has_left, "server that was suspended: report of a node that has left -> not printed again")
{
    struct server_child server = server_open((struct server_start){ .silence = SERVER_GUARD });
    UNIT_ARENA(text, 2048);

    kill(server.pid, SIGSTOP);
    close(server_send(&server, rc_report_write(RC613, 0, "n1 is lost", &text)));
    kill(server.pid, SIGCONT);
    report(&server, RC611, 1, "n2 cannot be reached");
    server_says(&server, "RC611 n2 cannot be reached\n");
    server_close(&server);
}

UNIT_TEST(nodes_report_by_name, "reports: lines that differ only in the nodes' names -> one line")
{
    struct rc_reports reports = { .hosts = RC_STR("anna,bert"), .nodes = 2 };
    uint32_t node = RC_UNKNOWN;
    enum rc_message_id id;
    UNIT_ARENA(text, 4096);

    assert_true(rc_reports_take(&reports, rc_str(rc_report_write(RC613, 0, "anna got no answer; none on anna", &text)),
                                0, &node));
    assert_string_equal(rc_reports_say(&reports, 0, &id, &text), "anna got no answer; none on anna");
    assert_true(rc_reports_take(&reports, rc_str(rc_report_write(RC613, 1, "bert got no answer; none on bert", &text)),
                                0, &node));
    assert_int_equal(node, 1);
    assert_null(rc_reports_say(&reports, 0, &id, &text));
    assert_string_equal(rc_reports_say(&reports, INT64_MAX, &id, &text),
                        "the same on bert as 'anna got no answer; none on anna'");
    assert_true(rc_reports_take(&reports, rc_str(rc_report_write(RC613, 1, "bert got no answer; none on anna", &text)),
                                0, &node));
    assert_string_equal(rc_reports_say(&reports, 0, &id, &text), "bert got no answer; none on anna");
    /* an administrator's text, with a control in it */
    assert_true(
        rc_reports_take(&reports, rc_str(rc_report_write(RC206, 0, "off: \xe6\x98\xbc\x1b[31m", &text)), 0, &node));
    assert_string_equal(rc_reports_say(&reports, 0, &id, &text), "off: \xe6\x98\xbc?[31m");
    /* what another program writes there */
    assert_false(rc_reports_take(&reports, RC_STR("reported=1\nid=0\nnode=0\ntext=\x1b[31m\n"), 0, &node));
    assert_false(rc_reports_take(&reports, RC_STR("reported=1\nid=0\nnode=0\ntext=\xc2\x9b\n"), 0, &node));
    rc_reports_free(&reports);
}
