/* A console that works: see README.md. */
#include "esp_console.h"

#include <stdio.h>
#include <string.h>

static esp_console_cmd_t commands[16];
static size_t count;

esp_err_t esp_console_cmd_register(const esp_console_cmd_t *command)
{
    if (count == sizeof commands / sizeof *commands || command->func == NULL || strchr(command->command, ' ') != NULL) {
        return ESP_ERR_NO_MEM;
    }
    commands[count++] = *command;
    return ESP_OK;
}

esp_err_t esp_console_run(const char *line, int *status)
{
    char copy[256], *words[32];
    int found = 0;
    (void)snprintf(copy, sizeof copy, "%s", line);
    for (char *word = strtok(copy, " \n"); word != NULL && found < 32; word = strtok(NULL, " \n")) {
        words[found++] = word;
    }
    for (size_t i = 0; found > 0 && i < count; i++) {
        if (strcmp(commands[i].command, words[0]) == 0) {
            *status = commands[i].func(found, words);
            return ESP_OK;
        }
    }
    return ESP_ERR_NOT_FOUND;
}
