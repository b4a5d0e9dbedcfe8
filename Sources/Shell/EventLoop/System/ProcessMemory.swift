internal import CLibuv
internal import Glibc

package enum ProcessMemory {
    /// Gives the system back the memory that an idle process does not need: the heap's free blocks, and the pages of
    /// the program and its libraries.
    ///
    /// At its start, a program touches functions everywhere in its file, and with each function the system maps 64 KiB.
    /// A page that is needed again is mapped again. This takes microseconds while the page is in the system's cache.
    package static func release() {
        releaseHeap()
        for pages in unchangedPages() {
            madvise(UnsafeMutableRawPointer(bitPattern: pages.start), pages.count, MADV_DONTNEED)
        }
    }

    /// Gives the system back the heap's free blocks.
    ///
    /// - Complexity: O(free blocks).
    package static func releaseHeap() { malloc_trim(0) }

    /// Returns the mappings of files in which this process has no pages of its own. A page with a debugger's breakpoint
    /// belongs to the process: giving the page back would lose the breakpoint.
    private static func unchangedPages() -> [(start: UInt, count: Int)] {
        guard let file = fopen("/proc/self/smaps", "re") else { return [] }
        defer { fclose(file) }
        var found: [(start: UInt, count: Int)] = []
        var mapping: (start: UInt, count: Int)?
        var line: UnsafeMutablePointer<CChar>?
        var capacity = 0
        defer { free(line) }
        while getline(&line, &capacity, file) > 0, let line {
            // A mapping begins with its range, its permissions, three numbers and the file's path. Many lines about the
            // mapping follow, each with a capital letter first, such as "Anonymous: 0 kB".
            if (0x41...0x5A).contains(line[0]) {
                if strncmp(line, "Anonymous:", 10) != 0 { continue }
                if let mapping, strtol(line + 10, nil, 10) == 0 { found.append(mapping) }
                mapping = nil
                continue
            }
            // Without strings, which would take 8,000,000 instructions for all lines.
            var rest: UnsafeMutablePointer<CChar>?
            let start = strtoul(line, &rest, 16)
            guard let behindStart = rest, behindStart[0] == 0x2D else { continue }
            let end = strtoul(behindStart + 1, &rest, 16)
            // Behind the range stand permissions such as " r-xp".
            guard let permissions = rest, strncmp(permissions, " r-", 3) == 0, strchr(permissions, 0x2F) != nil else {
                continue
            }
            mapping = (start, Int(end - start))
        }
        return found
    }
}
