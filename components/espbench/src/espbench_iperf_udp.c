/* iperf 2's UDP server: receives and reports, or sends where the client asks for it (-R). One task for all flows.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "espbench_internal.h"
#include "espbench_meter.h"

#include <string.h>
#include <sys/time.h>

#define LONGEST 65507
/* Datagrams taken or sent before others have their turn. */
#define AT_ONCE 32
/* Silence that ends a flow without a last datagram: ESP-IDF's iperf sends none. */
#define IDLE_US 10000000
/* Silence after which the client is taken to have its report, and the reports sent at most. */
#define REPORTED_US 500000
#define REPORTS 10
/* The rate of a client that names none. */
#define USUAL_RATE 1048576

typedef enum { FREE, RECEIVE, REPORT, SEND, OVER } step_t;

typedef struct {
    step_t step;
    struct sockaddr_in from;
    espbench_request_t request;
    espbench_meter_t meter;
    espbench_pacer_t pacer;
    uint64_t heard, ended;
    int64_t next; /* number that is sent next */
    size_t length;
    int reports;
    bool plain; /* without a header */
} flow_t;

typedef struct {
    int numbers;
    flow_t flows[ESPBENCH_STREAMS];
} udp_t;

static void stamp(uint8_t *data, int64_t id)
{
    struct timeval now = {0, 0};
    (void)gettimeofday(&now, NULL);
    espbench_datagram_write(data, id, (uint32_t)now.tv_sec, (uint32_t)now.tv_usec);
}

/* Sends one datagram of a flow; false where there is no room now. */
static bool put(espbench_service_t *service, flow_t *flow, int64_t id)
{
    stamp(service->buffer, id);
    memset(service->buffer + ESPBENCH_DATAGRAM_HEADER, 0, ESPBENCH_CLIENT_HEADER);
    ssize_t sent = sendto(service->fd, service->buffer, flow->length, 0, (struct sockaddr *)&flow->from, sizeof flow->from);
    if (sent < 0) {
        if (!espbench_net_pause(errno)) {
            espbench_count_error(service, errno);
        }
        return false;
    }
    flow->meter.bytes += (uint64_t)sent;
    flow->meter.packets++;
    service->counters.bytes_out += (uint64_t)sent;
    service->counters.packets_out++;
    return true;
}

static void report(espbench_service_t *service, flow_t *flow)
{
    uint8_t data[ESPBENCH_REPORT];
    const espbench_order_t *order = &flow->meter.order;
    espbench_report_t report = {flow->meter.bytes, flow->ended - flow->meter.start, order->lost, order->late,
                                order->received + order->lost, flow->meter.jitter.sixteenths >> 4};
    espbench_report_write(data, &report);
    if (sendto(service->fd, data, sizeof data, 0, (struct sockaddr *)&flow->from, sizeof flow->from) < 0) {
        espbench_count_error(service, errno);
    }
    flow->reports++;
}

/* Prints the total, and adds what the numbers told to the counters. */
static void close_flow(espbench_service_t *service, flow_t *flow, uint64_t now)
{
    espbench_meter_end(&flow->meter, now);
    service->counters.lost += (uint32_t)flow->meter.order.lost;
    service->counters.out_of_order += (uint32_t)flow->meter.order.late;
    service->counters.duplicates += (uint32_t)flow->meter.order.duplicates;
    service->counters.skipped += (uint32_t)flow->pacer.skipped;
}

/* Begins to send what a client asks for with -R. */
static void begin_sending(espbench_service_t *service, flow_t *flow)
{
    uint64_t rate = flow->request.rate != 0 ? flow->request.rate : USUAL_RATE;
    size_t length = flow->request.length != 0 ? flow->request.length : 1470;
    flow->step = SEND;
    flow->next = 1;
    /* Room for the client header is cleared in each datagram, so that nothing there is taken for one. */
    size_t least = ESPBENCH_DATAGRAM_HEADER + ESPBENCH_CLIENT_HEADER;
    flow->length = length < least ? least : length > service->length ? service->length : length;
    if (flow->request.micros == 0 && flow->request.bytes == 0) {
        flow->request.micros = 10000000;
    }
    espbench_pacer_begin(&flow->pacer, flow->meter.start, rate, (uint32_t)flow->length);
}

