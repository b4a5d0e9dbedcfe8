import HandCore
import HandWire

extension Judge {
    /// One connection.
    struct Talk {
        let began: UInt64
        var up = FrameReader(limit: Int(Int32.max))
        var down = FrameReader(limit: Int(Int32.max))
        var client: ClientID?
        var versions = 0...0
        var author: AuthorID?
        var idleDeadline: UInt64?
        var lastHeard: UInt64
        /// When the judge last went on after so long that the client may close the connection because it heard nothing.
        var stoodAt: UInt64?
        var endsWithPing = false
        /// Whether the server has said why it closes. What the client sent before it read this is not judged.
        var isClosing = false
        /// After something that makes a client close the connection, and the requirement that says so.
        var strange: (requirement: Requirement, since: Aftermath)?
        var asked: [RequestNumber: UpMessage.Subscribe] = [:]
        var follows: [ListNumber: Follow] = [:]
        /// Lists that the server has stopped sending.
        var gone: Set<ListNumber> = []
        var hasPresence: Set<ListNumber> = []
        /// Whether the connection before was refused.
        var wasRefused = false
        /// What was passed on last of which it is not known that the client has taken it.
        var doubt: Doubt?
        /// Whether a large frame comes before the next commit.
        var isLarge = false
        /// A newer connection of the same client, and whether this one has sent something since.
        var rival: (id: Int, since: Aftermath)?
        var histories: [RequestNumber: (name: String, first: Int)] = [:]
        /// Where a client would ask on that takes the first commit of a history for the one that it asked for.
        var mistaken: [String: Int] = [:]
        var frames: [String] = []
    }

    /// A subscription of a connection.
    struct Follow {
        let request: RequestNumber
        let asked: UpMessage.Subscribe
        var since: Aftermath
        let lastSequence: SequenceNumber
        /// The revision that a base must have reached.
        var floor: Int
        var revision: Int
        /// A snapshot that is arriving, and whether it answers the request.
        var incoming: (hand: Hand, count: Int, digest: UInt64)?
        var isFirst = true
        var isDamaged = false
        /// Whether the client has subscribed again.
        var isOver = false
        var sent: Set<SequenceNumber> = []
        var open: SequenceNumber?
        /// The last revisions that brought an item of an unknown kind, and one's own edit with another delta, of which
        /// it is not known that the client has applied them.
        var unknownAt: Int?
        var rebasedAt: Int?
    }

    /// What a client has done on all its connections.
    struct Client {
        var helloCount = 0
        /// When and how the server ended its last connection.
        var leave: (at: UInt64, wait: UInt64, isRefusal: Bool)?
        var earlyReturns = 0
        var refusals = Refusals()
        var histories: [ListNumber: History] = [:]
        /// Its pings while no submission is open, and while one is.
        var (idlePings, busyPings) = (Pings(), Pings())
        /// The lists in which its person is on an item.
        var isOnItem: Set<ListNumber> = []
        var lastID: UInt64?
        /// When it was sent what nobody understands, and `replaced` while no edit was pending.
        var (unknown, replaced) = (Stops(), Stops())
        /// What it may not have taken before it closed the connection, how often that was so, and what it has taken.
        var doubts: [Doubt] = []
        var refused: [Requirement: Int] = [:]
        var taken: Set<Requirement> = []
        var largeFrames = 0
    }

    struct History {
        var edits: [SequenceNumber: Edit] = [:]
        var greatest: SequenceNumber = 0
        /// The newest of its own commits that it has received.
        var ownRevision = 0
    }

    struct Edit {
        enum Fate { case open, committed, refused }
        let ids: Set<ItemID>
        let seen: Int
        var fate = Fate.open
    }

    // MARK: Time
    //
    // A busy machine makes everything later, and nothing earlier. So no client is judged by one delay: the shortest of
    // several counts.

    /// What a client has sent since it was sent something. A client that has been held up sends at most one thing
    /// before it reads, its due ping. If it sends again later, it has read, or does not read at all.
    struct Aftermath {
        var at: UInt64
        private var last: UInt64
        private var reads = 0

        init(_ now: UInt64) {
            (at, last) = (now, now)
        }

        mutating func read(_ now: UInt64) {
            guard now >= last + 200 else { return }
            last = now
            reads += 1
        }

        var hasSpoken: Bool { reads > 0 }
        var isRead: Bool { reads > 1 }
    }

    struct Pings {
        /// How long the client sent nothing before a ping, at least; and the same between two pings that follow each
        /// other: other messages do not put a ping off.
        var shortest = UInt64.max
        var gaps: [UInt64] = []
        /// How often it was silent for longer than allowed, and how often a submission waited to see that.
        var (lapses, holds) = (0, 0)

        mutating func note(_ silence: UInt64, followsPing: Bool) {
            shortest = min(shortest, silence)
            if followsPing { gaps.append(silence) }
        }

        /// Whether all pings come later than after so long.
        func areLate(_ limit: UInt64) -> Bool { gaps.allSatisfy { $0 > limit } }
    }

    /// The waits between connections that are refused one after the other.
    package struct Refusals {
        package var waits: [UInt64]
        /// How many of the series are still to come.
        var left = 0
        /// The number of series.
        var count = 0
        /// Whether another, longer series is to decide.
        var isSuspicious = false

        package init(waits: [UInt64] = []) {
            self.waits = waits
        }

        /// The chance that waits which are random below the bounds of `Protocol.md` are together as short as these, or
        /// shorter, at most: the volume of the simplex in which they lie, as part of that of the box of all waits.
        package var chance: Double {
            let sum = Double(waits.reduce(0, +))
            var (chance, bound) = (1.0, 100.0)
            for number in waits.indices {
                chance *= sum / Double(number + 1) / bound
                bound = min(bound * 2, 15_000)
            }
            return chance
        }
    }

    /// Events after the fourth of which a client stops, if they are close together.
    struct Stops {
        private var times: [UInt64] = []
        private var isLast = false
        private(set) var returns = 0

        mutating func note(_ now: UInt64, within period: UInt64) {
            times = times.filter { $0 + period > now } + [now]
            isLast = true
        }

        /// Call this when the client is back.
        mutating func noteReturn() {
            if areEnough, isLast { returns += 1 }
            isLast = false
        }

        var areEnough: Bool { times.count >= 4 }
    }

    /// Something after which a client that cannot take it closes the connection. If it takes it, it has the list at
    /// that revision.
    struct Doubt {
        let requirement: Requirement
        let list: String
        let revision: Int
        /// The edit that the client would send again if it has not got the commit.
        let sequence: SequenceNumber?
    }
}
