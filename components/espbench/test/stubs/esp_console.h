/* A stand-in: see README.md. */
#pragma once
#include "esp_err.h"
#include <stddef.h>
#include <stdint.h>

typedef int (*esp_console_cmd_func_t)(int argc, char **argv);
typedef struct {
    const char *command, *help, *hint;
    esp_console_cmd_func_t func;
    void *argtable;
} esp_console_cmd_t;
typedef struct {
    size_t max_cmdline_length, max_cmdline_args;
    int hint_color, hint_bold;
} esp_console_config_t;
typedef struct esp_console_repl_s esp_console_repl_t;
typedef struct {
    const char *prompt;
    uint32_t task_stack_size, task_priority;
} esp_console_repl_config_t;
#define ESP_CONSOLE_REPL_CONFIG_DEFAULT() {NULL, 4096, 2}

esp_err_t esp_console_init(const esp_console_config_t *config);
esp_err_t esp_console_cmd_register(const esp_console_cmd_t *command);
esp_err_t esp_console_register_help_command(void);
esp_err_t esp_console_run(const char *line, int *status);
/* Only the console that was chosen is there. */
#if defined(CONFIG_ESP_CONSOLE_UART_DEFAULT)
typedef struct {
    int channel;
} esp_console_dev_uart_config_t;
#define ESP_CONSOLE_DEV_UART_CONFIG_DEFAULT() {CONFIG_ESP_CONSOLE_UART_NUM}
esp_err_t esp_console_new_repl_uart(const esp_console_dev_uart_config_t *port, const esp_console_repl_config_t *config,
                                    esp_console_repl_t **repl);
#elif defined(CONFIG_ESP_CONSOLE_USB_SERIAL_JTAG)
typedef struct {
} esp_console_dev_usb_serial_jtag_config_t;
#define ESP_CONSOLE_DEV_USB_SERIAL_JTAG_CONFIG_DEFAULT() {}
esp_err_t esp_console_new_repl_usb_serial_jtag(const esp_console_dev_usb_serial_jtag_config_t *port,
                                               const esp_console_repl_config_t *config, esp_console_repl_t **repl);
#elif defined(CONFIG_ESP_CONSOLE_USB_CDC)
typedef struct {
} esp_console_dev_usb_cdc_config_t;
#define ESP_CONSOLE_DEV_CDC_CONFIG_DEFAULT() {}
esp_err_t esp_console_new_repl_usb_cdc(const esp_console_dev_usb_cdc_config_t *port, const esp_console_repl_config_t *config,
                                       esp_console_repl_t **repl);
#endif
esp_err_t esp_console_start_repl(esp_console_repl_t *repl);
