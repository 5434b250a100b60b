# SPDX-License-Identifier: BSD-3-Clause
"""Somebody at a rendezvous server. server.py KIND FOLDER

The port comes to FOLDER/port, and what is said there to FOLDER/heard, a line each: the whole message where it is one
of TOKEN's. KIND: answers; roll (with the entries of FILE, its third argument); or what no server does: silent, garbage,
leaves (hangs up without a word). Or real with the arguments EXCHANGE SECONDS: rollcall-exchange, as the plugin starts
it; what it prints comes to FOLDER/said. Until its standard input ends.
"""

import os
import select
import socket
import subprocess
import sys

TOKEN = "0123456789abcdef0123456789abcdef"
REPLIES = {"answers": f"rollcall 1 {TOKEN} 0\n".encode(), "garbage": b"\xff\x00HTTP/1.1 400\r\n\r\n", "leaves": b""}


def listen(folder):
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen(64)
    with open(folder + "/port.new", "w", encoding="ascii") as file:
        file.write(str(listener.getsockname()[1]))
    os.rename(folder + "/port.new", folder + "/port")
    return listener


def read(caller):
    """A head, and as much as it announces; or what there was."""
    with caller.makefile("rb") as file:
        head = file.readline(100)
        length = head.rsplit(b" ", 1)[-1].strip()
        return head + file.read(int(length) if length.isdigit() else 0)


def message(text, token=TOKEN):
    return f"rollcall 1 {token} {len(text)}\n".encode() + text


def gathered(entries):
    """A gather's reply (lib/rendezvous/gather.h) of entries, each of which an empty line ends."""
    values = entries.split(b"\n\n")[:-1]
    members = b"".join(b"%d %d\n%s\n" % (node, len(value) + 1, value) for node, value in enumerate(values))
    return b"gathered %d %d\n" % (len(values), len(values)) + members


def serve(kind, folder, entries=None):
    listener = listen(folder)
    kept = []
    while True:
        ready, _, _ = select.select([listener, sys.stdin], [], [])
        if sys.stdin in ready:
            return
        caller, _ = listener.accept()
        with open(folder + "/heard", "a", encoding="ascii") as file:
            file.write(repr(read(caller))[2:-1].replace(TOKEN, "TOKEN") + "\n")
        if entries:
            with open(entries, "rb") as text:
                caller.sendall(message(gathered(text.read())))
            caller.close()
        elif kind in REPLIES:
            caller.sendall(REPLIES[kind])
            caller.close()
        else:
            kept.append(caller)


def start_real(folder, exchange, seconds):
    listener = listen(folder)
    listener.setblocking(False)
    ours, life = os.pipe()

    def inherit():
        # 3 and 4 may be the other's source
        os.dup2(listener.fileno(), 30)
        os.dup2(ours, 40)
        os.dup2(30, 3)
        os.dup2(40, 4)

    with open(folder + "/said", "w", encoding="ascii") as said:
        server = subprocess.Popen([exchange, "server", f"seconds=10 check=stop watch_seconds={seconds} job=42"],
                                  env={"ROLLCALL_TOKEN": TOKEN}, stderr=said, preexec_fn=inherit, close_fds=False)
    listener.close()
    os.close(ours)
    sys.stdin.read()
    os.close(life)
    sys.exit(server.wait())


if __name__ == "__main__":
    if sys.argv[1] == "real":
        start_real(*sys.argv[2:])
    else:
        serve(*sys.argv[1:])
