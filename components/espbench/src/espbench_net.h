/* Sockets of the system: BSD's, or lwIP's with the same names.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef ESPBENCH_NET_H
#define ESPBENCH_NET_H

#ifdef ARDUINO_ARCH_ESP8266
#error "Arduino's core for the ESP8266 has no BSD sockets: use ESP8266_RTOS_SDK for this chip"
#endif

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <unistd.h>

#ifdef ESP_PLATFORM
#include "lwip/netdb.h"
#include "lwip/sockets.h"
#else
#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/time.h>
#endif

/* lwIP has no signals, and before 2.1 not the flag against them. */
#ifndef MSG_NOSIGNAL
#define MSG_NOSIGNAL 0
#endif

/* Opens a non-blocking socket on a port of all addresses; answers it, or below 0. */
int espbench_net_udp(uint16_t port);
int espbench_net_listen(uint16_t port);
/* Begins to connect without waiting. */
int espbench_net_connect(const struct sockaddr_in *to);
/* Makes a socket non-blocking; false where that is refused or select cannot watch it. */
bool espbench_net_unblock(int fd);
/* Looks a host's IPv4 address up. */
int espbench_net_resolve(const char *host, uint16_t port, struct sockaddr_in *out);
/* Writes "192.168.1.2:5001" into 22 bytes. */
void espbench_net_name(const struct sockaddr_in *address, char out[22]);
/* Tells of the last error: nothing to do now, no buffers. */
bool espbench_net_pause(int error);
bool espbench_net_no_memory(int error);

/* Sockets to wait for. */
typedef struct {
    fd_set read, write;
    int most;
} espbench_wait_t;

void espbench_wait_clear(espbench_wait_t *wait);
void espbench_wait_read(espbench_wait_t *wait, int fd);
void espbench_wait_write(espbench_wait_t *wait, int fd);
/* Waits at most so many microseconds (1 ms at least, 100 ms at most). Clears the sets where nothing is ready. */
void espbench_wait(espbench_wait_t *wait, uint64_t us);

#endif
