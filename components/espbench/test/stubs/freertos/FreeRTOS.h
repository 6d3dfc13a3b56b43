/* A stand-in: see ../README.md. */
#pragma once
#include "sdkconfig.h"
#include <stdint.h>
#include <stdlib.h>

typedef uint32_t TickType_t;
typedef int BaseType_t;
typedef unsigned UBaseType_t;

#define pdPASS 1
#define pdTRUE 1
#define portMAX_DELAY ((TickType_t)0xFFFFFFFFu)
#define portTICK_PERIOD_MS ((TickType_t)10)
