# SPDX-License-Identifier: BSD-3-Clause
"""refused.py - job scripts that sbatch or bash does not take at all."""
import kinds


def check(job, report):
    if not job.batch or not job.text:
        return
    first = job.text[0]
    real = [row for row in job.directives if not row.ignored]
    if real and not first.startswith("#!"):
        report("D523", job.path, 1, "the first line is not #!: sbatch takes no such script", "#!/bin/bash")
    if job.carriage:
        report("D523", job.path, job.carriage, "the line ends with a carriage return: sbatch takes no such script",
               "sed -i 's/\\r$//' %s" % job.path)
    elif kinds.interpreter(first) in ("bash", "sh", ""):
        error = kinds.bash_refuses(job.path)
        if error:
            report("D523", job.path, error[0], "bash does not take the script: %s" % error[1], "")
