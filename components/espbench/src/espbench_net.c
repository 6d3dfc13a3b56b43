/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "espbench_internal.h"

#include <stdio.h>
#include <string.h>

bool espbench_net_unblock(int fd)
{
#ifdef FD_SETSIZE
    /* lwIP counts its sockets from LWIP_SOCKET_OFFSET, so that FD_SETSIZE holds for both. */
    if (fd >= FD_SETSIZE) {
        return false;
    }
#endif
    int flags = fcntl(fd, F_GETFL, 0);
    return flags >= 0 && fcntl(fd, F_SETFL, flags | O_NONBLOCK) >= 0;
}

static int bound(int type, uint16_t port)
{
    int fd = socket(AF_INET, type, 0);
    if (fd < 0) {
        return -1;
    }
    int on = 1;
    if (type == SOCK_STREAM) {
        (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    }
#ifndef ESP_PLATFORM
    /* A busy PC comes late to its datagrams. On a device lwIP's mailbox is what is measured, and stays as it is. */
    int room = 1 << 20;
    (void)setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof room);
#endif
    struct sockaddr_in any;
    memset(&any, 0, sizeof any);
    any.sin_family = AF_INET;
    any.sin_addr.s_addr = htonl(INADDR_ANY);
    any.sin_port = htons(port);
    if (!espbench_net_unblock(fd) || bind(fd, (struct sockaddr *)&any, sizeof any) < 0) {
        close(fd);
        return -1;
    }
    return fd;
}

int espbench_net_udp(uint16_t port)
{
    return bound(SOCK_DGRAM, port);
}

int espbench_net_listen(uint16_t port)
{
    int fd = bound(SOCK_STREAM, port);
    if (fd >= 0 && listen(fd, 4) < 0) {
        close(fd);
        return -1;
    }
    return fd;
}

int espbench_net_connect(const struct sockaddr_in *to)
{
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (fd < 0) {
        return -1;
    }
    if (!espbench_net_unblock(fd) ||
        (connect(fd, (const struct sockaddr *)to, sizeof *to) < 0 && errno != EINPROGRESS)) {
        close(fd);
        return -1;
    }
    return fd;
}

int espbench_net_resolve(const char *host, uint16_t port, struct sockaddr_in *out)
{
    struct addrinfo hints, *found = NULL;
    memset(&hints, 0, sizeof hints);
    hints.ai_family = AF_INET;
    hints.ai_socktype = SOCK_STREAM;
    if (getaddrinfo(host, NULL, &hints, &found) != 0 || found == NULL) {
        return -1;
    }
    memcpy(out, found->ai_addr, sizeof *out);
    out->sin_port = htons(port);
    freeaddrinfo(found);
    return 0;
}

void espbench_net_name(const struct sockaddr_in *address, char out[22])
{
    uint32_t ip = ntohl(address->sin_addr.s_addr);
    (void)snprintf(out, 22, "%u.%u.%u.%u:%u", (unsigned)(ip >> 24), (unsigned)(ip >> 16 & 255),
                   (unsigned)(ip >> 8 & 255), (unsigned)(ip & 255), (unsigned)ntohs(address->sin_port));
}

bool espbench_net_pause(int error)
{
    return error == EAGAIN || error == EWOULDBLOCK || error == EINTR || error == EINPROGRESS;
}

bool espbench_net_no_memory(int error)
{
    return error == ENOMEM || error == ENOBUFS;
}

void espbench_wait_clear(espbench_wait_t *wait)
{
    FD_ZERO(&wait->read);
    FD_ZERO(&wait->write);
    wait->most = -1;
}

void espbench_wait_read(espbench_wait_t *wait, int fd)
{
    FD_SET(fd, &wait->read);
    wait->most = fd > wait->most ? fd : wait->most;
}

void espbench_wait_write(espbench_wait_t *wait, int fd)
{
    FD_SET(fd, &wait->write);
    wait->most = fd > wait->most ? fd : wait->most;
}

void espbench_wait(espbench_wait_t *wait, uint64_t us)
{
    if (wait->most < 0) {
        /* Not every select waits for nothing. */
        espbench_port_sleep_ms((uint32_t)((us < 100000 ? us : 100000) + 999) / 1000);
        return;
    }
    /* lwIP takes less than a millisecond for "do not wait". */
    us = us < 1000 ? 1000 : us > 100000 ? 100000 : us;
    struct timeval timeout = {0, (int)us};
    if (select(wait->most + 1, &wait->read, &wait->write, NULL, &timeout) <= 0) {
        espbench_wait_clear(wait);
    }
}
