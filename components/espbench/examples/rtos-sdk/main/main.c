/* An ESP8266 with espbench's console: station or SoftAP, open or WPA2, by menuconfig.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "espbench.h"

/* First: this SDK's drivers expect it. */
#include "freertos/FreeRTOS.h"
#include "freertos/task.h"

#include "driver/uart.h"
#include "esp_console.h"
#include "esp_event.h"
#include "esp_log.h"
#include "esp_netif.h"
#include "esp_vfs_dev.h"
#include "esp_wifi.h"
#include "linenoise/linenoise.h"
#include "nvs_flash.h"

#include <stdio.h>
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
    tcpip_adapter_init();
    ESP_ERROR_CHECK(esp_event_loop_create_default());
    ESP_ERROR_CHECK(esp_wifi_init(&setup));
#ifdef CONFIG_EXAMPLE_STATION
    ESP_ERROR_CHECK(esp_event_handler_register(WIFI_EVENT, ESP_EVENT_ANY_ID, on_event, NULL));
    ESP_ERROR_CHECK(esp_event_handler_register(IP_EVENT, IP_EVENT_STA_GOT_IP, on_event, NULL));
    memcpy(wifi.sta.ssid, CONFIG_EXAMPLE_SSID, SSID_LENGTH);
    memcpy(wifi.sta.password, CONFIG_EXAMPLE_PASSWORD, PASSWORD_LENGTH);
    wifi.sta.threshold.authmode = PASSWORD_LENGTH > 0 ? WIFI_AUTH_WPA2_PSK : WIFI_AUTH_OPEN;
    ESP_ERROR_CHECK(esp_wifi_set_mode(WIFI_MODE_STA));
    ESP_ERROR_CHECK(esp_wifi_set_config(ESP_IF_WIFI_STA, &wifi));
#else
    memcpy(wifi.ap.ssid, CONFIG_EXAMPLE_SSID, SSID_LENGTH);
    memcpy(wifi.ap.password, CONFIG_EXAMPLE_PASSWORD, PASSWORD_LENGTH);
    wifi.ap.ssid_len = (uint8_t)SSID_LENGTH;
    wifi.ap.channel = CONFIG_EXAMPLE_CHANNEL;
    wifi.ap.max_connection = 4;
    wifi.ap.authmode = PASSWORD_LENGTH > 0 ? WIFI_AUTH_WPA2_PSK : WIFI_AUTH_OPEN;
    ESP_ERROR_CHECK(esp_wifi_set_mode(WIFI_MODE_AP));
    ESP_ERROR_CHECK(esp_wifi_set_config(ESP_IF_WIFI_AP, &wifi));
#endif
    ESP_ERROR_CHECK(esp_wifi_start());
#ifdef CONFIG_EXAMPLE_SOFTAP
    ESP_LOGI(TAG, "SoftAP %s, address 192.168.4.1", CONFIG_EXAMPLE_SSID);
#endif
#ifdef CONFIG_EXAMPLE_PS_NONE
    ESP_ERROR_CHECK(esp_wifi_set_ps(WIFI_PS_NONE));
#endif
}

static void start_console(void)
{
    esp_console_config_t config;
    memset(&config, 0, sizeof config);
    config.max_cmdline_args = 32;
    config.max_cmdline_length = 256;
    setvbuf(stdin, NULL, _IONBF, 0);
    esp_vfs_dev_uart_set_rx_line_endings(ESP_LINE_ENDINGS_CR);
    esp_vfs_dev_uart_set_tx_line_endings(ESP_LINE_ENDINGS_CRLF);
    ESP_ERROR_CHECK(uart_driver_install(CONFIG_ESP_CONSOLE_UART_NUM, 256, 0, 0, NULL, 0));
    esp_vfs_dev_uart_use_driver(CONFIG_ESP_CONSOLE_UART_NUM);
    ESP_ERROR_CHECK(esp_console_init(&config));
    (void)esp_console_register_help_command();
    (void)espbench_console_register();
    /* Commands come from a program as often as from a terminal. */
    linenoiseSetDumbMode(1);
}

void app_main(void)
{
    ESP_ERROR_CHECK(nvs_flash_init());
    start_wifi();
    (void)espbench_udp_echo_start(NULL);
    start_console();
    /* Above the services, so that it answers while one is busy without a pause. */
    vTaskPrioritySet(NULL, CONFIG_ESPBENCH_TASK_PRIORITY + 1);
    for (;;) {
        char *line = linenoise("espbench> ");
        int status = 0;
        if (line == NULL) {
            continue;
        }
        if (esp_console_run(line, &status) == ESP_ERR_NOT_FOUND) {
            printf("unknown command; `help` has them\n");
        }
        linenoiseFree(line);
    }
}
