/* iperf 2's client over TCP and UDP: sends, or receives where the server is asked to send (-R).
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "espbench_internal.h"
#include "espbench_meter.h"

#include <stdio.h>
#include <string.h>
#include <sys/time.h>

#define LONGEST 65536
#define LONGEST_UDP 65507
#define AT_ONCE 32
#define CONNECT_US 10000000
/* Longest wait for the server's report, or for the end of its stream. */
#define PATIENCE_US 2000000
/* The last datagram is repeated after 10 ms, then twice as long, at most this long (iperf 2 gives up after 250 ms). */
#define FIRST_REPEAT_US 10000
#define LONGEST_REPEAT_US 240000
#define REPEATS 8
/* Silence that ends receiving. */
#define SILENT_US 10000000

static const espbench_iperf_config_t *config_of(const espbench_service_t *service)
{
    return &service->config.iperf;
}

/* Waits for one socket; true where it is ready. */
static bool ready(int fd, bool write, uint64_t us)
{
    espbench_wait_t wait;
    espbench_wait_clear(&wait);
    if (write) {
        espbench_wait_write(&wait, fd);
    } else {
        espbench_wait_read(&wait, fd);
    }
    espbench_wait(&wait, us);
    return FD_ISSET(fd, write ? &wait.write : &wait.read);
}

static void stamp(uint8_t *data, int64_t id)
{
    struct timeval now = {0, 0};
    (void)gettimeofday(&now, NULL);
    espbench_datagram_write(data, id, (uint32_t)now.tv_sec, (uint32_t)now.tv_usec);
}

/* Fills the buffer: digits, and the client header where one goes. */
static void prepare(espbench_service_t *service)
{
    const espbench_iperf_config_t *config = config_of(service);
    espbench_request_t request;
    memset(&request, 0, sizeof request);
    request.reverse = config->reverse;
    request.length = (uint32_t)service->length;
    request.micros = config->bytes != 0 ? 0 : (uint64_t)config->seconds * 1000000;
    request.bytes = config->bytes;
    request.rate = config->rate;
    for (size_t i = 0; i < service->length; i++) {
        service->buffer[i] = (uint8_t)('0' + i % 10);
    }
    size_t at = config->udp ? ESPBENCH_DATAGRAM_HEADER : 0;
    espbench_request_write(service->buffer + at, service->length - at, config->udp, &request);
}

static bool is_over(const espbench_service_t *service, const espbench_meter_t *meter, uint64_t now)
{
    const espbench_iperf_config_t *config = config_of(service);
    return config->bytes != 0 ? meter->bytes >= config->bytes
                              : now - meter->start >= (uint64_t)config->seconds * 1000000;
}

/* Returns how long to wait until something is due. */
static uint64_t pause_of(const espbench_meter_t *meter, const espbench_pacer_t *pacer, uint64_t now)
{
    uint64_t wait = espbench_pacer_wait(pacer, now);
    if (meter->interval != 0) {
        uint64_t line = meter->last + meter->interval > now ? meter->last + meter->interval - now : 0;
        wait = line < wait ? line : wait;
    }
    return wait;
}

static void broke(espbench_service_t *service, const char *what)
{
    service->counters.connections_broken++;
    espbench_log("%s %d: %s", service->name, service->id, what);
}

/* Opens the connection; false where it could not be. */
static bool open_stream(espbench_service_t *service)
{
    uint64_t until = espbench_port_now() + CONNECT_US;
    service->fd = espbench_net_connect(&service->peer);
    while (service->fd >= 0 && !ready(service->fd, true, 100000)) {
        if (espbench_port_now() >= until || espbench_stopped(service)) {
            broke(service, "no connection within 10 s");
            return false;
        }
    }
    int error = 0;
    socklen_t size = sizeof error;
    if (service->fd < 0 || getsockopt(service->fd, SOL_SOCKET, SO_ERROR, &error, &size) < 0 || error != 0) {
        broke(service, error == ECONNREFUSED ? "nothing listens on that port" : "the server cannot be reached");
        return false;
    }
    service->counters.connections++;
    return true;
}

