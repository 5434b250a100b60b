# SPDX-License-Identifier: BSD-3-Clause
"""What a function that submitit runs does first; it raises if anybody has set one of the names before."""

import submitit

import toy

env = submitit.helpers.TorchDistributedEnvironment().export()
toy.report(
    rank=env.rank,
    world=env.world_size,
    local=env.local_rank,
    node=env.rank // env.local_world_size,
    seen=",".join(map(str, range(env.world_size))),
    master=env.master_addr,
)
