/* A board with espbench's console: station or SoftAP, open or WPA2, by menuconfig.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "espbench.h"
#include "espbench_esp_mqtt.h"

#include "esp_console.h"
#include "esp_event.h"
#include "esp_idf_version.h"
#include "esp_log.h"
#include "esp_netif.h"
#include "esp_wifi.h"
#include "nvs_flash.h"

#include <string.h>

static const char TAG[] = "example";

/* Neither has a zero behind it in the driver's fields: an SSID may fill 32 bytes, a key in hexadecimal 64. */
#define SSID_LENGTH (sizeof CONFIG_EXAMPLE_SSID - 1)
#define PASSWORD_LENGTH (sizeof CONFIG_EXAMPLE_PASSWORD - 1)
_Static_assert(SSID_LENGTH >= 1 && SSID_LENGTH <= 32, "EXAMPLE_SSID: 1 to 32 bytes");
_Static_assert(PASSWORD_LENGTH == 0 || (PASSWORD_LENGTH >= 8 && PASSWORD_LENGTH <= 64),
               "EXAMPLE_PASSWORD: 8 to 63 characters, 64 hexadecimal digits, or none for an open network");

#ifdef CONFIG_EXAMPLE_STATION
static void on_event(void *argument, esp_event_base_t base, int32_t id, void *data)
{
    (void)argument;
    if (base == WIFI_EVENT && id == WIFI_EVENT_STA_START) {
        (void)esp_wifi_connect();
    } else if (base == WIFI_EVENT && id == WIFI_EVENT_STA_DISCONNECTED) {
        const wifi_event_sta_disconnected_t *event = data;
        ESP_LOGW(TAG, "disconnected, reason %d", event->reason);
        (void)esp_wifi_connect();
    } else if (base == IP_EVENT && id == IP_EVENT_STA_GOT_IP) {
        const ip_event_got_ip_t *event = data;
        ESP_LOGI(TAG, "address " IPSTR, IP2STR(&event->ip_info.ip));
    }
}
#endif

static void start_wifi(void)
{
    wifi_init_config_t setup = WIFI_INIT_CONFIG_DEFAULT();
    wifi_config_t wifi;
    memset(&wifi, 0, sizeof wifi);
    ESP_ERROR_CHECK(esp_netif_init());
    ESP_ERROR_CHECK(esp_event_loop_create_default());
#ifdef CONFIG_EXAMPLE_STATION
    (void)esp_netif_create_default_wifi_sta();
    ESP_ERROR_CHECK(esp_wifi_init(&setup));
    ESP_ERROR_CHECK(esp_event_handler_register(WIFI_EVENT, ESP_EVENT_ANY_ID, on_event, NULL));
    ESP_ERROR_CHECK(esp_event_handler_register(IP_EVENT, IP_EVENT_STA_GOT_IP, on_event, NULL));
    memcpy(wifi.sta.ssid, CONFIG_EXAMPLE_SSID, SSID_LENGTH);
    memcpy(wifi.sta.password, CONFIG_EXAMPLE_PASSWORD, PASSWORD_LENGTH);
    wifi.sta.threshold.authmode = PASSWORD_LENGTH > 0 ? WIFI_AUTH_WPA2_PSK : WIFI_AUTH_OPEN;
    ESP_ERROR_CHECK(esp_wifi_set_mode(WIFI_MODE_STA));
    ESP_ERROR_CHECK(esp_wifi_set_config(WIFI_IF_STA, &wifi));
#else
    (void)esp_netif_create_default_wifi_ap();
    ESP_ERROR_CHECK(esp_wifi_init(&setup));
    memcpy(wifi.ap.ssid, CONFIG_EXAMPLE_SSID, SSID_LENGTH);
    memcpy(wifi.ap.password, CONFIG_EXAMPLE_PASSWORD, PASSWORD_LENGTH);
    wifi.ap.ssid_len = (uint8_t)SSID_LENGTH;
    wifi.ap.channel = CONFIG_EXAMPLE_CHANNEL;
    wifi.ap.max_connection = 4;
    wifi.ap.authmode = PASSWORD_LENGTH > 0 ? WIFI_AUTH_WPA2_PSK : WIFI_AUTH_OPEN;
    ESP_ERROR_CHECK(esp_wifi_set_mode(WIFI_MODE_AP));
    ESP_ERROR_CHECK(esp_wifi_set_config(WIFI_IF_AP, &wifi));
#endif
    ESP_ERROR_CHECK(esp_wifi_start());
#ifdef CONFIG_EXAMPLE_SOFTAP
    ESP_LOGI(TAG, "SoftAP %s, address 192.168.4.1", CONFIG_EXAMPLE_SSID);
#endif
#ifdef CONFIG_EXAMPLE_PS_NONE
    ESP_ERROR_CHECK(esp_wifi_set_ps(WIFI_PS_NONE));
#endif
}

static void start_mqtt(void)
{
    if (CONFIG_EXAMPLE_BROKER[0] == '\0') {
        return;
    }
    esp_mqtt_client_config_t config;
    memset(&config, 0, sizeof config);
#if ESP_IDF_VERSION >= ESP_IDF_VERSION_VAL(5, 0, 0)
    config.broker.address.uri = CONFIG_EXAMPLE_BROKER;
#else
    config.uri = CONFIG_EXAMPLE_BROKER;
#endif
    esp_mqtt_client_handle_t client = esp_mqtt_client_init(&config);
    if (client != NULL && esp_mqtt_client_start(client) == ESP_OK) {
        espbench_mqtt_set_client(espbench_esp_mqtt_publish, client);
    }
}

static void start_console(void)
{
    esp_console_repl_t *repl = NULL;
    esp_console_repl_config_t config = ESP_CONSOLE_REPL_CONFIG_DEFAULT();
    config.prompt = "espbench>";
    /* Above the services, so that it answers while one is busy without a pause. */
    config.task_priority = CONFIG_ESPBENCH_TASK_PRIORITY + 1;
#ifdef CONFIG_ESP_CONSOLE_USB_SERIAL_JTAG
    esp_console_dev_usb_serial_jtag_config_t port = ESP_CONSOLE_DEV_USB_SERIAL_JTAG_CONFIG_DEFAULT();
    ESP_ERROR_CHECK(esp_console_new_repl_usb_serial_jtag(&port, &config, &repl));
#elif defined(CONFIG_ESP_CONSOLE_USB_CDC)
    esp_console_dev_usb_cdc_config_t port = ESP_CONSOLE_DEV_CDC_CONFIG_DEFAULT();
    ESP_ERROR_CHECK(esp_console_new_repl_usb_cdc(&port, &config, &repl));
#else
    esp_console_dev_uart_config_t port = ESP_CONSOLE_DEV_UART_CONFIG_DEFAULT();
    ESP_ERROR_CHECK(esp_console_new_repl_uart(&port, &config, &repl));
#endif
    (void)espbench_console_register();
    ESP_ERROR_CHECK(esp_console_start_repl(repl));
}

void app_main(void)
{
    esp_err_t stored = nvs_flash_init();
    if (stored == ESP_ERR_NVS_NO_FREE_PAGES || stored == ESP_ERR_NVS_NEW_VERSION_FOUND) {
        ESP_ERROR_CHECK(nvs_flash_erase());
        stored = nvs_flash_init();
    }
    ESP_ERROR_CHECK(stored);
    start_wifi();
    start_mqtt();
    (void)espbench_udp_echo_start(NULL);
    (void)espbench_tcp_sink_start(NULL);
    start_console();
}
