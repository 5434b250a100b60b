# SPDX-License-Identifier: BSD-3-Clause
# helpers.bash - the cluster tests' helpers, for frameworks: one Python a file.
#
# ROLLCALL_PYTHONS holds the Pythons that need_frameworks (setup/python.bash) makes.
#
#   python_of NAME   in setup_file, before cluster_up: the jobs' python is that one
#   $ours            the folder of the programs here; they import the cluster tests' toy.py

# shellcheck source=tests/cluster/helpers.bash
. "$(dirname "${BASH_SOURCE[0]}")/../cluster/helpers.bash"

ours=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/programs
export PYTHONPATH=$programs
over_rsh+=(-x PYTHONPATH)

# Nothing is asked of the network, which nodes do not have.
export HF_HUB_OFFLINE=1 HF_HUB_DISABLE_TELEMETRY=1

python_of()
{
    PYTHON=$ROLLCALL_PYTHONS/$1/bin/python
    [ -x "$PYTHON" ] || {
        echo "ROLLCALL_PYTHONS=$ROLLCALL_PYTHONS: there is no $1/bin/python; need_frameworks $1 makes it" >&2
        return 1
    }
    export PYTHON
}
