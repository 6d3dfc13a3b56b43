/* A stand-in for Arduino's core: see ../README.md. */
#pragma once
#include <Arduino.h>

enum { WIFI_STA = 1, WL_CONNECTED = 3 };
struct WiFiStub {
    void mode(int) {}
    void begin(const char *, const char *) {}
    int status() { return WL_CONNECTED; }
    bool softAP(const char *, const char *) { return true; }
    IPAddress localIP() { return {0}; }
    IPAddress softAPIP() { return {0}; }
};
static WiFiStub WiFi;
