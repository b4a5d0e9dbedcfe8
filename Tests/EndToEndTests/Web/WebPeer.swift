import Foundation
import HandTestSupport

/// A browser that asks for files: every byte is the test's.
struct WebPeer {
    let port: UInt16

    struct Answer {
        let status: Int
        /// By their names in lower case.
        let fields: [String: String]
        let bytes: [UInt8]

        var type: String? { fields["content-type"] }
        var body: String { String(decoding: bytes, as: UTF8.self) }
    }

    struct Malformed: Error {}

    func get(_ path: String, _ fields: [String: String] = [:], method: String = "GET") throws -> Answer {
        let client = try WebClient(port: port)
        client.write(Array(request(path, fields.merging(["Connection": "close"]) { own, _ in own }, method).utf8))
        return try answer(client, hasBody: method != "HEAD")
    }

    func getOnOneConnection(_ paths: [String]) throws -> [Answer] {
        let client = try WebClient(port: port)
        return try paths.map { path in
            client.write(Array(request(path, [:], "GET").utf8))
            return try answer(client, hasBody: true)
        }
    }

    private func request(_ path: String, _ fields: [String: String], _ method: String) -> String {
        let lines = fields.merging(["Host": "127.0.0.1:\(port)"]) { own, _ in own }.map { "\($0): \($1)\r\n" }
        return "\(method) \(path) HTTP/1.1\r\n\(lines.joined())\r\n"
    }

    private func answer(_ client: WebClient, hasBody: Bool) throws -> Answer {
        let head = String(decoding: try client.read(through: Array("\r\n\r\n".utf8)), as: UTF8.self)
        let lines = head.components(separatedBy: "\r\n")
        guard let status = lines[0].split(separator: " ").dropFirst().first.flatMap({ Int($0) }) else {
            throw Malformed()
        }
        let fields = lines.dropFirst().compactMap { line -> (String, String)? in
            let parts = line.split(separator: ":", maxSplits: 1)
            return parts.count < 2 ? nil : (parts[0].lowercased(), parts[1].trimmingCharacters(in: .whitespaces))
        }
        let known = Dictionary(fields) { $1 }
        let count = hasBody ? known["content-length"].flatMap { Int($0) } ?? 0 : 0
        return Answer(status: status, fields: known, bytes: try client.read(count))
    }
}
