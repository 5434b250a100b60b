# SPDX-License-Identifier: BSD-3-Clause
"""master.py - where a script or a job says that rank 0 is: a fixed address or port, or another one in each process."""
import ast
import re

from ranks import INIT, starts_workers
from shell import unquoted
from source import UNKNOWN, constant, function_around, guarded, literal, mentions
from words import bare

LOOPBACK = re.compile(r"^(localhost|127\.\d+\.\d+\.\d+|::1|\[::1\]|0\.0\.0\.0)$")
URL = re.compile(r"^tcp://(\[[0-9a-fA-F:]+\]|[^:/]*):(\d+)")
OWN_NAME = ("socket.gethostname", "platform.node", "socket.getfqdn", "os.uname")
WHOLE_LIST = "%s is the whole list of nodes, such as n[01-04]"
TYPED_THERE = "%s is SLURM_LAUNCH_NODE_IPADDR, where sbatch or srun was typed"
OWN_HOST = "each process takes its own host for MASTER_ADDR"
ENV = 'init_method="env://"'
LEAVE_OUT = "(leave the line out: the launcher sets MASTER_ADDR)"
LISTS = ("SLURM_NODELIST", "SLURM_JOB_NODELIST", "SLURM_STEP_NODELIST")


def is_loopback(text):
    return bool(LOOPBACK.match(text.strip()))


def names_in(source, node):
    """The functions and variables of the environment in an expression."""
    parts = list(ast.walk(node))
    return {source.dotted(part.func) for part in parts if isinstance(part, ast.Call)} | {
        source.variable(part) for part in parts}


def draws(source, node, depth=3):
    """Whether an expression is another number in each process: a random or free port that is no mere fallback."""
    for part in evaluated(source, node):
        if isinstance(part, (ast.Name, ast.Attribute)) and depth:
            name = source.dotted(part)
            rows = [value for value, _ in source.assigned.get(name, [])]
            if told(source, name) or any(source.variable(inner) for value in rows for inner in ast.walk(value)):
                continue
            for value in rows:
                drawn = not guarded(source.around.get(id(value), ()), name) and draws(source, value, depth - 1)
                if drawn:
                    return drawn
        if not isinstance(part, ast.Call):
            continue
        name = source.dotted(part.func)
        last = name.split(".")[-1].lower()
        if name.startswith(("random.", "numpy.random.")) and last in ("randint", "randrange", "choice", "random"):
            return "a random number"
        if "free_port" in last or "open_port" in last or last in ("getfreeport", "pick_port", "find_port", "get_port"):
            return "a port that is free here"
    return None


def spreads(name):
    """Whether a function of that name sends something from one process to the others."""
    return "bcast" in name.lower() or "broadcast" in name.lower()


def told(source, name):
    """Whether a call sends a variable to the other processes, or receives it from them."""
    return any(spreads(call.last) and any(mentions(argument, name) for argument in call.node.args)
               for call in source.calls)


def evaluated(source, node):
    """The parts of an expression that each process computes for itself."""
    if isinstance(node, (ast.IfExp, ast.BoolOp)) or isinstance(node, ast.Call) and spreads(
            getattr(node.func, "attr", source.dotted(node.func))):
        return
    yield node
    for part in ast.iter_child_nodes(node):
        yield from evaluated(source, part)


def one_machine(program, nodes):
    """Whether loopback is right: one process or node, as far as the launch or the script itself says."""
    alone = any(str(literal(setting.value)) == "1" for _, setting in program.settings("WORLD_SIZE")) or any(
        program.number(source, call.argument(None, "world_size")) == 1 for source, call in program.calls(*INIT))
    if alone or program.is_test():
        return True
    if nodes:
        return nodes == 1
    starts = starts_workers(program) or any(
        call.name.endswith("multiprocessing.set_start_method") for _, call in program.calls())
    # "nodes" may be a graph's
    return starts and \
        not program.says("node_rank", "NODE_RANK", "nnodes", "SLURM_NODEID", "machine_rank") and \
        not any({"nodes", "num_nodes"} & set(source.options) for source in program.sources)


def as_first(source, setting):
    """Whether RANK=0 is set in the same function: the process sets up a group of its own."""
    return any(other.name == "RANK" and str(literal(other.value)) == "0" and
               function_around(other.stack) is function_around(setting.stack) for other in source.settings)