/* Reads until the server ends the stream, so that what it still sends does not make it lose what it has. */
static void drain(espbench_service_t *service)
{
    uint8_t rest[64];
    uint64_t until = espbench_port_now() + PATIENCE_US;
    shutdown(service->fd, SHUT_WR);
    while (espbench_port_now() < until && !espbench_stopped(service)) {
        ssize_t got = recv(service->fd, rest, sizeof rest, 0);
        if (got == 0 || (got < 0 && !espbench_net_pause(errno))) {
            return;
        }
        if (got < 0) {
            (void)ready(service->fd, false, 100000);
        }
    }
}

static void tcp_send(espbench_service_t *service, espbench_meter_t *meter, espbench_pacer_t *pacer)
{
    const espbench_iperf_config_t *config = config_of(service);
    size_t at = 0;
    bool first = true;
    for (;;) {
        uint64_t now = espbench_port_now();
        espbench_meter_poll(meter, now);
        if (is_over(service, meter, now) || espbench_stopped(service)) {
            break;
        }
        if (at == 0 && espbench_pacer_due(pacer, now) == 0) {
            /* The server says nothing now that matters: wait for time alone. */
            espbench_wait_t wait;
            espbench_wait_clear(&wait);
            espbench_wait(&wait, pause_of(meter, pacer, now));
            continue;
        }
        size_t left = service->length - at;
        if (config->bytes != 0 && config->bytes - meter->bytes < left) {
            left = (size_t)(config->bytes - meter->bytes);
        }
        ssize_t put = send(service->fd, service->buffer + at, left, MSG_NOSIGNAL);
        int error = put < 0 ? errno : 0;
        if (espbench_net_no_memory(error)) {
            service->counters.no_memory++;
            espbench_port_sleep_ms(1);
            continue;
        }
        if (put < 0 && espbench_net_pause(error)) {
            (void)ready(service->fd, true, 100000);
            continue;
        }
        if (put < 0) {
            espbench_count_error(service, error);
            broke(service, "the connection broke");
            break;
        }
        meter->bytes += (uint64_t)put;
        service->counters.bytes_out += (uint64_t)put;
        at += (size_t)put;
        if (at >= service->length) {
            at = 0;
            pacer->sent++;
            if (first) {
                /* The header goes once; behind it are digits. */
                first = false;
                for (size_t i = 0; i < service->length && i < ESPBENCH_CLIENT_HEADER; i++) {
                    service->buffer[i] = (uint8_t)('0' + i % 10);
                }
            }
        }
    }
    espbench_meter_end(meter, espbench_port_now());
    drain(service);
}

static void tcp_receive(espbench_service_t *service, espbench_meter_t *meter)
{
    uint64_t heard = meter->start;
    if (send(service->fd, service->buffer, ESPBENCH_CLIENT_HEADER, MSG_NOSIGNAL) != ESPBENCH_CLIENT_HEADER) {
        broke(service, "the connection broke");
        return;
    }
    while (!espbench_stopped(service)) {
        uint64_t now = espbench_port_now();
        espbench_meter_poll(meter, now);
        ssize_t got = recv(service->fd, service->buffer, service->length, 0);
        if (got == 0) {
            break;
        }
        if (got > 0) {
            heard = now;
            meter->bytes += (uint64_t)got;
            service->counters.bytes_in += (uint64_t)got;
            continue;
        }
        if (!espbench_net_pause(errno) || now - heard >= SILENT_US) {
            broke(service, "the server broke the connection or fell silent");
            break;
        }
        (void)ready(service->fd, false, 100000);
    }
    espbench_meter_end(meter, espbench_port_now());
}

