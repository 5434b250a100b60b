/* SPDX-License-Identifier: BSD-3-Clause */
/* The command's hint: which words of a command line tell how workers are started. */
#include "resolve/command.h"
#include "unit.h"

enum {
    UNKNOWN = RC_COMMAND_UNKNOWN,
    LAUNCHER = RC_COMMAND_LAUNCHER,
    DAEMON = RC_COMMAND_DAEMON,
    STARTER = RC_COMMAND_STARTER
};

static const struct {
    struct rc_str input; /* the words */
    int kind;
    const char *name;
    const char *why;
} rows[] = {
    { TEXT("./a.out"), UNKNOWN, NULL, "an ordinary program" },
    { TEXT("python train.py"), UNKNOWN, NULL, "a script says nothing" },
    { TEXT("torchrun train.py"), LAUNCHER, "torchrun", "by name" },
    { TEXT("/x/torchrun t.py"), LAUNCHER, "torchrun", "by path" },
    { TEXT("python3.11 -u -m torch.distributed.run t.py"), LAUNCHER, "torch.distributed.run", "as a module" },
    { TEXT("python -mtorch.distributed.launch t.py"), LAUNCHER, "torch.distributed.launch", "in one word" },
    { TEXT("python -X dev -m torch.distributed.run"), LAUNCHER, "torch.distributed.run",
      "after an option with a value" },
    { TEXT("python /x/bin/torchrun t.py"), LAUNCHER, "torchrun", "a console script by its path" },
    { TEXT("python -m pytest torchrun"), UNKNOWN, NULL, "another module's argument" },
    { TEXT("python train.py --launcher torchrun"), UNKNOWN, NULL, "the script's own argument" },
    { TEXT("python -c torchrun"), UNKNOWN, NULL, "Python text" },
    { TEXT("env A=1 numactl -l torchrun t.py"), LAUNCHER, "torchrun", "through wrappers" },
    { TEXT("ch-run img -- torchrun t.py"), LAUNCHER, "torchrun", "in a container" },
    { TEXT("ch-run -b /x/python3 img -- torchrun t.py"), LAUNCHER, "torchrun",
      "a folder that is called like a program" },
    { TEXT("ch-run /x/ray -- python t.py"), UNKNOWN, NULL, "an image that is called like a program" },
    { TEXT("enroot start --rw lightning python t.py"), UNKNOWN, NULL, "a container that is called so" },
    { TEXT("apptainer exec -B/ray python.sif torchrun"), LAUNCHER, "torchrun", "a file that is called so" },
    { TEXT("shifter --image=x torchrun t.py"), LAUNCHER, "torchrun", "the image is an option" },
    { TEXT("sh -c 'apptainer --version; torchrun t.py'"), LAUNCHER, "torchrun", "after a runtime's own command" },
    { TEXT("sh -c 'enroot start && torchrun t.py'"), LAUNCHER, "torchrun", "after one without an image" },
    { TEXT("accelerate launch t.py"), LAUNCHER, "accelerate", "by name" },
    { TEXT("accelerate config"), UNKNOWN, NULL, "another verb" },
    { TEXT("sh -c 'accelerate; torchrun t.py'"), LAUNCHER, "torchrun", "after one without a verb" },
    { TEXT("vllm serve M --tensor-parallel-size 8"), LAUNCHER, "vllm", "a server of models" },
    { TEXT("vllm bench serve"), UNKNOWN, NULL, "its client" },
    { TEXT("python -m vllm.entrypoints.openai.api_server"), LAUNCHER, "vllm.entrypoints.openai.api_server",
      "a module" },
    { TEXT("python3 /x/bin/vllm serve M"), LAUNCHER, "vllm", "its console script" },
    { TEXT("python3 -m sglang.launch_server --tp 16"), LAUNCHER, "sglang.launch_server", "SGLang" },
    { TEXT("sglang serve --tp 16"), LAUNCHER, "sglang", "by its new name" },
    { TEXT("trtllm-llmapi-launch trtllm-serve M"), UNKNOWN, NULL, "one of many processes" },
    { TEXT("./train lightning"), UNKNOWN, NULL, "an argument" },
    { TEXT("orted -mca x"), DAEMON, "orted", "a launcher's daemon" },
    { TEXT("mpirun -np 2 python t.py"), STARTER, "mpirun", "its ranks are others" },
    { TEXT("bash -c 'torchrun t.py'"), LAUNCHER, "torchrun", "in shell text" },
    { TEXT("bash -lc 'cd x && exec torchrun t.py'"), LAUNCHER, "torchrun", "after another command" },
    { TEXT("sh -c 'if true; then torchrun t.py; fi'"), LAUNCHER, "torchrun", "after a word of the shell" },
    { TEXT("sh -c 'sleep 9& torchrun t.py'"), LAUNCHER, "torchrun", "after one in the background" },
    { TEXT("sh -c 'cd ray; ./t lightning'"), UNKNOWN, NULL, "arguments in shell text" },
    { TEXT("sh -c '[ x ] || exec srun y'"), STARTER, "srun", "a script that only starts others" },
    { TEXT("sh -c 'srun --version; python t.py'"), UNKNOWN, NULL, "a script that is a worker, too" },
    { TEXT("bash train.sh torchrun"), UNKNOWN, NULL, "a script that is not read" },
    { TEXT("bash"), UNKNOWN, NULL, "a shell for somebody to type in" },
    { TEXT("bash -o pipefail"), UNKNOWN, NULL, "the same with an option" },
    { TEXT(""), UNKNOWN, NULL, "no words" },

    /* a value that is called like a launcher */
    { TEXT("conda run -n lightning python train.py"), UNKNOWN, NULL, "an environment" },
    { TEXT("conda run --no-capture-output -n lightning torchrun t.py"), LAUNCHER, "torchrun", "the command in it" },
    { TEXT("mamba run -n deepspeed python t.py"), UNKNOWN, NULL, "an environment" },
    { TEXT("micromamba run -p /x/ray python t.py"), UNKNOWN, NULL, "an environment's folder" },
    { TEXT("conda run -n ray python train.py"), UNKNOWN, NULL, "called like a daemon" },
    { TEXT("uv run --with lightning python t.py"), UNKNOWN, NULL, "a package" },
    { TEXT("uv run --no-sync --extra deepspeed train.py"), UNKNOWN, NULL, "after a flag" },
    { TEXT("uv run --frozen torchrun t.py"), LAUNCHER, "torchrun", "after a flag" },
    { TEXT("poetry run accelerate launch t.py"), LAUNCHER, "accelerate", "after a verb" },
    { TEXT("pixi run -e accelerate python t.py"), UNKNOWN, NULL, "an environment" },
    { TEXT("numactl -N 0 ./train --strategy deepspeed"), UNKNOWN, NULL, "the program's own argument" },
    { TEXT("numactl --localalloc ./train deepspeed"), UNKNOWN, NULL, "after a flag" },
    { TEXT("nsys profile -o ray python t.py"), UNKNOWN, NULL, "a file" },
    { TEXT("nsys profile --trace=cuda -f true torchrun t.py"), LAUNCHER, "torchrun", "each option has a value" },
    { TEXT("ncu --nvtx --set full -o x torchrun t.py"), LAUNCHER, "torchrun", "most options have one" },
    { TEXT("podman run --gpus all --name lightning image python t.py"), UNKNOWN, NULL, "a container" },
    { TEXT("docker run --rm -it --ipc host image torchrun t.py"), LAUNCHER, "torchrun",
      "after flags, a value and the image" },
    { TEXT("apptainer exec --nv --env A=1 --pwd /lightning x.sif python t.py"), UNKNOWN, NULL, "a folder" },
    { TEXT("timeout -s INT 10 torchrun t.py"), LAUNCHER, "torchrun", "after a number" },
    { TEXT("taskset -c 0-3 torchrun t.py"), LAUNCHER, "torchrun", "after a list" },
    { TEXT("hwloc-bind core:0 core:1 -- torchrun t.py"), LAUNCHER, "torchrun", "after any number" },
    { TEXT("env -u RANK A=1 torchrun t.py"), LAUNCHER, "torchrun", "after an assignment" },
    { TEXT("rollcall exec --ddp=worker -- torchrun t.py"), LAUNCHER, "torchrun", "after dashes" },
    { TEXT("sh -c 'nice; torchrun t.py'"), LAUNCHER, "torchrun", "after a wrapper without a command" },

    /* console scripts and modules */
    { TEXT("python3 /x/bin/ray start --head"), DAEMON, "ray", "a daemon's console script" },
    { TEXT("/bin/sh /opt/intel/bin/mpirun -n 2 ./t"), STARTER, "mpirun", "one for a shell" },
    { TEXT("/bin/sh /x/bin/torchrun t.py"), LAUNCHER, "torchrun", "a launcher's, in a long folder" },
    { TEXT("python -m distributed.cli.dask_worker x"), DAEMON, "distributed.cli.dask_worker", "a module" },
    { TEXT("python -um torch.distributed.run t.py"), LAUNCHER, "torch.distributed.run", "two options" },
    { TEXT("python -m lightning.fabric.cli run t.py"), LAUNCHER, "lightning.fabric.cli", "Fabric" },
    { TEXT("python -m lightning_fabric.cli run t.py"), LAUNCHER, "lightning_fabric.cli", "by itself" },
    { TEXT("python -m timeout torchrun"), UNKNOWN, NULL, "a module that is called like a program" },
    { TEXT("sh -c 'python a.py; python /x/ray start'"), UNKNOWN, NULL, "a worker and a daemon" },

    /* words as the shell takes them */
    { TEXT("bash -c 'X=\"a\" torchrun t.py'"), LAUNCHER, "torchrun", "after a quoted value" },
    { TEXT("bash -c 'X=\"a b\" torchrun t.py'"), LAUNCHER, "torchrun", "one with a blank" },
    { TEXT("bash -c '\"$VENV\"/bin/torchrun t.py'"), LAUNCHER, "torchrun", "in a quoted folder" },
    { TEXT("bash -c '\"$VENV/bin/torchrun\" t.py'"), LAUNCHER, "torchrun", "quoted as a whole" },
    { TEXT("bash -c 'X=$(hostname; echo torchrun) ./t'"), UNKNOWN, NULL, "a command's output" },
    { TEXT("bash -c 'X=\"$(cat \"a b\" | ray)\" torchrun t.py'"), LAUNCHER, "torchrun", "quotes in quotes" },
    { TEXT("bash -c 'echo \"; torchrun\"; ./t'"), UNKNOWN, NULL, "an operator in quotes" },
    { TEXT("bash -c 'echo a\\; torchrun; ./t'"), UNKNOWN, NULL, "one after a backslash" },
    { TEXT("bash -c 'python $(which torchrun) t.py'"), LAUNCHER, "torchrun", "as it is found on PATH" },
    { TEXT("bash -c './t 2>&1 torchrun'"), UNKNOWN, NULL, "a redirection" },
    { TEXT("bash -c '# exec torchrun\n./t'"), UNKNOWN, NULL, "a comment" },
    { TEXT("bash -c 'env \\\n  torchrun t.py'"), LAUNCHER, "torchrun", "on the next line" },
    { TEXT("bash -c 'echo ${X:-a; torchrun}'"), UNKNOWN, NULL, "a default" },
    { TEXT("bash -euo pipefail -c 'torchrun t.py'"), LAUNCHER, "torchrun", "options of the shell" },
    { TEXT("bash --norc t.sh torchrun"), UNKNOWN, NULL, "an option that ends with c" },
    { TEXT("sh -c 'apptainer exec x bash -c \"torchrun t.py\"'"), LAUNCHER, "torchrun",
      "a shell in a container in a shell" },
};

