# SPDX-License-Identifier: BSD-3-Clause
"""usage: python -m rollcall [--help | --version]

Prints who this process is and what rollcall would set for it, as `rollcall show` says it. Changes nothing.
"""

import sys

import rollcall

if sys.argv[1:] in (["--help"], ["-h"]):
    print(__doc__, end="")
elif sys.argv[1:] in (["--version"], ["-V"]):
    print(f"rollcall {rollcall.__version__}")
elif len(sys.argv) > 1:
    print(f"rollcall: what is {sys.argv[1]!a}? see python -m rollcall --help", file=sys.stderr)
    sys.exit(2)
else:
    try:
        rollcall.show()
    except (rollcall.Error, ImportError) as error:
        sys.exit(f"rollcall: {error}")
