/* SPDX-License-Identifier: BSD-3-Clause */
/* plugin.h - the text in the Slurm plugin's file that says for which Slurm it was built. */
#pragma once

/* The series follows, such as 24.11. rollcall doctor looks for it in the file, without loading the plugin. */
#define RC_PLUGIN_FOR_SLURM "rollcall plugin for Slurm "
