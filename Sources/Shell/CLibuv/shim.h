#ifndef CLIBUV_SHIM_H
#define CLIBUV_SHIM_H

#include <uv.h>

// Linux only, so that Swift's Glibc module leaves it out.
int accept4(int socket, struct sockaddr *address, socklen_t *size, int flags);

#endif
