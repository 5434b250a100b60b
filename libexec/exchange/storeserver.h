/* SPDX-License-Identifier: BSD-3-Clause */
/* storeserver.h - a store server for a launch's tasks, where srun has no rendezvous server (rendezvous/discovery.h).
 *
 * A process that stays: out of the sight of the task that asked for it, which
 * has no child, no descriptor and no signal of it. On this node it tells its
 * own user's processes where it is, at a name of lib/rendezvous/local.h; where
 * the launch has several nodes, PMIx tells the others.
 *
 * It ends ten seconds after the task that keeps it: one that comes late finds
 * what a short-lived rank 0 has left, and a task's next program the store of the
 * one before, which it takes over. Earlier, where both are gone that started the
 * task, its parent and the parent's: the launcher is one of them. Where other
 * nodes know of the store, for whom there cannot be another one, the ten seconds
 * begin when the task's parent has ended, too.
 */
#ifndef ROLLCALL_LIBEXEC_EXCHANGE_STORESERVER_H
#define ROLLCALL_LIBEXEC_EXCHANGE_STORESERVER_H

/* Reads a request from standard input:
 *   name=NAME       where to tell the node's processes
 *   owner=PID      of the task
 *   launcher=PID    its parent
 *   pmix=1          also tell the other nodes; or 0
 *   seconds=10      for that
 * and prints store=TOKEN PORT HOST..., with the store behind it; or taken=NAME,
 * where another one has the name; or one line failed=WHY. Returns an exit status.
 *
 * A process that connects at the name says "read", or "own LAUNCHER" to be its owner from
 * now on, and gets TOKEN PORT HOST.... */
int exchange_start_store(void);

#endif
