/* TCP servers: sink, source, and iperf 2's. One task serves all connections of a port.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "espbench_internal.h"
#include "espbench_meter.h"

#include <string.h>

#define LONGEST 65536
/* Reads or writes of one connection before the others have their turn. */
#define AT_ONCE 8
/* Silence after which a connection is given up. */
#define IDLE_US 60000000
/* Longest wait for a header, and for the peer's end of the stream after ours. */
#define HEADER_US 10000000
#define DRAIN_US 2000000

typedef enum { FREE, HEADER, RECEIVE, SEND, DRAIN } step_t;

typedef struct {
    int fd, number;
    step_t step;
    uint16_t header_length, header_wanted;
    uint8_t header[ESPBENCH_CLIENT_HEADER_MAX];
    espbench_request_t request;
    espbench_meter_t meter;
    espbench_pacer_t pacer;
    size_t at; /* of the current write */
    uint64_t heard;
    char name[22];
} stream_t;

typedef enum { SINK, SOURCE, IPERF } kind_t;

typedef struct {
    kind_t kind;
    uint32_t interval;
    int numbers; /* connections so far */
    stream_t streams[ESPBENCH_STREAMS];
} tcp_t;

/* Ends a connection; `broken` where it was not its regular end. */
static void finish(espbench_service_t *service, stream_t *stream, bool broken)
{
    tcp_t *tcp = service->state;
    if (stream->step == RECEIVE || stream->step == SEND) {
        espbench_meter_end(&stream->meter, espbench_port_now());
        service->counters.skipped += (uint32_t)stream->pacer.skipped;
    }
    if (broken) {
        service->counters.connections_broken++;
        espbench_log("%s: %s: the connection broke or fell silent", service->name, stream->name);
    } else if (tcp->kind != IPERF) {
        char bytes[21];
        espbench_log("%s: %s left after %s bytes", service->name, stream->name,
                     espbench_decimal(stream->meter.bytes, bytes));
    }
    close(stream->fd);
    stream->step = FREE;
}

/* Begins to receive or to send. */
static void begin(espbench_service_t *service, stream_t *stream, step_t step, uint64_t now)
{
    tcp_t *tcp = service->state;
    stream->step = step;
    espbench_meter_begin(&stream->meter, stream->number, false, step == RECEIVE, tcp->kind == IPERF ? tcp->interval : 0, now);
    espbench_pacer_begin(&stream->pacer, now, stream->request.rate, (uint32_t)service->length);
    stream->at = 0;
    stream->heard = now;
}

static void take_connection(espbench_service_t *service)
{
    tcp_t *tcp = service->state;
    struct sockaddr_in from;
    socklen_t size = sizeof from;
    int fd = accept(service->fd, (struct sockaddr *)&from, &size);
    if (fd < 0) {
        service->counters.receive_errors += !espbench_net_pause(errno);
        return;
    }
    stream_t *stream = NULL;
    for (size_t i = 0; i < ESPBENCH_STREAMS && stream == NULL; i++) {
        stream = tcp->streams[i].step == FREE ? &tcp->streams[i] : NULL;
    }
    if (stream == NULL || !espbench_net_unblock(fd)) {
        service->counters.connections_refused++;
        close(fd);
        return;
    }
    uint64_t now = espbench_port_now();
    memset(stream, 0, sizeof *stream);
    stream->fd = fd;
    stream->heard = now;
    espbench_net_name(&from, stream->name);
    service->counters.connections++;
    stream->number = ++tcp->numbers;
    espbench_log("[%3d] %s %s", stream->number, service->name, stream->name);
    if (tcp->kind == IPERF) {
        stream->step = HEADER;
        stream->header_wanted = 4;
    } else {
        begin(service, stream, tcp->kind == SINK ? RECEIVE : SEND, now);
    }
}

/* Acts on what the client asks for. */
static void start_test(espbench_service_t *service, stream_t *stream, uint64_t now)
{
    espbench_request_t *request = &stream->request;
    bool asked = !espbench_is_text(stream->header, 4) &&
                 espbench_request_read(stream->header, stream->header_length, request);
    if (asked && request->refused != NULL) {
        service->counters.refused_options++;
        espbench_log("%s: %s asks for %s, which is not served here", service->name, stream->name, request->refused);
        finish(service, stream, false);
        return;
    }
    if (asked && request->wants_ack) {
        uint8_t ack[ESPBENCH_ACK];
        espbench_ack_write(ack);
        /* The socket's buffer is empty: so few bytes are taken at once, or never. */
        if (send(stream->fd, ack, sizeof ack, MSG_NOSIGNAL) != (ssize_t)sizeof ack) {
            finish(service, stream, true);
            return;
        }
    }
    begin(service, stream, asked && request->reverse ? SEND : RECEIVE, now);
    if (stream->step == RECEIVE) {
        stream->meter.bytes = stream->header_length;
        service->counters.bytes_in += stream->header_length;
    } else if (request->micros == 0 && request->bytes == 0) {
        request->micros = 10000000;
    }
}

