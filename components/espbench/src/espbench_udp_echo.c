/* UDP echo, with the ports of the published benchmark's sketch.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "espbench_internal.h"

#include <string.h>

/* The first bytes of espbench's binary probes, whose sender listens where it sends from. The published client, whose
 * probes are digits, listens on a port of its own. */
#define MAGIC "EBe1"

/* The longest payload of UDP over IPv4. */
#define LONGEST 65507
/* Datagrams that are answered before the service looks whether it is to stop. */
#define AT_ONCE 32

/* Tells whether a service listens on that port, rather than a client sends from it. A datagram with a forged sender
 * would go to and fro between two echoes for ever. */
static bool is_service(uint16_t port, uint16_t own)
{
    return port < 1024 || port == ESPBENCH_ECHO_PORT || port == ESPBENCH_IPERF_PORT || port == own;
}

/* Answers one datagram; false where none waits. */
static bool answer(espbench_service_t *service)
{
    espbench_counters_t *counters = &service->counters;
    struct sockaddr_in from;
    socklen_t size = sizeof from;
    /* The buffer is a byte longer than what is echoed, so that a cut datagram shows. */
    ssize_t got = recvfrom(service->fd, service->buffer, service->length + 1, 0, (struct sockaddr *)&from, &size);
    if (got < 0) {
        /* A refused connection is a host's answer to an earlier reply. */
        counters->receive_errors += !espbench_net_pause(errno) && errno != ECONNREFUSED;
        return false;
    }
    counters->packets_in++;
    counters->bytes_in += (uint64_t)got;
    if ((size_t)got > service->length) {
        counters->truncated++;
        return true;
    }
    struct sockaddr_in to = from;
    bool binary = got >= 16 && memcmp(service->buffer, MAGIC, 4) == 0;
    if (service->config.reply_port != ESPBENCH_REPLY_SENDER && !binary) {
        to.sin_port = htons(service->config.reply_port);
    }
    if (is_service(ntohs(from.sin_port), service->port) || is_service(ntohs(to.sin_port), service->port)) {
        if (counters->not_answered++ == 0) {
            char name[22];
            espbench_net_name(&from, name);
            espbench_log("udp-echo: %s is not answered: a service listens on such a port", name);
        }
        return true;
    }
    if (sendto(service->fd, service->buffer, (size_t)got, 0, (struct sockaddr *)&to, sizeof to) < 0) {
        espbench_count_error(service, errno);
    } else {
        counters->packets_out++;
        counters->bytes_out += (uint64_t)got;
    }
    return true;
}

static void run(espbench_service_t *service)
{
    while (!espbench_stopped(service)) {
        espbench_wait_t wait;
        espbench_wait_clear(&wait);
        espbench_wait_read(&wait, service->fd);
        espbench_wait(&wait, 100000);
        for (int i = 0; i < AT_ONCE && answer(service); i++) {
        }
    }
}

int espbench_udp_echo_start(const espbench_udp_echo_config_t *config)
{
    static const espbench_udp_echo_config_t usual = ESPBENCH_UDP_ECHO_DEFAULT;
    config = config != NULL ? config : &usual;
    if (config->longest > LONGEST) {
        return ESPBENCH_ERR_ARG;
    }
    espbench_service_t *service = espbench_claim("udp-echo", run);
    if (service == NULL) {
        return ESPBENCH_ERR_FULL;
    }
    service->port = config->port != 0 ? config->port : ESPBENCH_ECHO_PORT;
    service->length = config->longest != 0 ? config->longest : 1472;
    service->config.reply_port = config->reply_port;
    service->fd = espbench_net_udp(service->port);
    if (service->fd < 0) {
        return espbench_discard(service, ESPBENCH_ERR_SOCKET);
    }
    int id = espbench_launch(service, service->length + 1, 0);
    if (id > 0) {
        espbench_log("udp-echo %d: port %u", id, (unsigned)(config->port != 0 ? config->port : ESPBENCH_ECHO_PORT));
    }
    return id;
}