/* What users write: the name of the launcher or daemon is given, or it is a worker, whatever its words are called. */
/* clang-format off */
#define WORKER(line)          { TEXT(line), UNKNOWN, NULL, "a worker" }
#define STARTS(name, line)    { TEXT(line), LAUNCHER, name, name }
#define DAEMON_OF(name, line) { TEXT(line), DAEMON, name, name }
#define TASKS_OF(name, line)  { TEXT(line), STARTER, name, name }
/* clang-format on */

static const __typeof__(rows[0]) lines[] = {
    /* environments and packages */
    WORKER("mamba run --live-stream -n deepspeed python t.py"),
    WORKER("conda run -p /x/envs/lightning python -m pytest -k torchrun"),
    WORKER("conda run --cwd /x/ray -n a python t.py"),
    STARTS("torchrun", "conda run -s -n a -- torchrun t.py"),
    STARTS("accelerate", "mamba run -n deepspeed accelerate launch t.py"),
    STARTS("torchrun", "micromamba run -r /x/ray -n a torchrun t.py"),
    WORKER("micromamba run -a stdout -n deepspeed python t.py"),
    WORKER("uv run --with-requirements lightning --group ray python t.py"),
    WORKER("uv run -vv --directory /x/deepspeed -p 3.12 t.py"),
    WORKER("uv run -w ray -w deepspeed -s t.py"),
    STARTS("deepspeed", "uv --project /x/ray run --offline deepspeed t.py"),
    STARTS("torch.distributed.run", "uv run -m torch.distributed.run t.py"),
    WORKER("uvx --with ray pytest"),
    STARTS("fabric", "uvx --lfs fabric run t.py"),
    STARTS("fabric", "uvx --from lightning fabric run t.py"),
    WORKER("poetry -C lightning run python t.py"),
    STARTS("torchrun", "poetry -P /x/ray run torchrun t.py"),
    WORKER("pdm run -p /x/ray --env-file deepspeed -s python t.py"),
    STARTS("torchrun", "pdm run --venv ray torchrun t.py"),
    WORKER("hatch -e lightning run python t.py"),
    WORKER("hatch -p ray run deepspeed:python t.py"),
    STARTS("torchrun", "hatch --env ray run torchrun t.py"),
    STARTS("torchrun", "hatch run cuda:torchrun t.py"),
    STARTS("torchrun", "rye run --venv /x/ray torchrun t.py"),
    STARTS("torchrun", "pipenv --python 3.12 run torchrun t.py"),
    WORKER("pixi run --manifest-path /x/deepspeed python t.py"),
    STARTS("torchrun", "pixi run --frozen -e ray torchrun t.py"),
    WORKER("pixi run train torchrun"),
    /* profilers and debuggers */
    STARTS("torchrun", "nsys launch --trace=cuda --session-new=ray torchrun t.py"),
    WORKER("nsys profile -t cuda,nvtx -e A=torchrun -o deepspeed python t.py"),
    WORKER("ncu --metrics x --export ray -f ./run 32"),
    WORKER("ncu -k torchrun -c 20 --target-processes all -o deepspeed python t.py"),
    WORKER("rocprof --hip-trace --stats -o torchrun python t.py"),
    STARTS("torchrun", "rocprof --hip-trace --timestamp on torchrun t.py"),
    WORKER("rocprofv3 --kernel-trace -d ray --output-format csv -- python t.py"),
    STARTS("torchrun", "rocprofv3 --hip-trace -- torchrun t.py"),
    WORKER("rocprof-compute profile -n ray -- python t.py"),
    WORKER("perf record -F 99 -g -o deepspeed -- python t.py"),
    STARTS("torchrun", "perf stat -e cycles:u -o ray --log-fd 3 torchrun t.py"),
    STARTS("torchrun", "perf record --call-graph dwarf torchrun t.py"),
    WORKER("py-spy record -o accelerate --native -- python t.py"),
    STARTS("torchrun", "py-spy record -r 10 -s -- torchrun t.py"),
    WORKER("scalene --cpu --outfile ray t.py"),
    STARTS("torchrun", "strace -f -o deepspeed -e trace=file torchrun t.py"),
    STARTS("torchrun", "compute-sanitizer --tool memcheck torchrun t.py"),
    WORKER("valgrind --log-file=ray ./t torchrun"),
    /* places on a node */
    WORKER("numactl --cpunodebind 0 --membind 0 ./t ray"),
    STARTS("accelerate", "numactl --physcpubind=+0-19 -m 0 accelerate launch t.py"),
    WORKER("taskset -c 0-7 python t.py torchrun"),
    STARTS("torchrun", "likwid-pin -c S0:0-3 -q torchrun t.py"),
    STARTS("torchrun", "ionice -c 2 -n 7 torchrun t.py"),
    STARTS("torchrun", "chrt -d -T 10 -P 20 0 torchrun t.py"),
    STARTS("torchrun", "taskset 0xff torchrun t.py"),
    STARTS("torchrun", "stdbuf -o L -eL torchrun t.py"),
    WORKER("stdbuf -oL python t.py deepspeed"),
    STARTS("torchrun", "nice -n 5 torchrun t.py"),
    WORKER("nice --adjustment 5 python t.py ray"),
    STARTS("torchrun", "time -f %e -o ray torchrun t.py"),
    WORKER("time -v -a -o deepspeed python t.py"),
    STARTS("torchrun", "xvfb-run -a -s '-screen 0 1024x768x24' torchrun t.py"),
    STARTS("torchrun", "xvfb-run -n 9 -e ray torchrun t.py"),
    /* containers */
    STARTS("torchrun", "apptainer exec --nv --no-mount home -H /x/ray x.sif torchrun t.py"),
    STARTS("torchrun", "apptainer run --nv --bind /scratch --containall ray.sif torchrun t.py"),
    WORKER("singularity exec instance://deepspeed python t.py"),
    WORKER("singularity exec --overlay /x/ray:ro --env-file /x/torchrun x.sif bash -c 'python t.py'"),
    STARTS("torchrun", "singularity exec x.sif bash -c '. /x/env; torchrun t.py'"),
    STARTS("vllm", "singularity exec --bind $TMPDIR x.sif vllm serve ray"),
    STARTS("torch.distributed.run", "singularity exec x.sif conda-python-simple -m torch.distributed.run t.py"),
    WORKER("singularity exec x.sif conda-python-distributed -u t.py --strategy deepspeed"),
    WORKER("podman run --rm --passwd -w /ray -e A=torchrun lightning python t.py"),
    STARTS("torchrun", "podman-hpc run --gpu --nccl --rm --net=host -v .:/ray pytorch torchrun t.py"),
    WORKER("docker run --gpus all --name torchrun -v /x:/ray nemo python t.py"),
    STARTS("deepspeed", "docker exec -w /x -it ray deepspeed t.py"),
    WORKER("enroot start --root --rw --mount /ray:/ray -e deepspeed torchrun bash t.sh"),
    STARTS("torchrun", "enroot start -c deepspeed nemo sh -c 'torchrun t.py'"),
    WORKER("ch-run --set-env=./e --cd=/w -b /ray -w ./deepspeed -- python t.py"),
    STARTS("torchrun", "shifter --image ray --module=gpu,nccl -w /ray torchrun t.py"),
    STARTS("torchrun", "sarus run --mount type=bind,source=/a -w /ray bids/ray torchrun t.py"),
    /* shells */
    WORKER("bash -c 'export RANK=$SLURM_PROCID; exec python t.py ray'"),
    WORKER("sh -c 'cd /opt/deepspeed; A=torchrun python t.py'"),
    STARTS("torchrun", "bash -c 'torchrun --nproc_per_node=$N t.py 2>&1 | tee ray.log'"),
    TASKS_OF("ray", "bash -c 'if [ $R = 0 ]; then ray start --head; else ray start --block; fi'"),
    STARTS("torchrun", "env -i PATH=/x torchrun t.py"),
    WORKER("env -C /x/ray A=torchrun python t.py"),
    STARTS("torchrun", "nohup sudo -u ray -E tini -p KILL -- torchrun t.py"),
    STARTS("torchrun", "bash -c 'exec -a ray torchrun t.py'"),
    WORKER("bash -c 'command -v torchrun && ./t'"),
    STARTS("torchrun", "bash --rcfile ray -c 'torchrun t.py'"),
    /* what starts tasks */
    TASKS_OF("jsrun", "jsrun -n 4 ./t"),
    TASKS_OF("aprun", "/opt/cray/bin/aprun -n 4 ./t"),
    TASKS_OF("mpiexec.hydra", "time mpiexec.hydra -n 4 ./t"),
    TASKS_OF("ccc_mprun", "ccc_mprun -n 4 ./t"),
    TASKS_OF("flux", "flux run -N2 ./t"),
    TASKS_OF("flux", "flux -v proxy f1 flux run ./t"),
    WORKER("flux --version"),
    WORKER("./flux train"),
    TASKS_OF("ssh", "ssh n2 python t.py"),
    TASKS_OF("sbatch", "sbatch job.sh"),
    TASKS_OF("horovodrun", "horovodrun -np 4 python t.py"),
    WORKER("bash -c 'ssh -fN -L 8888:n1:8888 login; ./t'"),
    WORKER("bash -c 'sbatch --dependency=afterok:1 next.sh; ./t'"),
    DAEMON_OF("ray", "ray start --block"),
    /* programs of no table decide nothing */
    WORKER("./select_gpu torchrun t.py"),
    WORKER("gdb -ex run --args python t.py torchrun"),
    STARTS("torchrun_jsc", "python -u -m torchrun_jsc --nnodes=2 t.py"),
    STARTS("composer", "composer -n 8 t.py"),
};

