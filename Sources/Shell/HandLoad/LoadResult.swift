package struct LoadResult: Codable, Sendable {
    /// One second of the test.
    package struct Sample: Codable, Sendable {
        /// The seconds since the clients began to work, at the end of the sample.
        package let at: Double
        /// The length of the sample; the last sample of a test may be shorter.
        package let seconds: Double
        /// How many clients had connected at the end of the sample.
        package let clients: Int
        package let figures: LoadFigures

        package init(at: Double, seconds: Double, clients: Int, figures: LoadFigures) {
            (self.at, self.seconds, self.clients, self.figures) = (at, seconds, clients, figures)
        }
    }

    /// Whether the clients of a list had the server's list at the end.
    package struct Convergence: Codable, Sendable {
        package let list: String
        package let revision: Int
        package let items: Int
        package let digest: UInt64
        /// How many clients had the same list.
        package let agreed: Int
        /// How the other clients differed, in words.
        package let differences: [String]

        package init(
            list: String, revision: Int, items: Int, digest: UInt64, agreed: Int, differences: [String]
        ) {
            (self.list, self.revision, self.items, self.digest) = (list, revision, items, digest)
            (self.agreed, self.differences) = (agreed, differences)
        }

        package var isComplete: Bool { differences.isEmpty }
    }

    package var seed: UInt64
    package var clients: Int
    /// The asked number of edits per second, if there was one.
    package var rate: Double?
    /// The seconds until all clients were connected and had the list.
    package var connected: Double = 0
    package var seconds: Double = 0
    package var samples: [Sample] = []
    package var total = LoadFigures()
    package var lists: [Convergence] = []
    /// The server's own figures, if it was asked.
    package var server: MeasuredServer?
    /// The first problems, in words.
    package var problems: [String] = []

    package init(seed: UInt64, clients: Int, rate: Double? = nil) {
        (self.seed, self.rate) = (seed, rate)
        self.clients = clients
    }

    /// Whether no client ever diverged from the server, and all ended with its list.
    package var isSound: Bool { hasConverged && total.errors[Self.diverged] == nil }

    /// The part of the due edits that was made, in percent; nil without a rate.
    package var reachedRate: Double? {
        guard rate != nil, total.edits + total.missed > 0 else { return nil }
        return Double(total.edits) / Double(total.edits + total.missed) * 100
    }

    /// Whether the asked rate was reached, if there was one: at most 1 % of the edits, and what was due in the last
    /// tenth of a second, were not made.
    package var hasReachedRate: Bool {
        guard let rate else { return true }
        return Double(total.missed) <= Double(total.edits + total.missed) / 100 + rate / 10
    }

    /// The error that is counted when a client's list differs from the server's.
    static let diverged = "diverged"

    /// Whether every client ended with the server's list.
    package var hasConverged: Bool { !lists.isEmpty && lists.allSatisfy(\.isComplete) }

    /// Joins the results of several processes that ran at the same time, second by second.
    package static func joined(_ results: [LoadResult]) -> LoadResult {
        var joined = LoadResult(seed: results.first?.seed ?? 0, clients: 0, rate: results.first?.rate)
        for result in results {
            joined.clients += result.clients
            joined.connected = max(joined.connected, result.connected)
            joined.seconds = max(joined.seconds, result.seconds)
            joined.total.add(result.total)
            joined.problems += result.problems
            joined.server = joined.server ?? result.server
            joined.samples = join(joined.samples, result.samples)
            joined.lists = join(joined.lists, result.lists)
        }
        return joined
    }

    private static func join(_ some: [Sample], _ others: [Sample]) -> [Sample] {
        (0..<max(some.count, others.count)).map { index in
            guard index < some.count else { return others[index] }
            guard index < others.count else { return some[index] }
            var figures = some[index].figures
            figures.add(others[index].figures)
            return Sample(
                at: max(some[index].at, others[index].at),
                seconds: max(some[index].seconds, others[index].seconds),
                clients: some[index].clients + others[index].clients,
                figures: figures)
        }
    }

    private static func join(_ some: [Convergence], _ others: [Convergence]) -> [Convergence] {
        var joined = some
        for other in others {
            guard let index = joined.firstIndex(where: { $0.list == other.list }) else {
                joined.append(other)
                continue
            }
            let one = joined[index]
            let isSame = (one.revision, one.digest) == (other.revision, other.digest)
            joined[index] = Convergence(
                list: one.list, revision: one.revision, items: one.items, digest: one.digest,
                agreed: one.agreed + other.agreed,
                differences: one.differences + other.differences
                    + (isSame ? [] : ["a process ended at revision \(other.revision), another at \(one.revision)"]))
        }
        return joined
    }
}
