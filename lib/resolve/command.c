/* SPDX-License-Identifier: BSD-3-Clause */
#include "resolve/command.h"

#include <stddef.h>

static bool operator_character(char c)
{
    return c == ';' || c == '&' || c == '|' || c == '(' || c == ')' || c == '\n' || c == '`';
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '"' || c == '\'' || operator_character(c);
}

bool rc_words_next(struct rc_words *words, struct rc_str *word)
{
    words->starts_command = false;
    if (words->left == 0)
        return false;
    words->left--;
    if (words->argv) {
        if (!*words->argv)
            return false;
        *word = rc_str(*words->argv++);
        return true;
    }
    for (; words->line.n && is_blank(*words->line.p);
         words->line = (struct rc_str){ words->line.p + 1, words->line.n - 1 })
        if (operator_character(*words->line.p))
            words->starts_command = true;
    word->p = words->line.p;
    for (word->n = 0; word->n < words->line.n && !is_blank(word->p[word->n]);)
        word->n++;
    words->line = (struct rc_str){ words->line.p + word->n, words->line.n - word->n };
    return word->n > 0;
}

enum { OPTION_SIZE = 20 };

/* argparse takes --node-rank for --node_rank */
static bool option_is(struct rc_str name, const char *option)
{
    size_t i = 0;

    for (; i < name.n && option[i]; i++)
        if (name.p[i] != option[i] && !(name.p[i] == '-' && option[i] == '_'))
            return false;
    return i == name.n && !option[i];
}

/* Where an option's value goes; NULL for an option that is of no interest. */
static struct rc_str *option_value(struct rc_str name, struct rc_command_options *given)
{
    static const struct {
        char option[OPTION_SIZE];
        unsigned char offset;
    } options[] = {
#define VALUE(option, member) { option, offsetof(struct rc_command_options, member) }
        VALUE("--nnodes", nnodes),           VALUE("--num_machines", nnodes),
        VALUE("--node_rank", node_rank),     VALUE("--machine_rank", node_rank),
        VALUE("--nproc_per_node", nproc),    VALUE("--num_processes", processes),
        VALUE("--rdzv_backend", backend),    VALUE("--rdzv_endpoint", endpoint),
        VALUE("--master_addr", master_addr), VALUE("--main_process_ip", master_addr),
        VALUE("--main_process_port", port),
#undef VALUE
    };

    for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
        if (option_is(name, options[i].option))
            return (struct rc_str *)((char *)given + options[i].offset);
    return NULL;
}

/* Reads the words behind the launcher's name, up to the user's script: what follows it is the script's own. */
static void command_options_read(struct rc_words *words, struct rc_command_options *given)
{
    struct rc_str *wanted = NULL;
    struct rc_str word;

    while (rc_words_next(words, &word)) {
        struct rc_str value;
        struct rc_str name;

        if (wanted) {
            *wanted = word;
            wanted = NULL;
            continue;
        }
        if (!rc_str_starts(word, "--")) {
            if (rc_str_ends(word, ".py") || rc_str_is(word, "-m"))
                return;
            continue;
        }
        name = rc_str_split(word, '=', &value);
        if (option_is(name, "--standalone")) {
            given->standalone = true;
            continue;
        }
        wanted = option_value(name, given);
        /* --option="value" is cut at the quote */
        if (wanted && value.p && (value.n || words->argv)) {
            *wanted = value;
            wanted = NULL;
        }
    }
}

/* Arrays of arrays, not of pointers: each pointer is one relocation, and every
 * process that the preload is loaded into pays for it. */
enum { NAME_SIZE = 20, MODULE_SIZE = 32 };

static const char launchers[][NAME_SIZE] = {
    "torchrun", "accelerate", "deepspeed", "composer", "colossalai", "fabric", "lightning",
};

/* python -m MODULE */
static const char launcher_modules[][MODULE_SIZE] = {
    "torch.distributed.run",     "torch.distributed.launch", "accelerate.commands.launch",
    "deepspeed.launcher.runner", "composer.cli.launcher",    "lightning.fabric.cli",
};

/* A launcher's own daemons: their children are the tasks (facts: an exporting
 * plugin in the orted step would put the daemon's rank into every task). */
