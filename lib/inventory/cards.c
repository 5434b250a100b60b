/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "inventory/cards.h"

#include "inventory/files.h"
#include "inventory/links.h"
#include "inventory/tally.h"

#define INFINIBAND "/sys/class/infiniband"
#define SLINGSHOT  "/sys/class/cxi"

enum { CARDS_MAX = 64, PORTS_MAX = 8, TEXT_SIZE = 256 };

/* Calls for the folder of each card. */
static void for_each(const char *root, const char *class, void (*look)(const char *, const char *, struct rc_tally *),
                     struct rc_tally *tally)
{
    static char name[CARDS_MAX][RC_FILES_NAME];
    unsigned count = rc_files_list(root, class, CARDS_MAX, name);

    for (unsigned i = 0; i < count; i++) {
        char folder[RC_FILES_PATH];

        if (rc_files_join("", class, name[i], folder))
            look(root, folder, tally);
    }
}

/* "MT4129", or the numbers of a card that has no such name: "0x1d0f:0xefa2" */
static struct rc_str read_model(const char *root, const char *folder, struct rc_arena *arena)
{
    char line[RC_FILES_LINE];
    char more[RC_FILES_LINE];
    struct rc_str model = rc_files_line(root, folder, "hca_type", line);
    struct rc_str device;

    if (model.p)
        return rc_str(rc_copy(arena, model));
    model = rc_files_line(root, folder, "device/vendor", line);
    device = rc_files_line(root, folder, "device/device", more);
    return model.p && device.p ? rc_str(rc_format(arena, "%S:%S", &model, &device)) : RC_STR("of no known kind");
}

/* "mlx5_core MT4129" */
static void count_card(const char *root, const char *folder, struct rc_tally *tally)
{
    char path[RC_FILES_PATH];
    char text[TEXT_SIZE];
    struct rc_arena arena = { .base = text, .size = sizeof(text) };
    struct rc_str driver = rc_str_base_name(rc_files_link(root, folder, "device/driver", path));
    struct rc_str model = read_model(root, folder, &arena);

    rc_tally_add(tally, driver.n ? rc_str(rc_format(&arena, "%S %S", &driver, &model)) : model);
}

struct rc_str rc_inventory_nics(const char *root, struct rc_arena *arena)
{
    struct rc_tally tally = { .kinds = 0 };

    for_each(root, INFINIBAND, count_card, &tally);
    for_each(root, SLINGSHOT, count_card, &tally);
    return rc_tally_write(&tally, arena);
}

/* "ACTIVE InfiniBand 400 Gb/sec (4X NDR)". The rate of a port that is not active says nothing. */
static void count_port(const char *root, const char *folder, struct rc_tally *tally)
{
    char line[RC_FILES_LINE];
    char layer[RC_FILES_LINE];
    char rate[RC_FILES_LINE];
    char text[TEXT_SIZE];
    struct rc_arena arena = { .base = text, .size = sizeof(text) };
    struct rc_str is = rc_files_line(root, folder, "state", line); /* "4: ACTIVE" */
    struct rc_str state;
    struct rc_str kind = rc_files_line(root, folder, "link_layer", layer);
    struct rc_str speed = RC_ABSENT;

    rc_str_split(is, ' ', &state);
    if (!state.p)
        return;
    if (rc_str_is(state, "ACTIVE"))
        speed = rc_files_line(root, folder, "rate", rate);
    rc_format(&arena, "%S%s%S%s%S", &state, kind.p ? " " : "", &kind, speed.p ? " " : "", &speed);
    rc_tally_add(tally, rc_str(text));
}

static void count_ports(const char *root, const char *folder, struct rc_tally *tally)
{
    char name[PORTS_MAX][RC_FILES_NAME];
    char ports[RC_FILES_PATH];
    char port[RC_FILES_PATH];
    unsigned count = rc_files_join("", folder, "ports", ports) ? rc_files_list(root, ports, PORTS_MAX, name) : 0;

    for (unsigned i = 0; i < count; i++)
        if (rc_files_join("", ports, name[i], port))
            count_port(root, port, tally);
}

/* Slingshot's cards have an interface each: "up 200000 Mb/s". */
static void count_interfaces(const char *root, const char *folder, struct rc_tally *tally)
{
    char name[PORTS_MAX][RC_FILES_NAME];
    char nets[RC_FILES_PATH];
    unsigned count = rc_files_join("", folder, "device/net", nets) ? rc_files_list(root, nets, PORTS_MAX, name) : 0;

    for (unsigned i = 0; i < count; i++) {
        char net[RC_FILES_PATH];
        char line[RC_FILES_LINE];
        char rate[RC_FILES_LINE];
        char text[TEXT_SIZE];
        struct rc_arena arena = { .base = text, .size = sizeof(text) };
        struct rc_str state = RC_ABSENT;
        struct rc_str speed = RC_ABSENT;

        if (rc_files_join("", nets, name[i], net))
            state = rc_files_line(root, net, "operstate", line);
        if (rc_str_is(state, "up"))
            speed = rc_files_line(root, net, "speed", rate);
        if (state.p)
            rc_tally_add(tally, rc_str(rc_format(&arena, speed.p ? "%S %S Mb/s" : "%S", &state, &speed)));
    }
}

struct rc_str rc_inventory_nic_ports(const char *root, struct rc_arena *arena)
{
    struct rc_tally tally = { .kinds = 0 };

    for_each(root, INFINIBAND, count_ports, &tally);
    for_each(root, SLINGSHOT, count_interfaces, &tally);
    return rc_tally_write(&tally, arena);
}

static void count_link(const char *root, const char *folder, struct rc_tally *tally)
{
    char path[RC_FILES_PATH];
    char address[RC_FILES_NAME];
    char text[TEXT_SIZE] = "at ";
    struct rc_arena arena = { .base = text, .size = sizeof(text), .used = 3 };
    struct rc_arena name = { .base = address, .size = sizeof(address) };
    struct rc_str device = rc_str_base_name(rc_files_link(root, folder, "device", path));

    if (rc_links_is_address(device) && rc_links_write(root, rc_copy(&name, device), false, &arena).p)
        rc_tally_add(tally, rc_str(text));
}

struct rc_str rc_inventory_nic_links(const char *root, struct rc_arena *arena)
{
    struct rc_tally tally = { .kinds = 0 };

    for_each(root, INFINIBAND, count_link, &tally);
    for_each(root, SLINGSHOT, count_link, &tally);
    return rc_tally_write(&tally, arena);
}
