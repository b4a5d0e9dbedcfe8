import HandCore
import HandWire

/// A screen: a value that takes keys and draws itself. Its subject is fixed when the screen is made; only the name of
/// its list may change.
///
/// The model decides which actions are possible (`refusal`).
package protocol Screen: Sendable {
    /// The place that the screen shows. The place's kind says which actions have keys here.
    var route: Route { get }
    /// The receiver of typed keys; nil if keys are actions.
    var typing: Typing? { get }
    /// The list that an action is about; nil for the server.
    func subject(of action: Action, _ app: AppState) -> String?

    func title(_ app: AppState) -> Line
    func draw(on canvas: inout Canvas, _ app: AppState)
    /// Why an action is currently impossible; nil if it is possible.
    func refusal(of action: Action, _ app: AppState) -> String?
    /// Carries out an action; returns nil if it is not one of the screen's own.
    mutating func perform(_ action: Action, count: Int?, _ app: inout AppState) -> [Command]?
    mutating func take(_ event: ScreenEvent, _ app: inout AppState) -> [Command]
    /// When the screen needs a `tick`; nil if it needs none.
    var deadline: UInt64? { get }
}

extension Screen {
    package var typing: Typing? { nil }
    package var deadline: UInt64? { nil }
    package func subject(of action: Action, _ app: AppState) -> String? { route.list }
    package func refusal(of action: Action, _ app: AppState) -> String? { nil }
    package mutating func take(_ event: ScreenEvent, _ app: inout AppState) -> [Command] { [] }

    /// Why the user may not or cannot carry out an action now; nil if the action is possible.
    func obstacle(to action: Action, _ app: AppState) -> String? {
        app.refusal(of: action, on: subject(of: action, app)) ?? refusal(of: action, app)
    }

    /// The question at the bottom; nil if nothing is asked.
    package var prompt: Prompt? {
        if case .question(let prompt)? = typing { prompt } else { nil }
    }
}

/// The receiver of typed keys.
package enum Typing: Sendable {
    case question(Prompt)
    case field(Draft)
}

package enum ScreenEvent: Sendable {
    /// The screen has become the topmost one, or the topmost screen must be refreshed.
    case appeared
    /// Input to the topmost screen that is neither an action nor an answer.
    case input(Input)
    /// The answer to the screen's question. The screen keeps the question while its answer is typed.
    case answer(Prompt, Prompt.Outcome)
    /// An event of the model, whose state has already changed. Hidden screens get these events, too.
    case model(Event)
}

protocol ListScreens: Screen {
    var list: String { get set }
}

/// The screens on which others see the user.
protocol ItemScreens: ListScreens {
    func current(_ app: AppState) -> Item?
}

extension ItemScreens {
    /// Where others see the user: on the item whose text is being edited, or else on the current item.
    func whereabouts(_ app: AppState) -> Whereabouts {
        if case .field(let draft)? = typing, case .existing(_, let item, _) = draft.target {
            return Whereabouts(list: list, focus: Focus(item.id, isEditing: true))
        }
        return Whereabouts(list: list, focus: current(app).map { Focus($0.id) })
    }
}

/// The list that a person is on, and the item.
struct Whereabouts: Equatable, Sendable {
    let list: String
    let focus: Focus?
}

/// The kinds of screens, with their actions. The line at the bottom shows the first of the actions.
package enum ScreenKind: String, CaseIterable, Sendable {
    case lists, list, item, history, revision, people, notices, share, help, connection, nowhere

    static let moving: [Action] = [.up, .down, .halfPageUp, .halfPageDown, .pageUp, .pageDown, .top, .end]
    static let everywhere: [Action] = [.help, .back, .connection, .redraw, .suspend, .quit]

    package var actions: [Action] {
        // Nothing lies beneath the lists: a user who goes back once too often stays in the program.
        own + (hasTable ? Self.moving : []) + Self.everywhere.filter { self != .lists || $0 != .back }
    }

    /// After how many milliseconds the topmost screen is refreshed; nil if only events change it.
    var refreshTime: UInt64? {
        switch self {
        case .lists: 5_000
        case .connection: 1_000
        case .list, .item, .history, .revision, .people, .notices, .share, .help, .nowhere: nil
        }
    }

    var hasTable: Bool { self != .item && self != .share && self != .connection && self != .nowhere }

    var own: [Action] {
        switch self {
        case .lists:
            [
                .open, .newList, .deleteList, .leave, .newFirst, .filter, .share, .rename,
                .duplicate, .undelete, .showAll, .refresh,
            ]
        case .list:
            [
                .addBelow, .edit, .tick, .delete, .moveDown, .moveUp, .undo, .filter, .open, .fold, .indent, .outdent,
                .deal, .retrieve, .redo, .deleteBranch, .cut, .copy, .pasteBelow, .pasteAbove, .range, .selectUp,
                .selectDown, .selectAll, .addAbove, .addTop, .addEnd, .moveTop, .moveEnd, .editAddress, .follow,
                .hideTicked, .foldAll, .clearTicked, .jump, .nextNew, .previousNew, .history, .people, .notices, .share,
                .mine, .due, .sort, .tickedLast, .untickAll, .moveToList, .copyToList,
            ]
        case .item:
            [
                .edit, .editAddress, .tick, .follow, .delete, .undo, .redo, .history,
            ] + Self.moving
        case .history: [.open, .whose, .refresh]
        case .revision: [.older, .newer, .restore]
        case .people: [.open]
        case .notices: [.retrieve]
        case .share, .help, .nowhere: []
        case .connection: [.refresh]
        }
    }
}
