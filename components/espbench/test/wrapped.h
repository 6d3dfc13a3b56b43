/* Functions that the linker's --wrap puts in the place of the system, and what each program says of them alike.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef WRAPPED_H
#define WRAPPED_H

#include "espbench_internal.h"

#include <string.h>

uint64_t __wrap_espbench_port_now(void);
void __wrap_espbench_port_sleep_ms(uint32_t ms);
bool __wrap_espbench_port_task(const char *name, void (*run)(void *), void *argument);
bool __wrap_espbench_stopped(espbench_service_t *service);
int __wrap_espbench_net_udp(uint16_t port);
int __wrap_espbench_net_listen(uint16_t port);
int __wrap_espbench_net_connect(const struct sockaddr_in *to);
bool __wrap_espbench_net_unblock(int fd);
int __wrap_espbench_net_resolve(const char *host, uint16_t port, struct sockaddr_in *out);
void __wrap_espbench_wait(espbench_wait_t *wait, uint64_t us);
ssize_t __wrap_recv(int fd, void *buffer, size_t size, int flags);
ssize_t __wrap_recvfrom(int fd, void *buffer, size_t size, int flags, struct sockaddr *from, socklen_t *length);
ssize_t __wrap_send(int fd, const void *data, size_t size, int flags);
ssize_t __wrap_sendto(int fd, const void *data, size_t size, int flags, const struct sockaddr *to, socklen_t length);
int __wrap_accept(int fd, struct sockaddr *from, socklen_t *length);
int __wrap_getsockopt(int fd, int level, int name, void *value, socklen_t *length);

/* Returns a descriptor that may be closed. */
static inline int opened(void)
{
    return open("/dev/null", O_RDWR);
}

/* Says that a datagram came from this port of loopback. */
static inline void came_from(uint16_t port, struct sockaddr *from, socklen_t *length)
{
    struct sockaddr_in peer;
    memset(&peer, 0, sizeof peer);
    peer.sin_family = AF_INET;
    peer.sin_addr.s_addr = htonl(0x7F000001);
    peer.sin_port = htons(port);
    memcpy(from, &peer, sizeof peer);
    *length = sizeof peer;
}

#endif
