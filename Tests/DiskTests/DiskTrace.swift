import Foundation

/// A server's calls to its disk, in order, and the promises that it had made by then.
struct DiskTrace {
    enum Record: Equatable {
        case write(file: String, offset: Int, bytes: ArraySlice<UInt8>)
        case truncate(file: String, size: Int)
        case sync(file: String)
        case remove(file: String)
        /// Every commit of that list up to that revision was acknowledged.
        case mark(list: String, revision: Int)
    }

    struct Unreadable: Error {
        let line: String
    }

    private(set) var records: [Record] = []

    init(readingFrom path: String) throws {
        let all = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
        var position = 0
        while let end = all[position...].firstIndex(of: UInt8(ascii: "\n")) {
            let line = String(decoding: all[position..<end], as: UTF8.self)
            let words = line.split(separator: " ").map(String.init)
            position = end + 1
            switch (words.first, words.count) {
            case ("write", 4):
                guard let offset = Int(words[1]), let length = Int(words[2]), position + length <= all.count else {
                    throw Unreadable(line: line)
                }
                let bytes = all[position..<position + length]
                records.append(.write(file: words[3], offset: offset, bytes: bytes))
                position += length
            case ("truncate", 3): records.append(.truncate(file: words[2], size: Int(words[1]) ?? 0))
            case ("sync", 2): records.append(.sync(file: words[1]))
            case ("remove", 2): records.append(.remove(file: words[1]))
            case ("mark", 3): records.append(.mark(list: words[2], revision: Int(words[1]) ?? 0))
            default: throw Unreadable(line: line)
            }
        }
    }
}

/// Files with the contents that a trace gives them.
struct DiskImage: Equatable {
    private(set) var files: [String: [UInt8]] = [:]

    init() {}

    /// Reads the files of a folder.
    init(of folder: String, _ names: [String]) throws {
        for name in names { files[name] = [UInt8](try Data(contentsOf: URL(fileURLWithPath: folder + "/" + name))) }
    }

    mutating func apply(_ record: DiskTrace.Record) {
        switch record {
        case .write(let file, let offset, let bytes):
            let end = offset + bytes.count
            var content = files.removeValue(forKey: file) ?? []
            if content.count < end { content.append(contentsOf: repeatElement(0, count: end - content.count)) }
            content.replaceSubrange(offset..<end, with: bytes)
            files[file] = content
        case .truncate(let file, let size):
            var content = files.removeValue(forKey: file) ?? []
            if size < content.count { content.removeLast(content.count - size) }
            content.append(contentsOf: repeatElement(0, count: size - content.count))
            files[file] = content
        case .remove(let file): files.removeValue(forKey: file)
        case .sync, .mark: break
        }
    }

    mutating func flip(_ bit: Int, of file: String) {
        files[file]?[bit / 8] ^= 1 << (bit % 8)
    }

    func write(to folder: String) throws {
        for (name, bytes) in files { try Data(bytes).write(to: URL(fileURLWithPath: folder + "/" + name)) }
    }
}

/// A disk with a cache: the contents that a process sees, and those that remain after a loss of power.
struct CachedDisk {
    private(set) var seen: DiskImage
    /// The contents that were flushed, and nothing else.
    private(set) var durable: DiskImage
    /// Later changes of files that were not flushed.
    private(set) var unsynced: [DiskTrace.Record] = []

    init(_ start: DiskImage) {
        seen = start
        durable = start
    }

    mutating func apply(_ record: DiskTrace.Record) {
        seen.apply(record)
        switch record {
        case .sync(let file): flush(file)
        case .mark: break
        case .write, .truncate, .remove: unsynced.append(record)
        }
    }

    /// A flush concerns one file. But in a file system with a journal, names change in order, so every flush also makes
    /// earlier removals durable.
    private mutating func flush(_ flushed: String) {
        var waiting: [DiskTrace.Record] = []
        for record in unsynced {
            switch record {
            case .remove(let file):
                durable.apply(record)
                waiting.removeAll { $0.file == file }
            default: if record.file == flushed { durable.apply(record) } else { waiting.append(record) }
            }
        }
        unsynced = waiting
    }

    /// Returns the contents that remain if each unflushed change reached the disk or not, as `chance` decides. A write
    /// may reach it in part.
    func leftovers(_ chance: (Int) -> Int) -> DiskImage {
        var image = durable
        var kept: Set<String> = []
        for record in unsynced {
            // A name that was not removed holds the old file; writes to a new file under that name are lost.
            guard let file = record.file, !kept.contains(file), chance(3) > 0 else {
                if case .remove(let file) = record { kept.insert(file) }
                continue
            }
            image.apply(chance(4) == 0 ? record.torn(chance) : record)
        }
        return image
    }
}

extension DiskTrace.Record {
    var file: String? {
        switch self {
        case .write(let file, _, _), .truncate(let file, _), .sync(let file), .remove(let file): file
        case .mark: nil
        }
    }

    /// Returns the first bytes of a write; other records are kept or dropped as a whole.
    func torn(_ chance: (Int) -> Int) -> Self {
        guard case .write(let file, let offset, let bytes) = self, bytes.count > 1 else { return self }
        return .write(file: file, offset: offset, bytes: bytes.prefix(1 + chance(bytes.count - 1)))
    }
}
