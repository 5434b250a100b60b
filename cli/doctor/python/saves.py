# SPDX-License-Identifier: BSD-3-Clause
"""saves.py - a checkpoint that every rank writes to the same file."""
import ast

from ranks import INIT
from sampler import DDP
from source import constant

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
# What a condition asks where one rank is to write.
ASKS = ("rank", "main", "master", "primary", "proc", "save", "leader", "chief", "coordinator", "gpu", "local", "zero",
        "device", "node")
LIBRARIES = ("lightning", "pytorch_lightning", "accelerate", "transformers", "deepspeed", "horovod", "ray", "composer",
             "mmengine", "colossalai", "megatron", "nemo", "ignite", "fairseq", "jax")


def asks(node):
    """Whether an expression has a name or text that speaks of one process among several."""
    for part in ast.walk(node):
        name = getattr(part, "id", None) or getattr(part, "attr", None) or constant(part)
        if isinstance(name, str) and any(word in name.lower() for word in ASKS):
            return True
    return False


def leaves_early(function):
    """Whether a function returns or raises for the other ranks: if rank != 0: return."""
    return any(isinstance(node, ast.If) and asks(node.test) and any(
        isinstance(inner, (ast.Return, ast.Raise)) for inner in node.body) for node in ast.walk(function))


def decorated(function):
    return any(asks(decorator) for decorator in function.decorator_list)


def is_guarded(stack):
    for node in stack:
        if isinstance(node, (ast.If, ast.IfExp, ast.While)) and asks(node.test):
            return True
        if isinstance(node, ast.With) and any(asks(item) for item in node.items):
            return True
        if isinstance(node, FUNCTIONS) and (leaves_early(node) or decorated(node)):
            return True
    return False


def is_reached_by_all(program, stack, depth=4):
    """Whether all ranks come to a place: it, and some call of the function that it is in, is in no such condition."""
    if is_guarded(stack):
        return False
    function = next((node for node in reversed(stack) if isinstance(node, FUNCTIONS)), None)
    if function is None:
        return True
    calls = [call for source in program.sources for call in source.calls
             if call.last == function.name and not call.name.startswith(("torch.", "numpy.")) or
             call.name.split(".")[-1] == function.name and "." not in call.name]
    return depth > 0 and any(is_reached_by_all(program, call.stack, depth - 1) for call in calls
                             if function not in call.stack)


def file_of(program, source, call):
    """The expressions of the file that torch.save writes."""
    where = call.argument(1, "f")
    return [] if where is None else program.values(source, where)


def check(program, report):
    if not any(program.calls(*INIT)) or not any(program.calls(*DDP[:2])) or program.imports_any(*LIBRARIES) or \
            program.is_test():
        return
    for source, call in program.calls("torch.save"):
        files = file_of(program, source, call)
        if files and not any(asks(value) or isinstance(value, ast.Call) and "IO" in source.dotted(value.func)
                             for value in files) and is_reached_by_all(program, call.stack):
            report("D425", source.path, call.line, "every rank writes this file",
                   "if dist.get_rank() == 0: torch.save(...)")
            return
