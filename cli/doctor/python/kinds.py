# SPDX-License-Identifier: BSD-3-Clause
"""kinds.py - what a file is: a Python script, a shell script, or nothing that the doctor can read."""
import ast
import os
import re
import subprocess

from source import Unreadable, text_of

PYTHON, SHELL = "python", "shell"
SHELLS = ("bash", "sh", "dash", "ksh", "zsh")
SUFFIXES = (".sh", ".bash", ".sbatch", ".slurm", ".job", ".sub", ".batch", ".cmd", ".srun")
DIRECTIVE = re.compile(r"^#(SBATCH|PBS|BSUB|\$ -|FLUX:)", re.M)
BASH = "/bin/bash"
SECONDS = 5


def interpreter(text):
    """The program that the file's first line names, without its folder; "" where there is no such line."""
    if not text.startswith("#!"):
        return ""
    words = [word for word in text.split("\n", 1)[0][2:].split() if not word.startswith("-")]
    if words and os.path.basename(words[0]) == "env":
        words = [word for word in words[1:] if "=" not in word]
    return os.path.basename(words[0]) if words else ""


def parses_as_python(text):
    try:
        ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def bash_refuses(path):
    """(line, reason) where `bash -n` does not take the file, else None. bash runs nothing of it."""
    try:
        done = subprocess.run([BASH, "--norc", "--noprofile", "-n", "--", path], stdin=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env={}, timeout=SECONDS, check=False)
    except (OSError, ValueError, subprocess.SubprocessError):
        return None
    said = done.stderr.decode("utf-8", "replace").splitlines()
    if done.returncode == 0 or not said:
        return None
    found = re.search(r": line (\d+): (.*)$", said[0])
    return (int(found.group(1)), found.group(2)) if found else (0, said[0])


def kind_of(path):
    """PYTHON or SHELL. Raises Unreadable for other files."""
    text = text_of(path)
    name = interpreter(text)
    if re.match(r"^(python|pypy)[\d.]*$", name) or not name and path.endswith(".py"):
        return PYTHON
    if name in SHELLS:
        return SHELL
    if name:
        raise Unreadable("it is for %s, neither Python nor bash" % name, 1)
    if "\0" in text:
        raise Unreadable("it is neither Python nor a shell script")
    if path.endswith(SUFFIXES) or DIRECTIVE.search(text):
        return SHELL
    if parses_as_python(text):
        return PYTHON
    if bash_refuses(path) is None and os.access(BASH, os.X_OK):
        return SHELL
    raise Unreadable("it is neither Python nor a shell script")


def is_job(path):
    """Whether a file is a job script: a shell script, or Python with lines of sbatch's. Raises Unreadable."""
    return kind_of(path) == SHELL or DIRECTIVE.search(text_of(path)) is not None
