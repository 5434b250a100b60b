# SPDX-License-Identifier: BSD-3-Clause
"""recorder.py FOLDER - a director for tests of the wall and the hook, until its standard input ends. Prints a line for
each stand-in: who, place, pipe, words. srun starts two tasks side by side, hostname prints n1, status N exits with N,
input prints its standard input; all others print nothing. `environment` has the variables of the last one."""
import os
import socket
import struct
import sys
import threading

folder = sys.argv[1]
lock = threading.Lock()


def receive(connection, size):
    data = b""
    while len(data) < size:
        more = connection.recv(size - len(data))
        if not more:
            raise EOFError
        data += more
    return data


def receive_frame(connection):
    return receive(connection, struct.unpack("<I", receive(connection, 4))[0])


def send(connection, data):
    connection.sendall(struct.pack("<I", len(data)) + data)


def texts(*words):
    return b"".join(word + b"\0" for word in words)


def answer(connection):
    version, who, at, depth, cwd, path, pipe, rest = receive_frame(connection).split(b"\0", 7)
    count, rest = rest.split(b"\0", 1)
    *words, rest = rest.split(b"\0", int(count))
    names = rest.split(b"\0")[1:-1]
    name = os.path.basename(path)
    with lock, open(folder + "/environment", "wb") as file:
        print(*(part.decode() for part in (who, at, b"pipe" if pipe == b"1" else b"-", *words)), flush=True)
        file.write(b"\n".join([b"@cwd=" + cwd, b"@path=" + path, *names, b""]))
    assert version == b"1" and depth.isdigit()
    if name == b"srun":
        for task in range(2):
            environment = [*names, b"SLURM_PROCID=%d" % task]
            send(connection, b"r" + texts(b"task%d" % task, b"1", b"", b"%d" % len(words[1:]), *words[1:],
                                          b"%d" % len(environment), *environment))
        send(connection, b"p")
        ends = [int(receive_frame(connection).split()[1]) for _ in range(2)]
        send(connection, b"x%d" % max(ends))
    elif name == b"input":
        send(connection, b"i")
        send(connection, b"o" + receive_frame(connection))
    elif name == b"hostname":
        send(connection, b"on1\n")
    if name != b"lost":
        send(connection, b"x" + (words[1] if name == b"status" else b"0"))
    connection.close()


listener = socket.socket(socket.AF_UNIX)
listener.bind(folder + "/socket")
listener.listen(100)


def serve():
    while True:
        threading.Thread(target=answer, args=listener.accept()[:1], daemon=True).start()


threading.Thread(target=serve, daemon=True).start()
sys.stdin.read()
