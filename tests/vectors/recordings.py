#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""recordings.py - reads and writes the recorded environments of this folder.

    recordings.py unpack FOLDER     writes FOLDER/NAME.env for each recording, as `rollcall show --from` reads it
    recordings.py print NAME        prints one recording so

JOB.env has the recorded tasks of a job, or like cases. Lines above the first "# on", "# rank" or "# case" hold for all
of them. A file without such a line is one recording, named as the file; else each task is one, named JOB-RANK:

    # on HOST                   what follows holds for the tasks of that host
    # rank R on HOST            where the task was; all tasks of the job are recorded
    # rank R                    not all of them are, or nobody knows where it was
    # case NAME: TEXT           a case that was made by hand, and how it differs from the others
    # expect ...                what `rollcall show --json` must answer (expectation.py)
    # like JOB                  above the first block: what JOB's task of this rank has, or else what all of JOB's share,
                                holds here, too, but for names that stand here as well
    # without NAME...           what is shared with others, and not here
    # rollcall show OPTION...   the options that it is asked with
    # TEXT                      where the recording comes from
    @host=NAME, @ancestor=...   what the node says (lib/console/input.c)
    NAME=VALUE                  a variable; its value may go on in the next lines. It takes the place of a shared one
    NAME={rank}                 the task's own, by the line above; likewise {host}, and {OTHER} of another variable
"""
import collections
import functools
import os
import re
import sys
import textwrap

FOLDER = os.path.dirname(os.path.abspath(__file__))
EXPECT = "# expect "
SHOW = "# rollcall show"
LIKE = "# like "
WITHOUT = "# without "
RANK = re.compile(r"# rank (\d+)(?: on (\S+))?")
CASE = re.compile(r"# case (\S+): .+")
NODE = re.compile(r"# on (\S+)")
OWN = re.compile(r"([^=]+)=\{([@\w]+)\}")
# before each of several settings; a value may hold blanks, but none before such a name
SETTINGS = re.compile(r" (?=[A-Z_][A-Z0-9_]*=)")
WIDTH = 120


def filled(expected):
    """The lines of an expectation as a file has them: as many settings in a line as fit."""
    lines = []
    for line in expected:
        setting = line[len("set"):] if line.startswith("set ") else None
        if setting and lines and lines[-1].startswith("set ") and len(EXPECT + lines[-1] + setting) <= WIDTH:
            lines[-1] += setting
        else:
            lines.append(line)
    return lines


class Block:
    """The lines of one task, or those that the tasks of a job or of a host share."""

    def __init__(self, title=""):
        self.title = title
        rank, case, node = RANK.fullmatch(title), CASE.fullmatch(title), NODE.fullmatch(title)
        self.rank, self.host = (int(rank[1]), rank[2]) if rank else (None, node and node[1])
        self.is_node = bool(node)
        self.case = case[1] if case else None
        self.comments, self.expected, self.entries = [], [], []
        self.show = self.like = None

    def add(self, line):
        """Takes one line of a file."""
        if line.startswith(EXPECT):
            line = line[len(EXPECT):]
            word, *settings = SETTINGS.split(line) if line.startswith("set ") else [line]
            self.expected += [f"{word} {setting}" for setting in settings] or [word]
        elif line.startswith(SHOW):
            self.show = line
        elif line.startswith(LIKE):
            self.like = line[len(LIKE):]
        elif line.startswith(WITHOUT):
            self.entries += [WITHOUT + name for name in line[len(WITHOUT):].split()]
        elif line.startswith("#"):
            self.comments.append(line)
        elif "=" in line:
            self.entries.append(line)
        elif line and self.entries:
            self.entries[-1] += "\n" + line

    def lines(self):
        """Its lines in a file."""
        if self.title:
            yield self.title
        yield from self.comments
        yield from [LIKE + self.like] if self.like else []
        yield from [self.show] if self.show else []
        yield from (EXPECT + line for line in filled(self.expected))
        names = [entry[len(WITHOUT):] for entry in self.entries if entry.startswith(WITHOUT)]
        yield from textwrap.wrap(" ".join(names), WIDTH, initial_indent=WITHOUT, subsequent_indent=WITHOUT)
        yield from (entry for entry in self.entries if not entry.startswith(WITHOUT))


class Recording:
    """One task: its variables, the lines about its node, the options it is asked with, where it really was."""

    def __init__(self, name, shared, block, size):
        self.name = name
        self.blocks = [*shared, block]
        self.title = block.title
        self.rank, self.host = block.rank, block.host
        self.size = size  # of its job, where all tasks are recorded
        self.comments = [line for above in self.blocks for line in above.comments]
        self.show = next((above.show for above in [block, *shared] if above.show), None)
        self.options = self.show.split()[3:] if self.show else []
        self.expected = block.expected
        self.shared_expected = [line for above in shared for line in above.expected]
        self.like = self.blocks[0].like
        self.entries = functools.reduce(lambda own, above: merged(above.entries, own), reversed(shared), block.entries)
        if self.like:
            self.entries = merged(replaced(base_of(self), self.entries), self.entries)
        self.written = [entry for entry in self.entries if not entry.startswith(WITHOUT)]
        self.entries = self.told(self.written)
        self.node = [entry for entry in self.entries if entry.startswith("@")]
        self.env = dict(entry.split("=", 1) for entry in self.entries if not entry.startswith("@"))
        self.local_rank = self.local_size = self.node_rank = self.nodes = None

    def told(self, entries):
        """The entries with the task's own values; those that refer to what it has not are left out."""
        own = dict(entry.split("=", 1) for entry in self.written if not OWN.fullmatch(entry))
        own |= {name: str(value) for name, value in (("rank", self.rank), ("host", self.host)) if value is not None}
        found = [(entry, OWN.fullmatch(entry)) for entry in entries]
        return [f"{refers[1]}={own[refers[2]]}" if refers else entry for entry, refers in found
                if not refers or refers[2] in own]

    def text(self):
        """It alone, as `rollcall show --from` reads it."""
        return "".join(line + "\n" for line in [*([self.show] if self.show else []), *self.entries])