/* The command holds slices of the words, which live until the test ends. */
static void read_words(const char *words, struct rc_command *command)
{
    const char *argv[24];

    unit_words(words, argv, UNIT_COUNT(argv));
    rc_command_read(argv, command);
}

static void reads(const __typeof__(rows[0]) *row)
{
    struct rc_command command;

    read_words(row->input.p, &command);
    assert_int_equal(command.kind, row->kind);
    assert_true(row->name ? rc_str_is(command.name, row->name) : !command.name.p);
}

UNIT_TABLE(reads, "command", rows);
UNIT_TABLE(reads, "command", lines);

UNIT_TEST(reads_torchrun_options, "torchrun's own options, not the script's")
{
    struct rc_command command;

    read_words("torchrun --nnodes 1:4 --node-rank=3 --nproc_per_node 2 --standalone t.py --nnodes=9", &command);
    assert_true(command.torchrun && command.given.standalone);
    assert_true(rc_str_is(command.given.nnodes, "1:4"));
    assert_true(rc_str_is(command.given.node_rank, "3"));
    assert_true(rc_str_is(command.given.nproc, "2"));
}

/* What the script gets is not torchrun's. */
static const struct {
    struct rc_str input;
    const char *nnodes; /* NULL: torchrun has none */
    const char *why;
} ends[] = {
    { TEXT("torchrun --module pkg.train --nnodes 1"), NULL, "after a module" },
    { TEXT("torchrun -m pkg.train --nnodes 1"), NULL, "in short" },
    { TEXT("torchrun --no-python ./train --nnodes 1"), NULL, "after a program" },
    { TEXT("torchrun --nnodes=2 train --nnodes 1"), "2", "after a console script" },
    { TEXT("torchrun --rdzv-id train.py --nnodes 2 t.py"), "2", "a value is no script" },
    { TEXT("torchrun -r 3 -t3 --nnodes 2 t.py"), "2", "short options" },
    { TEXT("torchrun --standalone --nnodes 1 t.py"), "1", "after a flag" },
    { TEXT("sh -c 'torchrun --nnodes 2; x --nnodes 1'"), "2", "after an operator" },
    { TEXT("sh -c 'torchrun --nnodes \"$N\" t.py'"), "$N", "in quotes" },
    { TEXT("sh -c 'torchrun \\\n --nnodes 2 t.py'"), "2", "on the next line" },
    { TEXT("accelerate launch --multi_gpu --num-machines 2 -m train --num_machines 3"), "2", "accelerate's flags" },
    { TEXT("python -m accelerate.commands.launch --num_machines 2 train --num_machines 3"), "2", "without its verb" },
    { TEXT("vllm serve M --max-model-len 9 --nnodes 2"), "2", "nowhere, for a server" },
    { TEXT("python -m sglang.launch_server --model M --nnodes=2"), "2", "nor for another one" },
    { TEXT("sh -c 'vllm serve M; x --nnodes 1'"), NULL, "with a server's command" },
};

