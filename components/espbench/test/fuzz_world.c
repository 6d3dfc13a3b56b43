/* Stands between a service and the system by the linker's --wrap: packets come and sends fail by chance, tasks run at once,
 * time passes with each look at the clock. A world ends after so many packets, or when its time is up.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "fuzz_world.h"

#include "wrapped.h"

#define MOST_PACKETS 40
#define MOST_MICROS 40000000

static uint64_t state = 1, now = 1000000, until;
static const uint8_t *first;
static size_t first_length;
static int packets;
static uint64_t taken;

void chance_begin(unsigned long seed)
{
    state = seed * UINT64_C(0x9E3779B97F4A7C15) + 1;
}

/* xorshift64* */
uint32_t chance(uint32_t below)
{
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return below == 0 ? 0 : (uint32_t)((state * UINT64_C(0x2545F4914F6CDD1D) >> 32) % below);
}

void world_begin(const uint8_t *data, size_t length)
{
    first = data;
    first_length = length;
    packets = data != NULL ? MOST_PACKETS : 0;
    until = now + (data != NULL ? MOST_MICROS : 0);
    taken = 0;
}

uint64_t world_taken(void)
{
    return taken;
}

/* Sets errno to why nothing happens; most often there is nothing to do now. */
static int fail(void)
{
    static const int errors[] = {EAGAIN, EAGAIN, EAGAIN, EINTR, ENOMEM, ENOBUFS, ECONNRESET, ECONNREFUSED, EHOSTUNREACH};
    errno = errors[chance(sizeof errors / sizeof *errors)];
    return -1;
}

/* Hands out the next packet, cut to the buffer. */
static ssize_t packet(void *buffer, size_t size)
{
    uint8_t made[LONGEST_INPUT];
    size_t length = first_length;
    if (packets <= 0 || chance(4) == 0) {
        return fail();
    }
    packets--;
    if (packets == MOST_PACKETS - 1) {
        memcpy(made, first, length);
    } else {
        length = make_input(made);
    }
    length = length < size ? length : size;
    memcpy(buffer, made, length);
    if (chance(8) == 0) {
        /* As much as the buffer is said to hold. */
        memset((uint8_t *)buffer + length, 0x5A, size - length);
        length = size;
    }
    return (ssize_t)length;
}

static ssize_t sent(size_t size)
{
    if (chance(8) == 0) {
        return fail();
    }
    return (ssize_t)(chance(4) == 0 ? chance((uint32_t)size) : size);
}

uint64_t __wrap_espbench_port_now(void)
{
    now += chance(2000);
    return now;
}

void __wrap_espbench_port_sleep_ms(uint32_t ms)
{
    now += (uint64_t)ms * 1000;
}

bool __wrap_espbench_port_task(const char *name, void (*run)(void *), void *argument)
{
    espbench_service_t *service = argument;
    (void)name;
    run(service);
    taken += service->shown.bytes_in + service->shown.bytes_out;
    return true;
}

bool __wrap_espbench_stopped(espbench_service_t *service)
{
    (void)service;
    return packets <= 0 || now >= until;
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
    return chance(16) == 0 ? -1 : opened();
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
    return chance(16) == 0 ? -1 : 0;
}

void __wrap_espbench_wait(espbench_wait_t *wait, uint64_t us)
{
    now += us < 100000 ? us : 100000;
    /* Some silence is long: an interval, or until a flow is given up. */
    now += chance(20) == 0 ? chance(15000000) : 0;
    if (chance(8) == 0) {
        espbench_wait_clear(wait);
    }
}

ssize_t __wrap_recv(int fd, void *buffer, size_t size, int flags)
{
    (void)fd;
    (void)flags;
    return chance(30) == 0 ? 0 : packet(buffer, size);
}

ssize_t __wrap_recvfrom(int fd, void *buffer, size_t size, int flags, struct sockaddr *from, socklen_t *length)
{
    (void)fd;
    (void)flags;
    came_from((uint16_t)(chance(20) == 0 ? chance(65536) : 40000 + chance(3)), from, length);
    return packet(buffer, size);
}

ssize_t __wrap_send(int fd, const void *data, size_t size, int flags)
{
    (void)fd;
    (void)data;
    (void)flags;
    return sent(size);
}

ssize_t __wrap_sendto(int fd, const void *data, size_t size, int flags, const struct sockaddr *to, socklen_t length)
{
    (void)fd;
    (void)data;
    (void)flags;
    (void)to;
    (void)length;
    return chance(8) == 0 ? fail() : (ssize_t)size;
}

int __wrap_accept(int fd, struct sockaddr *from, socklen_t *length)
{
    (void)fd;
    if (packets <= 0 || chance(3) != 0) {
        return fail();
    }
    packets--;
    memset(from, 0, *length);
    return opened();
}

int __wrap_getsockopt(int fd, int level, int name, void *value, socklen_t *length)
{
    (void)fd;
    (void)level;
    (void)name;
    int error = chance(16) == 0 ? ECONNREFUSED : 0;
    memcpy(value, &error, sizeof error);
    *length = sizeof error;
    return 0;
}
