# SPDX-License-Identifier: BSD-3-Clause
"""A rollcall-exchange and a rollcall-pmix whose server replies what a test wants. speaker.py FOLDER ARGUMENT...

`server SETTINGS` (rollcall-exchange) and `get` (rollcall-pmix) print where a server is that they start in the
background. FOLDER/servers has its process, settings its argument, request.* each roll call. FOLDER/answer is the reply
to these, in which the entry's port= takes the place of a line "held"; without that file the server ends.
"""

import os
import re
import socket
import sys
import time

from server import message, read

TOKEN = "0" * 32
folder, verb, *settings = sys.argv[1:]


def serve(listener):
    while True:
        with listener.accept()[0] as caller:
            request = read(caller).partition(b"\n")[2]
            reply = b""
            if request.startswith(b"gather roll "):
                with open(f"{folder}/request.{time.monotonic_ns()}", "wb") as file:
                    file.write(request)
                held = re.search(rb"^port=.*\n", request, re.MULTILINE)
                with open(f"{folder}/answer", "rb") as file:
                    reply = file.read().replace(b"held\n", held[0] if held else b"")
            caller.sendall(message(reply, TOKEN))


def start_server(prefix, name):
    listener = socket.socket(socket.AF_UNIX)
    listener.bind("\0" + name)
    listener.listen()
    server = os.fork()
    if server == 0:
        for file in range(3):
            os.close(file)
        serve(listener)
    with open(folder + "/servers", "a", encoding="ascii") as file:
        print(server, file=file)
    print(f"{prefix}={TOKEN} 1 @{name}")


if verb == "server":
    with open(folder + "/settings", "w", encoding="ascii") as there:
        there.write(settings[0].replace(" ", "\n") + "\n")
    start_server("server", re.search("local=([^ ]*)", settings[0])[1])
elif verb == "get":
    start_server("endpoint", f"{folder}/{os.getpid()}")
