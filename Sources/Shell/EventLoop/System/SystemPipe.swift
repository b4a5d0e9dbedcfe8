internal import CLibuv
internal import Glibc

/// A pipe of the system. The caller closes both ends.
package struct SystemPipe {
    package let reader: Int32
    package let writer: Int32

    /// Makes a pipe that no child process inherits, not even a process that another thread starts at the same time.
    package init(blocks: Bool) throws(UVError) {
        var ends: [Int32] = [-1, -1]
        try UVError.checkCall(pipe2(&ends, O_CLOEXEC | (blocks ? 0 : O_NONBLOCK)))
        (reader, writer) = (ends[0], ends[1])
    }
}
