/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "espbench_mqtt_payload.h"

#include "espbench_internal.h"
#include "espbench_iperf_wire.h"

#include <string.h>

void espbench_payload_write(uint8_t *data, size_t length, uint64_t number, uint64_t nanos)
{
    espbench_put64(data, number);
    espbench_put64(data + 8, nanos);
    for (size_t i = ESPBENCH_PAYLOAD_HEADER; i < length; i++) {
        data[i] = (uint8_t)i;
    }
}

size_t espbench_payload_text(char out[ESPBENCH_PAYLOAD_TEXT], uint64_t number)
{
    static const char words[] = "Sample #";
    memcpy(out, words, sizeof words);
    (void)espbench_decimal(number, out + sizeof words - 1);
    return strlen(out);
}

/* Tells whether these bytes are printable text; spaces, ends of lines and what is not ASCII are part of one. */
static bool is_text(const uint8_t *data, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        bool space = data[i] == ' ' || (data[i] >= '\t' && data[i] <= '\r' && data[i] != '\v');
        if (!space && (data[i] < ' ' || data[i] == 0x7F)) {
            return false;
        }
    }
    return true;
}

static bool is_digit(uint8_t byte)
{
    return byte >= '0' && byte <= '9';
}

bool espbench_payload_number(const uint8_t *data, size_t length, uint64_t *out)
{
    /* C programs may send the zero that ends their text. */
    size_t end = length;
    while (end > 0 && data[end - 1] == 0) {
        end--;
    }
    if (is_text(data, end)) {
        while (end > 0 && !is_digit(data[end - 1])) {
            end--;
        }
        size_t start = end;
        while (start > 0 && is_digit(data[start - 1])) {
            start--;
        }
        uint64_t number = 0;
        for (size_t i = start; i < end; i++) {
            uint64_t digit = (uint64_t)(data[i] - '0');
            if (number > (UINT64_MAX - digit) / 10) {
                return false;
            }
            number = number * 10 + digit;
        }
        *out = number;
        return end > start;
    }
    if (length < ESPBENCH_PAYLOAD_HEADER) {
        return false;
    }
    for (size_t i = ESPBENCH_PAYLOAD_HEADER; i < length; i++) {
        if (data[i] != (uint8_t)i) {
            return false;
        }
    }
    *out = espbench_get64(data);
    return true;
}
