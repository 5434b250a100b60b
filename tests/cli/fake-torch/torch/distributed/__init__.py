# SPDX-License-Identifier: BSD-3-Clause
from torch.distributed.distributed_c10d import (destroy_process_group, get_backend, get_rank, get_world_size,
                                                init_process_group, is_initialized)
