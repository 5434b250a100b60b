/* SPDX-License-Identifier: BSD-3-Clause */
/* sysfs.h - where the kernel's files about the machine lie. */
#ifndef ROLLCALL_SYSTEM_SYSFS_H
#define ROLLCALL_SYSTEM_SYSFS_H

#define RC_SYSFS_PCI    "/sys/bus/pci/devices"           /* a folder for each device, named by address */
#define RC_SYSFS_ONLINE "/sys/devices/system/cpu/online" /* a list of hardware threads */

#endif
