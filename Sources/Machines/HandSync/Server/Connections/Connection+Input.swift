import HandWire

extension Connection {
    /// What a client has sent.
    enum Input {
        case message(UpMessage)
        /// A submission that has waited for its list.
        case again(Submission)
        /// The body of a message that is still to be read.
        case body([UInt8])
    }

    /// Messages that wait for earlier ones to be carried out, and whether more are read.
    struct Intake {
        private var inputs: [Input?] = []
        /// How many of the inputs have been handled. The handled inputs are removed together.
        private var handled: UInt32 = 0
        /// Whether a message is being handled right now.
        fileprivate var isHandling = false
        fileprivate var isReading = true
        fileprivate var hold = Hold.none
        /// The work in this turn for a client without an account.
        var share = TurnShare()

        var count: Int { inputs.count - Int(handled) }
        var isEmpty: Bool { inputs.isEmpty }

        fileprivate mutating func set(_ hold: Hold, _ isOn: Bool) {
            if self.hold == .stopped { return }
            if isOn { self.hold = hold } else if self.hold == hold { self.hold = .none }
        }

        fileprivate mutating func add(_ input: Input, isNext: Bool) {
            inputs.insert(input, at: isNext ? Int(handled) : inputs.count)
        }

        fileprivate mutating func next() -> Input? {
            guard handled < inputs.count else { return nil }
            let input = inputs[Int(handled)].take()
            handled += 1
            if handled == inputs.count { removeAll() }
            return input
        }

        mutating func removeAll() {
            inputs = []
            handled = 0
        }
    }

    /// Why messages wait, apart from their user's budget.
    fileprivate enum Hold {
        case none
        /// A request that needs the store is being carried out. Messages after it wait, so that a client's messages are
        /// carried out in order, and a client that asks without reading the answers is not served ahead of others.
        case busy
        /// The connection's share of this turn is used up. A connection that is busy does not use up more.
        case paused
        /// The server stops: nothing more is carried out.
        case stopped
    }

    var mayHandle: Bool { !isUnheard && !isEnding && hasRoom }

    /// Whether the server does not read from the client, for the server's own reasons.
    var isUnheard: Bool { intake.hold != .none || isSlowed }

    /// Reads the client, unless messages wait, or the client does not read its answers.
    func adjustReading() {
        let mayRead = intake.isEmpty && mayHandle
        guard !isEnding, intake.isReading != mayRead else { return }
        intake.isReading = mayRead
        if mayRead { stream.resumeReading() } else { stream.stopReading() }
    }

    /// Whether a request is being carried out that takes longer than a turn.
    var isBusy: Bool { intake.hold == .busy }

    /// A request that takes the store begins or has ended.
    func setBusy(_ isBusy: Bool) { intake.set(.busy, isBusy) }

    /// Nothing more is handled in this turn, or the next turn has come.
    func setPaused(_ isPaused: Bool) {
        intake.set(.paused, isPaused)
        adjustReading()
    }

    /// From now on, nothing that the client sends is read or carried out.
    func stopHandling() {
        intake.set(.stopped, true)
        adjustReading()
    }

    /// Begins to handle a message that has just come; then call `nextInput` until it returns nil. Returns false if the
    /// message has to wait for others: then `keep` it, and see with `beginWaiting` whether it can be handled.
    func beginHandling() -> Bool {
        guard intake.isEmpty, !intake.isHandling, mayHandle else { return false }
        intake.isHandling = true
        return true
    }

    /// Keeps a message that has to wait.
    ///
    /// - Parameter isNext: whether the message comes before the messages that wait, because it was begun before them.
    func keep(_ input: Input, isNext: Bool) {
        if !isEnding { intake.add(input, isNext: isNext) }
    }

    /// Begins to handle the messages that wait. Returns false if a message is being handled: its handler goes on with
    /// the next messages, so the stack does not grow with the number of messages.
    func beginWaiting() -> Bool {
        guard !intake.isHandling else { return false }
        intake.isHandling = true
        return true
    }

    /// Returns the next message to handle. At the end, or if the next message has to wait, returns nil; then no message
    /// is being handled any more, and the client is read if reading is allowed.
    func nextInput() -> Input? {
        if !intake.isEmpty, mayHandle, let input = intake.next() { return input }
        intake.isHandling = false
        adjustReading()
        return nil
    }
}
