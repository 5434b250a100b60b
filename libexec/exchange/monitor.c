/* SPDX-License-Identifier: BSD-3-Clause */
/* monitor.c - observe the signals that a step receives (spank/ending.c).
 *
 * Runs as a child of slurmstepd in the step's container, with all signals blocked, and reads them. Standard input is a
 * socket to slurmstepd, to which it sends the endpoint of srun's server. slurmstepd sends a byte for the first failed
 * task, and gets it back. The monitor ends when slurmstepd closes the socket. */
#include "config.h"

#include "exchange.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "rendezvous/client.h"
#include "rendezvous/wire.h"

enum { REQUEST_MS = 3000 };

static void send_to_server(const struct rc_endpoint *server, const char *text)
{
    struct rc_reply reply;

    if (rc_client_request(server, rc_str(text), REQUEST_MS, &reply, NULL) == 0)
        free(reply.text);
}

/* The step's signals come from slurmstepd, whose process id is 0 in another namespace, or from a terminal (--pty),
 * never from a task. Signals that suspend and resume a step end no task. */
static bool is_of_step(const struct signalfd_siginfo *info)
{
    if (info->ssi_code == SI_KERNEL)
        return info->ssi_signo == SIGINT || info->ssi_signo == SIGQUIT;
    return info->ssi_code == SI_USER && info->ssi_pid == (uint32_t)getppid() && info->ssi_signo != SIGCONT &&
           info->ssi_signo != SIGTSTP;
}

static bool has_signal(int signals)
{
    struct signalfd_siginfo info;
    bool found = false;

    while (read(signals, &info, sizeof(info)) == (ssize_t)sizeof(info))
        found |= is_of_step(&info);
    return found;
}

int exchange_monitor(void)
{
    struct rc_str name = rc_str(getenv(RC_MONITOR_SERVER));
    struct rc_endpoint server;
    bool signalled = false;
    sigset_t all;
    int signals;
    char byte;

    sigfillset(&all);
    signals = signalfd(-1, &all, SFD_NONBLOCK | SFD_CLOEXEC);
    if (signals < 0 || !rc_endpoint_read(name, &server) ||
        send(STDIN_FILENO, name.p, name.n, MSG_NOSIGNAL) != (ssize_t)name.n)
        return 1;
    for (;;) {
        struct pollfd in[] = { { .fd = STDIN_FILENO, .events = POLLIN }, { .fd = signals, .events = POLLIN } };

        if (poll(in, 2, -1) < 0)
            return 1;
        if (in[1].revents && has_signal(signals) && !signalled) {
            signalled = true;
            send_to_server(&server, RC_SERVER_SIGNALLED);
        }
        if (!in[0].revents)
            continue;
        if (recv(STDIN_FILENO, &byte, 1, 0) != 1)
            return 0;
        if (!signalled)
            send_to_server(&server, RC_SERVER_FAILED);
        send(STDIN_FILENO, &byte, 1, MSG_NOSIGNAL);
    }
}
