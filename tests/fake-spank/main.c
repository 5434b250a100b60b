/* SPDX-License-Identifier: BSD-3-Clause */
/* main.c - slurmstepd's, srun's and sbatch's order of events (22.05 mgr.c, srun.c). */
#include "host.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { GROUP_MAX = 64, OUTPUT_DESCRIPTOR = 256 };

struct now now = { .task = -1 };

extern char **environ;
static void *plugin;

void print_quoted(const char *text)
{
    putchar('"');
    for (const unsigned char *p = (const unsigned char *)text; *p; p++) {
        if (*p < ' ' || *p == '"' || *p == '\\' || *p > '~')
            printf("\\u%04x", *p);
        else
            putchar(*p);
    }
    putchar('"');
}

void write_where(char *text, size_t size, const char *event)
{
    snprintf(text, size, "{\"event\":\"%s\",\"callback\":\"%s\",\"node\":%u,\"task\":%d", event,
             now.callback ? now.callback : "", now.node, now.task);
}

static void print_where(const char *event)
{
    char text[256];

    write_where(text, sizeof(text), event);
    fputs(text, stdout);
}

void print_event(const char *event, const char *key, const char *text, int rc)
{
    now.inside++;
    print_where(event);
    printf(",\"rc\":%d,\"%s\":", rc, key);
    print_quoted(text);
    printf("}\n");
    fflush(stdout);
    now.inside--;
}

static void print_cpus(void)
{
    cpu_set_t set;
    bool first = true;

    CPU_ZERO(&set);
    sched_getaffinity(0, sizeof(set), &set);
    printf("],\"cpus\":[");
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (CPU_ISSET(cpu, &set))
            printf(first ? "%d" : ",%d", cpu);
        first = first && !CPU_ISSET(cpu, &set);
    }
}

static void print_env(const char *event, char **env)
{
    print_where(event);
    printf(",\"env\":[");
    for (char **entry = env; entry && *entry; entry++) {
        if (entry != env)
            putchar(',');
        print_quoted(*entry);
    }
    printf("],\"descriptors\":[");
    for (int fd = 3, first = 1; fd < 1024; fd++) {
        if (lseek(fd, 0, SEEK_CUR) < 0 && dup2(fd, fd) == fd) { /* open, and no file */
            printf(first ? "%d" : ",%d", fd);
            first = 0;
        }
    }
    print_cpus();
    printf("]}\n");
    fflush(stdout);
}

/* Calls a callback of the plugin, if it has that one. If a required plugin fails, the step ends. */
static int call_plugin(const char *name)
{
    char symbol[64];
    spank_f *callback;
    int rc;

    snprintf(symbol, sizeof(symbol), "slurm_spank_%s", name);
    *(void **)&callback = dlsym(plugin, symbol);
    for (int i = 0; i < scenario.skip.count; i++)
        if (!strcmp(scenario.skip.word[i], name))
            callback = NULL;
    if (!callback)
        return 0;
    now.callback = name;
    now.countdown = scenario.allocations;
    rc = callback((spank_t)&now, scenario.arguments.count, scenario.arguments.word);
    now.callback = NULL;
    print_event("return", "of", name, rc);
    return rc;
}

static int call_option(int remote)
{
    int failed = 0;

    for (int i = 0; now.registered && i < scenario.options.count; i++) {
        const char *value = scenario.options.word[i];
        int rc;

        now.callback = "option";
        rc = now.option.cb(now.option.val, strcmp(value, "NULL") ? value : NULL, remote);
        now.callback = NULL;
        print_event("return", "of", "option", rc);
        failed |= rc;
    }
    return failed;
}

static void put_number(const char *name, uint32_t value)
{
    char text[16];

    snprintf(text, sizeof(text), "%u", value);
    env_overwrite(&now.env, name, text);
}

/* setup_env() in the child that becomes the task */
static void task_environment(const struct node *node, uint32_t local)
{
    char *list = calloc(node->tasks + 1, 11);

    for (uint32_t i = 0, n = 0; i < node->tasks; i++)
        n += (uint32_t)sprintf(list + n, i ? ",%u" : "%u", node->rank[i] + scenario.rank_offset);
    put_number("SLURM_PROCID", node->rank[local] + scenario.rank_offset);
    put_number("SLURM_LOCALID", local);
    put_number("SLURM_NODEID", now.node + scenario.node_offset);
    put_number("SLURM_TASK_PID", (uint32_t)getpid());
    env_overwrite(&now.env, "SLURM_GTIDS", list);
    if (env_value(now.env, "PMIX_NAMESPACE"))
        put_number("PMIX_RANK", node->rank[local] + scenario.rank_offset);
    if (now.node < (uint32_t)scenario.hosts.count)
        env_overwrite(&now.env, "SLURMD_NODENAME", scenario.hosts.word[now.node]);
    free(list);
    for (int i = 0; i < scenario.task_env.count; i++) {
        char *entry = strdup(scenario.task_env.word[i]), *value = entry, *name = strsep(&value, "=");

        env_overwrite(&now.env, name, value ? value : "");
        free(entry);
    }
    for (int i = 0; i < scenario.own_env.count; i++) {
        char *entry = strdup(scenario.own_env.word[i]), *value = entry, *task = strsep(&value, " ");
        char *name = value ? strsep(&value, "=") : NULL;

        if (name && strtoul(task, NULL, 10) == local && value)
            env_overwrite(&now.env, name, value);
        else if (name && strtoul(task, NULL, 10) == local)
            env_unset(now.env, name);
        free(entry);
    }
}