static const char daemons[][NAME_SIZE] = {
    "orted",
    "prted",
    "prte",
    "hydra_pmi_proxy",
    "hydra_bstrap_proxy",
    "pmi_proxy",
    "mpispawn",
    "mpirun",
    "mpiexec",
    "mpiexec.hydra",
    "prterun",
    "prun",
    "srun",
    "ray",
    "dask-worker",
    "flux",
    "palsd",
};

/* Programs that run another one: the command may be any later word of theirs. */
static const char wrappers[][NAME_SIZE] = {
    "env",     "exec",     "nice",  "ionice",     "numactl",    "nohup",  "time", "timeout", "stdbuf",
    "taskset", "setarch",  "chrt",  "hwloc-bind", "likwid-pin", "perf",   "nsys", "ncu",     "valgrind",
    "strace",  "rollcall", "conda", "mamba",      "uv",         "poetry", "pixi", "command",
};

/* Such programs, too; but what they start has other files. */
static const char containers[][NAME_SIZE] = {
    "singularity", "apptainer", "enroot", "podman", "podman-hpc", "shifter", "ch-run", "sarus", "bwrap", "docker",
};

/* Their options with a folder. */
static const char mounts[][NAME_SIZE] = {
    "--bind", "--ro-bind", "--bind-try", "--volume", "--mount", "-B", "-b", "-v", "-m",
};

/* Words of the shell's grammar behind which a command stands. */
static const char keywords[][NAME_SIZE] = {
    "if", "then", "elif", "else", "while", "until", "do", "!", "{",
};

static bool one_of(struct rc_str word, const char *list, size_t size, size_t each)
{
    /* the first letter is enough for nearly every one of the names */
    for (size_t i = 0; word.n && i < size; i += each)
        if (list[i] == word.p[0] && rc_str_is(word, list + i))
            return true;
    return false;
}

#define ONE_OF(word, list) one_of((word), (list)[0], sizeof(list), sizeof((list)[0]))

static void set_kind(struct rc_command *command, enum rc_command_kind kind, struct rc_str name)
{
    command->kind = kind;
    command->name = name;
}

/* A launcher, by the name of its program or of its module. */
static void read_launcher(struct rc_words *words, struct rc_command *command, struct rc_str name)
{
    set_kind(command, RC_COMMAND_LAUNCHER, name);
    command->torchrun = rc_str_is(name, "torchrun") || rc_str_starts(name, "torch.distributed.");
    command->accelerate = rc_str_is(name, "accelerate") || rc_str_starts(name, "accelerate.");
    if (command->torchrun || command->accelerate)
        command_options_read(words, &command->given);
}

/* Behind `python`: -m MODULE, or a script, or -c. */
static void read_python(struct rc_words *words, struct rc_command *command)
{
    struct rc_str word;

    while (rc_words_next(words, &word)) {
        if (rc_str_starts(word, "-m")) {
            struct rc_str module = { word.p + 2, word.n - 2 };

            if (module.n == 0 && !rc_words_next(words, &module))
                return;
            if (ONE_OF(module, launcher_modules))
                read_launcher(words, command, module);
            else
                command->script = module;
            return;
        }
        if (rc_str_is(word, "-X") || rc_str_is(word, "-W")) {
            if (!rc_words_next(words, &word))
                return;
            continue;
        }
        /* a console script called by its path: `python /opt/bin/torchrun ...` */
        if (ONE_OF(rc_str_base_name(word), launchers)) {
            read_launcher(words, command, rc_str_base_name(word));
            return;
        }
        if (word.n == 0 || rc_str_starts(word, "-c"))
            return;
        if (word.p[0] != '-') {
            command->script = word;
            return;
        }
    }
}

static bool is_shell(struct rc_str name)
{
    return rc_str_is(name, "sh") || rc_str_is(name, "bash") || rc_str_is(name, "dash") || rc_str_is(name, "zsh");
}

bool rc_command_starts_another(struct rc_str program)
{
    /* beyond those that a command line is looked through for */
    static const char others[][NAME_SIZE] = {
        "ash", "ksh", "ksh93", "mksh", "csh", "tcsh", "fish", "busybox", "setsid"
    };
    struct rc_str name = rc_str_base_name(program);

    return is_shell(name) || ONE_OF(name, wrappers) || ONE_OF(name, containers) || ONE_OF(name, others);
}