def preferred(source, node, others):
    """Whether loopback is only the fallback for another address, a variable or an argument of the script."""
    if any(literal(other) is UNKNOWN and not front(other) for other in others):
        return True
    names = [name for name, rows in source.assigned.items() if any(value is node for value, _ in rows)]
    return guarded(source.around.get(id(node), ()), "environ", "getenv", *[name.split(".")[-1] for name in names])


def addresses(program, nodes, report):
    for source, setting in program.settings("MASTER_ADDR"):
        if guarded(setting.stack, "MASTER_ADDR", "environ"):
            continue
        for node in program.values(source, setting.value):
            value = literal(node)
            names = names_in(source, node)
            if isinstance(value, str) and is_loopback(value):
                others = program.values(source, setting.value) + [
                    other.value for other in source.settings if other.name == "MASTER_ADDR"]
                if one_machine(program, nodes) or as_first(source, setting) or preferred(source, node, others):
                    continue
                report("D404", source.path, setting.line, 'MASTER_ADDR is set to "%s"' % value,
                       'os.environ.setdefault("MASTER_ADDR", "%s")' % value)
            elif isinstance(value, str) and re.match(r"^[\w.:-]+$", value):
                report("D405", source.path, setting.line, 'MASTER_ADDR is set to "%s", one machine\'s' % value,
                       LEAVE_OUT)
            elif nodes == 1:  # the "list" is a name: each process's own
                continue
            elif names & set(LISTS) and source.variable(node):
                report("D409", source.path, setting.line, WHOLE_LIST % setting.name, LEAVE_OUT)
            elif "SLURM_LAUNCH_NODE_IPADDR" in names:
                report("D410", source.path, setting.line, TYPED_THERE % setting.name, LEAVE_OUT)
            elif names & set(OWN_NAME) and not starts_workers(program) and not single(setting):
                report("D411", source.path, setting.line, OWN_HOST, LEAVE_OUT)


def single(setting):
    """Inside of `if rank == 0`."""
    return any(isinstance(part, ast.Compare) and any(constant(value) == 0 for value in part.comparators)
               for node in setting.stack if isinstance(node, ast.If) for part in ast.walk(node.test))


def ports(program, report):
    own = starts_workers(program) or program.is_test()
    for source, setting in program.settings("MASTER_PORT"):
        if guarded(setting.stack, "MASTER_PORT", "MASTER_ADDR", "environ"):
            continue
        for node in program.values(source, setting.value):
            value = literal(node)
            if value is not UNKNOWN and str(value).strip().isdigit():
                report("D403", source.path, setting.line, "MASTER_PORT is always %s" % value,
                       'os.environ.setdefault("MASTER_PORT", "%s")' % value)
        seeded = any(call.name in ("random.seed", "numpy.random.seed", "random.Random") for call in source.calls)
        drawn = not own and not seeded and not single(setting) and not as_first(source, setting) and \
            draws(source, setting.value)
        if drawn:
            report("D406", source.path, setting.line, "each process takes %s for MASTER_PORT" % drawn,
                   "(leave the line out: the launcher sets MASTER_PORT)")


def methods(program, nodes, report):
    """init_method="tcp://HOST:PORT"."""
    own = starts_workers(program)
    for source, call in program.calls(*INIT):
        method = call.argument(1, "init_method")
        if method is None:
            continue
        values = program.values(source, method)
        for node in values:
            found = URL.match(str(literal(node))) or URL.match(front(node))
            # the fallback where the launcher's variables are missing is right
            if not found or not found.group(1) or guarded(call.stack, "environ", "getenv") or \
                    guarded(source.around.get(id(node), ())):
                continue
            what = '"%s"' % found.group(0)
            if not is_loopback(found.group(1)):
                report("D405", source.path, node.lineno, "init_method is %s, one machine's" % what, ENV)
            elif not one_machine(program, nodes) and not preferred(source, node, values):
                report("D404", source.path, node.lineno, "init_method is " + what, ENV)
            elif int(found.group(2)) and not program.is_test():
                report("D403", source.path, node.lineno, "init_method is always " + what, ENV)
        drawn = not own and draws(source, method)
        if drawn:
            report("D406", source.path, method.lineno, "each process takes %s for init_method" % drawn, ENV)


def front(node):
    """The constant beginning of an f-string or of "..." + x, where 0 is any port; "" for what names no port."""
    if isinstance(node, ast.JoinedStr):
        parts = [constant(part) for part in node.values] + [""]
        return "".join(part if isinstance(part, str) else "0" for part in parts) if ":" in str(parts[0])[6:] else ""
    value = str(constant(node.left)) if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add) else ""
    return value + "0" if re.match(r"^tcp://[^:]+:$", value) else ""


