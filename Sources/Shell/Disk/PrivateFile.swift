import Glibc

/// Files and folders that only their owner may use, whatever the umask. A file that root creates in another user's
/// folder belongs to that user: a server with its own user must be able to read the files that root's commands write.
package enum PrivateFile {
    /// Creates a folder and its missing parents. A link to a folder may be in its place.
    package static func makeFolder(_ path: String) throws(FileError) {
        if isFolder(path) { return }
        let parent = folder(of: path)
        if parent != path { try makeFolder(parent) }
        guard mkdir(path, 0o700) == 0 else {
            let code = errno
            // Another process may have made it.
            if code == EEXIST, isFolder(path) { return }
            throw FileError("make the folder", path, code: code)
        }
        let descriptor = Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw FileError("open", path) }
        defer { close(descriptor) }
        try settle(descriptor, path, mode: 0o700)
    }

    /// Opens a file, and creates it if it does not exist. Does not wait for the other end of a pipe.
    package static func open(_ path: String, _ flags: Int32) throws(FileError) -> Int32 {
        let flags = flags | O_NONBLOCK
        let made = Glibc.open(path, flags | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        if made >= 0 {
            do { try settle(made, path, mode: 0o600) } catch {
                close(made)
                throw error
            }
            return made
        }
        guard errno == EEXIST else { throw FileError("write", path) }
        let found = Glibc.open(path, flags | O_CREAT | O_CLOEXEC, 0o600)
        guard found >= 0 else { throw FileError("write", path) }
        return found
    }

    /// Creates an empty file if it does not exist. Removes the permissions of an existing file for all but its owner.
    package static func make(_ path: String) throws(FileError) {
        close(try open(path, O_RDONLY))
        tighten(path)
    }

    /// Removes the permissions beyond `mode` from a file, if it exists and belongs to this user.
    package static func tighten(_ path: String, to mode: UInt32 = 0o700) {
        var facts = stat()
        guard lstat(path, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG, facts.st_mode & 0o777 & ~mode != 0 else {
            return
        }
        // Only the owner can do this. Anybody else who may read the file has the owner's permission.
        _ = chmod(path, facts.st_mode & mode)
    }

    /// Returns the permissions of the group and others for a file or folder, as the bits of `chmod`; 0 if it does not
    /// exist.
    package static func others(_ path: String) -> UInt32 {
        var facts = stat()
        return stat(path, &facts) == 0 ? facts.st_mode & 0o077 : 0
    }

    /// Replaces a file's contents atomically, even if the power fails. The owner and the permissions stay.
    package static func replace(_ path: String, with bytes: [UInt8]) throws(FileError) {
        let fresh = path + ".new"
        try remove(fresh)
        let descriptor = try open(fresh, O_WRONLY)
        defer { close(descriptor) }
        var former = stat()
        if stat(path, &former) == 0 {
            // Fails unless this is root: other users cannot give files away.
            _ = fchown(descriptor, former.st_uid, former.st_gid)
            guard fchmod(descriptor, former.st_mode & 0o7777) == 0 else { throw FileError("change the mode of", fresh) }
        }
        try write(bytes, to: descriptor, fresh)
        guard fsync(descriptor) == 0 else { throw FileError("flush", fresh) }
        guard rename(fresh, path) == 0 else { throw FileError("write", path) }
        try flushFolder(of: path)
    }

    /// Returns a file's contents, or its first bytes, and its state at that time; nil if there is no file.
    ///
    /// - Parameter pipeTimeout: how many milliseconds to wait for a pipe's writer; 0 refuses pipes.
    package static func read(_ path: String, upTo limit: Int = .max, pipeTimeout: Int32 = 0) throws(FileError) -> (
        bytes: [UInt8], state: FileState
    )? {
        let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        if descriptor < 0 {
            if [ENOENT, ENOTDIR, ELOOP].contains(errno) { return nil }
            throw FileError("read", path)
        }
        defer { close(descriptor) }
        // Taken before reading, so that a change during the read is a new state.
        let state = try FileState(descriptor, path)
        if state.isPipe, pipeTimeout > 0 { return (try readPipe(descriptor, path, pipeTimeout), state) }
        try expectFile(state, "read", path)
        var bytes: [UInt8] = []
        while bytes.count < limit, let part = try part(of: descriptor, path) { bytes += part }
        return (Array(bytes.prefix(limit)), state)
    }

    /// Checks that a file can be read and written, or that it can be created in its folder.
    package static func expectUsable(_ path: String) throws(FileError) {
        if let state = try FileState(at: path) {
            try expectFile(state, "use", path)
            guard faccessat(AT_FDCWD, path, R_OK | W_OK, AT_EACCESS) == 0 else { throw FileError("write", path) }
        } else {
            let folder = folder(of: path)
            guard faccessat(AT_FDCWD, folder, W_OK | X_OK, AT_EACCESS) == 0 else { throw FileError("write", path) }
        }
    }

    /// Checks that the disk takes bytes: writes a file to a folder, flushes it, and removes it.
    package static func expectRoom(in folder: String) throws(FileError) {
        let path = "\(folder)/.hand-room-\(getpid())"
        let descriptor = try open(path, O_WRONLY)
        defer {
            close(descriptor)
            unlink(path)
        }
        // As much as a new journal takes.
        try write([UInt8](repeating: 0x68, count: 256 << 10), to: descriptor, path)
        guard fsync(descriptor) == 0 else { throw FileError("flush", path) }
    }

    private static func expectFile(_ state: FileState, _ what: String, _ path: String) throws(FileError) {
        if !state.isFile {
            throw FileError(what, path, because: "it is a folder or a pipe where a file should be. Move it away")
        }
    }

    /// Copies a file. An existing target is overwritten.
    package static func copy(_ source: String, to path: String) throws(FileError) {
        let from = Glibc.open(source, O_RDONLY | O_CLOEXEC)
        guard from >= 0 else { throw FileError("read", source) }
        defer { close(from) }
        let to = try open(path, O_WRONLY | O_TRUNC)
        defer { close(to) }
        while let part = try part(of: from, source) { try write(part, to: to, path) }
    }

    /// Returns whether there is a file or folder.
    ///
    /// - Throws: `FileError` if this process may not look.
    package static func exists(_ path: String) throws(FileError) -> Bool { try FileState(at: path) != nil }

    package static func isFolder(_ path: String) -> Bool {
        var facts = stat()
        return stat(path, &facts) == 0 && facts.st_mode & S_IFMT == S_IFDIR
    }

    /// Removes a file, if it exists.
    package static func remove(_ path: String) throws(FileError) {
        if unlink(path) != 0, errno != ENOENT { throw FileError("remove", path) }
    }

    /// Flushes a file's folder, so that the creation, renaming or removal of the file survives a power failure.
    package static func flushFolder(of path: String) throws(FileError) {
        let folder = folder(of: path)
        let descriptor = Glibc.open(folder, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw FileError("open", folder) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw FileError("flush", folder) }
    }

    // MARK: Parts

    /// Returns the path of the folder that a file or folder is in.
    package static func folder(of path: String) -> String {
        var end = path[...]
        while end.count > 1, end.hasSuffix("/") { end.removeLast() }
        guard let slash = end.lastIndex(of: "/") else { return "." }
        return slash == end.startIndex ? "/" : String(end[..<slash])
    }

    private static func settle(_ descriptor: Int32, _ path: String, mode: mode_t) throws(FileError) {
        guard fchmod(descriptor, mode) == 0 else { throw FileError("change the mode of", path) }
        guard geteuid() == 0 else { return }
        var around = stat()
        guard stat(folder(of: path), &around) == 0, fchown(descriptor, around.st_uid, around.st_gid) == 0 else {
            throw FileError("change the owner of", path)
        }
    }

    /// Reads a pipe to its end. Its writer has `timeout` milliseconds for each part.
    private static func readPipe(
        _ descriptor: Int32, _ path: String, _ timeout: Int32
    ) throws(FileError) -> [UInt8] {
        var bytes: [UInt8] = []
        while true {
            do throws(FileError) {
                if let part = try part(of: descriptor, path) {
                    bytes += part
                    continue
                }
                // Before its first writer opens it, an empty pipe reads like one that has ended.
                if !bytes.isEmpty { return bytes }
            } catch {
                guard error.code == EAGAIN else { throw error }
            }
            var ready = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            guard poll(&ready, 1, timeout) > 0 else {
                throw FileError("read", path, because: "it is a pipe that nobody writes to or closes. Move it away")
            }
            if ready.revents & Int16(POLLIN) == 0 { return bytes }
        }
    }

    /// Returns the next bytes; nil at the end.
    private static func part(of descriptor: Int32, _ path: String) throws(FileError) -> [UInt8]? {
        var part = [UInt8](repeating: 0, count: 1 << 18)
        while true {
            let count = Glibc.read(descriptor, &part, part.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw FileError("read", path) }
            return count == 0 ? nil : Array(part[..<count])
        }
    }

    private static func write(_ bytes: [UInt8], to descriptor: Int32, _ path: String) throws(FileError) {
        if let reason = WholeWrite.write(bytes, to: descriptor).reason { throw FileError("write", path, code: reason) }
    }
}
