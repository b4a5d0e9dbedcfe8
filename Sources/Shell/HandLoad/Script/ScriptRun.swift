import HandCore

/// One client's run through a script. A value without time or network: the run returns the next step, and its owner
/// carries the step out.
///
/// The same script, client and seed give the same steps.
package struct ScriptRun: Sendable {
    /// A step to do. Places are relative to the list's length, which only the owner knows.
    package enum Step: Equatable, Sendable {
        case edit(Edit)
        case undo
        case redo
        /// Milliseconds without work.
        case pause(Int)
        /// Close the connection for this many milliseconds; the steps up to `goOnline` are done offline.
        case goOffline(Int)
        /// Wait until the time offline is over, and connect again.
        case goOnline
        case disconnect
        /// Milliseconds without work and without reading.
        case stall(Int)
        case expectConverged
        case finished
    }

    /// An edit whose places are relative to the list's length.
    package enum Edit: Equatable, Sendable {
        case add(Content, at: Spot)
        case move(Spot, to: Spot)
        case delete(Spot)
        case edit(Spot, String)
        /// Ticks the task, or unticks it if it is done.
        case tick(Spot)
    }

    /// A place in a list of any length.
    package enum Spot: Equatable, Sendable {
        case top, end
        /// A fraction of the length, in 2⁶⁴ths.
        case fraction(UInt64)
        case index(Int)

        /// Returns the gap in a list of `count` items.
        package func gap(of count: Int) -> Int { self == .end ? count : index(of: count + 1) }

        /// Returns the index in a list of `count` items.
        ///
        /// - Precondition: `count > 0`.
        package func index(of count: Int) -> Int {
            switch self {
            case .top: 0
            case .end: count - 1
            case .fraction(let fraction): Int(truncatingIfNeeded: fraction.multipliedFullWidth(by: UInt64(count)).high)
            case .index(let index): min(index, count - 1)
            }
        }
    }

    private struct Frame {
        let body: [Script.Statement]
        var next = 0
        /// How many more times the body runs; nil for endlessly.
        var repeats: Int? = 0
        var isLoop = false
        var iteration = 1
        /// The step after the end of the body.
        var ending: Step?
    }

    private let client: Int
    private let role: String
    private var random: SplitMix64
    private var frames: [Frame]

    /// - Parameter client: the client's number, from 0; in texts, clients are counted from 1.
    package init(_ role: Script.Role, client: Int, seed: UInt64) {
        self.client = client
        self.role = role.name
        // Mix the seed, so that neighbouring clients draw different numbers.
        var mixer = SplitMix64(seed: seed &+ UInt64(client) &* 0xD1B5_4A32_D192_ED03)
        random = SplitMix64(seed: mixer.next())
        frames = [Frame(body: role.body)]
    }

    /// Returns the next step. O(depth of blocks).
    package mutating func next() -> Step {
        while var frame = frames.popLast() {
            guard frame.next < frame.body.count else {
                if let ending = frame.ending { return ending }
                guard frame.repeats != 0 else { continue }
                frame.repeats = frame.repeats.map { $0 - 1 }
                frame.next = 0
                frame.iteration += 1
                frames.append(frame)
                continue
            }
            let statement = frame.body[frame.next]
            frame.next += 1
            frames.append(frame)
            if let step = step(statement) { return step }
        }
        return .finished
    }

    /// Returns the step of a statement, or nil if it only opens a block.
    private mutating func step(_ statement: Script.Statement) -> Step? {
        switch statement {
        case .add(let content, let text, let place):
            return .edit(.add(make(content, filled(text)), at: spot(place)))
        case .move(let from, let to): return .edit(.move(spot(from), to: spot(to)))
        case .delete(let place): return .edit(.delete(spot(place)))
        case .edit(let place, let text): return .edit(.edit(spot(place), filled(text)))
        case .tick(let place): return .edit(.tick(spot(place)))
        case .deal(let count):
            let deal = Script.Statement.deal(1)
            if count > 1 { frames.append(Frame(body: [deal], repeats: count - 2)) }
            return .edit(.add(.card(.faceDown), at: spot(.end)))
        case .undo: return .undo
        case .redo: return .redo
        case .pause(let range): return .pause(draw(range))
        case .offline(let range, let body):
            frames.append(Frame(body: body, ending: .goOnline))
            return .goOffline(draw(range))
        case .disconnect: return .disconnect
        case .stall(let range): return .stall(draw(range))
        case .expectConverged: return .expectConverged
        case .loop(let count, let body):
            frames.append(Frame(body: body, repeats: count.map { $0 - 1 }, isLoop: true))
        case .choose(let choices): return step(choose(among: choices))
        }
        return nil
    }

    private mutating func choose(among choices: [Script.Choice]) -> Script.Statement {
        var rest = random.next(below: choices.reduce(0) { $0 + $1.weight })
        for choice in choices {
            rest -= choice.weight
            if rest < 0 { return choice.body }
        }
        return choices[choices.count - 1].body
    }

    private mutating func draw(_ range: ClosedRange<Int>) -> Int {
        range.lowerBound + random.next(below: range.count)
    }

    private mutating func spot(_ place: Script.Place) -> Spot {
        switch place {
        case .top: .top
        case .end: .end
        case .random: .fraction(random.next())
        case .number(let number): .index(number - 1)
        }
    }

    private func make(_ content: Script.Content, _ text: String) -> Content {
        switch content {
        case .note: .note(text)
        case .task: .task(text, done: false)
        case .heading: .heading(text)
        }
    }

    private mutating func filled(_ text: ScriptText) -> String {
        let iteration = frames.last { $0.isLoop }?.iteration ?? 1
        let number = text.parts.contains(.variable(.random)) ? random.next(below: 1_000_000_000) : 0
        return text.filled { variable in
            switch variable {
            case .client: String(client + 1)
            case .iteration: String(iteration)
            case .random: String(number)
            case .role: role
            }
        }
    }
}
