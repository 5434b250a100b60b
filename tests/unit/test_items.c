/* SPDX-License-Identifier: BSD-3-Clause */
/* What nodes have: one row an item and a difference, with its exact line, and what is no difference. */
#include "launch.h"

#define ALL_THINGS(value)                                                                                         \
    " has=cores:" value " has=memory:" value " has=shm:" value " has=stack:" value " has=nofile:" value           \
    " has=memlock:" value " has=kernel:" value " has=nic_links:" value " has=nic_ports:" value " has=nics:" value \
    " has=imex:" value " has=gpu_driver:" value " has=gpu_links:" value " has=gpus:" value

#define X16  "xxxxxxxxxxxxxxxx"
#define X64  X16 X16 X16 X16
#define X128 X64 X64

#define ODD      "; repair or leave out the odd one, or use same=off"
#define ONE_KIND "; use nodes of one kind, or use same=off"
#define MIXED    "8~NVIDIA~A100-SXM4-80GB,~4~NVIDIA~A100-PCIE-40GB,~2~NVIDIA~H100~80GB~HBM3,~1~Tesla~"

/* What nodes have. */
static const struct launch_row things[] = {
    { TEXT("n1 0 0 has=gpus:8~H100; n2 1 1 has=gpus:8~H100; n3 2 2 has=gpus:8~H100"), 3, 3, "", "alike" },
    { TEXT("n1 0 0; n2 1 1; n3 2 2 has=gpus:8~H100"), 3, 3, "", "one node alone says something" },
    { TEXT("n1 0 0 has=gpus:8~H100 has=kernel:6.1; n2 1 1 has=kernel:6.1 has=gpus:8~H100"), 2, 2, "",
      "in another order" },
    { TEXT("n1 0 0 has=newer:1; n2 1 1 has=newer:2; n3 2 2"), 3, 3, "", "what is not known" },
    { TEXT("n1 0 0 has=gpus:8~H100; n2 1 1 has=gpus:8~H100; n3 2 2 has=gpus:7~H100; n4 3 3 has=gpus:8~H100"), 4, 4,
      "RC622 GPUs are '7 H100' on n3, '8 H100' on the other 3" ODD, "one GPU fewer" },
    { TEXT("n1 0 0 has=gpus:8~H100; n2 1 1 has=gpus:8~H100; n3 2 2 has=kernel:6.1"), 3, 3,
      "RC622 GPUs are none on n3, '8 H100' on the other 2" ODD, "no GPU" },
    { TEXT("n1 0 0 has=gpus:1~T4; n2 1 1 has=kernel:6.1; n3 2 2 has=kernel:6.1"), 3, 3,
      "RC622 GPUs are '1 T4' on n1, none on the other 2" ODD, "a GPU on one node alone" },
    { TEXT("n1 0 0 has=gpus:8~H100; n2 1 1 has=gpus:8~H100; n3 2 2; n4 3 3 has=gpus:8~H100"), 4, 4, "",
      "a node that says nothing has not nothing" },
    { TEXT("n1 0 0 has=imex:there; n2 1 1 has=imex:there; n3 2 2 has=kernel:6.1"), 3, 3,
      "RC622 IMEX channels are none on n3, 'there' on the other 2" ODD, "no IMEX channel" },
    { TEXT("n1 0 0 has=gpu_driver:550.54.15; n2 1 1 has=gpu_driver:550.54.15; n3 2 2 has=kernel:6.1"), 3, 3, "",
      "a driver whose version is not known" },
    { TEXT("n1 0 0 has=gpus:8~H100; n2 1 1 has=gpus:7~H100; n3 2 2 has=gpus:8~H100; n4 3 3 has=gpus:6~H100; "
           "n5 4 4 has=gpus:8~H100"),
      5, 5, "RC622 GPUs are '7 H100' on n2, '6 H100' on n4, '8 H100' on the other 3" ODD, "each in its own way" },
    { TEXT("n1 0 0 has=gpus:8~H100; n2 1 1 has=gpus:4~A100"), 2, 2,
      "RC622 GPUs are '8 H100' on n1, '4 A100' on n2" ONE_KIND, "of two nodes none is odd" },
    { TEXT("n1 0 0 has=stack:1; n2 1 1 has=stack:2; n3 2 2 has=stack:3; n4 3 3 has=stack:4; n5 4 4 has=stack:5"), 5, 5,
      "RC622 the limit of the stack is '1' on n1, '2' on n2, '3' on n3, others on 2 more" ONE_KIND, "all differ" },
    { TEXT("n1 0 0 has=stack:1; n2 1 1 has=stack:2; n3 2 2 has=stack:3; n4 3 3 has=stack:4; n5 4 4 has=stack:0; "
           "n6 5 5 has=stack:0; n7 6 6 has=stack:0; n8 7 7 has=stack:0; n9 8 8 has=stack:0"),
      9, 9, "RC622 the limit of the stack is '1' on n1, '2' on n2, others on 2 more, '0' on the other 5" ODD,
      "more than there is room for" },
    { TEXT("n1 0 0 has=gpus:" MIXED "V100; n2 1 1 has=gpus:" MIXED "T4; n3 2 2 has=gpus:" MIXED "V100"), 3, 3,
      "RC622 GPUs are '8 NVIDIA A100-SXM4-80GB, 4 NVIDIA A100-PCIE-40GB, 2 NVIDIA H100 80GB HBM3, 1 Tesla T4' on n2, "
      "'8 NVIDIA A100-SXM4-80GB, 4 NVIDIA A100-PCIE-40GB, 2 NVIDIA H100 80GB HBM3, 1 Tesla V100' on the other 2" ODD,
      "of a long value the end differs" },
    { TEXT("n1 0 0 has=kernel:6.1; n2 1 1 has=kernel:6.1; n3 2 2 has=kernel:" X128 "; n4 3 3 has=kernel:6.1"), 4, 4,
      "RC622 the kernel is '" X128 "' on n3, '6.1' on the other 3" ODD, "a long value among short ones" },

    { TEXT("n1 0 0 has=memory:6400~MiB; n2 1 1 has=memory:6300~MiB; n3 2 2 has=memory:6400~MiB"), 3, 3, "",
      "a part in 64 less" },
    { TEXT("n1 0 0 has=memory:6400~MiB; n2 1 1 has=memory:6299~MiB; n3 2 2 has=memory:6400~MiB"), 3, 3,
      "RC622 memory is '6299 MiB' on n2, '6400 MiB' on the other 2" ODD, "and more" },
    { TEXT("n1 0 0 has=memory:16~GiB; n2 1 1 has=memory:16383~MiB; n3 2 2 has=memory:16383~MiB"), 3, 3, "",
      "in another unit" },
    { TEXT("n1 0 0 has=memory:1007~GiB; n2 1 1 has=memory:1006~GiB; n3 2 2 has=memory:944~GiB; n4 3 3 "
           "has=memory:1007~GiB"),
      4, 4, "RC622 memory is '944 GiB' on n3, '1007 GiB' on the other 3" ODD, "one module of sixteen less" },
    { TEXT("n1 0 0 has=memlock:125~GiB; n2 1 1 has=memlock:126~GiB; n3 2 2 has=memlock:125~GiB"), 3, 3, "",
      "an eighth of the memory" },
    { TEXT("n1 0 0 has=nofile:1024; n2 1 1 has=nofile:1025; n3 2 2 has=nofile:1024"), 3, 3,
      "RC622 the limit of open files is '1025' on n2, '1024' on the other 2" ODD, "others are exact" },
    { TEXT("n1 0 0-1 has=cores:16; n2 1 2-3 has=cores:16; n3 2 4 has=cores:8"), 3, 5, "", "a task less, cores less" },
    { TEXT("n1 0 0-1 has=cores:16; n2 1 2-3 has=cores:16; n3 2 4-5 has=cores:12; n4 3 6 has=cores:8"), 4, 7,
      "RC622 cores that tasks may use are '12' on n3, '16' on the other 2" ODD, "among those with as many tasks" },

    { TEXT("n1 0 0 has=gpus:8~H100 has=gpu_links:8~at~x16; n2 1 1 has=gpus:7~H100 has=gpu_links:7~at~x16; "
           "n3 2 2 has=gpus:8~H100 has=gpu_links:8~at~x16"),
      3, 3, "RC622 GPUs are '7 H100' on n2, '8 H100' on the other 2" ODD, "a GPU less has a link less" },
    { TEXT("n1 0 0 has=nics:8~mlx5 has=nic_ports:8~UP; n2 1 1 has=nics:8~mlx5 has=nic_ports:7~UP,~1~DOWN; "
           "n3 2 2 has=nics:8~mlx5 has=nic_ports:8~UP"),
      3, 3, "RC622 ports of network cards are '7 UP, 1 DOWN' on n2, '8 UP' on the other 2" ODD, "a port that is down" },
    { TEXT("n1 0 0 has=component:0 has=gpus:8~H100; n2 1 1 has=component:0 has=gpus:8~H100; "
           "n3 2 2 has=component:1 has=cores:8; n4 3 3 has=component:1 has=cores:8"),
      4, 4, "", "two components" },
    { TEXT("n1 0 0 has=component:0 has=gpus:8~H100; n2 1 1 has=component:0 has=gpus:7~H100; "
           "n3 2 2 has=component:1 has=cores:8; n4 3 3 has=component:1 has=cores:9"),
      4, 4,
      "RC622 GPUs are '8 H100' on n1, '7 H100' on n2" ONE_KIND
      "\nRC622 cores that tasks may use are '8' on n3, '9' on n4" ONE_KIND,
      "differences within components" },

    { TEXT("n1 0 0" ALL_THINGS("1") "; n2 1 1" ALL_THINGS("1") "; n3 2 2" ALL_THINGS("2")), 3, 3,
      "RC622 GPUs are '2' on n3, '1' on the other 2" ODD "\nRC622 the GPU driver is '2' on n3, '1' on the other 2" ODD
      "\nRC622 IMEX channels are '2' on n3, '1' on the other 2" ODD
      "\nRC622 network cards are '2' on n3, '1' on the other 2" ODD
      "\nRC622 the kernel is '2' on n3, '1' on the other 2" ODD
      "\nRC622 memlock, nofile, stack, shm, memory, cores differ, "
      "too; rollcall check shows on which nodes",
      "the gravest first, and the rest in one line" },
};

/* Here `expected` is who is blamed. */
static const struct launch_row blamed[] = {
    { TEXT("n1 0 0 has=gpus:8; n2 1 1 has=gpus:7 has=kernel:6.8; n3 2 2 has=gpus:8; n4 3 3 has=gpus:6"), 4, 4, "",
      "half and half of the GPUs" },
    { TEXT("n1 0 0 has=gpus:8; n2 1 1 has=gpus:7; n3 2 2 has=gpus:8; n4 3 3 has=gpus:6; n5 4 4 has=gpus:8"), 5, 5,
      "RC622 n4,n2", "who has less than most" },
};

UNIT_TABLE(launch_finds, "compares:", things);
UNIT_TABLE(launch_finds_in_any_order, "compares in any order:", things);
UNIT_TABLE(launch_blames, "blames:", blamed);
