import HandCore

/// One screen: a value that takes keys and draws itself. Whatever it is about is given to it when it is made, and stays; only
/// a list may get another name.
///
/// What may be done is decided by the model (`refusal`), not by who presses keys.
package protocol Screen: Sendable {
    static var kind: ScreenKind { get }
    var route: Route { get }
    /// The line at the bottom in which one is asked something; nil if one is not.
    var prompt: Prompt? { get set }
    /// What is typed into a field within the screen; keys are text for it. nil if nothing is.
    var draft: Draft? { get }

    func title(_ app: AppState) -> Line
    func draw(on canvas: inout Canvas, _ app: AppState)
    /// Why an action cannot be done now; nil if it can.
    func refusal(of action: Action, _ app: AppState) -> String?
    /// Does an action; nil if it is not one of the screen's own.
    mutating func perform(_ action: Action, count: Int?, _ app: inout AppState) -> [Command]?
    /// Takes what is no action: keys that are text, pasted text, the mouse.
    mutating func take(_ input: Input, _ app: inout AppState) -> [Command]
    mutating func answer(_ prompt: Prompt, _ outcome: Prompt.Outcome, _ app: inout AppState) -> [Command]
    /// Something has happened that the screen may have to follow; the app's state has it already.
    mutating func follow(_ event: Event, _ app: inout AppState) -> [Command]
    /// It has come to the top.
    mutating func appear(_ app: inout AppState) -> [Command]
    /// The item that one is on here, for others to see; nil if the screen is not of a list.
    func focus(_ app: AppState) -> Focus?
    /// When it wants `tick`, beyond what the lists want.
    func deadline(_ app: AppState) -> UInt64?
}

extension Screen {
    /// What keys do here.
    var actions: [Action] { Self.kind.actions }

    package var draft: Draft? { nil }
    package func refusal(of action: Action, _ app: AppState) -> String? { nil }
    package mutating func take(_ input: Input, _ app: inout AppState) -> [Command] { [] }
    package mutating func answer(_ prompt: Prompt, _ outcome: Prompt.Outcome, _ app: inout AppState) -> [Command] { [] }
    package mutating func follow(_ event: Event, _ app: inout AppState) -> [Command] { [] }
    package mutating func appear(_ app: inout AppState) -> [Command] { [] }
    package func focus(_ app: AppState) -> Focus? { nil }
    package func deadline(_ app: AppState) -> UInt64? { nil }
}

/// The screens of one list.
protocol ListScreens: Screen {
    /// What it is called.
    var list: String { get set }
}

/// Where in a list a person is.
package struct Focus: Equatable, Sendable {
    package let list: String
    package let item: ItemID?
}

/// The kinds of screens, with what keys do on each; the first ones stand in the line at the bottom.
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
