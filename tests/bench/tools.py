# SPDX-License-Identifier: BSD-3-Clause
"""What the benches share."""
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


def need(program):
    found = shutil.which(program)
    if not found:
        raise Missing(f"{program} is not installed")
    return found
