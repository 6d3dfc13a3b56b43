/* A stand-in for Arduino's core: see README.md. */
#pragma once
#include <cstdint>
#include <cstring>

struct IPAddress {
    uint32_t address;
};
enum { WIFI_STA = 1, WL_CONNECTED = 3 };
struct SerialStub {
    void begin(unsigned long) {}
    void println(const char *) {}
    void println(IPAddress) {}
    int available() { return 0; }
    int read() { return -1; }
};
struct WiFiStub {
    void mode(int) {}
    void begin(const char *, const char *) {}
    int status() { return WL_CONNECTED; }
    bool softAP(const char *, const char *) { return true; }
    IPAddress localIP() { return {0}; }
    IPAddress softAPIP() { return {0}; }
};
static SerialStub Serial;
static WiFiStub WiFi;
inline void delay(unsigned long) {}
