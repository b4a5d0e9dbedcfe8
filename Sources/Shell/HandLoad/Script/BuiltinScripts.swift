package enum BuiltinScript: String, CaseIterable, Sendable {
    case editing, burst, readers
    case reconnectStorm = "reconnect-storm"
    case fiveCards = "five-cards"

    package var summary: String {
        switch self {
        case .editing: "people who add, change, tick, move and delete, with pauses"
        case .burst: "everybody edits as fast as the server answers"
        case .readers: "one writes, all others read"
        case .reconnectStorm: "all lose their connections, edit offline, and come back"
        case .fiveCards: "everybody fills the same five places with cards of one deck"
        }
    }

    package var source: String {
        switch self {
        case .editing:
            """
            # People at a list of a thousand items: a thought, an edit.
            clients 100
            items 1000
            loop
              choose
                4 add "item {iteration} of {client}" at random
                3 edit random to "changed by {client}, {random}"
                3 tick random
                2 move random to random
                4 delete random
              end
              pause 200ms to 1s
            end
            """
        case .burst:
            """
            # As fast as the server answers, one edit in flight each.
            clients 100
            items 1000
            loop
              choose
                1 add "item {client}/{iteration}" at random
                1 delete random
                1 move random to random
              end
            end
            """
        case .readers:
            """
            # One writes as fast as it can, all others read.
            clients 1000
            items 1000
            role writer 1
              loop
                add "item {iteration}" at random
                delete random
              end
            role reader rest
              loop
                pause 1m
              end
            """
        case .reconnectStorm:
            """
            # Everybody is cut off at the same time, goes on editing, and comes back within the same second.
            clients 100
            items 200
            loop
              loop 5
                add "online {client}/{iteration}" at random
                pause 50ms to 150ms
              end
              offline 2s to 3s with
                add "offline {client}" at top
                move random to random
                delete random
              end
              expect converged
            end
            """
        case .fiveCards:
            """
            # A hand of five cards: most of what is asked for is refused, and nobody may ever hold a card twice.
            clients 20
            list "cards"
            rules max-items 5, deck
            loop
              choose
                3 deal
                2 delete random
                1 move random to random
              end
              pause 5ms to 20ms
            end
            """
        }
    }
}