def speaks_gloo(program):
    """False only where every group is NCCL's alone."""
    groups = list(program.calls(*INIT))
    return not groups or program.imports_any("lightning", "pytorch_lightning", "ray") or program.says("gloo") or any(
        literal(value) != "nccl" for source, call in groups
        for value in program.values(source, call.argument(0, "backend")))


def interfaces(program, report):
    for source, setting in program.settings("GLOO_SOCKET_IFNAME", "NCCL_SOCKET_IFNAME"):
        value = literal(setting.value)
        if not isinstance(value, str) or guarded(setting.stack, setting.name):
            continue
        if setting.name == "GLOO_SOCKET_IFNAME" and not_concrete(value):
            if speaks_gloo(program):
                report("D420", source.path, setting.line, 'GLOO_SOCKET_IFNAME is "%s"' % value,
                       'os.environ["GLOO_SOCKET_IFNAME"] = "ib0"')
        elif value and not value.startswith("^") and value != "lo":
            report("D419", source.path, setting.line, '%s is always "%s"' % (setting.name, value),
                   'os.environ.setdefault("%s", "%s")' % (setting.name, value))


def not_concrete(value):
    """Whether NCCL takes the value and gloo does not: an exclusion, an exact match, an address."""
    return value.startswith(("^", "=")) or bool(re.match(r"^\d+\.\d+\.\d+\.\d+$", value))


def check_program(program, nodes, report):
    addresses(program, nodes, report)
    ports(program, report)
    methods(program, nodes, report)
    interfaces(program, report)


ENDPOINTS = ("rdzv_endpoint", "master_addr", "main_process_ip", "dist_init_addr", "nccl_init_addr")
ADDRESS = re.compile(
    r"--(rdzv[_-]endpoint|master[_-]addr|main[_-]process[_-]ip|dist[_-]init[_-]addr)[= ]+[\"']?([^\s\"']+)")
COPY = re.compile(r"^\$\{?(\w+)\}?(?:[:)]|$)")  # also with a port behind it, or at the end of an array
HOST_OF_TASK = re.compile(
    r"\bMASTER_ADDR=[\"']?(\$\(\s*hostname[^)]*\)|`hostname[^`]*`|\$\{?(HOSTNAME|SLURMD_NODENAME)\b)")
# the batch script is no step: it has no SLURM_STEP_NODELIST
FALLBACK = re.compile(r"(?:\|\|\s*echo\s+|\$\{SLURM_STEP_NODELIST:?-)[\"']?(localhost|127\.\d+\.\d+\.\d+)")
FIRST_NODE = '%s=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)'


def endpoints(steps):
    """--rdzv_endpoint=localhost, or the node where srun was typed, on several nodes."""
    for step in steps.all:
        for name in ENDPOINTS if step.srun_nodes and "standalone" not in step.launch.options else ():
            value = step.launch.options.get(name, "")
            if is_loopback(re.sub(r":\d+$", "", value)):
                step.say("D404", "--%s=%s on %d nodes" % (name, value, step.layout.nodes), step.cure(without=ENDPOINTS))


def expanded(job, steps, nodes, report):
    """An address in a launcher's options that the batch shell expands: $SLURM_LAUNCH_NODE_IPADDR or a fallback."""
    for line, number in job.lines:
        text = unquoted(line)
        found = ADDRESS.search(text)
        change = next((step.cure(without=ENDPOINTS) for step in steps.all if step.launch.starts_workers()), "")
        if found and re.match(r"\$\{?SLURM_LAUNCH_NODE_IPADDR", found.group(2)):
            report("D410", job.path, number, "--" + TYPED_THERE % found.group(1), change)
        fallback = FALLBACK.search(text, found.start()) if found and nodes > 1 else None
        if fallback:
            report("D404", job.path, number, "--%s falls back to %s" % (found.group(1), fallback.group(1)),
                   change)


def in_tasks(line):
    """The text of srun ... bash -c '...' that the tasks' shells expand, not the batch shell."""
    found = re.search(r"\bsrun\b.*?\b(?:ba)?sh\s+-\w*c\s+(['\"])", line, re.S)
    if not found:
        return ""
    inner = line[found.end():]
    if found.group(1) == "'":
        return inner
    return re.sub(r"(?<!\\)[$`]", " ", inner).replace("\\$", "$").replace("\\`", "`")


