/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "system/descriptor.h"

#include <string.h>
#include <sys/socket.h>

/* Room for one descriptor, aligned as the kernel wants it. */
union control {
    struct cmsghdr head;
    char space[CMSG_SPACE(sizeof(int))];
};

void rc_descriptor_send(int socket, int fd)
{
    union control control = {
        .head = { .cmsg_len = CMSG_LEN(sizeof(fd)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS }
    };
    char byte = 0;
    struct iovec text = { .iov_base = &byte, .iov_len = 1 };
    struct msghdr message = {
        .msg_iov = &text, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control.space)
    };

    memcpy(CMSG_DATA(&control.head), &fd, sizeof(fd));
    (void)!sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

int rc_descriptor_take(int socket)
{
    union control control;
    char byte;
    struct iovec text = { .iov_base = &byte, .iov_len = 1 };
    struct msghdr message = {
        .msg_iov = &text, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control.space)
    };
    int fd = -1;

    if (recvmsg(socket, &message, MSG_DONTWAIT) == 1 && message.msg_controllen >= CMSG_LEN(sizeof(fd)) &&
        control.head.cmsg_level == SOL_SOCKET && control.head.cmsg_type == SCM_RIGHTS)
        memcpy(&fd, CMSG_DATA(&control.head), sizeof(fd));
    return fd;
}
