import EventLoop
import Glibc
import Testing

@Suite(.timeLimit(.minutes(5))) struct ListenerTests {
    @Test func anAddressInUseIsRefused() throws {
        try withLoop { loop in
            let first = try Listener.tcp(loop, address: .loopback()) { _ in }
            let address = try #require(first.localAddress)
            #expect(throws: UVError.addressInUse) { _ = try Listener.tcp(loop, address: address) { _ in } }
            first.close()
            first.close()
            // It is free at once.
            let second = try Listener.tcp(loop, address: address) { _ in }
            second.close()
            loop.run()
        }
    }

    @Test func anAddressOfAnotherMachineIsRefused() throws {
        try withLoop { loop in
            let address = try SocketAddress(ip: "192.0.2.1", port: 0)
            #expect(throws: UVError.addressNotAvailable) { _ = try Listener.tcp(loop, address: address) { _ in } }
        }
    }

    @Test func allWaitingConnectionsAreAccepted() throws {
        try withLoop { loop in
            var accepted = 0
            var connected = 0
            var listener: Listener?
            listener = try Listener.tcp(loop, address: .loopback()) { stream in
                accepted += 1
                stream.close()
                if accepted == 200 { listener?.close() }
            }
            let address = try #require(listener?.localAddress)
            for _ in 0..<200 {
                TCP.connect(loop, to: address) { result in
                    connected += 1
                    result.orRecord()?.close()
                }
            }
            loop.run()
            #expect(accepted == 200 && connected == 200)
            listener = nil
        }
    }

    /// Many simultaneous connections do not keep the others on the loop waiting until the last of them is accepted.
    @Test func acceptingLeavesTurnsToOthers() throws {
        try withLoop { loop in
            var turns = [0]
            let listener = try Listener.tcp(loop, address: .loopback()) { stream in
                turns[turns.count - 1] += 1
                stream.close()
            }
            let hook = loop.onTurnEnd { turns.append(0) }
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            address.sin_port = try #require(listener.localAddress).port.bigEndian
            // The system connects them before the loop has run.
            let clients = (0..<200).map { _ in socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0) }
            for client in clients {
                let result = withUnsafePointer(to: &address) {
                    $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                        connect(client, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                    }
                }
                #expect(result == 0)
            }
            while turns.reduce(0, +) < clients.count { loop.runOnce() }
            #expect((turns.max() ?? 0) <= clients.count / 2)
            for client in clients { close(client) }
            hook.cancel()
            listener.close()
        }
    }

    @Test func aSocketFileIsPrivateAndRemoved() throws {
        try withFolder { folder in
            try withLoop { loop in
                let path = folder + "/socket"
                let listener = try Listener.pipe(loop, path: path) { _ in }
                var info = stat()
                #expect(stat(path, &info) == 0 && info.st_mode & 0o777 == 0o600)
                #expect(throws: UVError.addressInUse) { _ = try Listener.pipe(loop, path: path) { _ in } }
                #expect(access(path, F_OK) == 0)
                listener.close()
                #expect(access(path, F_OK) != 0)
                let open = try Listener.pipe(loop, path: path, permissions: 0o666) { _ in }
                #expect(stat(path, &info) == 0 && info.st_mode & 0o777 == 0o666)
                withExtendedLifetime(open) { loop.close() }
                #expect(access(path, F_OK) != 0)
            }
        }
    }

    @Test func anotherServersSocketFileIsLeftAlone() throws {
        try withFolder { folder in
            try withLoop { loop in
                let path = folder + "/socket"
                let first = try Listener.pipe(loop, path: path) { _ in }
                // Both exist at the same time, so that they cannot have the same inode.
                #expect(rename(path, folder + "/other") == 0)
                let second = try Listener.pipe(loop, path: path) { _ in }
                first.close()
                #expect(access(path, F_OK) == 0)
                second.close()
                #expect(access(path, F_OK) != 0)
                loop.run()
            }
        }
    }

    @Test func impossiblePathsAreRefused() throws {
        try withFolder { folder in
            try withLoop { loop in
                let long = folder + "/" + String(repeating: "x", count: 107 - folder.utf8.count)
                #expect(throws: UVError.nameTooLong) { _ = try Listener.pipe(loop, path: long) { _ in } }
                #expect(throws: UVError.nameTooLong) { try Listener.removeStaleSocket(path: long) }
                #expect(throws: UVError.invalidArgument) { _ = try Listener.pipe(loop, path: "") { _ in } }
                let fits = try Listener.pipe(loop, path: String(long.dropLast())) { _ in }
                fits.close()
                let nowhere = folder + "/none/socket"
                #expect(throws: UVError.noSuchFile) { _ = try Listener.pipe(loop, path: nowhere) { _ in } }
                loop.run()
            }
        }
    }

    @Test func aStaleSocketIsRemovedAndALiveOneIsNot() throws {
        try withFolder { folder in
            try withLoop { loop in
                let path = folder + "/socket"
                #expect(try !Listener.removeStaleSocket(path: path))
                let listener = try Listener.pipe(loop, path: path) { $0.close() }
                #expect(throws: UVError.addressInUse) { try Listener.removeStaleSocket(path: path) }
                // Its server ends without having known the file by this name.
                #expect(rename(path, folder + "/other") == 0)
                listener.close()
                #expect(throws: Never.self) { try #expect(Listener.removeStaleSocket(path: folder + "/other")) }
                #expect(access(folder + "/other", F_OK) != 0)
                loop.run()
            }
        }
    }

    @Test func otherFilesAreLeftAlone() throws {
        try withFolder { folder in
            let path = folder + "/other"
            let file = open(path, O_CREAT | O_WRONLY, 0o600)
            close(file)
            #expect(throws: UVError.notASocket) { try Listener.removeStaleSocket(path: path) }
            #expect(access(path, F_OK) == 0)
        }
    }

    /// In a process of its own, as it takes all descriptors away.
    @Test func withoutDescriptorsConnectionsWait() async {
        await #expect(processExitsWith: .success) {
            try withLoop { loop in
                var limit = rlimit()
                getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
                let normal = limit
                let errors = Log<UVError>()
                var accepted = 0
                var listener: Listener?
                listener = try Listener.tcp(loop, address: .loopback()) { stream in
                    accepted += 1
                    stream.close()
                    listener?.close()
                } onError: { error in
                    errors.add(error)
                }
                let address = try #require(listener?.localAddress)
                TCP.connect(loop, to: address) { result in
                    guard let client = result.orRecord() else {
                        listener?.close()
                        return
                    }
                    client.open { _ in
                    } onEnd: { [unowned client] _ in
                        client.close()
                    }
                }
                // The client has its socket already. From here on, nothing gets a descriptor.
                limit.rlim_cur = 0
                setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
                // The limit holds for twenty turns. A listener that does not pause fails in each of them.
                let relief = Timer(loop)
                var turns = 0
                relief.start(after: 1, repeating: 1) {
                    if !errors.entries.isEmpty { turns += 1 }
                    guard turns == 20 else { return }
                    var normal = normal
                    setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &normal)
                    relief.close()
                }
                loop.run()
                #expect(errors.entries.first == .tooManyOpenFiles)
                #expect(errors.entries.count < turns)
                #expect(accepted == 1)
                listener = nil
            }
        }
    }
}
