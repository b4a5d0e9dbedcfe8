// A disk that fails on request, and records the calls to it.
//
// The library is loaded before all others into a process (LD_PRELOAD) and intercepts its calls to the kernel. It acts
// only on files below one folder; all other calls pass. It is configured by environment variables:
//
//     FAULTY_DISK_FOLDER   the folder, without links in its path
//     FAULTY_DISK_CONTROL  a file with the faults that hold now; it is read at each call. Without the file nothing fails.
//     FAULTY_DISK_AFTER    this many calls to which a fault applies succeed before it holds
//     FAULTY_DISK_TRACE    a file to which every successful write, truncation, flush and removal is appended
//     FAULTY_DISK_KILL     a number N: the process is killed in place of its Nth write, truncation, flush, renaming or
//                          removal
//
// A line of the control file is `call fault` or `call fault suffix`. The call is `write`, `sync` or `truncate`; the suffix
// is that of the file's name. The first matching line counts. The faults are
//
//     EIO, ENOSPC  the call fails with that error, and nothing is done
//     short        a write writes only the first half
//     full         a write writes only the first half until nothing is left, then fails with ENOSPC: the disk fills up
//
// A record of the trace is a line, followed by the bytes of a write:
//
//     write OFFSET LENGTH NAME
//     truncate SIZE NAME
//     sync NAME
//     remove NAME
//
// Names are relative to the folder. Shared memory (`-shm`) is not traced: SQLite recreates it after a crash.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

/// The smallest write of which a `full` disk still accepts a part.
#define FAULTY_DISK_PART 64

// The kernel is called directly: this library replaces the functions of the C library and must not use them here.

static bool ends_with(const char *text, const char *suffix) {
    size_t length = strlen(text), tail = strlen(suffix);
    return length >= tail && strcmp(text + length - tail, suffix) == 0;
}

/// Returns the part of `path` below the folder, or NULL if the path is elsewhere.
static const char *below_folder(const char *path) {
    const char *folder = getenv("FAULTY_DISK_FOLDER");
    if (!folder) return NULL;
    size_t length = strlen(folder);
    if (strncmp(path, folder, length) != 0 || path[length] != '/') return NULL;
    return path + length + 1;
}

/// Returns the name of an open file below the folder, or NULL for every other descriptor. `buffer` has PATH_MAX bytes.
static const char *name_of(int descriptor, char *buffer) {
    int before = errno;
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t length = syscall(SYS_readlinkat, AT_FDCWD, link, buffer, PATH_MAX - 1);
    errno = before;
    if (length <= 0) return NULL;
    buffer[length] = 0;
    return below_folder(buffer);
}

/// Reads the control file. An unreadable file counts as empty.
static void read_control(char *buffer, size_t size) {
    buffer[0] = 0;
    const char *path = getenv("FAULTY_DISK_CONTROL");
    if (!path) return;
    long descriptor = syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return;
    long length = syscall(SYS_read, descriptor, buffer, size - 1);
    buffer[length < 0 ? 0 : length] = 0;
    syscall(SYS_close, descriptor);
}

/// Whether as many calls have succeeded as must before a fault holds.
static bool has_begun(void) {
    static atomic_long calls;
    const char *text = getenv("FAULTY_DISK_AFTER");
    return !text || atomic_fetch_add(&calls, 1) >= atol(text);
}

/// Puts the fault for this call on that file into `fault`. Returns false if there is none.
static bool fault_for(const char *call, const char *name, char fault[16]) {
    int before = errno;
    char control[1024];
    read_control(control, sizeof control);
    errno = before;
    char *rest = control;
    for (char *line = strsep(&rest, "\n"); line; line = strsep(&rest, "\n")) {
        char which[16], suffix[128] = "";
        if (sscanf(line, "%15s %15s %127s", which, fault, suffix) < 2) continue;
        if (strcmp(which, call) == 0 && ends_with(name, suffix)) return has_begun();
    }
    return false;
}

static int error_of(const char *fault) {
    return strcmp(fault, "EIO") == 0 ? EIO : ENOSPC;
}

/// Appends a record in one call, so that records of several threads do not mix.
static void trace(const char *name, const void *bytes, size_t length, const char *format, ...) {
    const char *path = getenv("FAULTY_DISK_TRACE");
    if (!path || ends_with(name, "-shm")) return;
    int before = errno;
    char line[PATH_MAX + 64];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    long descriptor = syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    if (descriptor >= 0) {
        struct iovec parts[] = {{line, strlen(line)}, {(void *)bytes, length}};
        syscall(SYS_writev, descriptor, parts, 2);
        syscall(SYS_close, descriptor);
    }
    errno = before;
}

