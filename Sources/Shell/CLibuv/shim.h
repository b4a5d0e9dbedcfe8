#ifndef CLIBUV_SHIM_H
#define CLIBUV_SHIM_H

#include <sys/prctl.h>
#include <uv.h>

// Only on Linux, so Swift's Glibc module does not have them.
int accept4(int socket, struct sockaddr *address, socklen_t *size, int flags);
int pipe2(int *ends, int flags);
int malloc_trim(size_t kept);

// Swift sees neither the system's function for this nor calls with a variable number of arguments.
static inline void hand_uv_name_thread(const char *name) { prctl(PR_SET_NAME, name); }

#endif
