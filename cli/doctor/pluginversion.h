/* SPDX-License-Identifier: BSD-3-Clause */
/* pluginversion.h - for which Slurm a SPANK plugin was built, without loading it. */
#ifndef ROLLCALL_CLI_DOCTOR_PLUGINVERSION_H
#define ROLLCALL_CLI_DOCTOR_PLUGINVERSION_H

#include <stddef.h>
#include <stdint.h>

/* The value of plugin_version in an ELF file of this machine's class: SLURM_VERSION_NUMBER,
 * such as 0x160500 for 22.05.0; 0 where it is not found. */
uint32_t doctor_plugin_version(const unsigned char *file, size_t size);

#endif
