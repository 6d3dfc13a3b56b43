/* A stand-in: see ../README.md. This SDK attaches stations and SoftAP by itself. */
#pragma once
#include "esp_event.h"

typedef struct {
    uint32_t addr;
} ip4_addr_t;
typedef struct {
    struct {
        ip4_addr_t ip, netmask, gw;
    } ip_info;
} ip_event_got_ip_t;
#define IPSTR "%d.%d.%d.%d"
#define IP2STR(ip) (int)((ip)->addr & 255), (int)((ip)->addr >> 8 & 255), (int)((ip)->addr >> 16 & 255), (int)((ip)->addr >> 24)
extern esp_event_base_t const IP_EVENT;
enum { IP_EVENT_STA_GOT_IP };
void tcpip_adapter_init(void);
