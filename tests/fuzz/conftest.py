# SPDX-License-Identifier: BSD-3-Clause
"""So many examples of each property as FUZZ_EXAMPLES says; the same ones each time where they are few."""
import os

from hypothesis import HealthCheck, settings

EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES", "50"))

settings.register_profile("fuzz", max_examples=EXAMPLES, derandomize=EXAMPLES <= 50, deadline=None, database=None,
                          suppress_health_check=list(HealthCheck))
settings.load_profile("fuzz")
