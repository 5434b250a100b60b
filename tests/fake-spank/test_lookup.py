# SPDX-License-Identifier: BSD-3-Clause
"""lookup=numeric: tasks get the library between torch and getnameinfo; what is said where there is none."""

import os

import pytest

from conftest import install_beside, missing_costs_a_line
from fake import EVEN, Step


@pytest.fixture
def installed(host, tmp_path):
    """The plugin in a tree of its own, with the library where configure said, and that file."""
    host, folder = install_beside(host, tmp_path, "ROLLCALL_PRELOAD_FROM_PLUGIN", "librollcall-lookup.so")
    return host, os.path.join(folder, "librollcall-lookup.so")


@pytest.mark.parametrize("options, configuration, env", [(["lookup=numeric"], [], {}),
                                                         ([], ["default=auto,lookup=numeric"], {}),
                                                         ([], [], {"ROLLCALL": "lookup=numeric"})])
def test_every_task_gets_the_library(installed, options, configuration, env):
    host, library = installed
    played = host.step(EVEN, options, env=env, arguments=configuration)
    assert played.lines() == []
    assert [t.env.get("LD_PRELOAD") for t in played.all_tasks] == [library] * 4


def test_in_launcher_mode_too(installed):
    host, library = installed
    played = host.step(Step([[0], [1]]), ["launcher,lookup=numeric"], env={"LD_PRELOAD": "/lib/x.so"})
    assert [t.env["LD_PRELOAD"] for t in played.all_tasks] == [f"/lib/x.so:{library}"] * 2


@pytest.mark.parametrize("options", ["", "lookup=off", "off,lookup=numeric"])
def test_nobody_does_without_it(installed, options):
    host, _ = installed
    assert not any("LD_PRELOAD" in t.env for t in host.step(EVEN, [options]).all_tasks)


def test_a_library_that_is_not_installed_costs_a_line(host):
    missing_costs_a_line(host, "lookup=numeric", "RC505", "LD_PRELOAD")
