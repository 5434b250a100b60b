/* SPDX-License-Identifier: BSD-3-Clause */
/* The command's hint: which words of a command line tell how workers are started. */
#include "resolve/command.h"
#include "unit.h"

static const struct {
    struct rc_str input; /* the words */
    enum rc_command_kind kind;
    const char *name;
    const char *why;
} rows[] = {
    { TEXT("./a.out"), RC_COMMAND_UNKNOWN, NULL, "an ordinary program" },
    { TEXT("python train.py"), RC_COMMAND_UNKNOWN, NULL, "a script says nothing" },
    { TEXT("torchrun train.py"), RC_COMMAND_LAUNCHER, "torchrun", "by name" },
    { TEXT("/x/torchrun t.py"), RC_COMMAND_LAUNCHER, "torchrun", "by path" },
    { TEXT("python3.11 -u -m torch.distributed.run t.py"), RC_COMMAND_LAUNCHER, "torch.distributed.run",
      "as a module" },
    { TEXT("python -mtorch.distributed.launch t.py"), RC_COMMAND_LAUNCHER, "torch.distributed.launch", "in one word" },
    { TEXT("python -X dev -m torch.distributed.run"), RC_COMMAND_LAUNCHER, "torch.distributed.run",
      "behind an option with a value" },
    { TEXT("python /x/bin/torchrun t.py"), RC_COMMAND_LAUNCHER, "torchrun", "a console script by its path" },
    { TEXT("python -m pytest torchrun"), RC_COMMAND_UNKNOWN, NULL, "another module's argument" },
    { TEXT("python train.py --launcher torchrun"), RC_COMMAND_UNKNOWN, NULL, "the script's own argument" },
    { TEXT("python -c torchrun"), RC_COMMAND_UNKNOWN, NULL, "Python text" },
    { TEXT("env A=1 numactl -l torchrun t.py"), RC_COMMAND_LAUNCHER, "torchrun", "through wrappers" },
    { TEXT("ch-run img -- torchrun t.py"), RC_COMMAND_LAUNCHER, "torchrun", "in a container" },
    { TEXT("ch-run -b /x/python3 img -- torchrun t.py"), RC_COMMAND_LAUNCHER, "torchrun",
      "a folder that is called like a program" },
    { TEXT("ch-run /x/ray -- python t.py"), RC_COMMAND_UNKNOWN, NULL, "an image that is called like a program" },
    { TEXT("enroot start --rw lightning python t.py"), RC_COMMAND_UNKNOWN, NULL, "a container that is called so" },
    { TEXT("apptainer exec -B/ray python.sif torchrun"), RC_COMMAND_LAUNCHER, "torchrun", "a file that is called so" },
    { TEXT("bwrap --bind /x/ray /x/ray torchrun t.py"), RC_COMMAND_LAUNCHER, "torchrun", "without an image" },
    { TEXT("shifter --image=x torchrun t.py"), RC_COMMAND_LAUNCHER, "torchrun", "the image is an option" },
    { TEXT("sh -c 'apptainer --version; torchrun t.py'"), RC_COMMAND_LAUNCHER, "torchrun",
      "behind a runtime's own command" },
    { TEXT("sh -c 'enroot start && torchrun t.py'"), RC_COMMAND_LAUNCHER, "torchrun", "behind one without an image" },
    { TEXT("accelerate launch t.py"), RC_COMMAND_LAUNCHER, "accelerate", "by name" },
    { TEXT("./train lightning"), RC_COMMAND_UNKNOWN, NULL, "an argument" },
    { TEXT("orted -mca x"), RC_COMMAND_DAEMON, "orted", "a launcher's daemon" },
    { TEXT("mpirun -np 2 python t.py"), RC_COMMAND_DAEMON, "mpirun", "its ranks are others" },
    { TEXT("bash -c 'torchrun t.py'"), RC_COMMAND_LAUNCHER, "torchrun", "in shell text" },
    { TEXT("bash -lc 'cd x && exec torchrun t.py'"), RC_COMMAND_LAUNCHER, "torchrun", "behind another command" },
    { TEXT("sh -c 'if true; then torchrun t.py; fi'"), RC_COMMAND_LAUNCHER, "torchrun", "behind a word of the shell" },
    { TEXT("sh -c 'cd ray; ./t lightning'"), RC_COMMAND_UNKNOWN, NULL, "arguments in shell text" },
    { TEXT("sh -c '[ x ] || exec srun y'"), RC_COMMAND_DAEMON, "srun", "a script that only starts others" },
    { TEXT("sh -c 'srun --version; python t.py'"), RC_COMMAND_UNKNOWN, NULL, "a script that is a worker, too" },
    { TEXT("bash train.sh torchrun"), RC_COMMAND_UNKNOWN, NULL, "a script that is not read" },
    { TEXT(""), RC_COMMAND_UNKNOWN, NULL, "no words" },
};

/* The command holds slices of the words, which live until the test ends. */
static void read_words(const char *words, struct rc_command *command)
{
    const char *argv[16];

    unit_words(words, argv, UNIT_COUNT(argv));
    rc_command_read(argv, command);
}

UNIT_ROWS(reads, "command", rows)
{
    struct rc_command command;

    read_words(row->input.p, &command);
    assert_int_equal(command.kind, row->kind);
    assert_true(row->name ? rc_str_is(command.name, row->name) : !command.name.p);
}

UNIT_TEST(reads_torchrun_options, "torchrun's own options, not the script's")
{
    struct rc_command command;

    read_words("torchrun --nnodes 1:4 --node-rank=3 --nproc_per_node 2 --standalone t.py --nnodes=9", &command);
    assert_true(command.torchrun && command.given.standalone);
    assert_true(rc_str_is(command.given.nnodes, "1:4"));
    assert_true(rc_str_is(command.given.node_rank, "3"));
    assert_true(rc_str_is(command.given.nproc, "2"));
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
    assert_true(rc_str_is(command.given.processes, "8"));
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
