import EventLoop
import Foundation
import Testing

@Suite struct SystemPipeTests {
    @Test func noChildInheritsAPipe() throws {
        for blocks in [true, false] {
            let pipe = try SystemPipe(blocks: blocks)
            for end in [pipe.reader, pipe.writer] {
                #expect(fcntl(end, F_GETFD) == FD_CLOEXEC)
                #expect((fcntl(end, F_GETFL) & O_NONBLOCK == 0) == blocks)
                close(end)
            }
        }
    }
}
