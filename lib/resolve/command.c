/* SPDX-License-Identifier: BSD-3-Clause */
#include "resolve/command.h"

enum kind {
    KIND_WRAPPER,
    KIND_CONTAINER,
    KIND_SHELL,
    KIND_PYTHON,
    KIND_LAUNCHER,
    KIND_TASK,
    KIND_DAEMON,
    KIND_STARTER,
    KIND_REMOTE,
    KIND_POOL,
};

enum { UP_TO_DASHES = UINT8_MAX, NAME_SIZE = 36 };

struct program {
    enum kind kind;
    uint8_t operands;
    const char *verb;
    const char *values;
    const char *flags;
    const char *clears;
    const char *passes;
    const char *told;
    const char *cure;
};

/* Inline: for most programs each name costs one comparison. */
__attribute__((always_inline)) static inline bool is_among(struct rc_str name, const char names[][NAME_SIZE],
                                                           size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (names[i][0] == name.p[0] && rc_str_is(name, names[i]))
            return true;
    return false;
}

/* Code: the loader would relocate each pointer of a table in every process with the preload library. */
static bool find_program(struct rc_str name, struct program *found)
{
    *found = (struct program){ .operands = 0 };
    if (!name.n)
        return false;
#define NAMES(...)   __VA_ARGS__
#define NONE         found->values = NULL
#define VERB(word)   found->verb = (word)
#define VALUES(list) found->values = (list)
#define FLAGS(list)  found->flags = (list)
#define CLEARS(list) found->clears = (list)
#define TOLD(words)  found->told = (words)
#define CURE(words)  found->cure = (words)
#define PASSES(list) found->passes = (list)
#define ROLLCALL_PROGRAM(list, which, words, ...)                    \
    {                                                                \
        static const char names[][NAME_SIZE] = { list };             \
                                                                     \
        if (is_among(name, names, sizeof(names) / sizeof(*names))) { \
            found->kind = KIND_##which;                              \
            found->operands = (words);                               \
            __VA_ARGS__;                                             \
            return true;                                             \
        }                                                            \
    }
#include "resolve/programs.def"
    return false;
}

/* Return the program's name, also of "$VENV"/bin/torchrun, hatch's ENV:torchrun and $(which torchrun). */
static struct rc_str program_name(struct rc_str word)
{
    struct rc_str name;
    struct rc_str rest;

    if (rc_str_starts(word, "$(which ") || rc_str_starts(word, "`which ")) {
        rc_str_split_last((struct rc_str){ word.p, word.n - 1 }, ' ', &rest);
        return rest;
    }
    name = rc_word_unquote(rc_str_base_name(word));
    rc_str_split_last(name, ':', &rest);
    return rest.p ? rest : name;
}

static bool is_option(struct rc_str word)
{
    return word.n > 1 && word.p[0] == '-' && !rc_str_is(word, "--");
}

/* Return the number of words after the option that are its values. */
static unsigned values_of(const struct program *program, struct rc_str option)
{
    struct rc_str value;

    rc_str_split(option, '=', &value);
    if (value.p)
        return 0;
    if (program->flags)
        return !rc_command_is_named(option, program->flags);
    return rc_command_is_named(option, program->values);
}

/* Skip options and operands. Return the missing options that would pass variables to the command, or NULL. */
static const char *pass_operands(struct rc_words *words, const struct program *program, struct rc_command *command)
{
    const char *lacking = program->passes ? program->cure : NULL;
    unsigned operands = program->operands;
    struct rc_words before = *words;
    unsigned values = 0;
    struct rc_str value;
    struct rc_str word;

    for (; rc_words_next(words, &word) && !words->starts_command; before = *words) {
        bool is_joined = !values && program->passes && rc_str_starts(word, "-e") && word.n > 2; /* -eRANK */

        if (is_joined || (!values && rc_command_is_named(rc_str_split(word, '=', &value), program->passes)))
            lacking = NULL;
        if (values)
            values--;
        else if (is_joined)
            continue;
        else if (rc_command_is_named(word, program->clears) && !command->cleared_by.p)
            command->clearing = word;
        else if (rc_str_is(word, "--"))
            return lacking;
        else if (is_option(word))
            values = values_of(program, word);
        else if (operands == 0)
            break;
        else if (operands != UP_TO_DASHES && operands-- == program->operands && program->verb &&
                 !rc_str_which(word, program->verb))
            lacking = NULL;
    }
    *words = before;
    return lacking;
}

static struct rc_str *option_value(struct rc_str name, struct rc_command_options *given)
{
    static const struct {
        char names[72];
        size_t at;
    } options[] = {
        { "--nnodes|--num_machines", offsetof(struct rc_command_options, nnodes) },
        { "--node_rank|--machine_rank", offsetof(struct rc_command_options, node_rank) },
        { "--nproc_per_node", offsetof(struct rc_command_options, nproc) },
        { "--rdzv_backend|--distributed_executor_backend|--data_parallel_backend",
          offsetof(struct rc_command_options, backend) },
        { "--rdzv_endpoint", offsetof(struct rc_command_options, endpoint) },
        { "--master_addr|--main_process_ip", offsetof(struct rc_command_options, master_addr) },
        { "--main_process_port", offsetof(struct rc_command_options, port) },
        { "--max_restarts", offsetof(struct rc_command_options, restarts) },
    };

