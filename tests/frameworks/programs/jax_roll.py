# SPDX-License-Identifier: BSD-3-Clause
"""JAX finds out by itself who it is: jax.distributed.initialize() without arguments. Stays for HOLD seconds."""

import os
import socket
import time

import jax
from jax.experimental import multihost_utils

jax.distributed.initialize(initialization_timeout=40)
seen = multihost_utils.process_allgather(jax.numpy.array([jax.process_index()])).flatten().tolist()
total = jax.pmap(lambda x: jax.lax.psum(x, "i"), axis_name="i")(
    jax.numpy.full((jax.local_device_count(),), float(jax.process_index()))
)
line = f"ROLL rank={jax.process_index()} world={jax.process_count()} seen={','.join(map(str, seen))}"
line += f" local={os.environ.get('LOCAL_RANK', '0')} node={os.environ.get('NODE_RANK', '-')}"
line += f" sum={total[0]:g} devices={jax.config.values['jax_cuda_visible_devices']} host={socket.gethostname()}"
os.write(1, (line + "\n").encode())
time.sleep(int(os.environ.get("HOLD", 0)))
jax.distributed.shutdown()
