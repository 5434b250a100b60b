/* SPDX-License-Identifier: BSD-3-Clause */
/* timesjson.h - where the time of a live step's start-up went, for programs. */
#ifndef ROLLCALL_CLI_TIMESJSON_H
#define ROLLCALL_CLI_TIMESJSON_H

#include "console/json.h"
#include "times.h"

/* The member startup of `rollcall check --json`, described in rollcall(1); null where it is not known. */
void cli_times_json(struct json *json, const struct cli_times *times);

#endif
