# SPDX-License-Identifier: BSD-3-Clause
"""Somebody between a node and srun's server, on the node's loopback: between.py change EXPRESSION | cut

Prints the variables by which the node finds it (fault.c), and stays for a minute. change: sed changes what the node
sends; cut: the server gets it, and the node hears nothing.
"""
import os
import socket
import subprocess
import sys
import time


def read(connection):
    """The words of the head, and the body."""
    with connection.makefile("rb") as file:
        words = file.readline(100).split()
        return words, file.read(int(words[3])) if len(words) == 4 else b""


def forward(connection, server):
    words, body = read(connection)
    if len(words) != 4:
        return
    if sys.argv[1] == "change":
        body = subprocess.run(["sed", sys.argv[2]], input=body, stdout=subprocess.PIPE, check=True).stdout
    with socket.create_connection(server) as there:
        there.sendall(b" ".join(words[:3] + [b"%d" % len(body)]) + b"\n" + body)
        if sys.argv[1] == "change":
            with there.makefile("rb") as file:
                connection.sendall(file.read())
        else:
            time.sleep(0.2)


token, port, step = os.environ["SLURM_ROLLCALL_SERVER"].split()
upstream = os.environ["SLURM_LAUNCH_NODE_IPADDR"], int(port)
with socket.create_server(("127.0.0.1", 0)) as listener:
    print("SLURM_ROLLCALL_SERVER=%s %d %s" % (token, listener.getsockname()[1], step))
    print("SLURM_LAUNCH_NODE_IPADDR=127.0.0.1\n-SLURM_SRUN_COMM_HOST", flush=True)
    if os.fork():
        os._exit(0)
    os.dup2(os.open("/dev/null", os.O_RDWR), 1)
    os.dup2(1, 2)
    listener.settimeout(60)
    try:
        while True:
            one, _ = listener.accept()
            with one:
                forward(one, upstream)
    except OSError:
        pass