/* Repeats the last datagram until the report comes. */
static void udp_finish(espbench_service_t *service, int64_t next)
{
    uint8_t answer[ESPBENCH_REPORT + 1];
    uint64_t until = espbench_port_now() + PATIENCE_US, wait = FIRST_REPEAT_US;
    for (int i = 0; i < REPEATS && espbench_port_now() < until && !espbench_stopped(service); i++) {
        /* Each is numbered on, so that none is taken for a duplicate. */
        stamp(service->buffer, -next++);
        if (sendto(service->fd, service->buffer, service->length, 0, (struct sockaddr *)&service->peer,
                   sizeof service->peer) < 0) {
            espbench_count_error(service, errno);
        }
        uint64_t repeat = espbench_port_now() + wait;
        uint64_t last = i + 1 == REPEATS ? until : repeat < until ? repeat : until;
        for (uint64_t now = espbench_port_now(); now < last; now = espbench_port_now()) {
            (void)ready(service->fd, false, last - now);
            ssize_t got = recv(service->fd, answer, sizeof answer, 0);
            espbench_report_t report;
            if (got > 0 && espbench_report_read(answer, (size_t)got, &report)) {
                service->counters.lost = (uint32_t)report.lost;
                service->counters.out_of_order = (uint32_t)report.out_of_order;
                espbench_meter_report(1, &report);
                return;
            }
        }
        wait = wait * 2 < LONGEST_REPEAT_US ? wait * 2 : LONGEST_REPEAT_US;
    }
    espbench_log("[  1] no report came: what the server received is unknown (ESP-IDF's iperf sends none)");
}

static void udp_send(espbench_service_t *service, espbench_meter_t *meter, espbench_pacer_t *pacer)
{
    int64_t next = 1;
    for (;;) {
        uint64_t now = espbench_port_now();
        espbench_meter_poll(meter, now);
        if (is_over(service, meter, now) || espbench_stopped(service)) {
            break;
        }
        uint64_t due = espbench_pacer_due(pacer, now);
        bool refused = false;
        for (uint64_t i = 0; i < due && i < AT_ONCE && !is_over(service, meter, now); i++) {
            stamp(service->buffer, next);
            ssize_t put = sendto(service->fd, service->buffer, service->length, 0, (struct sockaddr *)&service->peer,
                                 sizeof service->peer);
            if (put < 0) {
                /* The number is kept for the next try: what never left is no loss of the link. */
                if (!espbench_net_pause(errno)) {
                    espbench_count_error(service, errno);
                }
                refused = true;
                break;
            }
            next++;
            pacer->sent++;
            meter->bytes += (uint64_t)put;
            meter->packets++;
            service->counters.bytes_out += (uint64_t)put;
            service->counters.packets_out++;
        }
        uint64_t pause = pause_of(meter, pacer, espbench_port_now());
        if (refused) {
            espbench_port_sleep_ms(1);
        } else if (pause > 0) {
            espbench_wait_t wait;
            espbench_wait_clear(&wait);
            espbench_wait(&wait, pause);
        }
    }
    espbench_meter_end(meter, espbench_port_now());
    service->counters.skipped = (uint32_t)pacer->skipped;
    udp_finish(service, next);
}

static void udp_receive(espbench_service_t *service, espbench_meter_t *meter)
{
    uint64_t began = espbench_port_now(), heard = began, asked = 0;
    bool begun = false;
    uint8_t ask[ESPBENCH_DATAGRAM_HEADER + ESPBENCH_CLIENT_HEADER];
    memcpy(ask, service->buffer, sizeof ask);
    /* Only the server's port is heard: of another one the system says that it is unreachable, which proves this address
     * to a server that asks for it, as espbench's does. */
    (void)connect(service->fd, (const struct sockaddr *)&service->peer, sizeof service->peer);
    while (!espbench_stopped(service)) {
        uint64_t now = espbench_port_now();
        if (begun) {
            espbench_meter_poll(meter, now);
        } else if (now - asked >= 250000) {
            /* Asks until the first datagram comes. */
            asked = now;
            stamp(ask, 1);
            if (sendto(service->fd, ask, sizeof ask, 0, (struct sockaddr *)&service->peer, sizeof service->peer) < 0) {
                espbench_count_error(service, errno);
            }
        }
        ssize_t got = recv(service->fd, service->buffer, service->length, 0);
        espbench_datagram_t head;
        if (got < 0) {
            if (now - heard >= SILENT_US) {
                broke(service, "the server fell silent");
                break;
            }
            (void)ready(service->fd, false, 100000);
            continue;
        }
        if (!espbench_datagram_read(service->buffer, (size_t)got, true, &head)) {
            service->counters.strays++;
            continue;
        }
        now = heard = espbench_port_now();
        if (!begun) {
            begun = true;
            espbench_meter_begin(meter, 1, true, true, config_of(service)->interval, now);
        }
        uint64_t number = head.id < 0 ? 0 - (uint64_t)head.id : (uint64_t)head.id;
        if ((head.id < 0 && number < meter->order.next) ||
            espbench_order_take(&meter->order, number) == ESPBENCH_DOUBTFUL) {
            service->counters.strays++;
            continue;
        }
        meter->bytes += (uint64_t)got;
        service->counters.bytes_in += (uint64_t)got;
        service->counters.packets_in++;
        espbench_jitter_take(&meter->jitter, &head, now);
        if (head.id < 0) {
            break;
        }
    }
    espbench_meter_end(meter, heard);
    service->counters.lost = (uint32_t)meter->order.lost;
    service->counters.out_of_order = (uint32_t)meter->order.late;
    service->counters.duplicates = (uint32_t)meter->order.duplicates;
}