/* Reads the header and no more, so that the payload stays in the socket. */
static void read_header(espbench_service_t *service, stream_t *stream, uint64_t now)
{
    ssize_t got = recv(stream->fd, stream->header + stream->header_length,
                       (size_t)(stream->header_wanted - stream->header_length), 0);
    if (got < 0) {
        if (!espbench_net_pause(errno)) {
            finish(service, stream, true);
        }
        return;
    }
    stream->heard = now;
    stream->header_length = (uint16_t)(stream->header_length + got);
    if (got == 0 && stream->header_length == 0) {
        finish(service, stream, false); /* a connection test */
        return;
    }
    if (got != 0 && stream->header_length < stream->header_wanted) {
        return;
    }
    /* A header's first byte is no letter and no digit. */
    bool letters = espbench_is_text(stream->header, stream->header_length);
    size_t length = letters ? 37 : espbench_request_length(espbench_get32(stream->header));
    if (got != 0 && length > stream->header_length) {
        stream->header_wanted = (uint16_t)length;
        return;
    }
    if (espbench_is_iperf3(stream->header, stream->header_length)) {
        service->counters.strays++;
        espbench_log("%s: %s is an iperf3 client, which is another protocol: use iperf 2", service->name, stream->name);
        finish(service, stream, false);
        return;
    }
    start_test(service, stream, now);
}

static void receive(espbench_service_t *service, stream_t *stream, uint64_t now)
{
    for (int i = 0; i < AT_ONCE; i++) {
        ssize_t got = recv(stream->fd, service->buffer, service->length, 0);
        if (got <= 0) {
            if (got == 0 || !espbench_net_pause(errno)) {
                finish(service, stream, got < 0 && stream->step == RECEIVE);
            }
            return;
        }
        stream->heard = now;
        if (stream->step == RECEIVE) {
            stream->meter.bytes += (uint64_t)got;
            service->counters.bytes_in += (uint64_t)got;
        }
        if ((size_t)got < service->length) {
            return;
        }
    }
}

/* Tells whether what the client asked for is sent. A source never ends. */
static bool is_sent(const stream_t *stream, uint64_t now)
{
    const espbench_request_t *request = &stream->request;
    return (request->micros != 0 && now - stream->meter.start >= request->micros) ||
           (request->bytes != 0 && stream->meter.bytes >= request->bytes);
}

static void pour(espbench_service_t *service, stream_t *stream, uint64_t now)
{
    for (int i = 0; i < AT_ONCE && !is_sent(stream, now); i++) {
        size_t left = service->length - stream->at;
        if (stream->at == 0 && espbench_pacer_due(&stream->pacer, now) == 0) {
            return;
        }
        uint64_t most = stream->request.bytes != 0 ? stream->request.bytes - stream->meter.bytes : left;
        ssize_t put = send(stream->fd, service->buffer + stream->at, most < left ? (size_t)most : left, MSG_NOSIGNAL);
        if (put < 0) {
            if (espbench_net_no_memory(errno)) {
                service->counters.no_memory++;
            } else if (!espbench_net_pause(errno)) {
                /* A client of a source leaves when it has enough. */
                tcp_t *tcp = service->state;
                finish(service, stream, tcp->kind == IPERF);
            }
            return;
        }
        stream->heard = now;
        stream->meter.bytes += (uint64_t)put;
        service->counters.bytes_out += (uint64_t)put;
        stream->at += (size_t)put;
        if (stream->at >= service->length) {
            stream->at = 0;
            stream->pacer.sent++;
        }
        if ((size_t)put < left) {
            return;
        }
    }
}

