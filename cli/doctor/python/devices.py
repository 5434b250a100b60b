# SPDX-License-Identifier: BSD-3-Clause
"""devices.py - which GPU a process takes: none, the first one, or another node's."""
import ast

from frameworks import DEVICES
from ranks import INIT, starts_workers
from source import UNKNOWN, constant, function_around, is_main_guard, literal

# A script with one of these names chooses its device itself.
CHOSEN = ("set_device", "device_id", "device_ids", "CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "set_device_index",
          "set_device_idx", "init_device_mesh", "LOCAL_RANK", "SLURM_LOCALID", "local_rank", "gpu_id", "gpu")


def backend_is_nccl(program, source, call):
    backend = call.argument(0, "backend")
    return backend is not None and all(isinstance(literal(value), str) and "nccl" in literal(value)
               for value in program.values(source, backend))


def first_gpu(program):
    """The line where a process takes "the" GPU."""
    for source in program.sources:
        for call in source.calls:
            if call.last not in ("cuda", "to", "device"):
                continue
            first = call.argument(0, "device")
            if call.last == "cuda" and first is None:
                return source, call.line
            if first is not None and any(literal(value) in ("cuda", "cuda:0")
                                         for value in program.values(source, first)):
                return source, call.line
    return None


def missing(program, report):
    groups = list(program.calls(*INIT))
    if not groups or program.imports_any(*DEVICES) or starts_workers(program) or program.says(*CHOSEN) or \
            not all(backend_is_nccl(program, source, call) for source, call in groups):
        return
    where = first_gpu(program)
    if where:
        report("D412", where[0].path, where[1],
               "every process takes the first GPU that it sees: nothing here chooses one",
               'torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))')


def is_global_rank(source, node, function):
    """Whether a name was given the rank of all processes, in the same function or at the top of the file."""
    name = source.dotted(node) if isinstance(node, (ast.Name, ast.Attribute)) else ""
    if isinstance(node, ast.Call) and source.dotted(node.func) == "torch.distributed.get_rank":
        return True
    rows = [row for row in source.assigned.get(name, []) if row[1] is function or row[1] is None]
    if not rows or len(rows) != len(source.assigned.get(name, [])):
        return False
    return all(global_rank(source, value) for value, _ in rows)


def global_rank(source, value):
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and \
            value.func.id == "int" and len(value.args) == 1:
        return global_rank(source, value.args[0])
    if isinstance(value, ast.Call) and source.dotted(value.func) == "torch.distributed.get_rank" and not value.args:
        return True
    return source.variable(value) in ("RANK", "SLURM_PROCID")


def inserted(node):
    """x of f"cuda:{x}", "cuda:" + str(x), "cuda:%d" % x and "cuda:{}".format(x), else the node itself."""
    if isinstance(node, ast.JoinedStr):
        return next((part.value for part in node.values if isinstance(part, ast.FormattedValue)), node)
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Mod)) and constant(node.left) in (
            "cuda:", "cuda:%d", "cuda:%s"):
        text = isinstance(node.right, ast.Call) and getattr(node.right.func, "id", "") == "str" and node.right.args
        return node.right.args[0] if text else node.right
    if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "format" and node.args and constant(
            node.func.value) == "cuda:{}":
        return node.args[0]
    return node


def chosen(source, call):
    """The device that a call names, or None: set_device(x), torch.device(x), model.to(x), model.cuda(x)."""
    if call.name == "torch.cuda.set_device":
        return inserted(call.argument(0, "device"))
    if call.name == "torch.device":
        first = call.argument(0, "type")
        second = call.argument(1, "index")
        return second if constant(first) == "cuda" and second is not None else text_device(first)
    if call.last == "to":
        return text_device(call.argument(0, "device"))
    return None


def text_device(node):
    """What is inserted into the text of a device; None for what is no such text."""
    found = inserted(node) if node is not None else None
    return found if found is not node else None


def by_global_rank(program, nodes, report):
    if nodes == 1 or starts_workers(program):
        return
    for source in program.sources:
        for call in source.calls:
            device = chosen(source, call)
            if device is not None and is_global_rank(source, device, function_around(call.stack)):
                report("D413", source.path, call.line, "the GPU is chosen by the rank of all nodes' processes",
                       'torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))')
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