static void run(espbench_service_t *service)
{
    const espbench_iperf_config_t *config = config_of(service);
    char name[22];
    if (espbench_net_resolve(service->host, service->port, &service->peer) < 0) {
        broke(service, espbench_error(ESPBENCH_ERR_ADDRESS));
        return;
    }
    espbench_net_name(&service->peer, name);
    prepare(service);
    if (!config->udp && !open_stream(service)) {
        return;
    }
    espbench_log("[  1] %s %s", service->name, name);
    uint64_t now = espbench_port_now();
    espbench_meter_t meter;
    espbench_pacer_t pacer;
    espbench_meter_begin(&meter, 1, config->udp, config->reverse, config->interval, now);
    espbench_pacer_begin(&pacer, now, config->rate, (uint32_t)service->length);
    if (config->udp && config->reverse) {
        udp_receive(service, &meter);
    } else if (config->udp) {
        udp_send(service, &meter, &pacer);
    } else if (config->reverse) {
        tcp_receive(service, &meter);
    } else {
        tcp_send(service, &meter, &pacer);
    }
}

int espbench_iperf_client(const espbench_iperf_config_t *config)
{
    size_t least = ESPBENCH_CLIENT_HEADER + (config->udp ? ESPBENCH_DATAGRAM_HEADER : 0);
    size_t usual = config->udp ? 1470 : 4096;
    size_t length = config->length != 0 ? config->length : usual;
    if (length < least || length > (config->udp ? LONGEST_UDP : LONGEST) || strlen(config->host) >= ESPBENCH_NAME ||
        config->seconds > 1000000 || config->interval > 1000000) {
        return ESPBENCH_ERR_ARG;
    }
    espbench_service_t *service = espbench_claim("iperf-client", run);
    if (service == NULL) {
        return ESPBENCH_ERR_FULL;
    }
    service->config.iperf = *config;
    (void)snprintf(service->host, sizeof service->host, "%s", config->host);
    service->config.iperf.host = service->host;
    service->port = config->port;
    service->length = length;
    if (config->udp) {
        service->fd = espbench_net_udp(0);
        if (service->fd < 0) {
            return espbench_discard(service, ESPBENCH_ERR_SOCKET);
        }
    }
    return espbench_launch(service, service->length, 0);
}

int espbench_iperf_start(const espbench_iperf_config_t *config)
{
    static const espbench_iperf_config_t usual = ESPBENCH_IPERF_DEFAULT;
    espbench_iperf_config_t filled = config != NULL ? *config : usual;
    filled.port = filled.port != 0 ? filled.port : ESPBENCH_IPERF_PORT;
    filled.seconds = filled.seconds != 0 ? filled.seconds : 10;
    if (filled.host == NULL) {
        return filled.udp ? espbench_iperf_udp_server(&filled) : espbench_iperf_tcp_server(&filled);
    }
    if (filled.udp && filled.rate == 0) {
        filled.rate = 1048576;
    }
    return espbench_iperf_client(&filled);
}
