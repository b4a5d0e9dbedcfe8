internal import CNcurses
import EventLoop
internal import Glibc
import HandScreens

/// The screen and the keyboard of one terminal, through ncurses. Confined to the loop's thread. ncurses allows
/// one at a time in a process.
package final class Terminal {
    private let loop: Loop
    /// The terminal, opened anew: making this one non-blocking does not change what the shell shares with us.
    private let input: Int32
    private let output: UnsafeMutablePointer<FILE>
    private let source: UnsafeMutablePointer<FILE>
    private let screen: OpaquePointer
    private let window: UnsafeMutablePointer<WINDOW>
    let palette: Palette
    private let hasMouse: Bool
    /// Whether a shell is there that goes on with what it stopped.
    private let isStoppable: Bool
    private var poll: Poll?
    private var signals: [Signal] = []
    private let pause: Timer
    private var decoder = KeyDecoder()
    private let onInput: (Input) -> Void
    /// Called when the terminal is gone.
    package var onEnd: (() -> Void)?
    /// What the terminal shows; nil if that is not known.
    private var shown: Canvas?
    private var isClosed = false
    /// Another program has the terminal.
    private var isAway = false
    /// Neither closed nor away: keys are read here, and it may be drawn on.
    private var isHere: Bool { !isClosed && !isAway }
    private var quitting: __sighandler_t?
    package private(set) var size: Size

    /// Milliseconds after which an Esc is an Esc and not the beginning of another key.
    private static let escapeTime: UInt64 = 25

    /// Takes over a terminal: the whole screen, every key.
    ///
    /// - Parameters:
    ///   - hasColors: whether to use colours where the terminal has them.
    ///   - input, output: descriptors of the terminal.
    ///   - onInput: called on the loop's thread with what a person does.
    package init(
        _ loop: Loop, hasColors: Bool, hasMouse: Bool = true, input: Int32 = 0, output: Int32 = 1,
        kind: String? = nil, onInput: @escaping (Input) -> Void
    ) throws(TerminalError) {
        guard isatty(input) == 1, isatty(output) == 1, let path = ttyname(input) else { throw .notATerminal }
        let own = open(path, O_RDWR | O_CLOEXEC | O_NOCTTY)
        guard own >= 0 else { throw .notATerminal }
        setlocale(LC_ALL, "")
        Self.makeUTF8()
        let name = kind ?? getenv("TERM").map { String(cString: $0) } ?? ""
        guard let out = fdopen(Self.copy(output), "w"), let source = fdopen(Self.copy(input), "r") else {
            throw .notATerminal
        }
        // ncurses' own handler would run on whatever thread gets the signal, beside this one.
        isStoppable = hand_ignore_stopping() == 0
        guard let screen = newterm(name, out, source) else { throw .unknownKind(name) }
        guard hand_moves_cursor() != 0 else {
            endwin()
            delscreen(screen)
            throw .notAScreen(name)
        }
        (self.loop, self.input, self.output, self.source, self.screen) = (loop, own, out, source, screen)
        (self.hasMouse, self.onInput) = (hasMouse, onInput)
        let size = Self.size(of: output) ?? Size(rows: 24, columns: 80)
        self.size = size
        raw()
        noecho()
        nonl()
        guard let window = newwin(Int32(size.rows), Int32(size.columns), 0, 0) else { throw .unknownKind(name) }
        self.window = window
        // Escape sequences are read here, as they come, so that none is cut in two by a wait.
        keypad(window, false)
        nodelay(window, true)
        scrollok(window, false)
        palette = Palette(hasColors: hasColors)
        pause = Timer(loop)
        try watch()
        setModes(on: true)
        askForClusters()
    }

    /// One that no other program gets.
    private static func copy(_ descriptor: Int32) -> Int32 { fcntl(descriptor, F_DUPFD_CLOEXEC, 0) }

    /// Text is UTF-8, whatever the environment forgot to say.
    private static func makeUTF8() {
        guard bytesPerCharacter < 4 else { return }
        setlocale(LC_CTYPE, "C.UTF-8")
    }

    private static var bytesPerCharacter: Int { Int(__ctype_get_mb_cur_max()) }

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

    /// The terminal is gone, with or without a signal.
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

    /// Shows a canvas; only rows that differ from what is shown are drawn.
    package func draw(_ canvas: Canvas) {
        guard isHere else { return }
        if shown?.size != canvas.size { werase(window) }
        let rows = canvas.changedRows(since: shown)
        for row in rows { draw(canvas.rows[row], at: row) }
        // Two clusters that begin alike are one to ncurses.
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

    /// Draws everything anew, whatever the terminal shows by now.
    package func redraw() {
        guard isHere else { return }
        wclear(window)
        clearok(window, true)
        guard let canvas = shown else { return }
        shown = nil
        draw(canvas)
    }

    package func bell() {
        if isHere { beep() }
    }

    // MARK: Leaving and coming back

    /// Gives the terminal back to the shell and stops all that the shell started with this process, until the shell goes
    /// on with it.
    package func suspend() {
        guard !isClosed, isStoppable else { return }
        // Whoever else has the terminal puts it in order itself.
        if isHere { leave() }
        // A signal to the process would stop it on another thread, while this one went on. So all others get it first, then
        // this thread stops itself, and the process with it.
        let handler = signal(SIGTSTP, SIG_IGN)
        Glibc.kill(0, SIGTSTP)
        signal(SIGTSTP, SIG_DFL)
        raise(SIGTSTP)
        // Here the process goes on.
        signal(SIGTSTP, handler)
        comeBack()
    }

    private func leave() {
        setModes(on: false)
        endwin()
    }

    /// Leaves the terminal to another program of this one's group, until `takeBack`. Nothing is read or drawn meanwhile, and
    /// what its keys say to all programs of the terminal does not end this one.
    package func handOver() {
        guard isHere else { return }
        leave()
        isAway = true
        poll?.stop()
        pause.stop()
        // Keys that came with the last one were not meant for what is seen later.
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

    /// Puts the screen in order, whatever others have done with the terminal.
    private func comeBack() {
        guard isHere else { return }
        reset_prog_mode()
        setModes(on: true)
        resize()
        redraw()
    }

    /// Gives the terminal back as it was. Calling it again does nothing.
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

    /// What ncurses does not ask a terminal for: reports of the mouse while a button is held, with columns beyond 223, and
    /// pasted text marked as such (xterm's private modes 1002, 1006, 2004).
    private func setModes(on: Bool) {
        let end = on ? "h" : "l"
        var text = "\u{1B}[?2004\(end)"
        if hasMouse { text += "\u{1B}[?1002\(end)\u{1B}[?1006\(end)" }
        write(text)
    }

    /// Sends the terminal what ncurses has no words for.
    func write(_ text: String) {
        fputs(text, output)
        fflush(output)
    }

    /// Has ncurses clear the screen now, and not with what is drawn first.
    func clearScreen() { wrefresh(window) }
}
