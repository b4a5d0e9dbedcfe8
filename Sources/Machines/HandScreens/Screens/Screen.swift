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

    func title(_ world: World) -> Line
    /// Why an action cannot be done now; nil if it can.
    func refusal(of action: Action, _ world: World) -> String?
    mutating func perform(_ action: Action, count: Int?, _ world: inout World) -> [Command]
    /// Something has happened that the screen may have to follow; the world knows of it already.
    mutating func follow(_ event: Event, _ world: inout World) -> [Command]
    /// It has come to the top.
    mutating func appear(_ world: inout World) -> [Command]
    func draw(on canvas: inout Canvas, _ world: World)

    /// Whether keys are text for a field within the screen.
    var isTyping: Bool { get }
    mutating func type(_ key: Key, _ world: inout World) -> [Command]
    /// What keys do while one types.
    func typingHints(_ world: World) -> [Hint]
    mutating func paste(_ text: String, _ world: inout World) -> [Command]
    mutating func mouse(_ mouse: Mouse, _ world: inout World) -> [Command]
    /// The text of the prompt is another.
    mutating func typed(_ prompt: Prompt, _ world: inout World) -> [Command]
    /// The prompt was answered with Enter.
    mutating func answer(_ prompt: Prompt, _ world: inout World) -> [Command]
    /// The prompt was left with Esc.
    mutating func cancelled(_ prompt: Prompt, _ world: inout World) -> [Command]
    /// The item that one is on here, for others to see; nil if the screen is not of a list.
    func focus(_ world: World) -> Focus?
    /// When it wants `tick`, beyond what the lists want.
    func deadline(_ world: World) -> UInt64?
}

extension Screen {
    /// What keys do here.
    var actions: [Action] { Self.kind.actions }

    package func refusal(of action: Action, _ world: World) -> String? { nil }
    package mutating func follow(_ event: Event, _ world: inout World) -> [Command] { [] }
    package mutating func appear(_ world: inout World) -> [Command] { [] }
    package var isTyping: Bool { false }
    package mutating func type(_ key: Key, _ world: inout World) -> [Command] { [] }
    package func typingHints(_ world: World) -> [Hint] { Hint.whileEditing }
    package mutating func paste(_ text: String, _ world: inout World) -> [Command] { [] }
    package mutating func mouse(_ mouse: Mouse, _ world: inout World) -> [Command] { [] }
    package mutating func typed(_ prompt: Prompt, _ world: inout World) -> [Command] { [] }
    package mutating func answer(_ prompt: Prompt, _ world: inout World) -> [Command] { [] }
    package mutating func cancelled(_ prompt: Prompt, _ world: inout World) -> [Command] { [] }
    package func focus(_ world: World) -> Focus? { nil }
    package func deadline(_ world: World) -> UInt64? { nil }
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
