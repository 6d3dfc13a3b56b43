// A node with the console of the esp-now component, which the tests type at.
#include "esp_event.h"
#include "esp_netif.h"
#include "esp_now.h"
#include "esp_wifi.h"
#include "espnow.h"
#include "espnow_cmd.h"
#include "espnow_console.h"
#include "espnow_storage.h"

void app_main(void) {
    espnow_storage_init();
    esp_netif_init();
    ESP_ERROR_CHECK(esp_event_loop_create_default());
    wifi_init_config_t wifi = WIFI_INIT_CONFIG_DEFAULT();
    ESP_ERROR_CHECK(esp_wifi_init(&wifi));
    ESP_ERROR_CHECK(esp_wifi_set_mode(WIFI_MODE_STA));
    ESP_ERROR_CHECK(esp_wifi_start());
    espnow_config_t espnow = ESPNOW_INIT_CONFIG_DEFAULT();
    espnow_init(&espnow);
    espnow_console_config_t console = {.monitor_command.uart = true, .store_history = {.base_path = "/spiffs"}};
    espnow_console_init(&console);
    espnow_console_commands_register();
}
