# SPDX-License-Identifier: BSD-3-Clause
"""directives.py - the lines of a job script that sbatch reads, and those that it does not, although they look like it.

sbatch reads the lines that begin with #SBATCH, up to the first command of the script; it expands no variables.
"""
import difflib
import re

from lines import logical_lines, split
from options import KNOWN, take

SIZES = {"nodes", "ntasks", "ntasks-per-node", "gpus", "gpus-per-node", "gpus-per-task", "gres", "cpus-per-task"}
# a comment may tell the reader to type sbatch
LOOSE = re.compile(r"^\s*#(?:\s*SBATCH|sbatch|Sbatch)\b(.*)$")
VARIABLE = re.compile(r"(?<!\\)\$(\{?[A-Za-z_]\w*|\()")
# what these say is a text: sbatch takes it as it is
TEXTS = {"job-name", "comment", "mail-user", "wckey", "export"}
# beginnings of several options, which sbatch refuses
BEGINS = {"gpu": "gpus", "node": "nodes", "cpus": "cpus-per-task", "cpu": "cpus-per-task"}


class Directive:
    """A line that looks like one of sbatch's: its options, and why sbatch does not read it ("" if it does)."""

    def __init__(self, line, options, ignored):
        self.line = line
        self.options = options
        self.ignored = ignored


def read(text):
    """The directives of a script, in their order."""
    found, command = [], 0
    comments = {number for line, number in logical_lines(text) if line.startswith("#")}  # none of a here-document
    for number, line in enumerate(text.split("\n"), 1):
        loose = LOOSE.match(line)
        if loose and number in comments:
            options, rest = take(split(loose.group(1)), False)
            ignored = ""
            if not line.startswith("#SBATCH"):
                ignored = "sbatch reads only lines that begin with #SBATCH"
            elif command:
                ignored = "line %d is a command, and sbatch reads no further" % command
            if options and loose.group(1)[:1] in (" ", "\t") and not (ignored and rest):
                found.append(Directive(number, options, ignored))
        elif not command and line.strip() and not line.lstrip().startswith("#"):
            command = number
    return found


def ignored(job, report):
    """Lines that sbatch leaves out. One that is commented out on purpose looks the same: a size that no other line
    gives, or #sbatch, is none of those."""
    given = {name for row in job.directives if not row.ignored for name in row.options}
    behind = [row for row in job.directives if row.ignored.startswith("line")]
    for row in job.directives:
        late = row in behind
        if not row.ignored or late and row is not behind[0]:
            continue
        text = job.text[row.line - 1].strip()
        if late or text.startswith("#sbatch") or (set(row.options) & SIZES) - given or not given:
            others = ", and %d more below" % (len(behind) - 1) if late and len(behind) > 1 else ""
            report("D520", job.path, row.line, "%s%s has no effect: %s" % (text, others, row.ignored),
                   "move it above line %s" % re.search(r"\d+", row.ignored).group() if late
                   else re.sub(r"^#\s*sbatch", "#SBATCH", text, flags=re.I))


def variables(job, report):
    for row in job.directives:
        for name, value in row.options.items():
            found = VARIABLE.search(value)
            if found and not row.ignored and name not in TEXTS and "'" not in value:
                report("D521", job.path, row.line, "--%s=%s: sbatch expands no variable" % (name, value),
                       "#SBATCH --%s=NUMBER, or sbatch --%s=%s %s" % (name, name, value, job.path.split("/")[-1]))


def meant(name):
    """The option that a name was meant to be; None where it may be a plugin's, or is right."""
    if name in KNOWN:
        return None
    dashed = name.replace("_", "-")
    close = [dashed] if dashed in KNOWN else difflib.get_close_matches(name, sorted(KNOWN), 1, 0.85)
    return close[0] if close else BEGINS.get(name)


def misspelt(job, report):
    rows = [(row.line, row.options, "sbatch") for row in job.directives if not row.ignored]
    rows += [(command.line, command.srun, "srun") for command in job.commands if command.srun]
    for line, options, program in rows:
        for name in options:
            right = meant(name)
            if right:
                report("D522", job.path, line, "--%s: %s has no such option" % (name, program), "--" + right)


def separated(job, report):
    """srun --ddp worker COMMAND, whose mode srun takes for the command."""
    for command in job.commands:
        if command.srun and command.srun.get("ddp") == "" and command.words[0] in ("worker", "launcher", "auto", "off"):
            report("D524", job.path, command.line, "srun takes %s for the program that it starts" % command.words[0],
                   "srun --ddp=%s" % command.words[0])


def attached(job, report):
    """srun -pmix, which asks for a partition."""
    for command in job.commands:
        partition = (command.srun or {}).get("partition", "")
        if re.match(r"^mi(x(_v\d)?|2)?$", partition) and job.options.get("partition") != partition:
            report("D534", job.path, command.line, "srun -p%s asks for a partition named %s" % (partition, partition),
                   "srun --mpi=p%s" % partition)


def check(job, report):
    if job.batch:
        ignored(job, report)
        variables(job, report)
    misspelt(job, report)
    separated(job, report)
    attached(job, report)
