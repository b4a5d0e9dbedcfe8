internal import CLibuv

extension Loop {
    /// Runs `body` twice in each turn: after all I/O callbacks, and before the loop waits.
    ///
    /// So work that timers, I/O and closing leave for the end of the turn, such as sending collected output, is done
    /// before the loop sleeps. The hook does not keep the loop running.
    /// - Returns: the hook, for ``TurnHook/cancel()``. Dropping the hook does not cancel it.
    @discardableResult
    package func onTurnEnd(_ body: @escaping () -> Void) -> TurnHook {
        TurnHook(self, body)
    }
}

/// A hook of ``Loop/onTurnEnd(_:)``. Confined to the loop's thread.
package final class TurnHook {
    private let afterIO: HookHandle
    private let beforeWaiting: HookHandle

    init(_ loop: Loop, _ body: @escaping () -> Void) {
        afterIO = HookHandle(loop, UV_CHECK, body) { loop, raw in
            let check = raw.assumingMemoryBound(to: uv_check_t.self)
            uv_check_init(loop, check)
            uv_check_start(check) { HookHandle.of($0).body?() }
        }
        beforeWaiting = HookHandle(loop, UV_PREPARE, body) { loop, raw in
            let prepare = raw.assumingMemoryBound(to: uv_prepare_t.self)
            uv_prepare_init(loop, prepare)
            uv_prepare_start(prepare) { HookHandle.of($0).body?() }
        }
    }

    /// Cancels the hook: the body does not run again. May be called from the body.
    package func cancel() {
        afterIO.close()
        beforeWaiting.close()
    }
}

private final class HookHandle: Handle {
    private(set) var body: (() -> Void)?

    init(
        _ loop: Loop, _ type: uv_handle_type, _ body: @escaping () -> Void,
        _ start: (UnsafeMutablePointer<uv_loop_t>, UnsafeMutableRawPointer) -> Void
    ) {
        self.body = body
        super.init(loop, type, start)
        unreference()
    }

    override func willClose() {
        body = nil
    }
}
