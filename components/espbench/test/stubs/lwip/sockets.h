/* A stand-in: see ../README.md. Every STUB_REFUSE-th datagram is refused as by a driver without buffers. */
#pragma once
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/time.h>

static inline ssize_t stub_sendto(int fd, const void *data, size_t length, int flags, const struct sockaddr *to, socklen_t size)
{
    static unsigned count;
    const char *every = getenv("STUB_REFUSE");
    if (every != NULL && ++count % (unsigned)atoi(every) == 0) {
        errno = ENOMEM;
        return -1;
    }
    return sendto(fd, data, length, flags, to, size);
}

#define sendto stub_sendto
