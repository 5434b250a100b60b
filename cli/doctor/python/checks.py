# SPDX-License-Identifier: BSD-3-Clause
"""checks.py - everything that is checked in one Python program, for the doctor and for a rehearsal."""
import devices
import frameworks
import master
import mixed
import ranks


def check_program(program, nodes, report):
    """report: called with a finding's id, path, line, what and change. nodes: how many the program runs on."""
    mixed.check(program, report)
    ranks.check_program(program, report)
    frameworks.removed_arguments(program, report)
    devices.check(program, nodes, report)
    master.check_program(program, nodes, report)
