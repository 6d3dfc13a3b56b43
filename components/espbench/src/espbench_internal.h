/* Services, as their tasks see them.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef ESPBENCH_INTERNAL_H
#define ESPBENCH_INTERNAL_H

#include "espbench.h"
#include "espbench_net.h"

/* The port: espbench_port_posix.c or espbench_port_freertos.c. */

/* Prepares the lock; called before any other. False without memory. */
bool espbench_port_begin(void);
void espbench_port_lock(void);
void espbench_port_unlock(void);
/* Microseconds on a clock that never goes back. */
uint64_t espbench_port_now(void);
/* Lets other tasks run for at least that long. */
void espbench_port_sleep_ms(uint32_t ms);
/* Starts a task that calls run(argument) and ends when it returns. */
bool espbench_port_task(const char *name, void (*run)(void *), void *argument);

/* Longest host name or topic. */
#define ESPBENCH_NAME 64

typedef struct {
    espbench_publish_t publish;
    void *client;
    uint32_t count, rate, size;
    uint8_t qos;
    bool text;
    char topic[ESPBENCH_NAME];
} espbench_mqtt_work_t;

typedef struct espbench_service espbench_service_t;

/* The work of a service: returns when it is over or stopped. */
typedef void (*espbench_run_t)(espbench_service_t *service);

struct espbench_service {
    int id; /* 0 where the place was never used */
    bool running;
    int stop; /* atomic */
    const char *name;
    espbench_run_t run;
    int fd;          /* closed at the end where not below 0 */
    uint8_t *buffer; /* both freed at the end */
    void *state;
    size_t length; /* bytes of a datagram, read or write */
    espbench_counters_t counters; /* the task's own */
    espbench_counters_t shown;    /* under the lock */
    union {
        uint16_t reply_port;
        struct {
            int kind;
            uint32_t interval;
        } tcp;
        espbench_iperf_config_t iperf;
        espbench_mqtt_work_t mqtt;
    } config;
    char host[ESPBENCH_NAME];
    struct sockaddr_in peer;
    uint16_t port;
};

/* Takes a place for a service; answers NULL where all are taken. It is nobody's until espbench_launch or _discard. */
espbench_service_t *espbench_claim(const char *name, espbench_run_t run);
/* Starts the service's task with a buffer and a cleared state of these sizes; answers its number or an error. */
int espbench_launch(espbench_service_t *service, size_t buffer, size_t state);
/* Gives a claimed place back; answers the error. */
int espbench_discard(espbench_service_t *service, int error);

/* Takes the lock and finds a service; NULL where none has that number. The caller unlocks. */
espbench_service_t *espbench_hold(int id);

/* Stops the services whose names begin so. */
int espbench_stop_named(const char *prefix);

/* Tells whether the service is to end; also shows its counters. */
bool espbench_stopped(espbench_service_t *service);
/* Copies the counters to where others read them. */
void espbench_show(espbench_service_t *service);
/* Counts a send that failed with this error. */
void espbench_count_error(espbench_service_t *service, int error);

/* iperf's tasks, with the configuration's zeros filled in. */
int espbench_iperf_tcp_server(const espbench_iperf_config_t *config);
int espbench_iperf_udp_server(const espbench_iperf_config_t *config);
int espbench_iperf_client(const espbench_iperf_config_t *config);

/* Prints one line. Numbers of 64 bits go through espbench_decimal: small C libraries print none. */
void espbench_log(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Writes a number into 21 bytes and returns them. */
const char *espbench_decimal(uint64_t number, char out[21]);
/* Prints the counters of a service in one line. */
void espbench_log_counters(const char *name, int id, const espbench_counters_t *counters);
/* Prints all services and their counters. */
void espbench_list(void);

#endif
