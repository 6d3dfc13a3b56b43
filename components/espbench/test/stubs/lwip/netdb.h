/* A stand-in: see ../README.md. */
#pragma once
#include <netdb.h>
