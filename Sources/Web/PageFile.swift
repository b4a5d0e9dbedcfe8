/// A file of the page, as it is in this folder. The page is a part of the program.
package struct PageFile: Sendable {
    /// The path in this folder.
    package let path: String
    package let bytes: [UInt8]

    private typealias Files = PackageResources

    package static let all = files(in: "root", root) + files(in: "client", client) + files(in: "view", view)

    private static func files(in folder: String, _ files: KeyValuePairs<String, [UInt8]>) -> [PageFile] {
        files.map { PageFile(path: "\(folder)/\($0.key)", bytes: $0.value) }
    }

    private static let root: KeyValuePairs<String, [UInt8]> = [
        "icon.svg": Files.icon_svg, "index.html": Files.index_html, "leave.js": Files.leave_js,
        "manifest.webmanifest": Files.manifest_webmanifest, "worker.js": Files.worker_js,
    ]

    private static let client: KeyValuePairs<String, [UInt8]> = [
        "adoption.js": Files.adoption_js, "beginning.js": Files.beginning_js, "bytes.js": Files.bytes_js,
        "change.js": Files.change_js, "claims.js": Files.claims_js, "client.js": Files.client_js,
        "codec.js": Files.codec_js, "components.js": Files.components_js, "compose.js": Files.compose_js,
        "connectivity.js": Files.connectivity_js, "copies.js": Files.copies_js, "database.js": Files.database_js,
        "delta.js": Files.delta_js, "diff.js": Files.diff_js, "digest.js": Files.digest_js,
        "drafts.js": Files.drafts_js, "fields.js": Files.fields_js, "frames.js": Files.frames_js,
        "heirs.js": Files.heirs_js, "item.js": Files.item_js, "journal.js": Files.journal_js,
        "keeping.js": Files.keeping_js, "line.js": Files.line_js, "links.js": Files.links_js, "list.js": Files.list_js,
        "locks.js": Files.locks_js, "messages.js": Files.messages_js, "neighbours.js": Files.neighbours_js,
        "opened.js": Files.opened_js, "openlist.js": Files.openlist_js, "others.js": Files.others_js,
        "overridden.js": Files.overridden_js, "own.js": Files.own_js, "patience.js": Files.patience_js,
        "pending.js": Files.pending_js, "people.js": Files.people_js, "regrets.js": Files.regrets_js,
        "replica.js": Files.replica_js, "requests.js": Files.requests_js, "segments.js": Files.segments_js,
        "session.js": Files.session_js, "settings.js": Files.settings_js, "splices.js": Files.splices_js,
        "store.js": Files.store_js, "subscription.js": Files.subscription_js, "superseded.js": Files.superseded_js,
        "tabs.js": Files.tabs_js, "transform.js": Files.transform_js, "undo.js": Files.undo_js,
        "undohistory.js": Files.undohistory_js, "words.js": Files.words_js,
    ]

    private static let view: KeyValuePairs<String, [UInt8]> = [
        "app.js": Files.app_js, "bottom.js": Files.bottom_js, "chunks.js": Files.chunks_js,
        "clients.js": Files.clients_js, "composer.js": Files.composer_js, "content.js": Files.content_js,
        "dialogs.js": Files.dialogs_js, "dom.js": Files.dom_js, "draft.js": Files.draft_js, "edits.js": Files.edits_js,
        "field.js": Files.field_js, "gestures.js": Files.gestures_js, "grid.js": Files.grid_js,
        "historyscreen.js": Files.historyscreen_js, "keys.js": Files.keys_js, "listactions.js": Files.listactions_js,
        "listscreen.js": Files.listscreen_js, "listsscreen.js": Files.listsscreen_js, "looking.js": Files.looking_js,
        "main.js": Files.main_js, "news.js": Files.news_js, "noticebar.js": Files.noticebar_js,
        "ownedits.js": Files.ownedits_js, "page.css": Files.page_css, "pagedialogs.js": Files.pagedialogs_js,
        "route.js": Files.route_js, "row.js": Files.row_js, "rows.js": Files.rows_js,
        "selection.js": Files.selection_js, "sentences.js": Files.sentences_js, "speech.js": Files.speech_js,
        "tabmemory.js": Files.tabmemory_js, "taskwords.js": Files.taskwords_js, "textediting.js": Files.textediting_js,
        "texts.js": Files.texts_js,
    ]
}