def of_names(entries):
    """The entries of each name, in their order."""
    names = collections.defaultdict(list)
    for entry in entries:
        names[entry.partition("=")[0]].append(entry)
    return names


def replaced(shared, own):
    """The shared entries but for names that the task has of its own, or is without."""
    names = of_names(own)
    return [entry for name, entries in of_names(shared).items() if name not in names and WITHOUT + name not in names
            for entry in entries]


def merged(shared, own):
    """A task's entries. What the node says of one name, as its ancestors, begins with the task's own."""
    named = of_names(own)
    node = [entry for entry in shared if entry.startswith("@") and entry.partition("=")[0] in named]
    names = of_names([*own, *node, *replaced(shared, own)])
    return [entry for name in sorted(names) for entry in names[name]]


def shared_of(tasks):
    """The entries that all tasks of a job share, with those of the job that it is like."""
    own, like = tasks[0].blocks[0].entries, tasks[0].like
    base = shared_of(job(like)) if like else []
    return merged(replaced(base, own), own)


@functools.cache
def job(name):
    """The tasks of a job that others are like: read once, since those are like others in turn."""
    return read(os.path.join(FOLDER, name + ".env"))


def base_of(recording):
    """The entries of the job that a recording is like."""
    tasks = job(recording.like)
    same = [task.written for task in tasks if task.rank == recording.rank is not None]
    return same[0] if same else shared_of(tasks)


def unlike(recording):
    """A recording's entries, as far as they differ from those of the job that it is like."""
    if not recording.like:
        return recording.entries
    base, own = of_names(recording.told(base_of(recording))), of_names(recording.entries)
    different = [entry for name, entries in own.items() if entries != base.get(name) for entry in entries]
    return [WITHOUT + name for name in base if name not in own] + different


def referring_to_own(entries, recording, referring):
    """The entries, where one of `referring` says the same in its place."""
    same = {told: entry for entry in referring for told in recording.told([entry])}
    return [same.get(entry, entry) for entry in entries]


def shared_by(entries_of_tasks):
    """The entries that are alike in all of these: of each name the last ones, as the outermost ancestors are."""
    per_task = [of_names(entries) for entries in entries_of_tasks]
    shared = []
    for name, entries in sorted(per_task[0].items()):
        alike = 0
        while alike < len(entries) and all(names[name][-1 - alike:] == entries[-1 - alike:] for names in per_task):
            alike += 1
        shared += entries[len(entries) - alike:]
    return shared


def without(entries, shared):
    """A task's own entries."""
    names, taken = of_names(entries), of_names(shared)
    return [entry for name in sorted(names) for entry in names[name][:len(names[name]) - len(taken[name])]]


def place(recordings):
    """Tells the tasks of a wholly recorded job where they are on their nodes, whose order is that of their first ranks."""
    hosts = list(dict.fromkeys(recording.host for recording in recordings))
    for recording in recordings:
        neighbours = [other for other in recordings if other.host == recording.host]
        recording.local_rank, recording.local_size = neighbours.index(recording), len(neighbours)
        recording.node_rank, recording.nodes = hosts.index(recording.host), len(hosts)


