/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

/* rollcall-exchange - the server of a launch, and helpers of its nodes.
 *
 *   rollcall-exchange server SETTINGS       a server (rendezvous/server.h; the settings: wire.h)
 *   rollcall-exchange inventory             hardware and software of the node, for its entry in the roll call
 *   rollcall-exchange lookup                resolve MASTER_ADDR
 *   rollcall-exchange monitor               in a step: observe its signals (monitor.c)
 *
 * A separate program, so that no connection, thread or memory stays in slurmstepd, srun or the user's process. */
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "effects/lookup.h"
#include "exchange.h"
#include "inventory/inventory.h"
#include "rendezvous/wire.h"

enum { STATUS_USAGE = 2 };

extern char **environ;

static int usage(void)
{
    fputs("usage: rollcall-exchange inventory|lookup|monitor|server SETTINGS (rollcall's own; see rollcall --help)\n",
          stderr);
    return STATUS_USAGE;
}

static struct rc_str read_input(void)
{
    static char text[RC_WIRE_BODY_MAX];
    size_t n = fread(text, 1, sizeof(text), stdin);

    return (struct rc_str){ text, n };
}

static int print_inventory(void)
{
    char text[RC_INVENTORY_SIZE];
    struct rc_arena arena = { .base = text, .size = sizeof(text) };

    fputs(rc_inventory_write("", (const char *const *)environ, &arena), stdout);
    return fflush(stdout) == 0 ? 0 : 1;
}

static int print_lookup(void)
{
    static char text[RC_LOOKUP_SIZE];
    struct rc_arena arena = { .base = text, .size = sizeof(text) };
    struct rc_lookup_question asked = { .kind = RC_ADDRESS_DEFAULT };
    struct rc_lookup lookup;
    const char *answer;

    fputs(RC_LOOKUP_BEGUN, stdout);
    fflush(stdout);
    if (!rc_pairs_read(read_input(), '\n', &rc_lookup_question_form, &asked) || !asked.addr.p)
        return 1;
    rc_lookup_find(&asked, &lookup, &arena);
    answer = rc_pairs_write(&rc_lookup_form, &lookup, &arena);
    return answer && fputs(answer, stdout) >= 0 && fflush(stdout) == 0 ? 0 : 1;
}

/* A task that ended before prctl() left a pipe without a reader. */
static bool is_answer_read(void)
{
    struct pollfd answer = { .fd = STDOUT_FILENO };

    return poll(&answer, 1, 0) < 0 || !(answer.revents & POLLERR);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *argument;
        int (*answer)(void);
    } questions[] = {
        { RC_EXCHANGE_INVENTORY, print_inventory },
        { RC_LOOKUP_ARGUMENT, print_lookup },
    };
    struct rc_server_settings settings;

    for (size_t i = 0; i < sizeof(questions) / sizeof(*questions); i++) {
        if (argc == 2 && strcmp(argv[1], questions[i].argument) == 0) {
            /* the answer is useless once the task is gone */
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            return is_answer_read() ? questions[i].answer() : 1;
        }
    }
    if (argc == 2 && strcmp(argv[1], RC_EXCHANGE_MONITOR) == 0) {
        exchange_close_from(STDIN_FILENO + 1);
        return exchange_monitor();
    }
    if (argc >= 3 && strcmp(argv[1], RC_EXCHANGE_SERVER) == 0 && rc_server_settings_read(rc_str(argv[2]), &settings))
        return settings.owner ? exchange_serve_launch(&settings) : exchange_serve_srun(&settings);
    return usage();
}
