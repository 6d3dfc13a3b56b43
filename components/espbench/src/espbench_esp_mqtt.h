/* Leads Arduino, which looks for headers in src/ only, to the component's header.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "../include/espbench_esp_mqtt.h"
