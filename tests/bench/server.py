# SPDX-License-Identifier: BSD-3-Clause
"""server.py ROLLCALL-EXCHANGE COMMAND... - a command with a server as srun has it beside it, which ends with it."""
import os
import socket
import subprocess
import sys

TOKEN = "0123456789abcdef" * 2

program, *command = sys.argv[1:]
listener = socket.create_server(("127.0.0.1", 0), backlog=1024)
listener.setblocking(False)
life, mine = socket.socketpair()
child = os.fork()
if child == 0:
    fds = [os.dup2(fd, 16 + i) for i, fd in enumerate((listener.fileno(), life.fileno()))]
    mine.close()
    for i, fd in enumerate(fds):
        os.dup2(fd, 3 + i, inheritable=True)
    os.execve(program, [program, "server", "seconds=60 check=warn"], {"ROLLCALL_TOKEN": TOKEN})
life.close()
done = subprocess.run(command, env={**os.environ, "SLURM_ROLLCALL_SERVER": f"{TOKEN} {listener.getsockname()[1]} 42.0"})
mine.close()
sys.exit(done.returncode or os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
