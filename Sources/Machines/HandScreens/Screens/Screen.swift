import HandCore
import HandWire

/// A screen: a value that takes keys and draws itself. Its subject is fixed when the screen is made; only the name of
/// its list may change.
///
/// The model decides which actions are possible (`refusal`).
package protocol Screen: Sendable {
    static var kind: ScreenKind { get }
    var route: Route { get }
    /// The question at the bottom; nil if nothing is asked.
    var prompt: Prompt? { get set }
    /// The field that receives typed keys; nil if there is none.
    var draft: Draft? { get }

    func title(_ app: AppState) -> Line
    func draw(on canvas: inout Canvas, _ app: AppState)
    /// Why an action is currently impossible; nil if it is possible.
    func refusal(of action: Action, _ app: AppState) -> String?
    /// Carries out an action; returns nil if it is not one of the screen's own.
    mutating func perform(_ action: Action, count: Int?, _ app: inout AppState) -> [Command]?
    /// Takes input that is not an action: typed text, pasted text, the mouse.
    mutating func take(_ input: Input, _ app: inout AppState) -> [Command]
    mutating func answer(_ prompt: Prompt, _ outcome: Prompt.Outcome, _ app: inout AppState) -> [Command]
    /// Follows an event, if the event concerns the screen. The app's state has already changed.
    mutating func follow(_ event: Event, _ app: inout AppState) -> [Command]
    /// Called when the screen has become the topmost.
    mutating func appear(_ app: inout AppState) -> [Command]
    /// Where others see the user; nil if the screen does not belong to a list.
    func whereabouts(_ app: AppState) -> Whereabouts?
    /// When the screen needs the next `tick`; nil if it needs none.
    func deadline(_ app: AppState) -> UInt64?
}

extension Screen {
    /// The actions that keys have here.
    var actions: [Action] { Self.kind.actions }

    package var draft: Draft? { nil }
    package func refusal(of action: Action, _ app: AppState) -> String? { nil }
    package mutating func take(_ input: Input, _ app: inout AppState) -> [Command] { [] }
    package mutating func answer(_ prompt: Prompt, _ outcome: Prompt.Outcome, _ app: inout AppState) -> [Command] { [] }
    package mutating func follow(_ event: Event, _ app: inout AppState) -> [Command] { [] }
    package mutating func appear(_ app: inout AppState) -> [Command] { [] }
    package func whereabouts(_ app: AppState) -> Whereabouts? { nil }
    package func deadline(_ app: AppState) -> UInt64? { nil }
}

/// The screens of one list.
protocol ListScreens: Screen {
    /// The name of the list.
    var list: String { get set }
}

/// The list that a person is on, and the item.
package struct Whereabouts: Equatable, Sendable {
    package let list: String
    package let focus: Focus?

    /// The person is on the item whose text is being edited, or else on the given item.
    init(_ list: String, editing draft: Draft?, on item: Item?) {
        self.list = list
        if case .existing(_, let item, _)? = draft?.target {
            focus = Focus(item.id, isEditing: true)
        } else {
            focus = item.map { Focus($0.id) }
        }
    }
}

/// The kinds of screens, with their actions. The line at the bottom shows the first of them.
package enum ScreenKind: String, CaseIterable, Sendable {
    case lists, list, item, history, revision, people, notices, help, connection, nowhere

    static let moving: [Action] = [.up, .down, .halfPageUp, .halfPageDown, .pageUp, .pageDown, .top, .end]
    static let everywhere: [Action] = [.help, .back, .connection, .redraw, .suspend, .quit]

    package var actions: [Action] { own + (hasTable ? Self.moving : []) + Self.everywhere }

    var hasTable: Bool { self != .item && self != .connection && self != .nowhere }

    var own: [Action] {
        switch self {
        case .lists: [.open, .newList, .deleteList, .refresh]
        case .list:
            [
                .addBelow, .edit, .tick, .delete, .moveDown, .moveUp, .undo, .filter, .open, .deal, .retrieve, .redo,
                .cut, .copy, .pasteBelow, .pasteAbove, .range, .selectUp, .selectDown, .selectAll, .addAbove, .addTop,
                .addEnd, .moveTop, .moveEnd, .editAddress, .follow, .hideTicked, .clearTicked, .jump, .history, .people,
                .notices,
            ]
        case .item:
            [
                .edit, .editAddress, .tick, .follow, .delete, .undo, .redo, .up, .down, .halfPageUp, .halfPageDown,
                .history,
            ]
        case .history: [.open, .whose, .refresh]
        case .revision: [.older, .newer, .restore]
        case .people: [.open]
        case .notices: [.retrieve]
        case .help, .nowhere: []
        case .connection: [.refresh]
        }
    }
}