/// Counts the calls that change something, and kills the process before the chosen one has any effect.
static void step(void) {
    static atomic_long steps;
    const char *last = getenv("FAULTY_DISK_KILL");
    if (last && atomic_fetch_add(&steps, 1) + 1 == atol(last)) kill(getpid(), SIGKILL);
}

// MARK: Writes

/// Writes at `offset`, or at the file's own position if `offset` is negative.
static ssize_t put(int descriptor, const void *bytes, size_t length, off_t offset) {
    char buffer[PATH_MAX], fault[16];
    const char *name = name_of(descriptor, buffer);
    if (name) step();
    if (name && fault_for("write", name, fault)) {
        bool is_full = strcmp(fault, "full") == 0;
        bool is_short = strcmp(fault, "short") == 0 || (is_full && length >= FAULTY_DISK_PART);
        if (!is_short) {
            errno = error_of(fault);
            return -1;
        }
        if (length > 1) length /= 2;
    }
    long written = offset < 0 ? syscall(SYS_write, descriptor, bytes, length)
                              : syscall(SYS_pwrite64, descriptor, bytes, length, offset);
    if (name && written > 0) {
        if (offset < 0) offset = syscall(SYS_lseek, descriptor, 0, SEEK_CUR) - written;
        trace(name, bytes, (size_t)written, "write %lld %ld %s\n", (long long)offset, written, name);
    }
    return written;
}

/// Writes several runs. On the affected files it writes only the first run that is not empty, as a write may do.
static ssize_t put_runs(int descriptor, const struct iovec *runs, int count, off_t offset) {
    char buffer[PATH_MAX];
    if (name_of(descriptor, buffer)) {
        for (int index = 0; index < count; index++) {
            if (runs[index].iov_len > 0) {
                return offset < 0 ? write(descriptor, runs[index].iov_base, runs[index].iov_len)
                                  : put(descriptor, runs[index].iov_base, runs[index].iov_len, offset);
            }
        }
    }
    return offset < 0 ? syscall(SYS_writev, descriptor, runs, count)
                      : syscall(SYS_pwritev, descriptor, runs, count, offset, 0);
}

ssize_t write(int descriptor, const void *bytes, size_t length) { return put(descriptor, bytes, length, -1); }

/// The same function under the name for files beyond 2 GiB; here, all files are such files.
#define ALSO_64(name, result, ...) result name##64(__VA_ARGS__) __attribute__((alias(#name)))

ssize_t pwrite(int descriptor, const void *bytes, size_t length, off_t offset) {
    return put(descriptor, bytes, length, offset);
}
ALSO_64(pwrite, ssize_t, int, const void *, size_t, off64_t);

ssize_t writev(int descriptor, const struct iovec *runs, int count) {
    return put_runs(descriptor, runs, count, -1);
}

ssize_t pwritev(int descriptor, const struct iovec *runs, int count, off_t offset) {
    return put_runs(descriptor, runs, count, offset);
}
ALSO_64(pwritev, ssize_t, int, const struct iovec *, int, off64_t);

// MARK: Flushes, truncations, removals

/// A call that only changes or flushes an open file: the step, the fault, the call itself, the trace.
#define CALL_ON_FILE(fault_name, number, size, ...) \
    do { \
        char buffer[PATH_MAX], fault[16]; \
        const char *name = name_of(descriptor, buffer); \
        if (name) step(); \
        if (name && fault_for(fault_name, name, fault)) { \
            errno = error_of(fault); \
            return -1; \
        } \
        int result = (int)syscall(number, descriptor, (long)(size)); \
        if (name && result == 0) trace(name, NULL, 0, __VA_ARGS__, name); \
        return result; \
    } while (0)

int fsync(int descriptor) { CALL_ON_FILE("sync", SYS_fsync, 0, "sync %s\n"); }

int fdatasync(int descriptor) { CALL_ON_FILE("sync", SYS_fdatasync, 0, "sync %s\n"); }

int ftruncate(int descriptor, off_t size) {
    CALL_ON_FILE("truncate", SYS_ftruncate, size, "truncate %lld %s\n", (long long)size);
}
ALSO_64(ftruncate, int, int, off64_t);

int rename(const char *from, const char *to) {
    if (below_folder(from) || below_folder(to)) step();
    return (int)syscall(SYS_renameat, AT_FDCWD, from, AT_FDCWD, to);
}

int unlink(const char *path) {
    if (below_folder(path)) step();
    int result = (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
    const char *name = below_folder(path);
    if (name && result == 0) trace(name, NULL, 0, "remove %s\n", name);
    return result;
}
