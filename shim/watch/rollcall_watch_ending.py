# SPDX-License-Identifier: BSD-3-Clause
"""rollcall_watch_ending - ends a process that has failed and hangs, so that the others do not wait for it.

An exception leads into `finally: destroy_process_group()`, which waits for ranks that wait for this one: the traceback
is never printed. Or it has been printed, and the interpreter hangs at its exit. After WAIT seconds one line and the
traceback say so, and srun's server hears of it. After LAST seconds the process ends with status 1.

A process that handles its exception is left alone. What goes wrong in here is passed over. For Python 3.8 and later.
"""

import faulthandler
import sys

from rollcall_watch_report import quietly

WAIT = 2  # seconds: a call that ends by itself mostly takes less
LAST = 30
CALLS = ("destroy_process_group", "_abort_process_group")


def handles(frame):
    """Whether this frame is at a line of an `except` that does not raise again at its end."""
    import ast
    import linecache

    handled = False
    tree = ast.parse("".join(linecache.getlines(frame.f_code.co_filename)) or "?")
    for node in ast.walk(tree):  # inner blocks after outer ones
        handlers = [(handler.body, not isinstance(handler.body[-1], ast.Raise))
                    for handler in getattr(node, "handlers", ())]
        for body, is_handler in handlers + [(getattr(node, "finalbody", ()), False)]:
            if body and body[0].lineno <= frame.f_lineno <= body[-1].end_lineno:
                handled = is_handler
    return handled


def in_flight(frame):
    """The exception that will go on when this frame's call has returned; None without, or if that cannot be seen."""
    import threading  # torch has imported it

    error = sys.exc_info()[1]
    if not isinstance(error, Exception) or threading.current_thread() is not threading.main_thread():
        return None
    # where it is now: in `finally`, `with` or `except`
    stopped = error.__traceback__ and error.__traceback__.tb_frame
    while frame is not None and frame is not stopped:
        frame = frame.f_back
    return error if frame is not None and not handles(frame) else None


class Ending:
    """failure: the Failure of this process; say: prints a line with an id."""

    def __init__(self, failure, say):
        self.failure = failure
        self.say = say
        self.timer = None

    def enter(self, name, frame):
        """Before a call that may hang: None, or a function for its end."""
        error = in_flight(frame)
        if error is None:
            return None
        self.begin("in %s" % name, lambda: self.failure.show(error))
        return lambda _: self.cancel()

    def begin(self, where, report):
        import threading

        def name():
            quietly(report)
            self.say("RC713", "has failed and hangs %s; it ends with status 1 in %d s; begin with the traceback above" % (
                where, LAST - WAIT))

        # by a thread that does not need the interpreter's lock; it shows where all threads are
        faulthandler.dump_traceback_later(LAST, exit=True, file=2)
        self.timer = threading.Timer(WAIT, quietly, (name,))
        self.timer.daemon = True
        self.timer.start()

    def cancel(self):
        self.timer.cancel()
        faulthandler.cancel_dump_traceback_later()
