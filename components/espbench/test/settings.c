/* Tells what the SDK's settings came to: services at once, streams of each, stack and priority of their tasks (which the
 * stand-in prints, with STUB_TASKS set).
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
/* First and alone, as in any source of firmware: no other header may bring the settings before it. */
#include "espbench.h"

enum { STREAMS = ESPBENCH_STREAMS };

#include <stdio.h>

int main(void)
{
    int services = 0;
    while (espbench_mqtt_listen_start() > 0) {
        services++;
    }
    printf("services %d, streams %d\n", services, STREAMS);
    return espbench_stop_all() == ESPBENCH_OK ? 0 : 1;
}
