/* Numbered messages: published through any MQTT client, and counted where they come.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "espbench_internal.h"
#include "espbench_meter.h"
#include "espbench_mqtt_payload.h"

#include <stdio.h>
#include <string.h>

#define SMALLEST ESPBENCH_PAYLOAD_HEADER
#define LARGEST 4096

static espbench_publish_t usual_publish;
static void *usual_client;

void espbench_mqtt_set_client(espbench_publish_t publish, void *client)
{
    usual_publish = publish;
    usual_client = client;
}

/* The pacer counts bits; a message is one unit of eight. */
#define UNIT_BITS 8u

static void publish(espbench_service_t *service)
{
    const espbench_mqtt_work_t *work = &service->config.mqtt;
    espbench_counters_t *counters = &service->counters;
    espbench_pacer_t pacer;
    espbench_pacer_begin(&pacer, espbench_port_now(), (uint64_t)work->rate * UNIT_BITS, 1);
    uint64_t number = 0;
    while (!espbench_stopped(service) && (work->count == 0 || number < work->count)) {
        uint64_t now = espbench_port_now(), due = espbench_pacer_due(&pacer, now);
        for (; due > 0 && (work->count == 0 || number < work->count); due--) {
            size_t length = work->size;
            if (work->text) {
                length = espbench_payload_text((char *)service->buffer, number);
            } else {
                espbench_payload_write(service->buffer, length, number, espbench_port_now() * 1000);
            }
            /* A refused message uses up its number: the receiver sees the gap, and the counter here tells its cause. */
            if (work->publish(work->client, work->topic, service->buffer, length, work->qos) < 0) {
                counters->publish_refused++;
            } else {
                counters->packets_out++;
                counters->bytes_out += length;
            }
            number++;
            pacer.sent++;
        }
        uint64_t pause = espbench_pacer_wait(&pacer, espbench_port_now());
        if (pause > 0) {
            espbench_port_sleep_ms((uint32_t)(pause < 100000 ? (pause + 999) / 1000 : 100));
        }
    }
    counters->skipped = (uint32_t)pacer.skipped;
}

int espbench_mqtt_start(const espbench_mqtt_config_t *config)
{
    static const espbench_mqtt_config_t usual = ESPBENCH_MQTT_DEFAULT;
    config = config != NULL ? config : &usual;
    const char *topic = config->topic != NULL ? config->topic : "espbench";
    uint32_t size = config->size != 0 ? config->size : 64;
    if (size < SMALLEST || size > LARGEST || config->qos > 2 || strlen(topic) >= ESPBENCH_NAME) {
        return ESPBENCH_ERR_ARG;
    }
    if (config->publish == NULL && usual_publish == NULL) {
        return ESPBENCH_ERR_CLIENT;
    }
    espbench_service_t *service = espbench_claim("mqtt-bench", publish);
    if (service == NULL) {
        return ESPBENCH_ERR_FULL;
    }
    espbench_mqtt_work_t *work = &service->config.mqtt;
    work->publish = config->publish != NULL ? config->publish : usual_publish;
    work->client = config->publish != NULL ? config->client : usual_client;
    work->count = config->count;
    work->rate = config->rate != 0 ? config->rate : 10;
    work->size = size;
    work->qos = config->qos;
    work->text = config->text;
    (void)snprintf(work->topic, sizeof work->topic, "%s", topic);
    size_t buffer = size > ESPBENCH_PAYLOAD_TEXT ? size : ESPBENCH_PAYLOAD_TEXT;
    int id = espbench_launch(service, buffer, 0);
    if (id > 0) {
        espbench_log("mqtt-bench %d: topic %s", id, topic);
    }
    return id;
}

/* Waits: messages come from the MQTT client's task. */
static void listen_run(espbench_service_t *service)
{
    while (__atomic_load_n(&service->stop, __ATOMIC_RELAXED) == 0) {
        espbench_port_sleep_ms(100);
    }
    /* From here on nothing is counted any more: the counters are the task's again. */
    espbench_port_lock();
    service->counters = service->shown;
    espbench_port_unlock();
}

int espbench_mqtt_listen_start(void)
{
    espbench_service_t *service = espbench_claim("mqtt-listen", listen_run);
    if (service == NULL) {
        return ESPBENCH_ERR_FULL;
    }
    return espbench_launch(service, 0, sizeof(espbench_order_t));
}

/* Counts a message of a listener; the lock is held. */
static void count(espbench_service_t *service, const uint8_t *data, size_t length)
{
    espbench_counters_t *counters = &service->shown;
    espbench_order_t *order = service->state;
    uint64_t number = 0;
    if (!espbench_payload_number(data, length, &number)) {
        counters->strays++;
        return;
    }
    /* A listener may come late: numbers begin with the first one that it hears. */
    if (!order->begun) {
        espbench_order_begin(order, number);
    }
    if (espbench_order_take(order, number) == ESPBENCH_DOUBTFUL) {
        counters->strays++;
        return;
    }
    counters->packets_in++;
    counters->bytes_in += length;
    counters->lost = (uint32_t)order->lost;
    counters->out_of_order = (uint32_t)order->late;
    counters->duplicates = (uint32_t)order->duplicates;
}

int espbench_mqtt_received(int id, const void *data, size_t length)
{
    if (data == NULL && length != 0) {
        return ESPBENCH_ERR_ARG;
    }
    espbench_service_t *service = espbench_hold(id);
    bool listens = service != NULL && service->run == listen_run && service->running &&
                   __atomic_load_n(&service->stop, __ATOMIC_RELAXED) == 0;
    if (listens) {
        count(service, data, length);
    }
    espbench_port_unlock();
    return listens ? ESPBENCH_OK : ESPBENCH_ERR_ID;
}
