# SPDX-License-Identifier: BSD-3-Clause
"""nameserver.py - runs a command on a machine whose name server is slow, and knows no name.

    unshare -mn python3 nameserver.py MILLISECONDS LOG COMMAND...
    unshare -mn python3 nameserver.py silent LOG COMMAND...

The command has a network of its own with nothing but loopback, an /etc/resolv.conf that names the server, and an
/etc/nsswitch.conf that asks /etc/hosts and then the server. The server answers "no such name" so many milliseconds
after a question, or never. It writes a line into LOG for each question: the name. Needs root in its namespaces.
`none` instead of the milliseconds: there is a server, but nobody is to ask it (`hosts: files`).
"""
import fcntl
import os
import socket
import struct
import subprocess
import sys
import tempfile
import threading

SIOCSIFFLAGS, IFF_UP = 0x8914, 0x1
NO_SUCH_NAME = 0x8183  # an answer, of a server that does what it is asked to, with that as its result


def raise_loopback():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", IFF_UP))


def put_in_place(folder, name, text):
    with open(os.path.join(folder, name), "w", encoding="ascii") as file:
        file.write(text)
    os.chmod(file.name, 0o644)
    subprocess.run(["mount", "--bind", file.name, os.path.join("/etc", name)], check=True)


def read_name(question):
    """The name that a packet asks for, and where the question ends."""
    labels, at = [], 12
    while question[at]:
        labels.append(question[at + 1:at + 1 + question[at]].decode("ascii"))
        at += 1 + question[at]
    return ".".join(labels), at + 5


def answer(server, question, client, seconds, log):
    name, end = read_name(question)
    log.write(name + "\n")
    log.flush()
    if seconds is None:
        return
    reply = question[:2] + struct.pack(">HHHHH", NO_SUCH_NAME, 1, 0, 0, 0) + question[12:end]
    threading.Timer(seconds, server.sendto, (reply, client)).start()


def serve(server, seconds, log):
    while True:
        question, client = server.recvfrom(4096)
        answer(server, question, client, seconds, log)


def main(delay, path, *command):
    server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    raise_loopback()
    server.bind(("127.0.0.1", 53))
    with tempfile.TemporaryDirectory() as folder, open(path, "w", encoding="ascii") as log:
        os.chmod(folder, 0o755)
        put_in_place(folder, "resolv.conf", "nameserver 127.0.0.1\n")
        put_in_place(folder, "nsswitch.conf", "hosts: %s\n" % ("files" if delay == "none" else "files dns"))
        seconds = None if delay in ("none", "silent") else int(delay) / 1000
        threading.Thread(target=serve, args=(server, seconds, log), daemon=True).start()
        status = subprocess.run(command).returncode
        for name in ("resolv.conf", "nsswitch.conf"):
            subprocess.run(["umount", os.path.join("/etc", name)], check=True)
    return status if status >= 0 else 128 - status


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
