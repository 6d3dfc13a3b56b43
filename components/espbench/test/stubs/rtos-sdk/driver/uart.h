/* A stand-in: see ../../README.md. */
#pragma once
#include "esp_err.h"
typedef int uart_port_t;
typedef void *QueueHandle_t;
esp_err_t uart_driver_install(uart_port_t number, int receive, int transmit, int queue_size, QueueHandle_t *queue, int none);