/* Begins a flow with its first datagram; NULL where it is not served. */
static flow_t *begin(espbench_service_t *service, const struct sockaddr_in *from, const uint8_t *data, size_t length,
                     uint64_t now)
{
    udp_t *udp = service->state;
    espbench_request_t request;
    memset(&request, 0, sizeof request);
    bool asked = length > ESPBENCH_DATAGRAM_HEADER &&
                 espbench_request_read(data + ESPBENCH_DATAGRAM_HEADER, length - ESPBENCH_DATAGRAM_HEADER, &request);
    flow_t *flow = NULL;
    for (size_t i = 0; i < ESPBENCH_STREAMS && flow == NULL; i++) {
        flow = udp->flows[i].step == FREE ? &udp->flows[i] : NULL;
    }
    if (flow == NULL) {
        service->counters.connections_refused++;
        return NULL;
    }
    char name[22];
    espbench_net_name(from, name);
    memset(flow, 0, sizeof *flow);
    flow->from = *from;
    flow->request = request;
    flow->plain = !asked;
    flow->heard = now;
    service->counters.connections++;
    udp->numbers++;
    espbench_log("[%3d] %s %s", udp->numbers, service->name, name);
    espbench_meter_begin(&flow->meter, udp->numbers, true, !request.reverse, service->config.iperf.interval, now);
    if (asked && request.refused != NULL) {
        /* There is no answer that the client would know. The place stays taken until it is silent. */
        service->counters.refused_options++;
        espbench_log("%s: %s asks for %s, which is not served here", service->name, name, request.refused);
        flow->step = OVER;
        return NULL;
    }
    flow->step = RECEIVE;
    if (request.reverse) {
        begin_sending(service, flow);
        return NULL;
    }
    return flow;
}

static flow_t *find(udp_t *udp, const struct sockaddr_in *from)
{
    for (size_t i = 0; i < ESPBENCH_STREAMS; i++) {
        flow_t *flow = &udp->flows[i];
        if (flow->step != FREE && flow->from.sin_addr.s_addr == from->sin_addr.s_addr &&
            flow->from.sin_port == from->sin_port) {
            return flow;
        }
    }
    return NULL;
}

/* Counts a datagram of a flow. */
static void count(espbench_service_t *service, flow_t *flow, const espbench_datagram_t *head, size_t length, uint64_t now)
{
    espbench_meter_t *meter = &flow->meter;
    uint64_t number = head->id < 0 ? 0 - (uint64_t)head->id : (uint64_t)head->id;
    /* The last number is above all others: a lower one is noise, and no end. */
    if (head->id < 0 && number < meter->order.next) {
        service->counters.strays++;
        return;
    }
    if (espbench_order_take(&meter->order, number) == ESPBENCH_DOUBTFUL) {
        service->counters.strays++;
        return;
    }
    meter->bytes += length;
    service->counters.packets_in++;
    service->counters.bytes_in += length;
    espbench_jitter_take(&meter->jitter, head, now);
    if (head->id < 0) {
        close_flow(service, flow, now);
        flow->step = REPORT;
        flow->ended = now;
        if (!flow->request.no_report) {
            report(service, flow);
        }
    }
}

/* Takes one datagram; false where none waits. */
static bool take(espbench_service_t *service)
{
    udp_t *udp = service->state;
    struct sockaddr_in from;
    socklen_t size = sizeof from;
    ssize_t got = recvfrom(service->fd, service->buffer, service->length, 0, (struct sockaddr *)&from, &size);
    if (got < 0) {
        service->counters.receive_errors += !espbench_net_pause(errno) && errno != ECONNREFUSED;
        return false;
    }
    /* The buffer is longer than any usual datagram: one that fills it was cut, and counts as long as it is here. */
    service->counters.truncated += (size_t)got == service->length;
    uint64_t now = espbench_port_now();
    espbench_datagram_t head;
    if (!espbench_datagram_read(service->buffer, (size_t)got, false, &head)) {
        service->counters.strays++;
        return true;
    }
    flow_t *flow = find(udp, &from);
    if (flow == NULL) {
        /* What begins with a last datagram is the rest of a flow that is over. */
        if (head.id >= 0) {
            flow = begin(service, &from, service->buffer, (size_t)got, now);
        } else {
            service->counters.strays++;
        }
    }
    if (flow == NULL) {
        return true;
    }
    flow->heard = now;
    if (flow->step == RECEIVE) {
        count(service, flow, &head, (size_t)got, now);
    } else if (flow->step == REPORT && head.id < 0 && flow->reports < REPORTS && !flow->request.no_report) {
        /* The client repeats its last datagram: it has no report yet. */
        report(service, flow);
    }
    return true;
}