UNIT_ROWS(ends_options, "options end", ends)
{
    struct rc_command command;

    read_words(row->input.p, &command);
    assert_int_equal(command.kind, RC_COMMAND_LAUNCHER);
    assert_true(row->nnodes ? rc_str_is(command.given.nnodes, row->nnodes) : !command.given.nnodes.p);
}

UNIT_TEST(reads_rendezvous, "where agents meet, and accelerate's own options")
{
    struct rc_command command;

    read_words("sh -c 'torchrun --rdzv-backend c10d --rdzv_endpoint=\"$HEAD:1\" t.py'", &command);
    assert_true(rc_str_is(command.given.backend, "c10d"));
    assert_true(rc_str_is(command.given.endpoint, "$HEAD:1"));
    read_words("accelerate launch --num_machines 2 --machine-rank=1 --main_process_ip n1 --num_processes 8 "
               "--main_process_port=7 t.py --num_machines=9",
               &command);
    assert_true(command.accelerate && !command.torchrun && !command.given.nproc.p);
    assert_true(rc_str_is(command.given.nnodes, "2"));
    assert_true(rc_str_is(command.given.node_rank, "1"));
    assert_true(rc_str_is(command.given.master_addr, "n1"));
    assert_true(rc_str_is(command.given.port, "7"));
}

