/* The table of services, their counters, and the log.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "espbench_internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How long espbench_stop waits for a service, which looks every 100 ms. */
#define STOP_MS 5000

static espbench_service_t services[ESPBENCH_SERVICES];
static bool begun;
static int last_id;
static void (*printer)(const char *line);

const char *espbench_error(int error)
{
    static const char *const words[] = {
        "fine",
        "a value is out of its range",
        "no memory for its buffers",
        "too many services are running",
        "the port is taken, or there are no sockets left",
        "no IPv4 address is known for that name",
        "no task can be created",
        "no service has that number",
        "the service did not end in time",
        "no MQTT client was set (espbench_mqtt_set_client)",
    };
    size_t at = error <= 0 ? (size_t)-error : sizeof words;
    return at < sizeof words / sizeof *words ? words[at] : "unknown error";
}

void espbench_set_log(void (*print)(const char *line))
{
    printer = print;
}

void espbench_log(const char *format, ...)
{
    char line[200];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    if (printer != NULL) {
        printer(line);
    } else {
        puts(line);
    }
}

const char *espbench_decimal(uint64_t number, char out[21])
{
    char digits[21];
    size_t count = 0;
    do {
        digits[count++] = (char)('0' + number % 10);
        number /= 10;
    } while (number != 0);
    for (size_t i = 0; i < count; i++) {
        out[i] = digits[count - 1 - i];
    }
    out[count] = '\0';
    return out;
}

/* A counter's place in the struct and its name in the log. */
typedef struct {
    const char *name;
    size_t at;
} counter_t;

#define COUNTER(field) {#field, offsetof(espbench_counters_t, field)}

void espbench_log_counters(const char *name, int id, const espbench_counters_t *counters)
{
    static const counter_t wide[] = {COUNTER(bytes_in), COUNTER(bytes_out), COUNTER(packets_in),
                                     COUNTER(packets_out)};
    static const counter_t narrow[] = {
        COUNTER(connections),    COUNTER(connections_refused), COUNTER(connections_broken),
        COUNTER(no_memory),      COUNTER(send_errors),         COUNTER(receive_errors),
        COUNTER(truncated),      COUNTER(not_answered),        COUNTER(strays),
        COUNTER(refused_options), COUNTER(lost),               COUNTER(out_of_order),
        COUNTER(duplicates),     COUNTER(skipped),             COUNTER(publish_refused),
    };
    char line[180], number[21];
    size_t used = 0;
    line[0] = '\0';
    /* The amounts always, then what is not zero: nothing that was dropped is left out. */
    for (size_t i = 0; i < sizeof wide / sizeof *wide + sizeof narrow / sizeof *narrow; i++) {
        bool first = i < sizeof wide / sizeof *wide;
        const counter_t *counter = first ? &wide[i] : &narrow[i - sizeof wide / sizeof *wide];
        const char *field = (const char *)counters + counter->at;
        uint64_t value = 0;
        uint32_t small = 0;
        if (first) {
            memcpy(&value, field, sizeof value);
        } else {
            memcpy(&small, field, sizeof small);
            value = small;
        }
        if (value == 0 && !first) {
            continue;
        }
        size_t need = strlen(counter->name) + 23;
        if (used + need > sizeof line) {
            espbench_log("espbench: %s %d:%s", name, id, line);
            used = 0;
        }
        used += (size_t)snprintf(line + used, sizeof line - used, " %s=%s", counter->name,
                                 espbench_decimal(value, number));
    }
    espbench_log("espbench: %s %d:%s", name, id, line);
}

espbench_service_t *espbench_claim(const char *name, espbench_run_t run)
{
    if (!begun) {
        if (!espbench_port_begin()) {
            return NULL;
        }
        begun = true;
    }
    espbench_port_lock();
    /* A place that was never used, or else the one that ended first. */
    espbench_service_t *found = NULL;
    for (size_t i = 0; i < ESPBENCH_SERVICES; i++) {
        espbench_service_t *place = &services[i];
        if (!place->running && (found == NULL || place->id < found->id)) {
            found = place;
        }
    }
    if (found != NULL) {
        memset(found, 0, sizeof *found);
        last_id = last_id == INT32_MAX ? 1 : last_id + 1;
        found->id = last_id;
        found->running = true;
        found->name = name;
        found->run = run;
        found->fd = -1;
    }
    espbench_port_unlock();
    return found;
}

static void release(espbench_service_t *service)
{
    if (service->fd >= 0) {
        close(service->fd);
        service->fd = -1;
    }
    free(service->buffer);
    free(service->state);
    service->buffer = NULL;
    service->state = NULL;
}

