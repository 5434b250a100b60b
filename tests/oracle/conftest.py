# SPDX-License-Identifier: BSD-3-Clause
"""ROLLCALL_SEED draws other launches (a number; "random" takes a new one each time and says which)."""

import os
import random

import pytest

from stream import Stream

DEFAULT_SEED = 20240607
chosen = os.environ.get("ROLLCALL_SEED", "") or str(DEFAULT_SEED)
SEED = random.randrange(2**32) if chosen == "random" else int(chosen)


def pytest_report_header():
    return f"launches drawn with ROLLCALL_SEED={SEED}"


def generator(*parts):
    return random.Random("-".join(map(str, (SEED, *parts))))


@pytest.fixture(scope="session")
def core():
    stream = Stream("resolve_stream")
    yield stream
    stream.close()


@pytest.fixture(scope="session")
def hostlists():
    stream = Stream("hostlist_stream")
    yield stream
    stream.close()
