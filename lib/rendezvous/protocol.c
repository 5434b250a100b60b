/* SPDX-License-Identifier: BSD-3-Clause */
#include "rendezvous/protocol.h"

#include "base/numbers.h"

bool rc_server_settings_write(const struct rc_server_settings *settings, struct rc_arena *arena,
                              const char *argv[RC_SERVER_ARGUMENTS + 1])
{
    argv[0] = RC_EXCHANGE;
    argv[1] = RC_EXCHANGE_SERVER;
    argv[2] = rc_format(arena, "%u", settings->seconds);
    argv[3] = rc_check_name(settings->check);
    argv[4] = rc_format(arena, "%u", settings->watch_seconds);
    argv[5] = rc_format(arena, "%u", settings->job);
    argv[6] = rc_format(arena, "%u", settings->nodes);
    argv[7] = rc_check_name(settings->same);
    argv[RC_SERVER_ARGUMENTS] = NULL;
    return !arena->full;
}

bool rc_server_settings_read(int argc, char *const *argv, struct rc_server_settings *settings)
{
    struct rc_server_settings read = { .same = RC_CHECK_WARN };

    if ((argc != 4 && argc != RC_SERVER_ARGUMENTS) || !rc_str_is(rc_str(argv[1]), RC_EXCHANGE_SERVER) ||
        !rc_parse_u32(rc_str(argv[2]), UINT16_MAX, &read.seconds) || !rc_check_read(rc_str(argv[3]), &read.check))
        return false;
    if (argc == RC_SERVER_ARGUMENTS &&
        (!rc_parse_u32(rc_str(argv[4]), RC_WATCH_SECONDS_MAX, &read.watch_seconds) ||
         !rc_parse_u32(rc_str(argv[5]), UINT32_MAX, &read.job) ||
         !rc_parse_u32(rc_str(argv[6]), UINT32_MAX, &read.nodes) || !rc_check_read(rc_str(argv[7]), &read.same)))
        return false;
    *settings = read;
    return true;
}
