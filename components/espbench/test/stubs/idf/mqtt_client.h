/* A stand-in: see ../README.md. */
#pragma once
#include "esp_err.h"
#include "esp_idf_version.h"
#include <stdbool.h>

typedef struct esp_mqtt_client *esp_mqtt_client_handle_t;
typedef struct {
#if ESP_IDF_VERSION >= ESP_IDF_VERSION_VAL(5, 0, 0)
    struct {
        struct {
            const char *uri;
        } address;
    } broker;
#else
    const char *uri;
#endif
} esp_mqtt_client_config_t;
typedef struct {
    char *data;
    int data_len, total_data_len, current_data_offset;
} esp_mqtt_event_t;
typedef esp_mqtt_event_t *esp_mqtt_event_handle_t;
esp_mqtt_client_handle_t esp_mqtt_client_init(const esp_mqtt_client_config_t *config);
esp_err_t esp_mqtt_client_start(esp_mqtt_client_handle_t client);
int esp_mqtt_client_publish(esp_mqtt_client_handle_t client, const char *topic, const char *data, int length, int qos, int retain);
int esp_mqtt_client_enqueue(esp_mqtt_client_handle_t client, const char *topic, const char *data, int length, int qos,
                            int retain, bool store);