    for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
        if (rc_command_is_named(name, options[i].names))
            return (struct rc_str *)(void *)((char *)given + options[i].at);
    return NULL;
}

/* Read a launcher's options up to the user's script or module. */
static void read_options(struct rc_words *words, const struct program *launcher, struct rc_command_options *given)
{
    struct rc_str word;

    while (rc_words_next(words, &word) && !words->starts_command && (launcher->told || is_option(word))) {
        struct rc_str value;
        struct rc_str name = rc_str_split(word, '=', &value);
        struct rc_str *wanted = option_value(name, given);

        if (rc_str_which(name, "--standalone|--use-ray"))
            given->standalone = true;
        /* -r3 has its value in the same word */
        if (value.p)
            value = rc_word_unquote(value);
        else if ((word.n > 2 && word.p[1] != '-') || !values_of(launcher, word) || !rc_words_next(words, &value))
            continue;
        if (wanted)
            *wanted = value;
    }
    given->script = word;
}

/* Take the verb. Return true if the program starts something. */
static bool has_verb(struct rc_words *words, const struct program *program)
{
    struct rc_words before = *words;
    struct rc_str word;
    unsigned options = 0;

    if (!program->verb)
        return true;
    for (; rc_words_next(words, &word); options++) {
        if (is_option(word))
            continue;
        if (rc_str_which(word, program->verb))
            return true;
        *words = before;
        return false;
    }
    return options == 0;
}

static void read_launcher(struct rc_words *words, struct rc_command *command, const struct program *launcher,
                          struct rc_str name)
{
    if (!has_verb(words, launcher))
        return;
    command->kind = RC_COMMAND_LAUNCHER;
    command->name = name;
    command->told = launcher->told;
    command->torchrun = rc_str_starts(name, "torchrun") || rc_str_starts(name, "torch.distributed.");
    command->accelerate = rc_str_is(name, "accelerate") || rc_str_starts(name, "accelerate.");
    if (command->torchrun || command->accelerate || command->told)
        read_options(words, launcher, &command->given);
}

struct reading {
    struct rc_command *command;
    unsigned shells;        /* depth of nested shells */
    struct rc_str daemon;   /* or starter */
    struct program program; /* of `daemon` */
    bool is_guess;          /* `daemon` is in a shell's text */
    bool python;            /* also runs a Python script */
};

static void find_daemon(struct reading *reading, struct rc_words *words, const struct program *program,
                        struct rc_str name)
{
    if ((program->kind == KIND_REMOTE && reading->shells) || !has_verb(words, program))
        return;
    reading->daemon = name;
    reading->program = *program;
    reading->is_guess = reading->shells > 0;
}

/* Read an interpreter's script: pip writes launchers and daemons as scripts. Return true for those. */
static bool read_script(struct reading *reading, struct rc_words *words, struct rc_str name)
{
    struct program program;

    if (!find_program(name, &program))
        return false;
    if (program.kind == KIND_LAUNCHER)
        read_launcher(words, reading->command, &program, name);
    else if (program.kind >= KIND_DAEMON)
        find_daemon(reading, words, &program, name);
    else if (program.kind == KIND_TASK)
        reading->command->script = name;
    return program.kind >= KIND_LAUNCHER;
}

/* Return the letter of -um that takes a value, and the rest of the word, or 0. */
static char python_option(struct rc_str word, struct rc_str *value)
{
    for (size_t i = 1; i < word.n && word.p[1] != '-'; i++) {
        *value = (struct rc_str){ word.p + i + 1, word.n - i - 1 };
        if (rc_str_which((struct rc_str){ word.p + i, 1 }, "c|m|W|X"))
            return word.p[i];
    }
    return '\0';
}

/* After `python`: options, then -m MODULE, a script, or -c. */
static void read_python(struct reading *reading, struct rc_words *words)
{
    struct rc_str word;
    struct rc_str value;

    while (rc_words_next(words, &word) && !words->starts_command) {
        char option = is_option(word) ? python_option(word, &value) : '\0';
        bool is_script = !is_option(word) && word.n && word.p[0] != '-';

        if (option == 'c' || (option && value.n == 0 && !rc_words_next(words, &value)))
            break;
        if (is_script || option == 'm') {
            if (read_script(reading, words, is_script ? program_name(word) : value))
                return;
            reading->command->script = is_script ? word : value;
            break;
        }
    }
    reading->python = true;
}

static void read_words(struct reading *reading, struct rc_words *words);

