// A disk that fails when it is told to, and that remembers what was asked of it.
//
// The library is loaded before all others into a process (LD_PRELOAD) and stands between it and the kernel. It looks only
// at files below one folder; everything else passes. The environment says which:
//
//     FAULTY_DISK_FOLDER   the folder, without links in its path
//     FAULTY_DISK_CONTROL  a file with the faults that hold now; it is read at each call. Without the file nothing fails.
//     FAULTY_DISK_AFTER    so many of the calls that a fault is meant for go well before it holds
//     FAULTY_DISK_TRACE    a file at whose end every write, truncation, flush and removal that succeeded is noted
//     FAULTY_DISK_KILL     a number: the process is killed in place of its so-manieth write, truncation, flush, renaming or
//                          removal
//
// A line of the control file is `call fault` or `call fault suffix`. The call is `write`, `sync` or `truncate`; the suffix
// is that of the file's name. The first line that fits counts. Faults are
//
//     EIO, ENOSPC  the call fails with that error, and nothing is done
//     short        a write takes the first half
//     full         a write takes the first half as long as that is something, then fails with ENOSPC: the disk fills up
//
// A record of the trace is a line, and after a write its bytes:
//
//     write OFFSET LENGTH NAME
//     truncate SIZE NAME
//     sync NAME
//     remove NAME
//
// Names are relative to the folder. Shared memory (`-shm`) is not traced: SQLite makes it anew after a crash.
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

/// The smallest write that a disk which is `full` still takes a part of.
#define FAULTY_DISK_PART 64

// The kernel is called directly: the names of the C library are ours now, and nothing may be asked of them here.

static bool ends_with(const char *text, const char *suffix) {
    size_t length = strlen(text), tail = strlen(suffix);
    return length >= tail && strcmp(text + length - tail, suffix) == 0;
}

/// The part of `path` below the folder; NULL if it lies elsewhere.
static const char *below_folder(const char *path) {
    const char *folder = getenv("FAULTY_DISK_FOLDER");
    if (!folder) return NULL;
    size_t length = strlen(folder);
    if (strncmp(path, folder, length) != 0 || path[length] != '/') return NULL;
    return path + length + 1;
}

/// The name of an open file below the folder; NULL for every other descriptor. `buffer` has PATH_MAX bytes.
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

/// Reads the control file; what it cannot read is empty.
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

/// Whether so many calls that a fault was meant for have gone well as were to.
static bool has_begun(void) {
    static atomic_long calls;
    const char *text = getenv("FAULTY_DISK_AFTER");
    return !text || atomic_fetch_add(&calls, 1) >= atol(text);
}

/// The fault that holds for this call on that file, in `fault`; false if there is none.
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

/// Appends a record; one call, so that records of several threads do not mix.
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

/// Counts the calls that change something; at the one in question the process is killed before anything is done.
static void step(void) {
    static atomic_long steps;
    const char *last = getenv("FAULTY_DISK_KILL");
    if (last && atomic_fetch_add(&steps, 1) + 1 == atol(last)) kill(getpid(), SIGKILL);
}

// MARK: Writes

/// A write at `offset`, or where the file stands if that is negative.
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
    if (name && offset < 0) offset = syscall(SYS_lseek, descriptor, 0, SEEK_CUR);
    long written = offset < 0 ? syscall(SYS_write, descriptor, bytes, length)
                              : syscall(SYS_pwrite64, descriptor, bytes, length, offset);
    if (name && written > 0) {
        trace(name, bytes, (size_t)written, "write %lld %ld %s\n", (long long)offset, written, name);
    }
    return written;
}

/// A write of several runs; on the files in question it takes the first run that is not empty, which a write may do.
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

ssize_t write(int descriptor, const void *bytes, size_t length) {
    ssize_t written = put(descriptor, bytes, length, -1);
    char buffer[PATH_MAX];
    // `put` has written at a place, which does not move the file's own.
    if (written > 0 && name_of(descriptor, buffer)) syscall(SYS_lseek, descriptor, written, SEEK_CUR);
    return written;
}

/// The same function under the name of files beyond 2 GiB, which here are all.
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

/// A call that does nothing but change or flush an open file: the step, the fault, the call itself, the trace.
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