int espbench_discard(espbench_service_t *service, int error)
{
    release(service);
    espbench_port_lock();
    service->running = false;
    service->id = 0;
    espbench_port_unlock();
    return error;
}

static void task(void *argument)
{
    espbench_service_t *service = argument;
    service->run(service);
    espbench_show(service);
    espbench_log_counters(service->name, service->id, &service->counters);
    release(service);
    espbench_port_lock();
    service->running = false;
    espbench_port_unlock();
}

int espbench_launch(espbench_service_t *service, size_t buffer, size_t state)
{
    int id = service->id;
    service->buffer = buffer == 0 ? NULL : malloc(buffer);
    service->state = state == 0 ? NULL : calloc(1, state);
    if ((buffer != 0 && service->buffer == NULL) || (state != 0 && service->state == NULL)) {
        return espbench_discard(service, ESPBENCH_ERR_MEMORY);
    }
    if (!espbench_port_task(service->name, task, service)) {
        return espbench_discard(service, ESPBENCH_ERR_TASK);
    }
    return id;
}

/* Finds a service; the lock is held. */
static espbench_service_t *find(int id)
{
    for (size_t i = 0; id > 0 && i < ESPBENCH_SERVICES; i++) {
        if (services[i].id == id) {
            return &services[i];
        }
    }
    return NULL;
}

espbench_service_t *espbench_hold(int id)
{
    if (!begun && espbench_port_begin()) {
        begun = true;
    }
    espbench_port_lock();
    return find(id);
}

bool espbench_running(int id)
{
    if (!begun) {
        return false;
    }
    espbench_port_lock();
    const espbench_service_t *service = find(id);
    bool running = service != NULL && service->running;
    espbench_port_unlock();
    return running;
}

int espbench_counters(int id, espbench_counters_t *out)
{
    if (out == NULL) {
        return ESPBENCH_ERR_ARG;
    }
    if (!begun) {
        return ESPBENCH_ERR_ID;
    }
    espbench_port_lock();
    const espbench_service_t *service = find(id);
    if (service != NULL) {
        *out = service->shown;
    }
    espbench_port_unlock();
    return service != NULL ? ESPBENCH_OK : ESPBENCH_ERR_ID;
}

int espbench_stop(int id)
{
    if (!begun) {
        return ESPBENCH_ERR_ID;
    }
    espbench_port_lock();
    espbench_service_t *service = find(id);
    if (service != NULL) {
        __atomic_store_n(&service->stop, 1, __ATOMIC_RELAXED);
    }
    espbench_port_unlock();
    if (service == NULL) {
        return ESPBENCH_ERR_ID;
    }
    for (int waited = 0; espbench_running(id); waited += 10) {
        if (waited >= STOP_MS) {
            return ESPBENCH_ERR_TIMEOUT;
        }
        espbench_port_sleep_ms(10);
    }
    return ESPBENCH_OK;
}

int espbench_stop_all(void)
{
    return espbench_stop_named("");
}

int espbench_stop_named(const char *prefix)
{
    int result = ESPBENCH_OK;
    for (size_t i = 0; begun && i < ESPBENCH_SERVICES; i++) {
        espbench_port_lock();
        bool meant = services[i].running && strncmp(services[i].name, prefix, strlen(prefix)) == 0;
        int id = meant ? services[i].id : 0;
        espbench_port_unlock();
        int stopped = id != 0 ? espbench_stop(id) : ESPBENCH_OK;
        result = stopped == ESPBENCH_ERR_TIMEOUT ? stopped : result;
    }
    return result;
}

void espbench_list(void)
{
    for (size_t i = 0; begun && i < ESPBENCH_SERVICES; i++) {
        espbench_port_lock();
        int id = services[i].id;
        bool running = services[i].running;
        const char *name = services[i].name;
        espbench_counters_t counters = services[i].shown;
        espbench_port_unlock();
        if (id != 0) {
            espbench_log("espbench: %s %d %s", name, id, running ? "runs" : "ended");
            espbench_log_counters(name, id, &counters);
        }
    }
}

void espbench_show(espbench_service_t *service)
{
    espbench_port_lock();
    service->shown = service->counters;
    espbench_port_unlock();
}

bool espbench_stopped(espbench_service_t *service)
{
    espbench_show(service);
    return __atomic_load_n(&service->stop, __ATOMIC_RELAXED) != 0;
}

void espbench_count_error(espbench_service_t *service, int error)
{
    if (espbench_net_no_memory(error)) {
        service->counters.no_memory++;
    } else {
        service->counters.send_errors++;
    }
}
