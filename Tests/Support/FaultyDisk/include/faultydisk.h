/// A disk that fails when it is told to, and that remembers what was asked of it.
///
/// The library is loaded before all others into a process (LD_PRELOAD) and stands between it and the kernel. It looks only
/// at files below one folder; everything else passes. The environment says which:
///
///     FAULTY_DISK_FOLDER   the folder, without links in its path
///     FAULTY_DISK_CONTROL  a file with the faults that hold now; it is read at each call. Without the file nothing fails.
///     FAULTY_DISK_AFTER    so many of the calls that a fault is meant for go well before it holds
///     FAULTY_DISK_TRACE    a file at whose end every write, truncation, flush and removal that succeeded is noted
///     FAULTY_DISK_KILL     a number: the process is killed in place of its so-manieth write, truncation, flush, renaming or
///                          removal
///
/// A line of the control file is `call fault` or `call fault suffix`. The call is `write`, `sync` or `truncate`; the suffix
/// is that of the file's name. The first line that fits counts. Faults are
///
///     EIO, ENOSPC  the call fails with that error, and nothing is done
///     short        a write takes the first half
///     full         a write takes the first half as long as that is something, then fails with ENOSPC: the disk fills up
///
/// A record of the trace is a line, and after a write its bytes:
///
///     write OFFSET LENGTH NAME
///     truncate SIZE NAME
///     sync NAME
///     remove NAME
///
/// Names are relative to the folder. Shared memory (`-shm`) is not traced: SQLite makes it anew after a crash.
#ifndef FAULTY_DISK_H
#define FAULTY_DISK_H

/// The smallest write that a disk which is `full` still takes a part of.
#define FAULTY_DISK_PART 64

#endif
