/* The bytes of a numbered message.
 *
 *     0 to 7     number, big-endian, from 0
 *     8 to 15    nanoseconds of the sender's clock, big-endian
 *     16 and up  each byte its own position modulo 256
 *
 * or text: "Sample #10282".
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef ESPBENCH_MQTT_PAYLOAD_H
#define ESPBENCH_MQTT_PAYLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ESPBENCH_PAYLOAD_HEADER 16
/* Room for the longest message as text. */
#define ESPBENCH_PAYLOAD_TEXT 32

/* Writes a message of at least 16 bytes. */
void espbench_payload_write(uint8_t *data, size_t length, uint64_t number, uint64_t nanos);
/* Writes a message as text, and a zero behind it; answers its length. */
size_t espbench_payload_text(char out[ESPBENCH_PAYLOAD_TEXT], uint64_t number);
/* Finds the number: the last digits in a row of a text, or else that of a message whose pattern is whole. */
bool espbench_payload_number(const uint8_t *data, size_t length, uint64_t *out);

#endif
