/// A self-contained HTML page.
package enum Page {
    /// - Parameter body: HTML.
    package static func html(title: String, body: String) -> String {
        """
        <!doctype html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <title>\(escaped(title))</title>
        <style>
        body { font: 15px/1.5 system-ui, sans-serif; max-width: 800px; margin: 2em auto; padding: 0 1em; color: #222; }
        pre { background: #f4f4f4; padding: 1em; overflow-x: auto; }
        dt { float: left; width: 6em; color: #777; } dd { margin-left: 6em; overflow-wrap: anywhere; }
        svg { width: 100%; margin: .5em 0; }
        .grid { stroke: #ddd; }
        .tick { font-size: 11px; fill: #555; }
        .title { font-size: 13px; font-weight: 600; }
        .good { color: #17692f; } .bad { color: #b3261e; }
        @media (prefers-color-scheme: dark) {
          body { background: #181818; color: #ddd; } pre { background: #242424; }
          .grid { stroke: #3a3a3a; } .tick { fill: #aaa; } .title { fill: #ddd; }
          .good { color: #6cc98a; } .bad { color: #ff8a80; }
        }
        </style>
        </head>
        <body>
        <h1>\(escaped(title))</h1>
        \(body)
        </body>
        </html>

        """
    }

    static func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
    }
}
