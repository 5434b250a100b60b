/* SPDX-License-Identifier: BSD-3-Clause */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "doctor.h"
#include "resolve/resolve.h"
#include "system/ifnames.h"
#include "system/net.h"
#include "system/node.h"

/* The master port is held, without a listener before the program starts. */

enum { PROBE_MS = 5000 };

/* As for torch, one address that answers is enough. A finding names the first one. */
static void probe_master(struct findings *findings, const struct rc_master *where)
{
    struct rc_addresses addresses = { .count = 0 };
    char text[RC_NETADDR_TEXT];
    int error;

    if (rc_resolver_ask(where->addr, &addresses) != 0)
        return;
    error = rc_port_reach(&addresses, where->port, PROBE_MS);
    if (error)
        doctor_findings_add(findings, FINDING_D207, NULL, 0, NULL, "%s port %u (%s) cannot be reached from here: %s",
                            where->addr, (unsigned)where->port, rc_netaddr_text(&addresses.list[0], text),
                            rc_port_reach_words(error));
}

static bool spans_nodes(const struct rc_result *result)
{
    uint32_t nodes = result->facts.field[RC_NNODES].value;

    return nodes != RC_UNKNOWN && nodes > 1;
}

void doctor_reachability(struct findings *findings, const struct rc_result *result)
{
    const struct rc_master *where = &result->master;
    uint32_t local = result->identity.field[RC_LOCAL_RANK];
    bool is_first = local == 0 || local == RC_UNKNOWN;

    if (getenv(RC_STAMP) && where->addr && where->port && spans_nodes(result) && is_first &&
        !(where->todo & RC_MASTER_HOLD))
        probe_master(findings, where);
}

/* DEVICE_NAME is the kernel's IB_DEVICE_NAME_MAX. */
enum { LIST = 512, DEVICE_NAME = 64, LEAST_LOCKED_MIB = 1024 };

#define HCA_FOLDER "/sys/class/infiniband"

/* Append a name to a list, "eth0, ib0". */
static void append_name(char list[LIST], const char *name)
{
    size_t used = strlen(list);

    snprintf(list + used, LIST - used, "%s%.*s", used ? ", " : "", (int)DEVICE_NAME, name);
}

/* Return whether an interface has this address or, if NULL, any but loopback. */
static bool has_address(const struct rc_interface *list, unsigned count, const struct rc_netaddr *address)
{
    for (unsigned i = 0; i < count; i++)
        if (address ? rc_netaddr_compare(&list[i].address, address) == 0 : !rc_netaddr_is_loopback(&list[i].address))
            return true;
    return false;
}

static void check_own_name(struct findings *findings, const struct rc_result *result, const struct rc_interface *list,
                           unsigned count)
{
    struct rc_addresses addresses = { .count = 0 };
    char name[RC_NODE_NAME_SIZE];
    char text[RC_NETADDR_TEXT];
    int error = rc_resolver_ask(rc_node_name(name), &addresses);
    unsigned loopback = 0;
    unsigned own = 0;

    for (unsigned i = 0; i < addresses.count; i++) {
        loopback += rc_netaddr_is_loopback(&addresses.list[i]);
        own += has_address(list, count, &addresses.list[i]);
    }
    if (error)
        doctor_findings_add(findings, FINDING_D203, NULL, 0, NULL, "this node's name, %s, does not resolve here%s",
                            name, rc_resolver_denies(error) ? "" : ": no name server answers");
    else if (addresses.count > 0 && loopback == addresses.count)
        doctor_findings_add(findings, FINDING_D202, "/etc/hosts", 0, NULL, "this node's name, %s, leads to %s here",
                            name, rc_netaddr_text(&addresses.list[0], text));
    /* login nodes may share a name; a full list may lack interfaces */
    else if (addresses.count > 0 && own + loopback == 0 && result->launcher && has_address(list, count, NULL) &&
             count < RC_INTERFACES_MAX)
        doctor_findings_add(findings, FINDING_D210, NULL, 0, NULL,
                            "this node's name, %s, leads to %s, which is no address of it", name,
                            rc_netaddr_text(&addresses.list[0], text));
}

static void check_infiniband(struct findings *findings)
{
    const char *filter = getenv("NCCL_IB_HCA");
    const char *disabled = getenv("NCCL_IB_DISABLE");
    bool passes = !filter || !*filter || (disabled && strcmp(disabled, "0") != 0);
    DIR *folder = opendir(HCA_FOLDER);
    char names[LIST] = "";
    struct rlimit limit;

    for (const struct dirent *entry; folder && (entry = readdir(folder));) {
        if (entry->d_name[0] == '.')
            continue;
        append_name(names, entry->d_name);
        passes = passes || rc_ifnames_filter(rc_str(filter), rc_str(entry->d_name));
    }
    if (folder)
        closedir(folder);
    if (!passes)
        doctor_findings_add(findings, FINDING_D206, NULL, 0, NULL,
                            "NCCL_IB_HCA=%s matches none of this node's devices: %s", filter,
                            names[0] ? names : "there are none");
    if (names[0] && getrlimit(RLIMIT_MEMLOCK, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
        limit.rlim_cur >> 20 < LEAST_LOCKED_MIB)
        doctor_findings_add(findings, FINDING_D305, NULL, 0, NULL,
                            "ulimit -l is %llu KiB, and this node has InfiniBand",
                            (unsigned long long)limit.rlim_cur >> 10);
}

void doctor_network(struct findings *findings, const struct rc_result *result)
{
    static struct rc_interface list[RC_INTERFACES_MAX];
    unsigned count = rc_interfaces(list);

    /* outside of any launch this node may become one of several */
    if (spans_nodes(result) || (!result->launcher && has_address(list, count, NULL)))
        check_own_name(findings, result, list, count);
    check_infiniband(findings);
}