/* The device cgroup of a task: the files that it has instead of the step's. */
static void task_devices(uint32_t local)
{
    struct words own = { .count = 0 };

    for (int i = 0; i < scenario.own_device.count; i++) {
        char *name;

        if (strtoul(scenario.own_device.word[i], &name, 10) == local && *name == ' ')
            own.word[own.count++] = name + 1;
    }
    if (own.count > 0)
        scenario.devices = own;
}

static pid_t start_task(const struct node *node, uint32_t local, FILE *output)
{
    pid_t pid;
    int status;

    fflush(stdout);
    pid = fork();
    if (pid == 0) {
        dup2(fileno(output), STDOUT_FILENO);
        now.task = (int)local;
        task_environment(node, local);
        task_devices(local);
        status = call_plugin("task_init") < 0 ? 1 : 0;
        print_env("task", now.env);
        _exit(status);
    }
    return pid;
}

/* Prints the output of a task and how it ended. */
static void end_task(uint32_t local, pid_t pid, FILE *output)
{
    char buffer[4096];
    int status;
    size_t n;

    waitpid(pid, &status, 0);
    rewind(output);
    while ((n = fread(buffer, 1, sizeof(buffer), output)) > 0)
        fwrite(buffer, 1, n, stdout);
    fclose(output);
    now.task = (int)local;
    print_event("exit", "how", WIFSIGNALED(status) ? "signal" : "status",
                WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    now.task = -1;
}

/* The file that a task prints into. Its descriptor is above all limits of
 * scenarios, so that it takes none of those that the plugin is left with. */
static FILE *open_output(void)
{
    struct rlimit limit, most;
    FILE *file, *output;

    getrlimit(RLIMIT_NOFILE, &limit);
    most = limit;
    most.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &most);
    file = tmpfile();
    output = fdopen(fcntl(fileno(file), F_DUPFD, OUTPUT_DESCRIPTOR), "r+");
    fclose(file);
    setrlimit(RLIMIT_NOFILE, &limit);
    return output;
}

/* Runs the tasks of a group, "0+3", at the same time. Each prints into a file of its own. */
static void play_group(const struct node *node, char *group)
{
    struct {
        uint32_t local;
        pid_t pid;
        FILE *output;
    } task[GROUP_MAX];
    int count = 0;

    for (char *item; (item = strsep(&group, "+")) && count < GROUP_MAX; count++) {
        task[count].local = (uint32_t)strtoul(item, NULL, 10);
        task[count].output = open_output();
        task[count].pid = start_task(node, task[count].local, task[count].output);
    }
    for (int i = 0; i < count; i++)
        end_task(task[i].local, task[i].pid, task[i].output);
}

/* Runs the tasks in the order of the scenario, "1,0" or "0+1,2", or else by number. */
static void play_tasks(const struct node *node)
{
    char *order = scenario.order ? strdup(scenario.order) : NULL;
    char *rest = order;
    char *group;
    char local[16];

    while ((group = strsep(&rest, ",")))
        play_group(node, group);
    for (uint32_t i = 0; !order && i < node->tasks; i++) {
        snprintf(local, sizeof(local), "%u", i);
        play_group(node, local);
    }
    free(order);
}

static void play_node(uint32_t index)
{
    struct rlimit limit;

    now.node = index;
    now.env = env_copy(&scenario.env);
    if (scenario.descriptors && getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = scenario.descriptors;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
    call_plugin("init");
    for (int i = 0; i <= scenario.twice; i++)
        call_option(1);
    call_plugin("init_post_opt");
    call_plugin("user_init");
    play_tasks(&scenario.node[index]);
    dlclose(plugin);
}

static void play_command(void)
{
    environ = env_copy(&scenario.env);
    setvbuf(stdout, NULL, _IOLBF, 0); /* the plugin may end srun */
    call_plugin("init");
    if (scenario.context == S_CTX_SLURMD) {
        print_event("registered", "text", now.registered ? "yes" : "no", 0);
        return;
    }
    if (call_option(0) == 0 && call_plugin("init_post_opt") == 0 && scenario.context == S_CTX_LOCAL)
        call_plugin("local_user_init");
    print_env("command", environ);
}

/* Brings loopback up: without any interface the kernel lets a socket be bound to any address. */
static void bring_loopback_up(void)
{
    struct ifreq request = { .ifr_name = "lo" };
    int fd = socket(AF_INET, SOCK_DGRAM, 0);

    if (fd < 0 || ioctl(fd, SIOCGIFFLAGS, &request) < 0)
        return;
    request.ifr_flags |= IFF_UP;
    ioctl(fd, SIOCSIFFLAGS, &request);
    close(fd);
}

int main(void)
{
    if (!scenario_read())
        return 2;
    /* the port of RANK 0 is the same in every scenario of the same job and step:
     * two test runs at a time must not meet there */
    if (!scenario.same_network && unshare(CLONE_NEWNET) < 0 && unshare(CLONE_NEWUSER | CLONE_NEWNET) < 0)
        perror("fake-spank: no network namespace of its own");
    if (!scenario.same_network)
        bring_loopback_up();
    plugin = dlopen(scenario.plugin, RTLD_LAZY);
    if (!plugin) {
        print_event("crash", "text", dlerror(), 1);
        return 0;
    }
    if (scenario.context != S_CTX_REMOTE) {
        play_command();
        return 0;
    }
    for (uint32_t i = 0; i < scenario.nodes; i++) {
        int status;
        pid_t pid;

        fflush(stdout);
        pid = fork();
        if (pid == 0) {
            play_node(i);
            fflush(stdout);
            _exit(0);
        }
        waitpid(pid, &status, 0);
        if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
            now.node = i;
            print_event("crash", "text", "slurmstepd", status);
        }
    }
    return 0;
}