/* Sends what is due in a flow. */
static void pour(espbench_service_t *service, flow_t *flow, uint64_t now)
{
    const espbench_request_t *request = &flow->request;
    uint64_t due = espbench_pacer_due(&flow->pacer, now);
    for (uint64_t i = 0; i < due && i < AT_ONCE; i++) {
        if ((request->micros != 0 && now - flow->meter.start >= request->micros) ||
            (request->bytes != 0 && flow->meter.bytes >= request->bytes)) {
            (void)put(service, flow, -flow->next);
            close_flow(service, flow, now);
            flow->step = OVER;
            flow->heard = now;
            return;
        }
        if (!put(service, flow, flow->next)) {
            return;
        }
        flow->next++;
        flow->pacer.sent++;
    }
}

/* Gives each flow its turn; answers the microseconds to wait at most. */
static uint64_t turns(espbench_service_t *service, uint64_t now)
{
    udp_t *udp = service->state;
    uint64_t most = 100000;
    for (size_t i = 0; i < ESPBENCH_STREAMS; i++) {
        flow_t *flow = &udp->flows[i];
        uint64_t silent = now > flow->heard ? now - flow->heard : 0;
        if (flow->step == RECEIVE || flow->step == SEND) {
            espbench_meter_poll(&flow->meter, now);
        }
        if (flow->step == SEND) {
            pour(service, flow, now);
            uint64_t pause = espbench_pacer_wait(&flow->pacer, now);
            most = pause < most ? pause : most;
        } else if (flow->step == RECEIVE && silent >= IDLE_US) {
            if (!flow->plain) {
                service->counters.connections_broken++;
            }
            espbench_log("[%3d] silent for 10 s without a last datagram (ESP-IDF's iperf ends so)", flow->meter.id);
            close_flow(service, flow, flow->heard);
            flow->step = FREE;
        } else if ((flow->step == REPORT || flow->step == OVER) && silent >= REPORTED_US) {
            flow->step = FREE;
        }
    }
    return most;
}

static void run(espbench_service_t *service)
{
    udp_t *udp = service->state;
    while (!espbench_stopped(service)) {
        espbench_wait_t wait;
        uint64_t most = turns(service, espbench_port_now());
        espbench_wait_clear(&wait);
        espbench_wait_read(&wait, service->fd);
        espbench_wait(&wait, most);
        for (int i = 0; i < AT_ONCE && take(service); i++) {
        }
    }
    for (size_t i = 0; i < ESPBENCH_STREAMS; i++) {
        if (udp->flows[i].step == RECEIVE || udp->flows[i].step == SEND) {
            close_flow(service, &udp->flows[i], espbench_port_now());
        }
    }
}

int espbench_iperf_udp_server(const espbench_iperf_config_t *config)
{
    if (config->length > LONGEST) {
        return ESPBENCH_ERR_ARG;
    }
    espbench_service_t *service = espbench_claim("iperf-udp", run);
    if (service == NULL) {
        return ESPBENCH_ERR_FULL;
    }
    service->port = config->port;
    service->config.iperf = *config;
    service->length = config->length >= 1536 ? config->length + 1 : 1536;
    service->fd = espbench_net_udp(config->port);
    if (service->fd < 0) {
        return espbench_discard(service, ESPBENCH_ERR_SOCKET);
    }
    int id = espbench_launch(service, service->length, sizeof(udp_t));
    if (id > 0) {
        espbench_log("iperf-udp %d: port %u", id, (unsigned)config->port);
    }
    return id;
}