UNIT_TEST(reads_container, "a container that it is started in")
{
    struct rc_command command;

    read_words("nice apptainer exec --nv x.sif torchrun t.py", &command);
    assert_true(rc_str_is(command.container, "apptainer") && rc_str_is(command.name, "torchrun"));
    read_words("bash -c 'cd x && enroot start y torchrun t.py'", &command);
    assert_true(rc_str_is(command.container, "enroot") && rc_str_is(command.name, "torchrun"));
    read_words("torchrun apptainer", &command);
    assert_null(command.container.p);
}

UNIT_TEST(ends_words, "after the last word there is none, whatever was there before")
{
    static const char *const none[] = { NULL };
    struct rc_str word = TEXT("torchrun");

    assert_false(rc_words_next(&(struct rc_words){ .argv = none, .left = 1 }, &word) || word.p);
    word = rc_str("torchrun");
    assert_false(rc_words_next(&(struct rc_words){ .line = TEXT(" "), .left = 1 }, &word) || word.p);
    word = rc_str("torchrun");
    assert_false(rc_words_next(&(struct rc_words){ .line = TEXT("t.py") }, &word) || word.p);
}

static const struct {
    struct rc_str input;
    bool names;
    const char *why;
} rollcalls[] = {
    { TEXT("srun -n4 rollcall exec ./t"), true, "as a word" },
    { TEXT("srun --ddp=worker ./t"), true, "as srun's option" },
    { TEXT("sh -c 'srun /x/bin/rollcall exec ./t'"), true, "in a shell's text" },
    { TEXT("sh -c \"srun '--ddp' ./t\""), true, "in quotes there" },
    { TEXT("sh -c 'srun ./rollcall'"), true, "as the last word" },
    { TEXT("srun /opt/rollcall/bin/t"), false, "as a folder" },
    { TEXT("srun rollcall.py my-rollcall a--ddp"), false, "as a part of other names" },
    { TEXT("srun"), false, "nowhere" },
};

