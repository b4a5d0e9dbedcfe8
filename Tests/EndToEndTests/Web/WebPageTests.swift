import Foundation
import HandTestSupport
import HandWeb
import Testing

/// The files of the page, as browsers get them.
@Suite(.serialized, .timeLimit(.minutes(5))) struct WebPageTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// Serves, and gives what requests are answered with.
    private func answering(_ body: (WebPeer) throws -> Void) throws {
        let server = try RunningServer(folder, ["--web", "127.0.0.1:0"], logPath: folder.path + "/log")
        let port = try #require(server.greeting.firstMatch(of: /http:\/\/127\.0\.0\.1:([0-9]+)/)?.1)
        try body(WebPeer(port: try #require(UInt16(port))))
        #expect(server.terminate() == 0)
    }

    private static let source = Project.root.appending(path: "Sources/Web")

    /// Every file of the folder is in the program, as it is.
    @Test func theProgramHasAllFilesOfTheFolder() throws {
        let files = PageFile.all.map(\.path)
        #expect(Set(files).count == files.count)
        var found: Set<String> = []
        for part in ["client", "root", "view"] {
            let names = try FileManager.default.contentsOfDirectory(atPath: Self.source.appending(path: part).path)
            found.formUnion(names.map { "\(part)/\($0)" })
        }
        #expect(found == Set(files))
        for file in PageFile.all {
            let bytes = try [UInt8](Data(contentsOf: Self.source.appending(path: file.path)))
            #expect(bytes == file.bytes, "\(file.path)")
        }
    }

    /// Whether all lines are served but for comments and empty ones, without their indents and types within them.
    private static func isWithoutComments(_ served: String, _ file: PageFile) -> Bool {
        let source = String(decoding: file.bytes, as: UTF8.self)
        guard [".js", ".css"].contains(where: file.path.hasSuffix) else { return served == source }
        let lines = source.components(separatedBy: "\n").map { String($0.drop { $0 == " " }) }
        let code = lines.filter { line in
            let isComment = line != "* {" && ["//", "/*", "* ", "*/"].contains(where: line.hasPrefix)
            return !line.isEmpty && (!isComment || line.contains("*/") && !line.hasSuffix("*/"))
        }
        let untyped = code.map { $0.replacing(/\/\*\* @[^*]*\*\/ ?/, with: "") }
        return served == untyped.joined(separator: "\n")
    }

    @Test func thePageAndItsFilesAreServed() throws {
        try answering { peer in
            let page = try peer.get("/")
            #expect(page.status == 200 && page.type == "text/html; charset=utf-8")
            #expect(page.fields["cache-control"] == "no-cache")
            let policy = try #require(page.fields["content-security-policy"])
            #expect(policy.contains("default-src 'none'") && policy.contains("script-src 'self'"))
            #expect(!policy.contains("unsafe") && policy.contains("require-trusted-types-for 'script'"))
            #expect(page.fields["referrer-policy"] == "no-referrer")
            #expect(page.fields["x-content-type-options"] == "nosniff")
            let module = try #require(page.body.firstMatch(of: /src="(\/[0-9a-f]{16}\/)view\/main\.js"/))
            for file in PageFile.all where !file.path.hasPrefix("root/") {
                let answer = try peer.get("\(module.1)\(file.path)")
                #expect(answer.status == 200 && Self.isWithoutComments(answer.body, file), "\(file.path)")
                #expect(answer.fields["cache-control"] == "public, max-age=31536000, immutable")
                let type = file.path.hasSuffix(".css") ? "text/css; charset=utf-8" : "text/javascript; charset=utf-8"
                #expect(answer.type == type, "\(file.path)")
            }
            // The worker that keeps the page knows all files of this build.
            let worker = try peer.get("/worker.js")
            #expect(worker.fields["cache-control"] == "no-cache")
            for file in PageFile.all where !file.path.hasPrefix("root/") {
                #expect(worker.body.contains("\"\(module.1)\(file.path)\""), "\(file.path)")
            }
            #expect(try peer.get("/manifest.webmanifest").type == "application/manifest+json")
            #expect(try peer.get("/icon.svg").type == "image/svg+xml")
            for path in [
                "/0123456789abcdef/view/main.js", "/view/main.js", "/root/index.html", "/index.html", "/groceries",
            ] {
                #expect(try peer.get(path).status == 404, "\(path)")
            }
        }
    }

    /// A browser that can gets them compressed: all of them are at most 120 KiB.
    @Test func theWholePageIsSmall() throws {
        try answering { peer in
            let page = try peer.get("/", ["Accept-Encoding": "gzip, br"])
            #expect(page.fields["content-encoding"] == "br" && page.fields["vary"] == "Accept-Encoding")
            let build = try #require(try peer.get("/").body.firstMatch(of: /"\/([0-9a-f]{16})\//)?.1)
            var size = page.bytes.count
            for file in PageFile.all where !file.path.hasPrefix("root/") {
                size += try peer.get("/\(build)/\(file.path)", ["Accept-Encoding": "br"]).bytes.count
            }
            #expect(size <= 120 << 10)
            for others in ["br;q=0", "gzip"] {
                #expect(try peer.get("/", ["Accept-Encoding": others]).fields["content-encoding"] == nil)
            }
        }
    }

    /// A browser asks for all files on a few connections; whoever wants only one says so.
    @Test func aConnectionServesSeveralRequests() throws {
        try answering { peer in
            let answers = try peer.getOnOneConnection(["/", "/icon.svg", "/worker.js", "/nothing"])
            #expect(answers.map(\.status) == [200, 200, 200, 404])
            #expect(answers.map { $0.fields["connection"] } == ["keep-alive", "keep-alive", "keep-alive", "close"])
            #expect(try peer.get("/").fields["connection"] == "close")
            let head = try peer.get("/", [:], method: "HEAD")
            #expect(head.bytes.isEmpty && head.fields["content-length"] != "0")
        }
    }
}
