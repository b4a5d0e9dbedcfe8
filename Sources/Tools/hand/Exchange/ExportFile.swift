import Disk
import FoundationEssentials
import Glibc
import HandCore
import HandFormats

/// The target of an export. A regular file is replaced atomically, and keeps its mode and the links to it. A pipe or a
/// device is written to.
struct ExportFile {
    /// The path with all links resolved.
    private let path: String
    private let status: stat?

    /// - Throws: `Failure` for a folder, or if the system refuses.
    init(_ name: String) throws {
        var found = stat()
        guard stat(name, &found) == 0 else {
            guard errno == ENOENT else { throw Self.failure(name, errno) }
            status = nil
            path = Self.end(of: name)
            return
        }
        if found.st_mode & S_IFMT == S_IFDIR { throw Self.failure(name, EISDIR) }
        status = found
        path = Self.isRegular(found) ? URL(fileURLWithPath: name).resolvingSymlinksInPath().path : name
    }

    /// Whether the file holds something other than an export in this format, which would be lost.
    func holdsSomethingElse(than format: ListFormat, of items: some Sequence<Item>) throws -> Bool {
        guard let status, Self.isRegular(status), status.st_size > 0 else { return false }
        return !format.isExport(try InputFile.bytes(of: path), of: items)
    }

    /// Checks that the file can be written, before there is anything to write.
    func expectUsable() throws {
        // A regular file is replaced, which its folder must allow.
        let isReplaced = status.map(Self.isRegular) ?? true
        if status != nil, access(path, W_OK) != 0 { throw Self.failure(path, errno) }
        if isReplaced, access(PrivateFile.folder(of: path), W_OK | X_OK) != 0 { throw Self.failure(path, errno) }
    }

    /// A function that passes texts to its argument, one after another.
    typealias Source = ((String) throws(LineWriter.Problem) -> Void) throws(LineWriter.Problem) -> Void

    func write(_ body: Source) throws {
        do throws(LineWriter.Problem) {
            if let status, !Self.isRegular(status) {
                try Self.fill(path, O_WRONLY, like: nil, body)
            } else {
                try replace(body)
            }
        } catch {
            throw Self.failure(path, error.code)
        }
    }

    /// Replaces the file with a new file, once the new file is complete and flushed.
    private func replace(_ body: Source) throws(LineWriter.Problem) {
        let new = path + ".\(getpid()).new"
        // A signal must not leave the new file behind.
        Interruption.begin()
        do throws(LineWriter.Problem) {
            try Self.fill(new, O_WRONLY | O_CREAT | O_EXCL, like: status, body)
            guard rename(new, path) == 0 else { throw LineWriter.Problem(code: errno) }
        } catch {
            unlink(new)
            if Interruption.signal != nil { Interruption.end() }
            throw error
        }
    }

    private static func fill(
        _ path: String, _ flags: Int32, like status: stat?, _ body: Source
    ) throws(LineWriter.Problem) {
        let descriptor = open(path, flags | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else { throw LineWriter.Problem(code: errno) }
        var isOpen = true
        defer { if isOpen { close(descriptor) } }
        if let status {
            // Fails unless this process runs as root; then the file belongs to the current user.
            _ = fchown(descriptor, status.st_uid, status.st_gid)
            guard fchmod(descriptor, status.st_mode & 0o7777) == 0 else { throw LineWriter.Problem(code: errno) }
        }
        var writer = LineWriter(descriptor: descriptor)
        try body { text throws(LineWriter.Problem) in
            if Interruption.signal != nil { throw LineWriter.Problem(code: EINTR) }
            try writer.write(text)
        }
        try writer.flush()
        // Devices and pipes cannot be flushed.
        if fsync(descriptor) != 0, errno != EINVAL, errno != EROFS, errno != ENOTSUP {
            throw LineWriter.Problem(code: errno)
        }
        isOpen = false
        guard close(descriptor) == 0 else { throw LineWriter.Problem(code: errno) }
    }

    /// The end of a chain of links whose last target does not exist yet.
    private static func end(of name: String) -> String {
        var path = name
        // The system also follows at most 40 links.
        for _ in 0..<40 {
            guard let next = try? FileManager.default.destinationOfSymbolicLink(atPath: path) else { return path }
            let folder = PrivateFile.folder(of: path)
            path = next.hasPrefix("/") || folder == "." ? next : "\(folder)/\(next)"
        }
        return path
    }

    private static func isRegular(_ status: stat) -> Bool { status.st_mode & S_IFMT == S_IFREG }

    private static func failure(_ name: String, _ code: Int32) -> Failure {
        Failure(.error, "cannot write \(name): \(LineWriter.Problem(code: code))")
    }
}