UNIT_ROWS(names_rollcall, "rollcall is named", rollcalls)
{
    const char *argv[24];

    unit_words(row->input.p, argv, UNIT_COUNT(argv));
    assert_int_equal(rc_command_names_rollcall(argv), row->names);
}

UNIT_TEST(reads_no_argv, "no command line at all")
{
    struct rc_command command;

    rc_command_read(NULL, &command);
    assert_int_equal(command.kind, RC_COMMAND_UNKNOWN);
}

static const struct {
    struct rc_str input;
    bool starts;
    const char *why;
} programs[] = {
    { TEXT("/usr/bin/bash"), true, "a shell" },
    { TEXT("/bin/busybox"), true, "a shell, and much else" },
    { TEXT("/usr/bin/env"), true, "a wrapper" },
    { TEXT("numactl"), true, "one without a folder" },
    { TEXT("/usr/bin/ch-run"), true, "a container" },
    { TEXT("/usr/bin/python3.11"), false, "a worker" },
    { TEXT("/opt/bash/bin/train"), false, "a folder's name says nothing" },
    { TEXT("/opt/bin/bash-train"), false, "nor does the beginning of a name" },
    { TEXT("/opt/bin/"), false, "no name" },
    { TEXT(""), false, "nothing" },
};

UNIT_ROWS(starts_another, "starter", programs)
{
    assert_int_equal(rc_command_starts_another(unit_guard(row->input)), row->starts);
}
