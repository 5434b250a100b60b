/* SPDX-License-Identifier: BSD-3-Clause */
/* fuzz_guard - the NCCL guard of one process, whose step's server is a hostile one (hostile.h).
 *
 * An input is "SIZE RANK NRANKS AS DEADLINE CALLS\n": what ROLLCALL_GUARD says of this process, and with which size
 * and rank it calls NCCL how often; then the server's lines. The guard must come back in its time.
 */
#include "config.h"

#include "hostile.h"

#include <stdio.h>

#include "base/numbers.h"
#include "base/variables.h"
/* for the state of the process, which each input begins anew */
#include "shim/nccl/world.c"

enum { NUMBERS = 6, CALLS_MAX = 4 };

/* What is said has to be such a line before it is made printable. */
void guard_say(enum rc_message_id id, const char *text)
{
    CHECK(id < RC_MESSAGE_COUNT && strlen(text) > 0);
}

bool guard_debug(void)
{
    return true;
}

bool guard_device(char uuid[GUARD_DEVICE_SIZE])
{
    memcpy(uuid, "00112233445566778899aabbccddeeff", GUARD_DEVICE_SIZE);
    return true;
}

static void set_environment(const uint32_t *number)
{
    char text[128];

    snprintf(text, sizeof(text), "rank=%u size=%u node=0 nodes=1 deadline=%u", number[1], number[0],
             number[4] % 20 + 1);
    setenv(RC_GUARD, text, 1);
    setenv(RC_SERVER, HOSTILE_TOKEN " 4711 42.0", 1);
    setenv("SLURM_LAUNCH_NODE_IPADDR", HOSTILE_ADDRESS, 1);
    snprintf(text, sizeof(text), "%u", number[0]);
    setenv("WORLD_SIZE", text, 1);
}

void fuzz_one(struct rc_str input)
{
    uint32_t number[NUMBERS] = { 2, 0, 2, 0, 1, 1 };
    int before = fuzz_free_descriptor();
    nccl_id id;

    fuzz_take_numbers(&input, number, NUMBERS, RC_MAX_TASKS);
    set_environment(number);
    memset(&process, 0, sizeof(process));
    hostile_begin(input);
    memset(&id, 7, sizeof(id));
    if (number[5] & 1)
        guard_made(&id);
    for (unsigned i = 0; i < 1 + number[5] % CALLS_MAX; i++)
        (void)guard_admits(&id, 1, (int)number[2], (int)number[3] - (number[5] & 2 ? 1 : 0), NULL);
    hostile_end();
    CHECK(fuzz_free_descriptor() == before);
}
