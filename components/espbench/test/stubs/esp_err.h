/* A stand-in: see README.md. */
#pragma once
#include "sdkconfig.h"
#include <stdlib.h>

typedef int esp_err_t;
#define ESP_OK 0
#define ESP_ERR_NO_MEM 0x101
#define ESP_ERR_NOT_FOUND 0x105
#define ESP_ERROR_CHECK(x)   \
    do {                     \
        if ((x) != ESP_OK) { \
            abort();         \
        }                    \
    } while (0)
