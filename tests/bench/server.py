#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A server as srun has it beside it: server.py ROLLCALL-EXCHANGE TOKEN prints its port, and ends with its standard input."""
import os
import socket
import sys

program, token = sys.argv[1:]
listener = socket.create_server(("127.0.0.1", 0), backlog=1024)
listener.setblocking(False)
print(listener.getsockname()[1], flush=True)
life, mine = os.pipe()
child = os.fork()
if child == 0:
    fds = [os.dup2(fd, 16 + i) for i, fd in enumerate((listener.fileno(), life))]
    os.close(mine)
    for i, fd in enumerate(fds):
        os.dup2(fd, 3 + i, inheritable=True)
    os.execve(program, [program, "server", "60", "warn"], {"ROLLCALL_TOKEN": token})
os.close(life)
listener.close()
sys.stdin.read()
os.close(mine)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