/* Gives one connection its turn. */
static void turn(espbench_service_t *service, stream_t *stream, const espbench_wait_t *wait)
{
    uint64_t now = espbench_port_now();
    if (stream->step == RECEIVE || stream->step == SEND) {
        espbench_meter_poll(&stream->meter, now);
    }
    if (stream->step == SEND && is_sent(stream, now)) {
        espbench_meter_end(&stream->meter, now);
        service->counters.skipped += (uint32_t)stream->pacer.skipped;
        shutdown(stream->fd, SHUT_WR);
        stream->step = DRAIN;
        stream->heard = now;
        return;
    }
    bool readable = FD_ISSET(stream->fd, &wait->read), writable = FD_ISSET(stream->fd, &wait->write);
    if (stream->step == HEADER && readable) {
        read_header(service, stream, now);
    } else if (stream->step == SEND && writable) {
        pour(service, stream, now);
    } else if ((stream->step == RECEIVE || stream->step == DRAIN) && readable) {
        receive(service, stream, now);
    } else if (now - stream->heard >= (stream->step == HEADER ? HEADER_US : stream->step == DRAIN ? DRAIN_US : IDLE_US)) {
        finish(service, stream, stream->step != DRAIN);
    }
}

/* Puts a connection among the sockets to wait for; answers the microseconds to wait at most. */
static uint64_t watch(const stream_t *stream, espbench_wait_t *wait, uint64_t now)
{
    uint64_t most = 100000;
    if (stream->step == SEND) {
        uint64_t pause = stream->at == 0 ? espbench_pacer_wait(&stream->pacer, now) : 0;
        if (pause == 0) {
            espbench_wait_write(wait, stream->fd);
        } else {
            most = pause;
        }
    } else {
        espbench_wait_read(wait, stream->fd);
    }
    if (stream->meter.interval != 0 && stream->meter.last + stream->meter.interval > now) {
        uint64_t line = stream->meter.last + stream->meter.interval - now;
        most = line < most ? line : most;
    }
    return most;
}

static void run(espbench_service_t *service)
{
    tcp_t *tcp = service->state;
    tcp->kind = (kind_t)service->config.tcp.kind;
    tcp->interval = service->config.tcp.interval;
    for (size_t i = 0; i < service->length; i++) {
        service->buffer[i] = (uint8_t)('0' + i % 10);
    }
    while (!espbench_stopped(service)) {
        espbench_wait_t wait;
        uint64_t now = espbench_port_now(), most = 100000;
        espbench_wait_clear(&wait);
        espbench_wait_read(&wait, service->fd);
        for (size_t i = 0; i < ESPBENCH_STREAMS; i++) {
            if (tcp->streams[i].step != FREE) {
                uint64_t own = watch(&tcp->streams[i], &wait, now);
                most = own < most ? own : most;
            }
        }
        espbench_wait(&wait, most);
        for (size_t i = 0; i < ESPBENCH_STREAMS; i++) {
            if (tcp->streams[i].step != FREE) {
                turn(service, &tcp->streams[i], &wait);
            }
        }
        if (FD_ISSET(service->fd, &wait.read)) {
            take_connection(service);
        }
    }
    for (size_t i = 0; i < ESPBENCH_STREAMS; i++) {
        if (tcp->streams[i].step != FREE) {
            finish(service, &tcp->streams[i], false);
        }
    }
}

static int start(const char *name, kind_t kind, uint16_t port, uint32_t buffer, uint32_t interval)
{
    if (buffer > LONGEST) {
        return ESPBENCH_ERR_ARG;
    }
    espbench_service_t *service = espbench_claim(name, run);
    if (service == NULL) {
        return ESPBENCH_ERR_FULL;
    }
    service->port = port;
    service->length = buffer != 0 ? buffer : 4096;
    service->fd = espbench_net_listen(port);
    if (service->fd < 0) {
        return espbench_discard(service, ESPBENCH_ERR_SOCKET);
    }
    service->config.tcp.kind = (int)kind;
    service->config.tcp.interval = interval;
    int id = espbench_launch(service, service->length, sizeof(tcp_t));
    if (id > 0) {
        espbench_log("%s %d: port %u", name, id, (unsigned)port);
    }
    return id;
}

int espbench_tcp_sink_start(const espbench_tcp_config_t *config)
{
    uint16_t port = config != NULL && config->port != 0 ? config->port : ESPBENCH_SINK_PORT;
    return start("tcp-sink", SINK, port, config != NULL ? config->buffer : 0, 0);
}

int espbench_tcp_source_start(const espbench_tcp_config_t *config)
{
    uint16_t port = config != NULL && config->port != 0 ? config->port : ESPBENCH_SOURCE_PORT;
    return start("tcp-source", SOURCE, port, config != NULL ? config->buffer : 0, 0);
}

int espbench_iperf_tcp_server(const espbench_iperf_config_t *config)
{
    return start("iperf-tcp", IPERF, config->port, config->length, config->interval);
}
