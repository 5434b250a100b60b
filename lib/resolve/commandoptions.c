/* SPDX-License-Identifier: BSD-3-Clause */
#include "resolve/commandoptions.h"

#include <stddef.h>

enum { NAME_SIZE = 20 };

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
        char option[NAME_SIZE];
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

void rc_command_options_read(struct rc_words *words, struct rc_command_options *given)
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
