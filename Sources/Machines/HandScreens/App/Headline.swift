import HandFormats
import HandSync

/// What is new in a list that is not open, in a few words.
struct Headline: Equatable, Sendable {
    /// The revisions between which others changed the list.
    let since: Int
    private let through: Int
    private let isCut: Bool
    private let count: Int
    private let names: [String]

    init(_ news: NewsOfCommits, since: Int) {
        (self.since, through, isCut, count) = (since, news.revision, news.isCut, news.places.count)
        names = news.names.map { Printable.clean($0) }
    }

    /// Whether this is all that there is to say of the list at a revision.
    func covers(_ revision: Int) -> Bool { isCut || through >= revision }

    /// `4 new, by Bob`; nil if nothing is new.
    ///
    /// - Parameter unseen: how many items were new before these changes.
    func text(andUnseen unseen: Int) -> String? { NewsText.headline(count + unseen, isCut: isCut, by: names) }
}

extension AppState {
    /// What is new in a list since the user looked at it last; nil if nothing is, or if the user has never looked at
    /// it.
    func news(of list: String) -> String? {
        guard let seen = seen?[list] else { return nil }
        if let headline = headlines[list], headline.since == seen.revision {
            return headline.text(andUnseen: seen.unseen.count)
        }
        return seen.unseen.isEmpty ? nil : "\(seen.unseen.count) new"
    }

    /// The lists that have changed since the user looked at them last, so that their news must be asked for.
    var unknownNews: [(list: String, since: Int)] {
        guard isOnline, let seen, let catalog else { return [] }
        let changed = catalog.lazy.compactMap { entry -> (list: String, since: Int)? in
            guard let seen = seen[entry.name], entry.revision > seen.revision else { return nil }
            let headline = headlines[entry.name]
            let isKnown = headline.map { $0.since == seen.revision && $0.covers(entry.revision) } == true
            return isKnown ? nil : (entry.name, seen.revision)
        }
        return Array(changed.prefix(Self.maxNews))
    }

    /// How many lists are asked for their news at once.
    private static let maxNews = 100
}
