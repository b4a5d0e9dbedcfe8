import HandScreens

// Clusters of emoji. ncurses does not support clusters, so they are sent to the terminal directly.

extension Terminal {
    /// Makes the terminal show each kind of cluster and report the cursor's position after the cluster. The answers
    /// arrive among the keys, at any time or never.
    func askForClusters() {
        let room = Size(rows: Clusters.firstRow + Clusters.samples.count, columns: 16)
        guard size.rows >= room.rows, size.columns >= room.columns else { return }
        clearScreen()
        var text = ""
        for (index, sample) in Clusters.samples.enumerated() {
            let row = Clusters.firstRow + index + 1
            text += "\u{1B}[\(row);1H\(sample.text)\u{1B}[6n\u{1B}[2K"
        }
        writeDirectly(text)
    }

    func drawClusters(of canvas: Canvas, in rows: [Int]) {
        var text = ""
        for row in rows {
            for (column, cell) in canvas.rows[row].enumerated() where cell.base != nil {
                text += "\u{1B}[\(row + 1);\(column + 1)H" + palette.words(for: cell.style) + cell.text
            }
        }
        if !text.isEmpty { writeDirectly(text) }
    }

    /// Writes without ncurses, and restores the cursor and colours as ncurses left them.
    private func writeDirectly(_ text: String) { write("\u{1B}7\(text)\u{1B}8") }
}

extension Canvas {
    func hasClusters(in row: Int) -> Bool { rows.indices.contains(row) && rows[row].contains { $0.base != nil } }
}
