import HandCore

/// What happens to a client's machine, by handler: at least one scenario for each branch of each.
enum Scenarios {
    static let all = connecting + subscribed + chunk + commit + answers + edits + undoing + telling

    static func reword(_ index: Int, _ old: String, _ new: String) -> Delta {
        .editing(at: index, Change(text: old, to: new))
    }
}
