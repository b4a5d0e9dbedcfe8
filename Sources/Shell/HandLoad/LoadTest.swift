import HandFormats

/// What is tested: the line that comes first.
package struct LoadTest: Sendable {
    let plan: LoadPlan
    let script: String
    let processes: Int

    /// - Parameter script: the script's name.
    package init(_ plan: LoadPlan, script: String, processes: Int) {
        (self.plan, self.script, self.processes) = (plan, script, processes)
    }

    package var line: String {
        let lists = plan.script.names
        let others = lists.count > 1 ? " and \(lists.count - 1) more" : ""
        return "\(script) on '\(lists.first ?? "")'\(others) at \(plan.server): \(plan.clients) clients"
            + (plan.kind == .light ? " without the list" : "") + (plan.isWeb ? " on WebSockets" : "")
            + " for up to \(LoadReport.decimal(plan.seconds, 1)) s"
            + (plan.rate.map { ", \(LoadReport.rate($0)) edits a second" } ?? "")
    }
}