bool rc_command_mounts(struct rc_str word, struct rc_str *value)
{
    for (size_t i = 0; i < sizeof(mounts) / sizeof(mounts[0]); i++) {
        struct rc_str rest = { word.p + rc_str(mounts[i]).n, word.n - rc_str(mounts[i]).n };

        if (!rc_str_starts(word, mounts[i]) || (rest.n && rest.p[0] != '=' && rest.p[0] != '/'))
            continue;
        *value = rest.n ? rest : RC_ABSENT;
        return true;
    }
    return false;
}

/* Behind the runtime's name, up to the image and no further than the command's
 * end: folders and images may be called like programs. */
static void pass_image(struct rc_words *words, struct rc_str runtime)
{
    bool bwrap = rc_str_is(runtime, "bwrap");
    bool has_image = !bwrap && !rc_str_is(runtime, "shifter");
    bool has_verb = has_image && !rc_str_is(runtime, "ch-run");
    struct rc_words before = *words;
    unsigned values = 0;
    struct rc_str value;
    struct rc_str word;

    for (; rc_words_next(words, &word) && !words->starts_command; before = *words) {
        if (values) {
            values--;
        } else if (rc_str_starts(word, "-")) {
            if (rc_command_mounts(word, &value) && !value.p)
                values = bwrap ? 2 : 1;
        } else if (has_verb) {
            has_verb = false;
        } else if (has_image) {
            return;
        } else {
            break;
        }
    }
    *words = before;
}

static bool is_assignment(struct rc_str word)
{
    struct rc_str value;

    rc_str_split(word, '=', &value);
    return value.p && word.n && word.p[0] != '-';
}

static void read_words(struct rc_words *words, struct rc_command *command, bool inside_shell);

/* Behind `bash`: options up to -c (also -lc), then the text. */
static void read_shell(struct rc_words *words, struct rc_command *command)
{
    struct rc_str word;

    while (rc_words_next(words, &word) && rc_str_starts(word, "-")) {
        if (!rc_str_ends(word, "c"))
            continue;
        if (rc_words_next(words, &word))
            read_words(&(struct rc_words){ .line = word, .left = RC_WORDS_MAX }, command, true);
        return;
    }
}

/* Only a word where a command stands can decide: `cd ray; ./train lightning`
 * names no launcher. A script that runs srun or mpirun is no worker itself,
 * unless it runs Python as well. */
static void read_words(struct rc_words *words, struct rc_command *command, bool inside_shell)
{
    struct rc_str daemon = RC_ABSENT;
    bool command_position = true;
    bool wrapped = false;
    bool python = false;
    struct rc_str word;

    while (command->kind == RC_COMMAND_UNKNOWN && rc_words_next(words, &word)) {
        struct rc_str name;

        if (words->starts_command) {
            command_position = true;
            wrapped = false;
        }
        /* the rest of an argument list is arguments: no operator stands there */
        if (!command_position && words->argv)
            break;
        if (!command_position || is_assignment(word) || (inside_shell && ONE_OF(word, keywords)))
            continue;
        command_position = wrapped;
        name = rc_str_base_name(word);
        if (ONE_OF(name, daemons)) {
            daemon = name;
            if (!inside_shell)
                break;
        } else if (ONE_OF(name, launchers)) {
            read_launcher(words, command, name);
        } else if (rc_str_starts(name, "python") || rc_str_starts(name, "pypy")) {
            read_python(words, command);
            python = true;
            command_position = false;
            wrapped = false;
        } else if (ONE_OF(name, wrappers)) {
            command_position = wrapped = true;
        } else if (ONE_OF(name, containers)) {
            command->container = name;
            pass_image(words, name);
            command_position = wrapped = true;
        } else if (is_shell(name) && !inside_shell) {
            read_shell(words, command);
            return;
        } else if (wrapped && (rc_str_ends(name, ".py") || rc_str_ends(name, ".sh"))) {
            command_position = wrapped = false;
        }
    }
    if (daemon.p && !python && command->kind == RC_COMMAND_UNKNOWN)
        set_kind(command, RC_COMMAND_DAEMON, daemon);
}

void rc_command_read(const char *const *argv, struct rc_command *command)
{
    *command = (struct rc_command){ .kind = RC_COMMAND_UNKNOWN };
    if (argv)
        read_words(&(struct rc_words){ .argv = argv, .left = RC_WORDS_MAX }, command, false);
}
