/* A stand-in for Arduino's core: see ../README.md. The builder puts it before a sketch. */
#pragma once
#include <cstdint>
#include <cstring>

struct IPAddress {
    uint32_t address;
};
struct SerialStub {
    void begin(unsigned long) {}
    void println(const char *) {}
    void println(IPAddress) {}
    int available() { return 0; }
    int read() { return -1; }
};
static SerialStub Serial;
inline void delay(unsigned long) {}
