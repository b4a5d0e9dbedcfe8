internal import CLibuv

extension Loop {
    /// Has `body` run in each turn twice: after all I/O callbacks, and before the loop waits.
    ///
    /// So whatever timers, I/O and closing have left to do for the whole turn (such as sending what was collected) is
    /// done before the loop sleeps. It does not keep the loop running.
    /// - Returns: what ends it. Dropping that does not.
    @discardableResult
    package func onTurnEnd(_ body: @escaping () -> Void) -> TurnHook {
        TurnHook(self, body)
    }
}

/// What ``Loop/onTurnEnd(_:)`` has begun. Confined to the loop's thread.
package final class TurnHook {
    private let afterIO: CheckHandle
    private let beforeWaiting: PrepareHandle

    init(_ loop: Loop, _ body: @escaping () -> Void) {
        afterIO = CheckHandle(loop, body)
        beforeWaiting = PrepareHandle(loop, body)
    }

    /// Ends it: the body does not run again. May be called from the body.
    package func cancel() {
        afterIO.close()
        beforeWaiting.close()
    }
}

private final class CheckHandle: Handle {
    private var body: (() -> Void)?

    init(_ loop: Loop, _ body: @escaping () -> Void) {
        self.body = body
        super.init(loop, UV_CHECK) { uv_check_init($0, $1.assumingMemoryBound(to: uv_check_t.self)) }
        uv_check_start(raw.assumingMemoryBound(to: uv_check_t.self)) { CheckHandle.of($0).body?() }
        unreference()
    }

    override func willClose() {
        body = nil
    }
}

private final class PrepareHandle: Handle {
    private var body: (() -> Void)?

    init(_ loop: Loop, _ body: @escaping () -> Void) {
        self.body = body
        super.init(loop, UV_PREPARE) { uv_prepare_init($0, $1.assumingMemoryBound(to: uv_prepare_t.self)) }
        uv_prepare_start(raw.assumingMemoryBound(to: uv_prepare_t.self)) { PrepareHandle.of($0).body?() }
        unreference()
    }

    override func willClose() {
        body = nil
    }
}
