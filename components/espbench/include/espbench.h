/* espbench: the device's side of wireless measurements, over BSD sockets.
 *
 * Each service is a task of its own. A start function answers the service's number (1 or more), or one of the
 * errors below. Nothing here aborts; memory is taken at the start of a service and given back at its end.
 *
 *     espbench_udp_echo_start(NULL);              // as the published sketch: port 10000, replies to port 10001
 *     espbench_iperf_config_t server = ESPBENCH_IPERF_DEFAULT;
 *     int id = espbench_iperf_start(&server);     // iperf -s
 *     ...
 *     espbench_stop(id);
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef ESPBENCH_H
#define ESPBENCH_H

#ifdef ESP_PLATFORM
/* Settings of menuconfig: no SDK includes them by itself. */
#include "sdkconfig.h"
#endif

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ESPBENCH_VERSION "0.1.0"

/* Services that can be at once: running ones, and ended ones whose counters are kept until the place is needed. */
#ifdef CONFIG_ESPBENCH_SERVICES
#define ESPBENCH_SERVICES CONFIG_ESPBENCH_SERVICES
#else
#define ESPBENCH_SERVICES 8
#endif

/* Connections (TCP) or flows (UDP) that one service serves at once; a further one is refused and counted. */
#ifdef CONFIG_ESPBENCH_STREAMS
#define ESPBENCH_STREAMS CONFIG_ESPBENCH_STREAMS
#else
#define ESPBENCH_STREAMS 4
#endif

enum {
    ESPBENCH_OK = 0,
    ESPBENCH_ERR_ARG = -1,     /* a value out of its range */
    ESPBENCH_ERR_MEMORY = -2,  /* no heap for the buffers */
    ESPBENCH_ERR_FULL = -3,    /* ESPBENCH_SERVICES are running */
    ESPBENCH_ERR_SOCKET = -4,  /* the port is taken, or there are no sockets left */
    ESPBENCH_ERR_ADDRESS = -5, /* no IPv4 address is known for the host's name */
    ESPBENCH_ERR_TASK = -6,    /* the task could not be created */
    ESPBENCH_ERR_ID = -7,      /* no service has that number */
    ESPBENCH_ERR_TIMEOUT = -8, /* the service did not end within five seconds */
    ESPBENCH_ERR_CLIENT = -9,  /* no MQTT client was set */
};

/* Returns an error in words. */
const char *espbench_error(int error);

/* The counts of one service since its start. */
typedef struct {
    uint64_t bytes_in, bytes_out;     /* payload */
    uint64_t packets_in, packets_out; /* datagrams or messages */
    uint32_t connections;             /* TCP connections accepted or opened; UDP flows */
    uint32_t connections_refused;     /* beyond ESPBENCH_STREAMS */
    uint32_t connections_broken;      /* ended by an error or by silence */
    uint32_t no_memory;               /* sends refused for want of buffers (ENOMEM, ENOBUFS) */
    uint32_t send_errors;             /* sends refused for another reason */
    uint32_t receive_errors;          /* receives that failed */
    uint32_t truncated;               /* datagrams longer than the buffer, not answered */
    uint32_t not_answered;            /* datagrams from ports where a service listens: they might come back for ever */
    uint32_t strays;                  /* datagrams or headers that are not iperf's; messages without a number */
    uint32_t refused_options;         /* tests that ask for what is not served */
    uint32_t lost, out_of_order, duplicates; /* by the numbers of what was received */
    uint32_t skipped;                 /* sends that came due during a stall and were not caught up */
    uint32_t publish_refused;         /* messages that the MQTT client did not take */
} espbench_counters_t;

/* UDP echo. Datagrams go back as they came. */
typedef struct {
    uint16_t port;       /* 0: ESPBENCH_ECHO_PORT */
    uint16_t reply_port; /* port of the sender's address to which replies go; ESPBENCH_REPLY_SENDER: where it sent
                          * from, as espbench's binary probes always have it */
    uint16_t longest;    /* longest datagram that is echoed, in bytes; 0: 1472 */
} espbench_udp_echo_config_t;

