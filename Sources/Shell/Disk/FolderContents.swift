import Glibc

/// What is in a folder.
package enum FolderContents {
    /// Returns the names of what is in a folder, in no particular order; none if the folder does not exist.
    package static func names(in path: String) throws(FileError) -> [String] {
        guard let folder = opendir(path) else {
            if [ENOENT, ENOTDIR].contains(errno) { return [] }
            throw FileError("look into", path)
        }
        defer { closedir(folder) }
        var names: [String] = []
        while let entry = readdir(folder) {
            // Safe: the system ends the name with a zero, and the entry lasts until the next call.
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                String(cString: UnsafeRawPointer($0).assumingMemoryBound(to: CChar.self))
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }
}
