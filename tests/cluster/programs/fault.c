/* SPDX-License-Identifier: BSD-3-Clause */
/* A plugin that comes before rollcall's and runs the test's script on its node, $MINICLUSTER_SHARED/fault.NODE if there
 * is one, in the first task's task_init. Lines NAME=VALUE that the script prints go into the task's environment, and
 * lines -NAME out of it.
 */
#define _GNU_SOURCE

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <slurm/spank.h>

SPANK_PLUGIN(fault, 1)

static FILE *start(const char *path, char **env, pid_t *child)
{
    int end[2];

    if (pipe(end) < 0 || (*child = fork()) < 0)
        return NULL;
    if (*child == 0) {
        char *const argv[] = { (char *)(long)path, NULL };

        dup2(end[1], STDOUT_FILENO);
        close(end[0]);
        close(end[1]);
        execve(path, argv, env);
        _exit(127);
    }
    close(end[1]);
    return fdopen(end[0], "r");
}

int slurm_spank_task_init(spank_t spank, int argc, char **argv)
{
    char shared[PATH_MAX], node[256], path[PATH_MAX + 300], line[65536];
    char **env;
    pid_t child;
    FILE *lines;
    int task;

    (void)argc, (void)argv;
    if (spank_context() != S_CTX_REMOTE || spank_get_item(spank, S_TASK_ID, &task) != ESPANK_SUCCESS || task != 0 ||
        spank_getenv(spank, "MINICLUSTER_SHARED", shared, sizeof(shared)) != ESPANK_SUCCESS ||
        spank_getenv(spank, "SLURMD_NODENAME", node, sizeof(node)) != ESPANK_SUCCESS ||
        spank_get_item(spank, S_JOB_ENV, &env) != ESPANK_SUCCESS)
        return 0;
    snprintf(path, sizeof(path), "%s/fault.%s", shared, node);
    if (access(path, X_OK) != 0 || !(lines = start(path, env, &child)))
        return 0;
    while (fgets(line, sizeof(line), lines)) {
        char *value = strchr(line, '=');

        line[strcspn(line, "\n")] = '\0';
        if (line[0] == '-') {
            spank_unsetenv(spank, line + 1);
        } else if (value) {
            *value = '\0';
            spank_setenv(spank, line, value + 1, 1);
        }
    }
    fclose(lines);
    waitpid(child, NULL, 0);
    return 0;
}
