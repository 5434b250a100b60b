# SPDX-License-Identifier: BSD-3-Clause
"""One node is slow to import torch. slow_import.py FOLDER NODE

Its tasks wait until those of the other nodes have torch, and as long again: how long that is depends on the machine.
"""

import os
import pathlib
import sys
import time


def main():
    begun = time.monotonic()
    folder, slow = pathlib.Path(sys.argv[1]), os.uname().nodename == sys.argv[2]
    others = int(os.environ["WORLD_SIZE"]) - int(os.environ["LOCAL_WORLD_SIZE"])
    while slow and len(list(folder.glob("here.*"))) < others:
        time.sleep(0.05)
    time.sleep(slow * (time.monotonic() - begun + 1))
    import env  # and with it torch

    if not slow:
        (folder / ("here." + os.environ["RANK"])).touch()
    env.main()


if __name__ == "__main__":
    main()
