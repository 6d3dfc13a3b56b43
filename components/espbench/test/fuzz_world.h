/* A network and a clock made of chance, and of one input.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef FUZZ_WORLD_H
#define FUZZ_WORLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LONGEST_INPUT 512

/* Seeds chance. */
void chance_begin(unsigned long seed);
/* Returns a number below `below`. */
uint32_t chance(uint32_t below);
/* Makes an input from the corpus. */
size_t make_input(uint8_t *out);
/* Begins a world whose first packet is this input; NULL: services end as soon as they look. */
void world_begin(const uint8_t *data, size_t length);
/* Returns the bytes of payload that the last service counted. */
uint64_t world_taken(void);

#endif
