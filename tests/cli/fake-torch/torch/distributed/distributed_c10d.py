# SPDX-License-Identifier: BSD-3-Clause
"""init_process_group says what it was called with; its signature is that of torch 2.13."""

import os
import time

world = None
name = None


def is_initialized():
    return world is not None


def get_rank():
    return world[0]


def get_backend():
    return name


def get_world_size():
    return world[1]


def init_process_group(
    backend=None,
    init_method=None,
    timeout=None,
    world_size=-1,
    rank=-1,
    store=None,
    group_name="",
    pg_options=None,
    device_id=None,
    _ranks=None,
):
    """The docstring of init_process_group."""
    global name, world
    print("called", backend, init_method, rank, world_size, flush=True)
    # as one that waits for others, and as one that finds no RANK
    time.sleep(float(os.environ.get("FAKE_SECONDS", "0")))
    if os.environ.get("FAKE_FAILS") == "ValueError":
        raise ValueError("from torch")
    if backend == "fails":
        raise RuntimeError("from torch")
    # what somebody else has decided: MPI, a scheme that torch does not have itself
    name = backend
    world = tuple(map(int, os.environ.get("FAKE_WORLD", "0 1").split()))
    return "returned"


def destroy_process_group(group=None):
    """Returns after so many seconds."""
    time.sleep(float(os.environ.get("FAKE_DESTROY", "0")))