/* After `bash`: options (also joined, as -euo pipefail), then a script, the text of -c, or nothing. */
static void read_shell(struct reading *reading, struct rc_words *words, const struct program *shell)
{
    enum { SHELLS_MAX = 3 };
    bool has_text = false;
    struct rc_str word;
    struct rc_str rest;

    while (rc_words_next(words, &word) && is_option(word) && !words->starts_command) {
        bool letters = word.p[1] != '-';

        rc_str_split(word, 'c', &rest);
        has_text = has_text || (letters && rest.p);
        if (values_of(shell, word) || (letters && (rc_str_ends(word, "o") || rc_str_ends(word, "O"))))
            rc_words_next(words, &word);
    }
    if (word.p && !has_text) {
        read_script(reading, words, program_name(word));
    } else if (word.p && reading->shells < SHELLS_MAX) {
        reading->shells++;
        read_words(reading, &(struct rc_words){ .line = word, .left = RC_WORDS_MAX });
        reading->shells--;
    }
}

/* Return true if the next word begins a command. */
static bool read_program(struct reading *reading, struct rc_words *words, struct rc_str name)
{
    struct program program;
    bool is_known = find_program(name, &program);

    if (!is_known ? rc_str_starts(name, "python") || rc_str_starts(name, "pypy") : program.kind == KIND_PYTHON) {
        read_python(reading, words);
    } else if (!is_known) {
        return false;
    } else if (program.kind == KIND_WRAPPER || program.kind == KIND_CONTAINER) {
        struct rc_command *command = reading->command;
        const char *lacking = pass_operands(words, &program, command);

        /* in a shell's text it is unknown which container has the program */
        if (!command->cleared_by.p && !reading->shells)
            command->passing = lacking;
        if ((command->clearing.p || command->passing) && !command->cleared_by.p)
            command->cleared_by = name;
        if (program.kind == KIND_CONTAINER)
            command->container = name;
        return true;
    } else if (program.kind == KIND_SHELL) {
        read_shell(reading, words, &program);
    } else {
        read_script(reading, words, name);
    }
    return false;
}

static bool is_assignment(struct rc_str word)
{
    struct rc_str value;

    return rc_str_split(word, '=', &value).n && value.p && !is_option(word);
}

/* Only a command's first word counts: `cd ray; ./train lightning` names no launcher. */
static void read_words(struct reading *reading, struct rc_words *words)
{
    static const char keywords[] = "if|then|elif|else|while|until|do|!|{";
    bool is_expected = true;
    struct rc_str word;

    while (reading->command->kind == RC_COMMAND_UNKNOWN && rc_words_next(words, &word)) {
        is_expected = is_expected || words->starts_command;
        /* an argument list has no operators */
        if (!is_expected && words->argv)
            break;
        if (is_expected && !is_assignment(word) && !(reading->shells && rc_str_which(word, keywords)))
            is_expected = read_program(reading, words, program_name(word));
    }
}

void rc_command_read(const char *const *argv, struct rc_command *command)
{
    struct reading reading = { .command = command };

    *command = (struct rc_command){ .kind = RC_COMMAND_UNKNOWN };
    if (!argv)
        return;
    read_words(&reading, &(struct rc_words){ .argv = argv, .left = RC_WORDS_MAX });
    /* a script that runs srun or mpirun is not a worker, unless it also runs Python */
    if (reading.daemon.p && !reading.python && command->kind == RC_COMMAND_UNKNOWN) {
        enum kind kind = reading.program.kind;

        command->kind = kind == KIND_DAEMON || (kind == KIND_POOL && !reading.is_guess) ? RC_COMMAND_DAEMON
                                                                                        : RC_COMMAND_STARTER;
        command->name = reading.daemon;
        command->cure = reading.program.cure;
        command->is_guess = reading.is_guess;
    }
}

/* Matches `bash -c 'srun rollcall exec ...'`, but not /opt/rollcall/x. */
static bool names_rollcall(struct rc_str text)
{
    for (size_t i = 0; i < text.n; i++) {
        struct rc_str rest = { text.p + i, text.n - i };
        const char *end = rest.p + sizeof("rollcall") - 1;

        if (i > 0 && rc_is_in_name(text.p[i - 1]))
            continue;
        if (rc_str_starts(rest, "--ddp") ||
            (rc_str_starts(rest, "rollcall") && (end == text.p + text.n || !(rc_is_in_name(*end) || *end == '/'))))
            return true;
    }
    return false;
}

bool rc_command_names_rollcall(const char *const *argv)
{
    for (; argv && *argv; argv++)
        if (names_rollcall(rc_str(*argv)))
            return true;
    return false;
}

bool rc_command_starts_another(struct rc_str program)
{
    struct program found;

    return find_program(rc_str_base_name(program), &found) &&
           (found.kind == KIND_SHELL || found.kind == KIND_WRAPPER || found.kind == KIND_CONTAINER);
}
