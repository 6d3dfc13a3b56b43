/* A device that is sent more than it can take, on one core: says when its console has answered.
 *
 *     saturated SERVICE PRIORITY CONSOLE
 *
 * Packets wait at every look and every send is taken, so a service never waits; time passes with each call. A command that needs
 * the processor for 50 ms is typed, and gets it as FreeRTOS gives it out: at once above the service's priority, tick by tick in turn
 * beside it and seven services more, and below it only while the service waits.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "wrapped.h"

#include <stdio.h>
#include <stdlib.h>

#define TICK_US 10000
#define CALL_US 100
#define TYPED_US 1000000
#define NEEDED_US 50000
#define END_US 20000000
/* As many as there are places for by default. */
#define SERVICES 8

static uint64_t now = 1, answered, left = NEEDED_US, turn;
static long priority, console;
static int accepted;
static uint32_t number;

/* Lets the console run for at most that long. */
static void run_console(uint64_t most)
{
    uint64_t own = left < most ? left : most;
    now += own;
    left -= own;
    if (left == 0 && answered == 0) {
        answered = now;
    }
}

/* Lets time pass in a call; whether the service waits in it. */
static void pass(uint64_t us, bool waits)
{
    uint64_t end = now + us;
    if (now >= TYPED_US && left > 0) {
        if (console > priority || waits) {
            run_console(console > priority ? left : us);
        } else if (console == priority && now / TICK_US >= turn) {
            run_console(TICK_US);
            turn = now / TICK_US + SERVICES;
        }
    }
    now = now > end ? now : end;
}

uint64_t __wrap_espbench_port_now(void)
{
    return now;
}

void __wrap_espbench_port_sleep_ms(uint32_t ms)
{
    pass((uint64_t)ms * 1000, true);
}

bool __wrap_espbench_port_task(const char *name, void (*run)(void *), void *argument)
{
    espbench_service_t *service = argument;
    run(service);
    const espbench_counters_t *counts = &service->counters;
    printf("%s: %lu bytes, answered ", name, (unsigned long)(counts->bytes_in + counts->bytes_out));
    if (answered == 0) {
        printf("never\n");
    } else {
        printf("after %lu us\n", (unsigned long)(answered - TYPED_US));
    }
    return true;
}

bool __wrap_espbench_stopped(espbench_service_t *service)
{
    (void)service;
    return now >= END_US;
}

int __wrap_espbench_net_udp(uint16_t port)
{
    (void)port;
    return opened();
}

int __wrap_espbench_net_listen(uint16_t port)
{
    (void)port;
    return opened();
}

int __wrap_espbench_net_connect(const struct sockaddr_in *to)
{
    (void)to;
    return opened();
}

bool __wrap_espbench_net_unblock(int fd)
{
    (void)fd;
    return true;
}

int __wrap_espbench_net_resolve(const char *host, uint16_t port, struct sockaddr_in *out)
{
    (void)host;
    memset(out, 0, sizeof *out);
    out->sin_port = htons(port);
    return 0;
}

/* All that is waited for is there; without a socket there is nothing but time. */
void __wrap_espbench_wait(espbench_wait_t *wait, uint64_t us)
{
    pass(wait->most < 0 ? us : CALL_US, wait->most < 0);
}

ssize_t __wrap_recv(int fd, void *buffer, size_t size, int flags)
{
    (void)fd;
    (void)flags;
    pass(CALL_US, false);
    memset(buffer, 0, size);
    return (ssize_t)size;
}

ssize_t __wrap_recvfrom(int fd, void *buffer, size_t size, int flags, struct sockaddr *from, socklen_t *length)
{
    (void)fd;
    (void)flags;
    pass(CALL_US, false);
    came_from(40000, from, length);
    size = size < 1470 ? size : 1470;
    memset(buffer, 0, size);
    number++;
    for (size_t i = 0; i < 4 && i < size; i++) {
        ((uint8_t *)buffer)[i] = (uint8_t)(number >> (24 - 8 * i));
    }
    return (ssize_t)size;
}

ssize_t __wrap_send(int fd, const void *data, size_t size, int flags)
{
    (void)fd;
    (void)data;
    (void)flags;
    pass(CALL_US, false);
    return (ssize_t)size;
}

ssize_t __wrap_sendto(int fd, const void *data, size_t size, int flags, const struct sockaddr *to, socklen_t length)
{
    (void)fd;
    (void)data;
    (void)flags;
    (void)to;
    (void)length;
    pass(CALL_US, false);
    return (ssize_t)size;
}

int __wrap_accept(int fd, struct sockaddr *from, socklen_t *length)
{
    (void)fd;
    pass(CALL_US, false);
    if (accepted++ > 0) {
        errno = EAGAIN;
        return -1;
    }
    memset(from, 0, *length);
    return opened();
}

int __wrap_getsockopt(int fd, int level, int name, void *value, socklen_t *length)
{
    (void)fd;
    (void)level;
    (void)name;
    memset(value, 0, *length);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc != 4) {
        return 2;
    }
    priority = strtol(argv[2], NULL, 10);
    console = strtol(argv[3], NULL, 10);
    espbench_iperf_config_t iperf = ESPBENCH_IPERF_DEFAULT;
    iperf.interval = 1;
    iperf.udp = strstr(argv[1], "udp") != NULL;
    if (strstr(argv[1], "client") != NULL) {
        iperf.host = "device";
        iperf.seconds = 30;
        iperf.rate = iperf.udp ? 1000000000 : 0;
    }
    int id = strcmp(argv[1], "tcp-sink") == 0     ? espbench_tcp_sink_start(NULL)
             : strcmp(argv[1], "tcp-source") == 0 ? espbench_tcp_source_start(NULL)
             : strcmp(argv[1], "udp-echo") == 0   ? espbench_udp_echo_start(NULL)
                                                  : espbench_iperf_start(&iperf);
    return id > 0 ? 0 : 1;
}
