internal import CNcurses
import EventLoop
internal import Glibc
import HandScreens

/// The screen and the keyboard of one terminal, through ncurses. Confined to the loop's thread. ncurses allows only one
/// terminal at a time in a process.
package final class Terminal {
    private let loop: Loop
    /// The terminal, opened again: making this descriptor non-blocking does not affect the descriptor that the shell
    /// shares with this process.
    private let input: Int32
    private let output: UnsafeMutablePointer<FILE>
    private let source: UnsafeMutablePointer<FILE>
    private let screen: OpaquePointer
    private let window: UnsafeMutablePointer<WINDOW>
    let palette: Palette
    private let hasMouse: Bool
    /// Whether the terminal is to say when it gets and loses the focus.
    private let hasFocus: Bool
    private let noticeStyle: NoticeStyle
    /// Whether the process can be stopped: there is a shell that can continue it.
    private let isStoppable: Bool
    private var poll: Poll?
    private var signals: [Signal] = []
    private let pause: Timer
    private var decoder = KeyDecoder()
    private let onInput: (Input) -> Void
    package var onEnd: (() -> Void)?
    /// The canvas that the terminal shows; nil if that is not known.
    private var shown: Canvas?
    private var isClosed = false
    private var isAway = false
    /// Whether this object has the terminal, reads its keys and may draw on it: it is neither closed nor away.
    private var isHere: Bool { !isClosed && !isAway }
    private var quitting: __sighandler_t?
    package private(set) var size: Size

    /// The milliseconds after which an Esc is an Esc and not the beginning of another key.
    private static let escapeTime: UInt64 = 25

    /// Takes over a terminal: the whole screen and every key.
    ///
    /// - Parameters:
    ///   - hasColors: whether to use colours if the terminal has them.
    ///   - input, output: the descriptors of the terminal.
    ///   - onInput: called on the loop's thread with the user's input.
    package init(
        _ loop: Loop, hasColors: Bool, hasMouse: Bool = true, hasFocus: Bool = false, input: Int32 = 0,
        output: Int32 = 1,
        kind: String? = nil, onInput: @escaping (Input) -> Void
    ) throws(TerminalError) {
        guard isatty(input) == 1, isatty(output) == 1, let path = ttyname(input) else { throw .notATerminal }
        let own = open(path, O_RDWR | O_CLOEXEC | O_NOCTTY)
        guard own >= 0 else { throw .notATerminal }
        setlocale(LC_ALL, "")
        // The encoding is UTF-8, even if the environment does not name it.
        if __ctype_get_mb_cur_max() < 4 { setlocale(LC_CTYPE, "C.UTF-8") }
        let name = kind ?? getenv("TERM").map { String(cString: $0) } ?? ""
        guard let out = fdopen(Self.copy(output), "w"), let source = fdopen(Self.copy(input), "r") else {
            throw .notATerminal
        }
        // ncurses' own handler would run on whichever thread gets the signal, concurrently with the loop's thread.
        isStoppable = hand_ignore_stopping() == 0
        guard let screen = newterm(name, out, source) else { throw .unknownKind(name) }
        guard hand_moves_cursor() != 0 else {
            endwin()
            delscreen(screen)
            throw .notAScreen(name)
        }
        (self.loop, self.input, self.output, self.source, self.screen) = (loop, own, out, source, screen)
        (self.hasMouse, self.hasFocus, self.onInput) = (hasMouse, hasFocus, onInput)
        noticeStyle = NoticeStyle(of: name)
        let size = Self.size(of: output) ?? Size(rows: 24, columns: 80)
        self.size = size
        raw()
        noecho()
        nonl()
        guard let window = newwin(Int32(size.rows), Int32(size.columns), 0, 0) else { throw .unknownKind(name) }
        self.window = window
        // This code reads escape sequences itself, as they arrive, so that a timeout of ncurses does not split a
        // sequence.
        keypad(window, false)
        nodelay(window, true)
        scrollok(window, false)
        palette = Palette(hasColors: hasColors)
        pause = Timer(loop)
        try watch()
        setModes(on: true)
        askForClusters()
    }

    /// Returns a copy of a descriptor that other programs do not inherit.
    private static func copy(_ descriptor: Int32) -> Int32 { fcntl(descriptor, F_DUPFD_CLOEXEC, 0) }

    static func size(of descriptor: Int32) -> Size? {
        var (rows, columns): (Int32, Int32) = (0, 0)
        guard hand_window_size(descriptor, &rows, &columns) != 0 else { return nil }
        return Size(rows: Int(rows), columns: Int(columns))
    }

    private func watch() throws(TerminalError) {
        do {
            poll = try Poll(loop, descriptor: input)
            listen()
            signals.append(try Signal(loop, SIGWINCH) { [unowned self] in resize() })
            if isStoppable { signals.append(try Signal(loop, SIGTSTP) { [unowned self] in suspend() }) }
            signals.append(try Signal(loop, SIGCONT) { [unowned self] in comeBack() })
        } catch {
            endwin()
            throw .notWatchable("\(error)")
        }
    }

    // MARK: Input

    private func listen() {
        poll?.start(.readable) { [unowned self] result in
            if case .success = result { read() }
        }
    }

    private func read() {
        var bytes = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = Glibc.read(input, &bytes, bytes.count)
            if count == 0 || (count < 0 && errno == EIO) { return end() }
            guard count > 0 else { break }
            decoder.append(bytes[..<count])
            if count < bytes.count { break }
        }
        deliver()
    }

    /// Called when the terminal is gone, with or without a signal.
    private func end() {
        poll?.stop()
        onEnd?()
    }

    private func deliver(isOver: Bool = false) {
        while isHere, let input = decoder.next(isOver: isOver) { onInput(input) }
        guard isHere, decoder.isWaiting else { return pause.stop() }
        pause.start(after: Self.escapeTime) { [unowned self] in deliver(isOver: true) }
    }

    private func resize() {
        guard isHere, let new = Self.size(of: input), new != size else { return }
        size = new
        resizeterm(Int32(new.rows), Int32(new.columns))
        wresize(window, Int32(new.rows), Int32(new.columns))
        shown = nil
        onInput(.resize(new))
    }

    // MARK: Output

    /// Shows a canvas. Draws only the rows that differ from the canvas that is shown.
    package func draw(_ canvas: Canvas) {
        guard isHere else { return }
        if shown?.size != canvas.size { werase(window) }
        let rows = canvas.changedRows(since: shown)
        for row in rows { draw(canvas.rows[row], at: row) }
        // To ncurses, two clusters with the same placeholder are equal.
        for row in rows where [canvas, shown].contains(where: { $0?.hasClusters(in: row) == true }) {
            wredrawln(window, Int32(row), 1)
        }
        shown = canvas
        if let cursor = canvas.cursor {
            curs_set(1)
            wmove(window, Int32(cursor.row), Int32(cursor.column))
        } else {
            curs_set(0)
        }
        wrefresh(window)
        drawClusters(of: canvas, in: rows)
    }

    private func draw(_ cells: [Canvas.Cell], at row: Int) {
        wmove(window, Int32(row), 0)
        wclrtoeol(window)
        var column = 0
        while column < cells.count {
            let style = cells[column].style
            var text = ""
            let start = column
            while column < cells.count, cells[column].style == style {
                text += cells[column].base ?? cells[column].text
                column += 1
            }
            palette.select(style, in: window)
            mvwaddstr(window, Int32(row), Int32(start), text)
        }
        palette.select(.plain, in: window)
    }

    /// Draws everything again, whatever the terminal shows.
    package func redraw() {
        guard isHere else { return }
        wclear(window)
        clearok(window, true)
        guard let canvas = shown.take() else { return }
        draw(canvas)
    }

    package func bell() {
        if isHere { beep() }
    }

    package func notify(_ text: String) {
        guard isHere else { return }
        beep()
        if let sequence = noticeStyle.sequence(text) { write(sequence) }
    }

    // MARK: Leaving and coming back

    /// Gives the terminal back to the shell and stops this process's group, until the shell continues it.
    package func suspend() {
        guard !isClosed, isStoppable else { return }
        // If another program has the terminal, that program restores the terminal.
        if isHere { leave() }
        // A signal to the process would be delivered on another thread, while this thread continued. So the other
        // processes of the group get the signal first; then this thread stops itself, and the process with it.
        let handler = signal(SIGTSTP, SIG_IGN)
        Glibc.kill(0, SIGTSTP)
        signal(SIGTSTP, SIG_DFL)
        raise(SIGTSTP)
        // Here the process continues.
        signal(SIGTSTP, handler)
        // Keys that arrived together with the last handled key were meant for the shell.
        decoder = KeyDecoder()
        comeBack()
    }

    private func leave() {
        setModes(on: false)
        endwin()
    }

    /// Leaves the terminal to another program of this process's group, until `takeBack`. Until then nothing is read or
    /// drawn. The signals of the terminal's keys go to all its programs, but do not end this program.
    package func handOver() {
        guard isHere else { return }
        leave()
        isAway = true
        poll?.stop()
        pause.stop()
        // Keys that arrived together with the last handled key were not meant for a later screen.
        decoder = KeyDecoder()
        quitting = signal(SIGQUIT, SIG_IGN)
    }

    /// Takes the terminal over again.
    package func takeBack() {
        guard isAway, !isClosed else { return }
        isAway = false
        signal(SIGQUIT, quitting)
        listen()
        comeBack()
    }

    /// Restores the screen, whatever other programs have done with the terminal.
    private func comeBack() {
        guard isHere else { return }
        reset_prog_mode()
        setModes(on: true)
        resize()
        redraw()
    }

    /// Gives the terminal back as it was. A second call does nothing.
    package func close() {
        guard !isClosed else { return }
        isClosed = true
        poll?.close()
        for signal in signals { signal.close() }
        pause.close()
        setModes(on: false)
        curs_set(1)
        delwin(window)
        endwin()
        delscreen(screen)
        fclose(output)
        fclose(source)
        Glibc.close(input)
    }

    /// Sets modes that ncurses does not set: mouse reports while a button is held, with columns beyond 223, and marks
    /// around pasted text (xterm's private modes 1002, 1006, 2004), and reports of the focus (1004).
    private func setModes(on: Bool) {
        let end = on ? "h" : "l"
        var text = "\u{1B}[?2004\(end)"
        if hasMouse { text += "\u{1B}[?1002\(end)\u{1B}[?1006\(end)" }
        if hasFocus { text += "\u{1B}[?1004\(end)" }
        write(text)
    }

    /// Sends text to the terminal without ncurses.
    func write(_ text: String) {
        fputs(text, output)
        fflush(output)
    }

    /// Makes ncurses clear the screen now, instead of with the first drawing.
    func clearScreen() { wrefresh(window) }
}
