#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""deadfolder.py FOLDER: mounts a file system whose server says nothing, like a driver whose device is gone: who looks
into it waits. Prints its process id once it is there. It is gone with this process, and who waits gets an error."""

import ctypes
import os
import signal
import sys

libc = ctypes.CDLL(None, use_errno=True)
device = os.open("/dev/fuse", os.O_RDWR)
options = f"fd={device},rootmode=40000,user_id=0,group_id=0,allow_other".encode()
if libc.mount(b"dead", sys.argv[1].encode(), b"fuse", 0, options) != 0:
    sys.exit(f"deadfolder: {os.strerror(ctypes.get_errno())}")
print(os.getpid(), flush=True)
signal.pause()
