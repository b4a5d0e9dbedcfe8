import HandFormats

/// What is tested: the line that comes first.
package struct LoadTest: Sendable {
    let script: String
    /// The server, without a token.
    let address: String
    let lists: [String]
    let clients: Int
    let kind: LoadPlan.Kind
    let isWeb: Bool
    let processes: Int
    let seconds: Double
    let rate: Double?
    let seed: UInt64

    /// - Parameter script: the script's name.
    package init(_ plan: LoadPlan, script: String, processes: Int) {
        (self.script, address, lists) = (script, "\(plan.server)", plan.script.names)
        (clients, kind, isWeb) = (plan.clients, plan.kind, plan.isWeb)
        self.processes = processes
        (seconds, rate, seed) = (plan.seconds, plan.rate, plan.seed)
    }

    package var line: String {
        let others = lists.count > 1 ? " and \(lists.count - 1) more" : ""
        return "\(script) on '\(lists.first ?? "")'\(others) at \(address): \(clients) clients"
            + (kind == .light ? " without the list" : "") + (isWeb ? " on WebSockets" : "")
            + " for up to \(LoadReport.decimal(seconds, 1)) s"
            + (rate.map { ", \(LoadReport.rate($0)) edits a second" } ?? "")
    }
}
