import Dispatch
import EventLoop
import Foundation
import HandSync
import HandTestSupport
import HandWire
import Synchronization

/// A server that tells no roles, as older versions do, and answers what a test says.
///
/// It runs on a thread of its own until it is closed.
final class ScriptedServer: Sendable {
    private let mailbox: Mailbox<Void>

    private final class Start: Sendable {
        let result = Mutex<Result<Mailbox<Void>, any Error>>(.failure(UVError.timedOut))
    }

    /// - Parameter answer: returns the answers to a message.
    init(at path: String, _ answer: @escaping @Sendable (UpMessage) -> [DownMessage]) throws {
        let (start, started) = (Start(), DispatchSemaphore(value: 0))
        Thread {
            do {
                let loop = try Loop()
                let listener = try Listener.pipe(loop, path: path, onConnection: { Self.serve($0, answer) })
                let mailbox = try Mailbox<Void>(loop) { _ in loop.stop() }
                start.result.withLock { $0 = .success(mailbox) }
                started.signal()
                loop.run()
                listener.close()
                loop.close()
            } catch {
                start.result.withLock { $0 = .failure(error) }
                started.signal()
            }
        }.start()
        started.wait()
        mailbox = try start.result.withLock { try $0.get() }
    }

    func close() { mailbox.post(()) }

    private static func serve(_ pipe: EventLoop.Pipe, _ answer: @escaping (UpMessage) -> [DownMessage]) {
        var session = ServerSession(.init(limits: Limits(), program: "older/1.0"), now: 0)
        func perform(_ effects: [ServerSession.Effect]) {
            for effect in effects {
                switch effect {
                case .identify: perform(session.welcome(author: 1, now: 0))
                case .send(let frame): pipe.write([OutputBuffer(frame)])
                case .handle(let message): for one in answer(message) { pipe.write([OutputBuffer(one.frame)]) }
                default: break
                }
            }
        }
        pipe.open({ perform(session.effects(of: Array($0), now: 0)) }, onEnd: { _ in pipe.close() })
    }
}
