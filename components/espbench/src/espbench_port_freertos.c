/* The port to FreeRTOS: ESP-IDF, ESP8266_RTOS_SDK and Arduino on the ESP32 family.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifdef ESP_PLATFORM
#include "espbench_internal.h"

#include "esp_timer.h"
#include "freertos/FreeRTOS.h"
#include "freertos/semphr.h"
#include "freertos/task.h"

#include <stdlib.h>

/* Stack of a service's task. Both SDKs count it in bytes. */
#ifndef CONFIG_ESPBENCH_TASK_STACK
#define CONFIG_ESPBENCH_TASK_STACK 4096
#endif
/* No higher than a console's task (2 for esp_console's, 1 for Arduino's loop), so that it answers while a service is busy without
 * a pause. */
#ifndef CONFIG_ESPBENCH_TASK_PRIORITY
#define CONFIG_ESPBENCH_TASK_PRIORITY 1
#endif

static SemaphoreHandle_t lock;

typedef struct {
    void (*run)(void *);
    void *argument;
} start_t;

bool espbench_port_begin(void)
{
    if (lock == NULL) {
        lock = xSemaphoreCreateMutex();
    }
    return lock != NULL;
}

void espbench_port_lock(void)
{
    (void)xSemaphoreTake(lock, portMAX_DELAY);
}

void espbench_port_unlock(void)
{
    (void)xSemaphoreGive(lock);
}

uint64_t espbench_port_now(void)
{
    return (uint64_t)esp_timer_get_time();
}

void espbench_port_sleep_ms(uint32_t ms)
{
    /* At least one tick, so that tasks of lower priority run. */
    TickType_t ticks = (TickType_t)((ms + portTICK_PERIOD_MS - 1) / portTICK_PERIOD_MS);
    vTaskDelay(ticks > 0 ? ticks : 1);
}

static void entry(void *argument)
{
    start_t start = *(start_t *)argument;
    free(argument);
    start.run(start.argument);
    vTaskDelete(NULL);
}

bool espbench_port_task(const char *name, void (*run)(void *), void *argument)
{
    start_t *start = malloc(sizeof *start);
    if (start == NULL) {
        return false;
    }
    *start = (start_t){run, argument};
    if (xTaskCreate(entry, name, CONFIG_ESPBENCH_TASK_STACK, start, CONFIG_ESPBENCH_TASK_PRIORITY, NULL) != pdPASS) {
        free(start);
        return false;
    }
    return true;
}
#endif
