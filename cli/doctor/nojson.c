/* SPDX-License-Identifier: BSD-3-Clause */
/* nojson.c - cli/nojson.c's part for the doctor. */
#include "json.h"

int doctor_print_json(const struct findings *findings)
{
    (void)findings;
    return -1;
}
