# SPDX-License-Identifier: BSD-3-Clause
"""python -m rollcall: who this process is, as `rollcall show` says it."""

import sys

import rollcall

if len(sys.argv) > 1:
    sys.exit("usage: python -m rollcall")
try:
    rollcall.show()
except (rollcall.Error, ImportError) as error:
    sys.exit(f"rollcall: {error}")
