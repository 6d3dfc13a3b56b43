/* A stand-in: see README.md. */
#pragma once
#include "esp_event.h"

typedef struct {
    int none;
} wifi_init_config_t;
#define WIFI_INIT_CONFIG_DEFAULT() {0}
typedef enum { WIFI_AUTH_OPEN, WIFI_AUTH_WPA2_PSK = 3 } wifi_auth_mode_t;
typedef enum { WIFI_MODE_STA = 1, WIFI_MODE_AP } wifi_mode_t;
#ifdef CONFIG_IDF_TARGET_ESP8266
typedef enum { ESP_IF_WIFI_STA, ESP_IF_WIFI_AP } wifi_interface_t;
#else
typedef enum { WIFI_IF_STA, WIFI_IF_AP } wifi_interface_t;
#endif
typedef enum { WIFI_PS_NONE, WIFI_PS_MIN_MODEM } wifi_ps_type_t;
typedef struct {
    int8_t rssi;
    wifi_auth_mode_t authmode;
} wifi_scan_threshold_t;
typedef union {
    struct {
        uint8_t ssid[32], password[64], ssid_len, channel;
        wifi_auth_mode_t authmode;
        uint8_t ssid_hidden, max_connection;
    } ap;
    struct {
        uint8_t ssid[32], password[64];
        wifi_scan_threshold_t threshold;
    } sta;
} wifi_config_t;
typedef struct {
    uint8_t ssid[32], ssid_len, bssid[6], reason;
} wifi_event_sta_disconnected_t;
extern esp_event_base_t const WIFI_EVENT;
enum { WIFI_EVENT_STA_START = 2, WIFI_EVENT_STA_DISCONNECTED = 5 };
esp_err_t esp_wifi_init(const wifi_init_config_t *config);
esp_err_t esp_wifi_set_mode(wifi_mode_t mode);
esp_err_t esp_wifi_set_config(wifi_interface_t interface, wifi_config_t *config);
esp_err_t esp_wifi_set_ps(wifi_ps_type_t type);
esp_err_t esp_wifi_start(void);
esp_err_t esp_wifi_connect(void);
