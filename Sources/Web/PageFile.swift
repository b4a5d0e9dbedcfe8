import CWeb

/// A file of the page, as it is in this folder. The page is a part of the program.
package struct PageFile: Sendable {
    /// The path in this folder.
    package let path: String
    package let bytes: [UInt8]

    package static let all: [PageFile] = {
        var next = hand_page_contents()!
        return paths.map { path in
            let bytes = Array(String(cString: next).utf8)
            next += bytes.count + 1
            return PageFile(path: path, bytes: bytes)
        }
    }()

    /// In the order of `page.c`.
    private static let paths = root.map { "root/\($0)" } + client.map { "client/\($0)" } + view.map { "view/\($0)" }

    private static let root = [
        "icon.svg", "index.html", "leave.js", "manifest.webmanifest", "worker.js",
    ]

    private static let client = [
        "adoption.js", "backoff.js", "beginning.js", "bytes.js", "change.js", "claims.js", "client.js", "codec.js",
        "components.js", "compose.js", "connectivity.js", "copies.js", "database.js", "delta.js", "diff.js",
        "digest.js", "drafts.js", "fields.js", "frames.js", "heirs.js", "item.js", "journal.js", "keeping.js",
        "line.js", "links.js", "list.js", "locks.js", "messages.js", "neighbours.js", "opened.js", "openlist.js",
        "others.js", "overridden.js", "own.js", "pending.js", "people.js", "regrets.js", "replica.js", "requests.js",
        "segments.js", "session.js", "settings.js", "splices.js", "store.js", "subscription.js", "superseded.js",
        "tabs.js", "transform.js", "undo.js", "undohistory.js", "words.js",
    ]

    private static let view = [
        "app.js", "bottom.js", "chunks.js", "clients.js", "composer.js", "content.js", "dialogs.js", "dom.js",
        "draft.js", "edits.js", "field.js", "gestures.js", "grid.js", "historyscreen.js", "identity.js", "keys.js",
        "listactions.js", "listscreen.js", "listsscreen.js", "looking.js", "main.js", "news.js", "noticebar.js",
        "ownedits.js", "page.css", "pagedialogs.js", "route.js", "row.js", "rows.js", "selection.js", "sentences.js",
        "speech.js", "tabmemory.js", "taskwords.js", "textediting.js", "texts.js",
    ]
}
