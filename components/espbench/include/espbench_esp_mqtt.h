/* Espressif's MQTT client (esp-mqtt) as the client of mqtt-bench.
 *
 *     esp_mqtt_client_handle_t client = esp_mqtt_client_init(&config);
 *     espbench_mqtt_set_client(espbench_esp_mqtt_publish, client);
 *
 * In headers only, so that firmware without MQTT links without it.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef ESPBENCH_ESP_MQTT_H
#define ESPBENCH_ESP_MQTT_H

#include "espbench.h"
#include "mqtt_client.h"

/* Puts a message into the outbox; the client's own task sends it. Below 0: not taken (-2: the outbox is full). */
static inline int espbench_esp_mqtt_publish(void *client, const char *topic, const void *data, size_t length, int qos)
{
#ifdef CONFIG_IDF_TARGET_ESP8266
    /* ESP8266_RTOS_SDK's client is older: this call may wait for the network. */
    return esp_mqtt_client_publish((esp_mqtt_client_handle_t)client, topic, (const char *)data, (int)length, qos, 0);
#else
    return esp_mqtt_client_enqueue((esp_mqtt_client_handle_t)client, topic, (const char *)data, (int)length, qos, 0, true);
#endif
}

/* Counts the message of an MQTT_EVENT_DATA; of one that comes in pieces only the first is looked at. */
static inline void espbench_esp_mqtt_data(int id, esp_mqtt_event_handle_t event)
{
    if (event->current_data_offset == 0) {
        (void)espbench_mqtt_received(id, event->data, (size_t)event->data_len);
    }
}
#endif
