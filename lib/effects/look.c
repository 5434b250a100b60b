/* SPDX-License-Identifier: BSD-3-Clause */
#include "effects/look.h"

#include "resolve/resolve.h"
#include "system/node.h"
#include "system/port.h"

enum { TITLE_MAX = 1024 };

static void look_at_ancestors(struct rc_here_storage *storage, struct rc_here *here)
{
    uint32_t pid = storage->pid;
    size_t used = 0;

    while (here->ancestor_count < RC_ANCESTORS_MAX && sizeof(storage->titles) - used >= TITLE_MAX) {
        char *title = storage->titles + used;

        pid = rc_process_parent(pid);
        if (pid <= 1)
            break;
        here->ancestor[here->ancestor_count++] = (struct rc_str){ title, rc_process_command(pid, title, TITLE_MAX) };
        used += here->ancestor[here->ancestor_count - 1].n;
    }
}

static void read_host_file(struct rc_here_storage *storage, struct rc_str path)
{
    size_t n = storage->file && path.n ? rc_file_read(path.p, storage->file, RC_HERE_FILE) : 0;

    storage->here.host_file = n ? (struct rc_str){ storage->file, n } : RC_ABSENT;
    storage->here.host_file_is_cut = n == RC_HERE_FILE;
}

static uint16_t free_port(void)
{
    int fd = rc_port_bind(0, SOCK_STREAM, RC_PORT_EXCLUSIVE);
    uint16_t port = rc_port_number(fd);

    rc_port_release(fd);
    return port;
}

static bool look(struct rc_here *here, enum rc_learn what, struct rc_str path)
{
    struct rc_here_storage *storage = (struct rc_here_storage *)here; /* its first member */

    if (storage->only && !(storage->only & what))
        return false;
    switch (what) {
    case RC_LEARN_ANCESTORS:
        look_at_ancestors(storage, here);
        break;
    case RC_LEARN_HOST:
        here->host = rc_str(rc_node_name(storage->host));
        break;
    case RC_LEARN_HOST_FILE:
        read_host_file(storage, path);
        break;
    case RC_LEARN_GPUS:
        here->gpus = rc_node_gpus();
        break;
    case RC_LEARN_PMIX:
        here->pmix = storage->ask_pmix ? storage->ask_pmix() : RC_ABSENT;
        break;
    case RC_LEARN_WATCH:
        here->watch = rc_beside_watch(storage->watch_relative, storage->watch, sizeof(storage->watch));
        break;
    case RC_LEARN_REVERSE:
        here->reverse = rc_beside_library(storage->libraries_relative, RC_REVERSE_LIBRARY, storage->reverse,
                                          sizeof(storage->reverse));
        break;
    case RC_LEARN_PORT:
        here->port = free_port();
        break;
    case RC_LEARN_GPU_FILES:
        if (storage->find_gpu_files)
            storage->find_gpu_files(here);
        break;
    case RC_LEARN_ASAN:
        here->asan = storage->needs_asan && storage->needs_asan(path.p, storage->argv);
        break;
    }
    return true;
}

void rc_here_begin(struct rc_context *context, struct rc_here_storage *storage)
{
    storage->here = (struct rc_here){ .look = look };
    storage->pid = context->pid;
    storage->argv = context->argv;
    context->here = &storage->here;
}

enum rc_status rc_here_resolve(struct rc_context *context, struct rc_here_storage *storage, struct rc_result *result)
{
    rc_here_begin(context, storage);
    return rc_resolve(context, result);
}
