/* A stand-in: see ../README.md. */
#pragma once
typedef enum { ESP_LINE_ENDINGS_CRLF, ESP_LINE_ENDINGS_CR } esp_line_endings_t;
void esp_vfs_dev_uart_set_rx_line_endings(esp_line_endings_t mode);
void esp_vfs_dev_uart_set_tx_line_endings(esp_line_endings_t mode);
void esp_vfs_dev_uart_use_driver(int number);
