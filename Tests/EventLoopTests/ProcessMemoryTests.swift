import EventLoop
import Foundation
import Testing

@Suite struct ProcessMemoryTests {
    /// A file of some pages that is mapped without being shared.
    private final class Mapping {
        static let page = Int(getpagesize())
        let start: UnsafeMutableRawPointer

        init() throws {
            let path = FileManager.default.temporaryDirectory.path + "/hand-mapping-\(UUID().uuidString)"
            try Data(repeating: 7, count: 4 * Self.page).write(to: URL(filePath: path))
            defer { unlink(path) }
            let file = open(path, O_RDONLY)
            defer { close(file) }
            start = try #require(mmap(nil, 4 * Self.page, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0))
            try #require(start != MAP_FAILED)
        }

        deinit { munmap(start, 4 * Self.page) }

        func protect() { mprotect(start, 4 * Self.page, PROT_READ) }

        subscript(page: Int) -> UInt8 {
            get { start.load(fromByteOffset: page * Self.page, as: UInt8.self) }
            set { start.storeBytes(of: newValue, toByteOffset: page * Self.page, as: UInt8.self) }
        }

        /// The number of pages that this process has mapped.
        func residentPages() throws -> Int {
            let file = open("/proc/self/pagemap", O_RDONLY)
            defer { close(file) }
            var entries = [UInt64](repeating: 0, count: 4)
            let count = pread(file, &entries, 32, off_t(UInt(bitPattern: start)) / off_t(Self.page) * 8)
            try #require(count == 32)
            return entries.count { $0 >> 63 == 1 }
        }
    }

    @Test func pagesOfFilesAreGivenBack() throws {
        let mapping = try Mapping()
        mapping.protect()
        #expect((0..<4).allSatisfy { mapping[$0] == 7 })
        #expect(try mapping.residentPages() == 4)
        ProcessMemory.release()
        #expect(try mapping.residentPages() == 0)
        #expect((0..<4).allSatisfy { mapping[$0] == 7 })
    }

    /// Pages that this process has changed are not in the file.
    @Test func changedPagesAreKept() throws {
        let mapping = try Mapping()
        mapping[2] = 8
        mapping.protect()
        ProcessMemory.release()
        #expect(mapping[2] == 8)
        let writable = try Mapping()
        writable[1] = 9
        ProcessMemory.release()
        #expect(writable[1] == 9)
    }
}
