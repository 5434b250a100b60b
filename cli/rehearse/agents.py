# SPDX-License-Identifier: BSD-3-Clause
"""agents.py - stand-ins that start the workers of a node: torchrun, torch.distributed.launch, accelerate launch."""
import os
import re

from programs import script_of
from slurmoptions import is_known

# options without a value (torch/distributed/run.py of 2.9, accelerate/commands/launch.py of 1.11)
FLAGS = set("""standalone module m no-python run-path use-env use_env signals-help cpu multi-gpu multi_gpu
    use-deepspeed use_deepspeed use-fsdp use_fsdp debug quiet q tpu same-network same_network use-megatron-lm h
    use_megatron_lm use_xpu use_mps dynamo_use_dynamic mps""".replace("_", "-").split())
NAMES = {"num-machines": "nnodes", "machine-rank": "node-rank", "main-process-ip": "master-addr",
         "main-process-port": "master-port", "num-processes": "total"}
PET = {"nnodes": "PET_NNODES", "nproc-per-node": "PET_NPROC_PER_NODE", "node-rank": "PET_NODE_RANK",
       "master-addr": "PET_MASTER_ADDR", "master-port": "PET_MASTER_PORT", "rdzv-backend": "PET_RDZV_BACKEND",
       "rdzv-endpoint": "PET_RDZV_ENDPOINT", "rdzv-id": "PET_RDZV_ID", "standalone": "PET_STANDALONE"}


class Agent:
    """A torchrun or accelerate that would start, and what it was told."""

    def __init__(self, place, request, options, words):
        self.place = place
        self.at = request.at
        self.name = request.name
        self.options = options
        self.words = words
        self.environment = request.environment
        self.standalone = "standalone" in options
        self.backend = options.get("rdzv-backend", "static")
        self.nodes = self.count(options.get("nnodes", "1"))
        self.node_rank = options.get("node-rank", "0")
        self.per_node = self.workers(options.get("nproc-per-node", "1"))
        total = options.get("total", "")
        if total.isdecimal() and self.nodes:
            self.per_node = int(total) // self.nodes
        if self.backend == "static":
            self.endpoint = options.get("rdzv-endpoint") or "%s:%s" % (
                options.get("master-addr", "127.0.0.1"), options.get("master-port", "29500"))
        else:
            self.endpoint = options.get("rdzv-endpoint", "")
        if not self.endpoint and self.name == "accelerate" and options.get("master-addr"):
            self.endpoint = "%s:%s" % (options["master-addr"], options.get("master-port", "29500"))
        if self.standalone:
            self.nodes, self.endpoint, self.backend = 1, "", "c10d"

    @staticmethod
    def count(text):
        """The largest number of 2 or 1:2; None if it is not known."""
        text = text.split(":")[-1]
        return int(text) if text.isdecimal() else None

    def workers(self, text):
        if text in ("gpu", "auto", "cpu"):
            gpus = self.gpus()
            return gpus if gpus and text != "cpu" else self.place.job.cpus if self.place.job and text == "cpu" else 1
        return int(text) if text.isdecimal() else None

    def gpus(self):
        """How many GPUs it sees."""
        listed = self.environment.get("CUDA_VISIBLE_DEVICES")
        if listed is not None:
            return len([part for part in listed.split(",") if part])
        return self.place.job.gpus if self.place.job else 0

    def is_static(self):
        return self.backend == "static"

    def is_known(self):
        return self.nodes is not None and self.per_node is not None and is_known(self.node_rank)

    def rank(self):
        """Its number among the agents: as it was told, or in the order of nodes."""
        if not self.is_static():
            return self.place.node if self.nodes and self.nodes > 1 else 0
        return int(self.node_rank) if self.node_rank.isdecimal() else 0


def read(words):
    """({option: value}, the words from the script on)."""
    options, words = {}, list(words)
    while words and words[0].startswith("-") and len(words[0]) > 1:
        name, sign, value = words.pop(0).lstrip("-").partition("=")
        name = name.replace("_", "-")
        if not sign and name not in FLAGS and words:
            value = words.pop(0)
        options[NAMES.get(name, name)] = value
    return options, words


def told(options, environment):
    """With the values of PET_*, which torchrun takes for options."""
    given = {option: environment[name] for option, name in PET.items() if environment.get(name)}
    if given.get("standalone") == "0":
        del given["standalone"]
    return {**given, **options}


def torchrun(director, request, place, words=None):
    options, rest = read(request.argv[1:] if words is None else words)
    return start(director, request, place, told(options, request.environment), rest)


def accelerate(director, request, place, words=None):
    words = request.argv[1:] if words is None else words
    if words[:1] != ["launch"]:
        return director.other(director, request, place, is_final=True)
    options, rest = read(words[1:])
    if "config-file" in options or os.path.exists(os.path.expanduser(
            "~/.cache/huggingface/accelerate/default_config.yaml")) and not options:
        director.mark(request.at, "accelerate reads its numbers from a file of its own")
    if "total" not in options and "multi-gpu" not in options and not {"nnodes", "node-rank"} & set(options):
        options["nproc-per-node"] = "gpu"
    return start(director, request, place, told(options, request.environment), rest)


def start(director, request, place, options, words):
    """Remembers the agent, and starts its workers."""
    if not words:
        director.note(request.at, "%s: there is no script" % request.name)
        return 1
    agent = Agent(place, request, options, words)
    director.agents.append(agent)
    if not agent.is_known():
        director.mark(request.at, "%s has options that are not known here" % request.name)
    nodes, each = agent.nodes or 1, agent.per_node or 1
    host, _, port = agent.endpoint.rpartition(":")
    if not agent.is_static() or agent.standalone:
        port = ""
    base = dict(request.environment)
    base.update(WORLD_SIZE=str(nodes * each), LOCAL_WORLD_SIZE=str(each), GROUP_RANK=str(agent.rank()),
                GROUP_WORLD_SIZE=str(nodes), MASTER_ADDR=re.sub(r"[\[\]]", "", host) or place.host,
                MASTER_PORT=port or "29400", TORCHELASTIC_RUN_ID=options.get("rdzv-id", "none"),
                ROLE_WORLD_SIZE=str(nodes * each), TORCHELASTIC_RESTART_COUNT="0")
    if each > 1:
        base.setdefault("OMP_NUM_THREADS", "1")
    if "no-python" in options:
        argv = words
    elif "module" in options or "m" in options:
        argv = ["python", "-u", "-m"] + words
    else:
        argv = ["python", "-u"] + words
    children = []
    for local in range(min(each, 64)):
        rank = str(agent.rank() * each + local)
        values = {**base, "RANK": rank, "LOCAL_RANK": str(local), "ROLE_RANK": rank}
        children.append((place.changed(agent=agent), request.cwd, argv, values))
    return request.reply.run(children)


def of_python(director, request, place):
    """python -m torch.distributed.run and its like; None for any other program of Python's."""
    words = script_of(request.argv)
    if words[:1] == ["-m"] and len(words) > 1:
        if words[1] in ("torch.distributed.run", "torch.distributed.launch", "torch.distributed.elastic"):
            return torchrun(director, request, place, words[2:])
        if words[1] in ("accelerate.commands.launch", "accelerate.commands.accelerate_cli"):
            return accelerate(director, request, place, ["launch"][:words[1].endswith("launch")] + words[2:])
    if words and os.path.basename(words[0]) in ("torchrun", "accelerate"):
        return (torchrun if "torchrun" in words[0] else accelerate)(director, request, place, words[1:])
    return None


AGENTS = {"torchrun": torchrun, "torch_distributed_launch": torchrun, "accelerate": accelerate}
