/* The commands for esp_console.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifdef ESP_PLATFORM
#include "espbench_internal.h"

#include "esp_console.h"

#include <string.h>

int espbench_console_register(void)
{
    static const struct {
        const char *name, *help;
    } commands[] = {
        {"udp-echo", "Echo UDP datagrams: [-p PORT] [-r REPLY_PORT] [-l LONGEST]; -r 0: to the sender's port"},
        {"tcp-sink", "Take whatever comes over TCP: [-p PORT] [-l BYTES]"},
        {"tcp-source", "Send over TCP without end: [-p PORT] [-l BYTES]"},
        {"iperf", "iperf 2: -s | -c HOST [-u] [-R] [-p PORT] [-t SECONDS] [-n BYTES] [-i SECONDS] [-b RATE] [-l BYTES] | -a"},
        {"mqtt-bench", "Publish numbered messages: [-t TOPIC] [-n COUNT] [-r PER_SECOND] [-s BYTES] [-q QOS] [-x]"},
        {"espbench", "Services and their counters: list | stop ID | stop all | help"},
    };
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        esp_console_cmd_t command;
        memset(&command, 0, sizeof command);
        command.command = commands[i].name;
        command.help = commands[i].help;
        command.func = espbench_command;
        if (esp_console_cmd_register(&command) != ESP_OK) {
            return ESPBENCH_ERR_MEMORY;
        }
    }
    return ESPBENCH_OK;
}
#endif