#define ESPBENCH_ECHO_PORT 10000       /* of the published sketch */
#define ESPBENCH_ECHO_REPLY_PORT 10001 /* of the published sketch */
#define ESPBENCH_REPLY_SENDER 0
#define ESPBENCH_UDP_ECHO_DEFAULT {ESPBENCH_ECHO_PORT, ESPBENCH_ECHO_REPLY_PORT, 1472}

/* Starts the echo; NULL takes the default. */
int espbench_udp_echo_start(const espbench_udp_echo_config_t *config);

/* TCP sink, which takes whatever comes, and source, which sends without end. */
typedef struct {
    uint16_t port;   /* 0: ESPBENCH_SINK_PORT or ESPBENCH_SOURCE_PORT */
    uint32_t buffer; /* bytes of a read or write; 0: 4096 */
} espbench_tcp_config_t;

#define ESPBENCH_SINK_PORT 3333
#define ESPBENCH_SOURCE_PORT 3334

int espbench_tcp_sink_start(const espbench_tcp_config_t *config);
int espbench_tcp_source_start(const espbench_tcp_config_t *config);

/* iperf 2, as server or client, over TCP or UDP. A server also sends, where the client asks for it (-R). */
typedef struct {
    const char *host;     /* NULL: a server */
    uint16_t port;        /* 0: ESPBENCH_IPERF_PORT */
    bool udp;
    bool reverse;         /* client: the server sends */
    uint32_t seconds;     /* client: 0 is 10 */
    uint64_t bytes;       /* client: ends after so many bytes instead of by time, where not 0 */
    uint32_t interval;    /* seconds from one printed line to the next; 0: the total only */
    uint64_t rate;        /* client: bit/s of payload; 0: 1048576 over UDP, as fast as it goes over TCP */
    uint32_t length;      /* bytes of a datagram or of a read and write; 0: 1470 or 4096 */
} espbench_iperf_config_t;

#define ESPBENCH_IPERF_PORT 5001
#define ESPBENCH_IPERF_DEFAULT {NULL, 0, false, false, 0, 0, 0, 0, 0}

int espbench_iperf_start(const espbench_iperf_config_t *config);

/* Hands one message to an MQTT client without waiting for the network; answers below 0 where it was not taken. */
typedef int (*espbench_publish_t)(void *client, const char *topic, const void *data, size_t length, int qos);

/* Numbered messages over any MQTT client. */
typedef struct {
    espbench_publish_t publish; /* NULL: the one of espbench_mqtt_set_client */
    void *client;
    const char *topic;  /* NULL: "espbench" */
    uint32_t count;     /* 0: until it is stopped */
    uint32_t rate;      /* messages a second; 0: 10 */
    uint32_t size;      /* bytes of a message, 16 to 4096; 0: 64; as text at most 22 digits and words are sent */
    uint8_t qos;        /* 0 to 2 */
    bool text;          /* "Sample #10282" instead of number, time and pattern */
} espbench_mqtt_config_t;

#define ESPBENCH_MQTT_DEFAULT {NULL, NULL, NULL, 0, 0, 0, 0, false}

int espbench_mqtt_start(const espbench_mqtt_config_t *config);

/* Sets the client that the console's mqtt-bench publishes through. */
void espbench_mqtt_set_client(espbench_publish_t publish, void *client);

/* Starts counting numbered messages that come; espbench_mqtt_received hands each over (from any task). */
int espbench_mqtt_listen_start(void);
int espbench_mqtt_received(int id, const void *data, size_t length);

/* Stops a service and waits for its end (it looks every 100 ms). Stopping an ended one is no error. */
int espbench_stop(int id);
/* Stops all services. */
int espbench_stop_all(void);
/* Tells whether the service still runs. */
bool espbench_running(int id);
/* Copies the counters of a service, running or ended. */
int espbench_counters(int id, espbench_counters_t *out);

/* Carries out one command as typed, such as {"iperf", "-s"}; answers 0, or 1 after printing what is wrong.
 * Commands: udp-echo, tcp-sink, tcp-source, iperf, mqtt-bench, espbench. */
int espbench_command(int argc, char **argv);

/* Registers the commands with esp_console; ESP-IDF and ESP8266_RTOS_SDK only. */
int espbench_console_register(void);

/* Sets what prints lines (without their ends); NULL prints to stdout. */
void espbench_set_log(void (*print)(const char *line));

#ifdef __cplusplus
}
#endif
#endif
