# SPDX-License-Identifier: BSD-3-Clause
"""follow.py - from the command that a job starts to the Python file that it runs, if that is here."""
import os

from program import Program
from source import Unreadable

MOST = 20


class Programs:
    """The programs that a job's commands start, each read once. `given` is the one that the user named, or None."""

    def __init__(self, given, folder):
        self.given = given
        self.folder = folder
        self.known = {}
        self.missing = []  # (launch, what of it was not looked at)
        self.broken = {}  # path: Unreadable

    def of(self, launch):
        """The program of a launch, or None."""
        if self.given and launch.script and self.is_given(launch.script):
            return self.given
        if not launch.script:
            return None
        path = self.find(launch)
        if path is None:
            self.missing.append((launch, launch.script))
            return None
        return self.read(path)

    def is_given(self, name):
        """By its name alone: its folder may be another one in the job."""
        return "$" in name or os.path.basename(name) == os.path.basename(self.given.main.path)

    def read(self, path):
        if path not in self.known and len(self.known) < MOST:
            try:
                self.known[path] = Program(path)
            except Unreadable as error:
                self.known[path] = None
                self.broken[path] = error
        return self.known.get(path)

    def find(self, launch):
        """The file of a launch's script, from where the job changed to, from here, and beside the job script."""
        name = launch.script
        names = [name]
        if launch.module:
            stem = name.split(" ")[0].replace(".", os.sep)
            names = [stem + ".py", os.path.join(stem, "__main__.py")]
        for folder in (launch.command.folder, "", self.folder):
            for candidate in names:
                path = os.path.normpath(os.path.join(folder or "", candidate))
                if os.path.isfile(path):
                    return path
        return None

    def all(self):
        """Each program once."""
        found = [self.given] if self.given else []
        return found + [program for program in self.known.values() if program]
