# SPDX-License-Identifier: BSD-3-Clause
"""devices.py - which GPU a process takes: none, the first one, or another node's."""
import ast

from frameworks import DEVICES
from ranks import INIT, starts_workers
from source import UNKNOWN, constant, function_around, is_main_guard, literal

# A script with one of these names chooses its device itself.
CHOSEN = ("set_device", "device_id", "device_ids", "CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "set_device_index",
          "set_device_idx", "init_device_mesh", "LOCAL_RANK", "SLURM_LOCALID", "local_rank", "gpu_id", "gpu")
BY_LOCAL_RANK = 'torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))'


def backend_is_nccl(program, source, call):
    return all("nccl" in str(literal(value)) for value in program.values(source, call.argument(0, "backend")))


def takes_first(program, source, call):
    """Whether a process takes "the" GPU."""
    first = call.argument(0, "device")
    return call.last == "cuda" and first is None or call.last in ("cuda", "to", "device") and any(
        literal(value) in ("cuda", "cuda:0") for value in program.values(source, first))


def missing(program, report):
    groups = list(program.calls(*INIT))
    if not groups or program.imports_any(*DEVICES) or starts_workers(program) or program.says(*CHOSEN) or \
            not all(backend_is_nccl(program, source, call) for source, call in groups):
        return
    for source, call in program.calls():
        if takes_first(program, source, call):
            report("D412", source.path, call.line,
                   "every process takes the first GPU that it sees: nothing here chooses one", BY_LOCAL_RANK)
            return


def is_global_rank(source, node, function, depth=3):
    """Whether this is the rank of all processes, or a name that was given it in the same function or at the top of the
    file."""
    if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("int", "str") and len(node.args) == 1:
        node = node.args[0]
    if isinstance(node, ast.Call) and source.dotted(node.func) == "torch.distributed.get_rank":
        return not node.args
    if source.variable(node) in ("RANK", "SLURM_PROCID"):
        return True
    rows = source.assigned.get(source.dotted(node), []) if depth else []
    return bool(rows) and all(place in (function, None) and is_global_rank(source, value, function, depth - 1)
                              for value, place in rows)


def inserted(node):
    """x of f"cuda:{x}", "cuda:" + x, "cuda:%d" % x and "cuda:{}".format(x), else None."""
    if isinstance(node, ast.JoinedStr):
        parts = [part.value for part in node.values if isinstance(part, ast.FormattedValue)]
    elif isinstance(node, ast.BinOp) and constant(node.left) in ("cuda:", "cuda:%d", "cuda:%s"):
        parts = [node.right]
    else:
        is_format = isinstance(node, ast.Call) and constant(getattr(node.func, "value", None)) == "cuda:{}"
        parts = node.args if is_format else []
    return parts[0] if parts else None


def chosen(call):
    """The number of the device that a call names, or None: set_device(x), torch.device(x), model.to(x)."""
    first = call.argument(0, "device", "type")
    if call.name == "torch.cuda.set_device":
        return inserted(first) or first
    if call.name == "torch.device" and constant(first) == "cuda":
        return call.argument(1, "index")
    return inserted(first) if call.name == "torch.device" or call.last == "to" else None


def by_global_rank(program, nodes, report):
    if nodes == 1 or starts_workers(program):
        return
    for source, call in program.calls():
        device = chosen(call)
        if device is not None and is_global_rank(source, device, function_around(call.stack)):
            report("D413", source.path, call.line, "the GPU is chosen by the rank of all nodes' processes",
                   BY_LOCAL_RANK)
            return


def overwritten(program, report):
    """os.environ["CUDA_VISIBLE_DEVICES"] = "0,1"."""
    for source, setting in program.settings("CUDA_VISIBLE_DEVICES"):
        value = literal(setting.value)
        if value is not UNKNOWN and str(value).replace(",", "").replace(" ", "").isdigit() and not any(
                isinstance(node, (ast.If, ast.Try)) and not is_main_guard(node) for node in setting.stack):
            report("D418", source.path, setting.line,
                   'CUDA_VISIBLE_DEVICES is set to "%s" here' % value, "(leave the line out)")


def check(program, nodes, report):
    missing(program, report)
    by_global_rank(program, nodes, report)
    if not program.is_test():
        overwritten(program, report)
