import Disk
import Glibc
import HandSync

struct ServerMetrics {
    let figures: ServerFigures
    let load: ServerLoad
    let clock: CommitClock
    /// Milliseconds since 1970.
    let startedAt: UInt64
    let version: String
    /// Seconds since 1970; nil without TLS.
    let certificateEnd: Int?

    var page: String {
        var page = Exposition()
        page.add(.gauge, "hand_info", "The program that runs.", by: "version", [version: 1])
        addLoad(to: &page)
        addTraffic(to: &page)
        addCommits(to: &page)
        addProcess(to: &page)
        return page.text
    }

    private func addLoad(to page: inout Exposition) {
        page.add(.gauge, "hand_connections", "Clients that are connected.", load.connections)
        page.add(.gauge, "hand_subscriptions", "Lists that clients follow, counted once for each.", load.subscriptions)
        page.add(.gauge, "hand_lists_loaded", "Lists in memory.", load.lists)
        page.add(.gauge, "hand_items_loaded", "Items of the lists in memory.", load.items)
        page.add(
            .gauge, "hand_window_bytes", "Bytes of commits kept in memory for clients that reconnect.",
            load.windowBytes)
        page.add(.gauge, "hand_queued_bytes", "Bytes of answers that clients have not read.", load.queuedBytes)
        page.add(.gauge, "hand_lagging", "Subscriptions without the newest commits.", load.lagging)
        page.add(.gauge, "hand_pending_commits", "Commits that are not durable yet.", load.pendingCommits)
        page.add(.gauge, "hand_slowed", "Connections whose user sends too fast.", load.slowed)
        page.add(.gauge, "hand_store_bytes", "Bytes that the store takes.", load.storeBytes)
    }

    private func addTraffic(to page: inout Exposition) {
        page.add(.counter, "hand_connections_total", "Connections that were accepted.", figures.connections)
        page.add(.counter, "hand_received_bytes_total", "Bytes from clients.", figures.bytesReceived)
        page.add(.counter, "hand_sent_bytes_total", "Bytes to clients.", figures.bytesSent)
        page.add(.counter, "hand_deliveries_total", "Commits sent to clients.", figures.deliveries)
        page.add(.counter, "hand_snapshots_total", "Lists sent as a whole to subscribers.", figures.snapshots)
        page.add(
            .counter, "hand_reads_behind_total", "Times that a slow client's commits were read from the store.",
            figures.readsBehind)
        page.add(
            .counter, "hand_slowed_total",
            "Times that a connection was not read for a while because its user sent too fast.",
            figures.slowings)
        page.add(
            .counter, "hand_resynchronizations_total", "Lists that clients requested again, as after a divergence.",
            figures.resynchronizations)
        page.add(
            .counter, "hand_closed_total", "Connections that the server closed.", by: "reason", figures.closings)
    }

    private func addCommits(to page: inout Exposition) {
        page.add(
            .counter, "hand_submissions_total", "Edits that clients submitted, also those that were rejected.",
            figures.submissions)
        page.add(.counter, "hand_commits_total", "Commits that became durable.", figures.commits)
        page.add(.counter, "hand_writes_total", "Transactions that wrote commits.", figures.writes)
        page.add(.counter, "hand_failed_writes_total", "Transactions that failed.", figures.failedWrites)
        page.add(.counter, "hand_stale_total", "Edits on revisions that are no longer in memory.", figures.stale)
        page.add(.counter, "hand_rejected_total", "Edits that were rejected.", by: "reason", figures.rejections)
        page.add("hand_write_seconds", "Time from starting a transaction until it is durable.", clock.writes)
        page.add("hand_commit_seconds", "Time from numbering a commit until it is durable.", clock.commits)
    }

    private func addProcess(to page: inout Exposition) {
        page.add(.counter, "process_cpu_seconds_total", "Processor time in seconds.", ProcessFacts.processorSeconds)
        page.add(.gauge, "process_resident_memory_bytes", "Bytes of resident memory.", ProcessFacts.residentBytes)
        page.add(.gauge, "process_open_fds", "Open files and sockets.", ProcessFacts.openFiles)
        page.add(
            .gauge, "process_start_time_seconds", "Start time in seconds since 1970.", Double(startedAt) / 1_000)
        guard let certificateEnd else { return }
        page.add(
            .gauge, "hand_certificate_end_seconds", "When the server's certificate ends, in seconds since 1970.",
            certificateEnd)
    }
}

/// The system's figures for this process.
enum ProcessFacts {
    /// The seconds of processor time, on all processors together.
    static var processorSeconds: Double {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
        return seconds(usage.ru_utime) + seconds(usage.ru_stime)
    }

    /// The bytes of resident memory; 0 if unknown.
    static var residentBytes: Int {
        let text = String(decoding: (try? PrivateFile.read("/proc/self/statm"))??.bytes ?? [], as: UTF8.self)
        let pages = text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        return pages * sysconf(Int32(_SC_PAGESIZE))
    }

    static var openFiles: Int {
        guard let folder = opendir("/proc/self/fd") else { return 0 }
        defer { closedir(folder) }
        var count = 0
        while readdir(folder) != nil { count += 1 }
        // Without the entries `.` and `..`, and the folder that is being read.
        return max(0, count - 3)
    }
}
