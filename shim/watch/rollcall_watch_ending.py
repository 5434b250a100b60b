# SPDX-License-Identifier: BSD-3-Clause
"""rollcall_watch_ending - ends a process that has failed and hangs, so that the others do not wait for it.

An exception leads into `finally: destroy_process_group()`, which waits for ranks that wait for this one: the traceback
is never printed. Or it has been printed, and the interpreter hangs at its exit. After WAIT or WAIT_AT_EXIT seconds one
line and the traceback say so, and srun's server hears of it. After LAST seconds the process ends with status 1.

A process that handles its exception is left alone, as far as its source shows. What goes wrong in here is passed over.
For Python 3.8 and later.
"""

import faulthandler
import sys

from rollcall_watch_report import quietly

WAIT = 2  # seconds, of a call whose exception nobody handles: only the process's last lines can be early
WAIT_AT_EXIT = 10  # a busy machine takes several to end a healthy Python with torch
LAST = 30
CALLS = ("destroy_process_group", "_abort_process_group")


def handles(frame, error, raised):
    """Whether this frame handles the exception and goes on: now, or when it gets there. raised: its line, or None."""
    import ast
    import linecache

    def has(body, line):
        return bool(line and body) and body[0].lineno <= line <= body[-1].end_lineno

    def catches(handler):
        last = ast.dump(handler.body[-1])
        if last.startswith("Raise(") or ("exit'" in last and "value=1" in last):  # sys.exit(1)
            return False
        try:
            # a call would run the program's code
            plain = (ast.Name, ast.Attribute, ast.Tuple, ast.Load)
            if not all(isinstance(node, plain) for node in ast.walk(handler.type)):
                return True
            kinds = eval(compile(ast.Expression(handler.type), "?", "eval"), frame.f_globals, frame.f_locals)
            return isinstance(error, kinds)
        except Exception:  # `except:`, or a name that is not there yet
            return True

    if frame.f_code.co_filename.startswith("<frozen "):  # python -m
        return False
    line = frame.f_lineno
    for node in ast.walk(ast.parse("".join(linecache.getlines(frame.f_code.co_filename)) or "?")):
        for handler in getattr(node, "handlers", ()):
            is_in = has(node.body, line) or (has(node.body, raised) and has(handler.body, line))
            if is_in and catches(handler):
                return True
        if isinstance(node, ast.With) and has(node.body, line) and "suppress'" in ast.dump(node.items[0]):
            return True
    return False


def in_flight(frame):
    """The exception that will end this process when this frame's call has returned; None without, or if unsure."""
    import threading  # torch has imported it

    error = sys.exc_info()[1]
    if not isinstance(error, Exception) or threading.current_thread() is not threading.main_thread():
        return None
    # where it is now: in `finally`, `with` or `except`
    now = error.__traceback__
    while frame is not None and frame is not (now and now.tb_frame):
        frame = frame.f_back
    if frame is None:
        return None
    raised = now.tb_lineno
    # multiprocessing catches all that a child raises, prints it, and ends the child
    while frame is not None and frame.f_globals.get("__name__") != "multiprocessing.process":
        if handles(frame, error, raised):
            return None
        frame, raised = frame.f_back, None
    return error


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
        self.begin("in %s" % name, WAIT, lambda: self.failure.show(error))
        return lambda _: self.cancel()

    def at_exit(self):
        if not sys.flags.inspect:
            self.begin("at its exit", WAIT_AT_EXIT, lambda: None)

    def begin(self, where, wait, report):
        import threading

        def name():
            quietly(report)
            self.say("RC713", "has failed and hangs %s; it ends with status 1 in %d s; begin with the traceback above"
                     % (where, LAST - wait))

        # by a thread that does not need the interpreter's lock; it shows where all threads are
        faulthandler.dump_traceback_later(LAST, exit=True, file=2)
        self.timer = threading.Timer(wait, quietly, (name,))
        self.timer.daemon = True
        self.timer.start()

    def cancel(self):
        self.timer.cancel()
        faulthandler.cancel_dump_traceback_later()