def own_host(job, report):
    """MASTER_ADDR=$(hostname) in each task."""
    for line, number in job.lines + job.inner:
        text = line if (line, number) in job.inner else in_tasks(line)
        if HOST_OF_TASK.search(text):
            report("D411", job.path, number, OWN_HOST,
                   "export MASTER_ADDR=$(hostname)   (in the batch script, before srun)")


PORTS = ("MASTER_PORT", "RDZV_PORT", "MAIN_PROCESS_PORT")
HELD = "(leave the line out: rollcall holds a free port)"
LEAST = 1024  # port that is not root's
DRAWN = re.compile(r"^\"?\$(?:\(\s*shuf\s+.*?-i\s*(\d+)-|\{?RANDOM\}?\"?$)")


def heads(job):
    """The variables that say where rank 0 is: MASTER_ADDR, those of a launcher's options, and what they copy."""
    names = {"MASTER_ADDR"}
    given = [("MASTER_ADDR", found.group(2), 0) for line, _ in job.lines for found in ADDRESS.finditer(line)]
    for name, value, _ in given + job.exports[::-1]:
        copied = COPY.match(bare(value))
        if copied and name in names:
            names.add(copied.group(1))
    return names


def head_address(job, export, nodes, report):
    """MASTER_ADDR=value and its like in a job script."""
    name, value, number = export
    first = FIRST_NODE % name
    fallback = FALLBACK.search(value) if nodes > 1 else None
    if fallback:
        report("D404", job.path, number, "%s falls back to %s" % (name, fallback.group(1)), first)
    elif name == "MASTER_ADDR" and is_loopback(bare(value)) and nodes > 1:  # endpoints() has the others
        report("D404", job.path, number, 'MASTER_ADDR is "%s" on %d nodes' % (bare(value), nodes),
               "(leave the line out: rollcall sets it)")
    elif re.match(r"^\$\{?SLURM_(JOB_|STEP_)?NODELIST\}?$", bare(value)):
        report("D409", job.path, number, WHOLE_LIST % name, first)
    elif "SLURM_LAUNCH_NODE_IPADDR" in value:
        report("D410", job.path, number, TYPED_THERE % name, first)
    elif re.search(r"\bhostname\s+(-I|--all-ip-addresses|-i\b|--ip-address)", value) and nodes > 1:
        report("D519", job.path, number, "%s is the first address that `hostname` finds" % name, first)


def exports(job, steps, nodes, report):
    """What the variables of a job are set to."""
    may_speak_gloo = not steps.all or any(step.program is None or speaks_gloo(step.program) for step in steps.all)
    names = heads(job)
    for name, value, number in job.exports:
        plain = bare(value)
        drawn = DRAWN.match(value) if name in PORTS else None
        if drawn and int(drawn.group(1) or 0) < LEAST:
            report("D533", job.path, number, "%s is any number from %s on" % (name, drawn.group(1) or 0), HELD)
        if name in names:
            head_address(job, (name, value, number), nodes, report)
        elif name == "MASTER_PORT" and re.match(r"^\d+$", plain) and "exclusive" not in job.options:
            report("D403", job.path, number, "MASTER_PORT is always %s" % plain, HELD)
        elif name == "GLOO_SOCKET_IFNAME" and not_concrete(plain) and may_speak_gloo:
            report("D420", job.path, number, 'GLOO_SOCKET_IFNAME is "%s"' % plain, "export GLOO_SOCKET_IFNAME=ib0")


def default_master(step):
    """--dist-url's default, where the line does not name another."""
    for source in step.program.sources:
        for names, default, line in source.options.values():
            value = literal(default)
            if re.match(r"^tcp://(localhost|127\.)", str(value)) and not any(
                    word.partition("=")[0] in names for word in step.launch.arguments):
                step.report("D404", source.path, line, '%s is "%s" on %d nodes' % (names[-1], value, step.layout.nodes),
                            "%s env://" % names[-1])


def check_job(job, steps, report):
    nodes = steps.nodes() or 0
    if job.batch:
        exports(job, steps, nodes, report)
    endpoints(steps)
    expanded(job, steps, nodes, report)
    if nodes > 1:
        own_host(job, report)
    for step in steps.all:
        if step.program and step.launch.kind != "mpirun" and (step.layout.nodes or 0) > 1:
            default_master(step)
