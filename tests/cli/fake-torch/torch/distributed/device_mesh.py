# SPDX-License-Identifier: BSD-3-Clause
from torch.distributed.distributed_c10d import init_process_group


def init_device_mesh():
    init_process_group()
