# SPDX-License-Identifier: BSD-3-Clause
"""What the benches share."""
import os
import shutil
import subprocess
from pathlib import Path


class Missing(Exception):
    """Something that a measurement needs is not there."""


def output_of(command, **more):
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, **more)
    if done.returncode:
        raise Missing(f"{Path(command[0]).name} failed: {(done.stderr or done.stdout).strip()[-300:]}")
    return done.stdout


def without_lookups(folder, command):
    """The command where names stand in /etc/hosts alone: torch's store looks each client's address up backwards, and
    what a name server takes for that is its own affair."""
    switch = folder / "nsswitch.conf"
    switch.write_text("hosts: files\n")
    user = [] if os.geteuid() == 0 else ["--map-root-user"]
    return [need("unshare"), *user, "--mount", "sh", "-c", 'mount --bind "$0" /etc/nsswitch.conf && exec "$@"', switch,
            *command]


def need(program):
    found = shutil.which(program)
    if not found:
        raise Missing(f"{program} is not installed")
    return found
