/* A stand-in: see ../README.md. */
#pragma once
#define ESP_IDF_VERSION_VAL(major, minor, patch) ((major) << 16 | (minor) << 8 | (patch))
/* STUB_IDF is the test's: the release to stand for. */
#define ESP_IDF_VERSION STUB_IDF
