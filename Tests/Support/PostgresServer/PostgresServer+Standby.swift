import Foundation

/// Standbys: servers that repeat what another one does, until they take over.
extension PostgresServer {
    /// The command that makes a copy of this server that keeps following it.
    var copying: (program: String, arguments: [String]) {
        let address = "host=\(folder) port=\(port) user=hand"
        return ("pg_basebackup", ["--write-recovery-conf", "--checkpoint=fast", "-d", address])
    }

    /// From now on, nothing is acknowledged before a standby has it too.
    package func waitForStandby() throws {
        try query("ALTER SYSTEM SET synchronous_standby_names = '*'")
        try query("SELECT pg_reload_conf()")
        try wait(forStandbys: 1, where: "sync_state = 'sync'")
    }

    /// Returns when a standby has everything that this server has now.
    package func bringStandby() throws {
        let end = try query("SELECT pg_current_wal_insert_lsn()")
        try wait(forStandbys: 1, where: "flush_lsn >= '\(end)'")
    }

    /// From now on, a standby receives nothing more, as if the network to it was cut.
    package func lose(_ standby: PostgresServer) throws {
        try standby.query("ALTER SYSTEM SET primary_conninfo = ''")
        try standby.query("SELECT pg_reload_conf()")
        try wait(forStandbys: 0, where: "true")
    }

    private func wait(forStandbys count: Int, where condition: String) throws {
        for _ in 0..<600 {
            if try query("SELECT count(*) FROM pg_stat_replication WHERE \(condition)") == "\(count)" { return }
            usleep(20_000)
        }
        throw Trouble.cannotStart("there are not \(count) standbys where \(condition)")
    }

    /// Makes a standby take over. Returns when it accepts writes.
    package func promote() throws {
        guard try query("SELECT pg_promote()") == "t" else { throw Trouble.cannotStart("the standby did not promote") }
    }

    /// Ends the server as a loss of power does: none of its processes can send or write anything more.
    package func kill() throws {
        let file = try String(contentsOfFile: folder + "/data/postmaster.pid", encoding: .utf8)
        guard let first = file.split(separator: "\n").first, let server = pid_t(first) else {
            throw Trouble.cannotStart("the server does not report its process id")
        }
        // A stopped parent process starts no more children.
        Foundation.kill(server, SIGSTOP)
        let children = try String(contentsOfFile: "/proc/\(server)/task/\(server)/children", encoding: .utf8)
        for process in children.split(separator: " ").compactMap({ pid_t($0) }) + [server] {
            Foundation.kill(process, SIGKILL)
        }
        stop()
    }
}
