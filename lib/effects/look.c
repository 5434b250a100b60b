/* SPDX-License-Identifier: BSD-3-Clause */
#include "effects/look.h"

#include "resolve/resolve.h"
#include "system/node.h"

enum { TITLE_MAX = 1024 };

static void learn_ancestors(struct rc_here_storage *storage, uint32_t pid)
{
    struct rc_here *here = &storage->here;
    size_t used = 0;

    here->ancestor_count = 0;
    while (here->ancestor_count < RC_ANCESTORS_MAX && sizeof(storage->titles) - used >= TITLE_MAX) {
        char *title = storage->titles + used;

        pid = rc_process_parent(pid);
        if (pid <= 1)
            break;
        here->ancestor[here->ancestor_count++] = (struct rc_str){ title, rc_process_command(pid, title, TITLE_MAX) };
        used += here->ancestor[here->ancestor_count - 1].n;
    }
}

static void learn_host_file(struct rc_here_storage *storage, struct rc_str path)
{
    size_t n = path.p && path.n ? rc_file_read(path.p, storage->file, sizeof(storage->file)) : 0;

    /* a file that fills the buffer may be cut off, and half a list is worse than none */
    storage->here.host_file = n && n < sizeof(storage->file) ? (struct rc_str){ storage->file, n } : RC_ABSENT;
}

static void learn_wanted(struct rc_here_storage *storage, unsigned wants, uint32_t pid, struct rc_str host_file)
{
    struct rc_here *here = &storage->here;

    if (wants & RC_LEARN_ANCESTORS)
        learn_ancestors(storage, pid);
    if (wants & RC_LEARN_HOST)
        here->host = rc_str(rc_node_name(storage->host));
    if (wants & RC_LEARN_HOST_FILE)
        learn_host_file(storage, host_file);
    if (wants & RC_LEARN_GPUS)
        here->gpus = rc_node_gpus();
    if (wants & RC_LEARN_PMIX)
        here->pmix = storage->ask_pmix ? storage->ask_pmix() : RC_ABSENT;
    if (wants & RC_LEARN_WATCH)
        here->watch = rc_beside_watch(storage->watch_relative, storage->watch, sizeof(storage->watch));
    if (wants & RC_LEARN_REVERSE)
        here->reverse = rc_beside_library(storage->libraries_relative, RC_REVERSE_LIBRARY, storage->reverse,
                                          sizeof(storage->reverse));
    if (wants & RC_LEARN_GPU_FILES && storage->find_gpu_files)
        storage->find_gpu_files(here);
    here->learned |= wants;
}

enum rc_status rc_here_resolve(struct rc_context *context, struct rc_here_storage *storage, struct rc_result *result)
{
    context->here = NULL;
    rc_resolve(context, result);
    context->indexed = true;
    if (result->wants) {
        storage->here.learned = 0;
        storage->here.ancestor_count = 0;
        storage->here.gpu_files = storage->here.gpu_files_open = 0;
        storage->here.gpus_open = 0;
        storage->here.gpu_files_amd = false;
    }
    /* each round learns something new, so the loop ends */
    while (result->wants) {
        bool knows_task = !(result->wants & ~(unsigned)RC_LEARN_TO_PLAN);

        learn_wanted(storage, result->wants, context->pid, result->wanted_file);
        context->here = &storage->here;
        if (knows_task)
            rc_resolve_again(context, result);
        else
            rc_resolve(context, result);
    }
    return result->status;
}
