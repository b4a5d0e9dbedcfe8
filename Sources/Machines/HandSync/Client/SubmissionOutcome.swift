import HandCore
import HandWire

/// What a commit means for one of this client's submissions.
enum SubmissionOutcome: Equatable {
    /// The commit is the submission.
    case committed
    /// The commit says that the submission was refused.
    case refused(Rejection)
    /// The commit is another edit with the submission's sequence: another program has used this client's id.
    case usedTwice
}

extension Commit {
    /// Returns what this commit means for the submission with a sequence; nil if the commit has another sequence or
    /// author.
    ///
    /// - Parameters:
    ///   - author: the client's author number; nil if it is not known.
    ///   - delta: the submission, made on the list before this commit. If it is nil, the commit is taken for the
    ///     submission.
    func outcome(
        ofSequence sequence: SequenceNumber?, by author: AuthorID?, _ delta: @autoclosure () -> Delta?,
        under rules: Rules
    ) -> SubmissionOutcome? {
        guard self.author == author, self.sequence == sequence else { return nil }
        if let refusal { return .refused(refusal) }
        return delta()?.became(self.delta, under: rules) ?? true ? .committed : .usedTwice
    }
}

extension Delta {
    /// Whether `made`, a commit's delta, is this delta after the server has processed it. Both are made on the list
    /// before the commit. The server changes only the faces of cards that it deals.
    func became(_ made: Delta, under rules: Rules) -> Bool {
        if self == made { return true }
        guard rules.hasDeck else { return false }
        var dealt = made.insertedItems[...]
        let expected = mappingInserted { item in
            guard case .card(let card)? = dealt.popFirst()?.content, item.content == .card(.faceDown) else {
                return item.content
            }
            return .card(card)
        }
        return expected == made
    }
}
