/* SPDX-License-Identifier: BSD-3-Clause */
/* plugin.h - the text in the Slurm plugin's file that says for which Slurm it was built, and of which release it is. */
#pragma once

/* "rollcall plugin for Slurm 24.11, of rollcall 0.9.0". The command looks for it in the file, without loading it. */
#define RC_PLUGIN_FOR_SLURM   "rollcall plugin for Slurm "
#define RC_PLUGIN_OF_ROLLCALL ", of rollcall "
