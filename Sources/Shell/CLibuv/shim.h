#ifndef CLIBUV_SHIM_H
#define CLIBUV_SHIM_H

#include <uv.h>

// Only on Linux, so Swift's Glibc module does not have it.
int accept4(int socket, struct sockaddr *address, socklen_t *size, int flags);

#endif