def read(path):
    """The recordings of a file, by their ranks."""
    name = os.path.basename(path)[:-len(".env")]
    blocks = [Block()]
    with open(path, encoding="utf-8", errors="surrogateescape") as file:
        for line in file.read().splitlines():
            if RANK.fullmatch(line) or CASE.fullmatch(line) or NODE.fullmatch(line):
                blocks.append(Block(line))
            else:
                blocks[-1].add(line)
    head, *blocks = blocks
    if not blocks:
        return [Recording(name, [], head, None)]
    nodes = {block.host: [block] for block in blocks if block.is_node}
    tasks = sorted((block for block in blocks if not block.is_node), key=lambda task: task.rank or 0)
    whole = all(task.host for task in tasks)
    recordings = [Recording(task.case or f"{name}-{task.rank}", [head, *nodes.get(task.host, [])], task,
                            len(tasks) if whole else None) for task in tasks]
    if whole:
        place(recordings)
    return recordings


def of_hosts(recordings):
    """The recordings of each host that has several, where there are several hosts."""
    hosts = collections.defaultdict(list)
    for recording in recordings:
        hosts[recording.host].append(recording)
    return {host: tasks for host, tasks in hosts.items() if host and len(tasks) > 1 and len(hosts) > 1}


def blocks_of(recordings, shared_expected, expected_on):
    """The blocks of a file: what its recordings share comes first, once, and before its first task what a host's do."""
    head = Block()
    first = recordings[0]
    head.like = first.like
    referring = [entry for entry in first.blocks[0].entries if OWN.fullmatch(entry)]
    entries = {recording: referring_to_own(unlike(recording), recording, referring) for recording in recordings}
    head.comments = [line for line in first.comments if all(line in other.comments for other in recordings)]
    head.show = first.show if all(other.show == first.show for other in recordings) else None
    head.entries = shared_by(list(entries.values()))
    head.expected = shared_expected
    blocks = {}
    for recording in recordings:
        block = blocks[recording] = Block(recording.title)
        block.expected = recording.expected
        block.comments = [line for line in recording.comments if line not in head.comments]
        block.show = None if head.show else recording.show
        block.entries = without(entries[recording], head.entries)
    nodes = {}
    for host, tasks in of_hosts(recordings).items():
        node = Block(f"# on {host}")
        node.expected = expected_on.get(host, [])
        node.entries = shared_by([blocks[task].entries for task in tasks])
        for task in tasks:
            blocks[task].entries = without(blocks[task].entries, node.entries)
        if node.expected or node.entries:
            nodes[tasks[0]] = node
    yield head
    for recording in recordings:
        if node := nodes.get(recording):
            yield node
        yield blocks[recording]


def kept(recordings, shared_expected, expected_on):
    """The blocks of a file as they are, but for what is expected; None if a host's expectation has no block."""
    recordings[0].blocks[0].expected = shared_expected
    nodes = {block.host: block for recording in recordings for block in recording.blocks if block.is_node}
    if any(expected and host not in nodes for host, expected in expected_on.items()):
        return None
    for host, block in nodes.items():
        block.expected = expected_on.get(host, [])
    for recording in recordings:
        recording.blocks[-1].expected = recording.expected
    return dict.fromkeys(block for recording in recordings for block in recording.blocks)


def write(path, recordings, shared_expected, expected_on):
    """The file anew."""
    # new ones are not grouped yet
    was_reviewed = recordings[0].rank is None or any(block.expected for block in recordings[0].blocks)
    blocks = was_reviewed and kept(recordings, shared_expected, expected_on) or \
        blocks_of(recordings, shared_expected, expected_on)
    text = "\n".join("".join(line + "\n" for line in block.lines()) for block in blocks)
    with open(path, "w", encoding="utf-8", errors="surrogateescape") as file:
        file.write(text.lstrip("\n"))


def paths():
    """The files of this folder."""
    return [os.path.join(FOLDER, name) for name in sorted(os.listdir(FOLDER)) if name.endswith(".env")]


def recordings():
    """All recorded tasks."""
    return [recording for path in paths() for recording in read(path)]


def unpack(folder):
    """Each in a file of its own."""
    os.makedirs(folder, exist_ok=True)
    for recording in recordings():
        with open(os.path.join(folder, recording.name + ".env"), "w", encoding="utf-8", errors="surrogateescape") as file:
            file.write(recording.text())


def print_one(name):
    """One recording, on standard output."""
    sys.stdout.reconfigure(encoding="utf-8", errors="surrogateescape")
    print(next(recording.text() for recording in recordings() if recording.name == name), end="")


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] not in ("unpack", "print"):
        sys.exit(__doc__)
    {"unpack": unpack, "print": print_one}[sys.argv[1]](sys.argv[2])
