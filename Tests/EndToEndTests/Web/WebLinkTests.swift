import Foundation
import HandTestSupport
import Testing

/// Links to one list for browsers.
@Suite(.serialized, .timeLimit(.minutes(5))) struct WebLinkTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func share(_ list: String, _ options: String...) throws -> Binary.Outcome {
        try Binary.run(["share", list, "--data", folder.path + "/data", "--url", "hand://lists.example"] + options)
    }

    /// The running server says where its page is; the token stands behind the `#`.
    @Test func theLinkForBrowsersNamesTheRunningServersPage() throws {
        let server = try RunningServer(folder, ["--web", "127.0.0.1:0"], logPath: folder.path + "/log")
        let port = try #require(server.greeting.firstMatch(of: /http:\/\/127\.0\.0\.1:([0-9]+)/)?.1)
        let lines = try share("groceries & more+").output.split(separator: "\n")
        #expect(lines.count == 2)
        let secret = try #require(lines[0].firstMatch(of: /#(.+)$/)?.1)
        #expect(lines[0].hasPrefix("hand://lists.example:7777/groceries%20%26%20more%2B#"))
        #expect(lines[1] == "http://127.0.0.1:\(port)/#list=groceries%20%26%20more%2B&token=\(secret)")
        let json = try share("groceries", "--json").output
        #expect(json.contains("\"page\":\"http://127.0.0.1:\(port)/#list=groceries&token="))
        #expect(server.terminate() == 0)
        // Nobody knows of a page when no server runs, unless one says it.
        #expect(try share("groceries").output.split(separator: "\n").count == 1)
        let named = try share("groceries", "--page", "https://lists.example/").output
        #expect(named.contains("\nhttps://lists.example/#list=groceries&token="))
        for page in ["lists.example", "https://", "https://lists.example/#a", "http://a/?b=c", "http://a b"] {
            let wrong = try share("groceries", "--page", page)
            #expect(wrong.status == 2 && wrong.messages.contains("--page '\(page)': expected the address of a page"))
        }
    }

    @Test func aServerWithoutAPageSaysNone() throws {
        let server = try RunningServer(folder, [], logPath: folder.path + "/log")
        #expect(try share("groceries").output.split(separator: "\n").count == 1)
        #expect(server.terminate() == 0)
    }

    @Test func aPageThatIsNotKeptMakesBrowsersForgetIt() throws {
        let server = try RunningServer(
            folder, ["--web", "127.0.0.1:0", "--no-web-offline"], logPath: folder.path + "/log")
        let port = try #require(server.greeting.firstMatch(of: /http:\/\/127\.0\.0\.1:([0-9]+)/)?.1)
        let worker = try WebPeer(port: try #require(UInt16(port))).get("/worker.js").body
        #expect(worker.contains("unregister") && !worker.contains("fetch"))
        #expect(server.terminate() == 0)
    }
}
