import Dunlin
import DunlinCommandLine
import DunlinImages
import Glibc

/// Draws pictures on the terminal: a single one, or an animation's frames over each other.
struct Player {
    var style: TerminalImage.Style
    let bounds: TerminalImage.Bounds
    let geometry: TerminalImage.Geometry
    let output: Output

    func show(_ picture: ImageBuffer) async throws {
        let drawing = try await TerminalImage.draw(picture, style, within: bounds, in: geometry)
        output.write(Bytes(drawing.text))
        try output.check()
    }

    /// Plays an animation. Each frame replaces the one before it and stays for its duration, including the time to draw
    /// it; a slow one is followed at once. The cursor is hidden meanwhile.
    func play(_ bytes: Bytes, _ size: Command.Resizing?) async throws {
        let info = try ImageInfo(of: bytes)
        let cursor = HiddenCursor(output.results)
        defer { cursor.show() }
        var style = style
        // The number is this process's, so that two players on one terminal do not remove each other's pictures.
        style.number = UInt32(truncatingIfNeeded: getpid()) | 1
        var last: TerminalImage.Drawing?
        var next = ContinuousClock.now
        var left = info.loopCount ?? 1
        repeat {
            for try await frame in ImageDecoder().frames(of: bytes) {
                let picture = try await size.resize(frame.picture)
                let drawing = try await TerminalImage.draw(picture, style, within: bounds, in: geometry)
                try await Task.sleep(until: next, clock: .continuous)
                output.write(Bytes((last?.toItsBeginning ?? "") + drawing.text))
                try output.check()
                next = max(next, .now - .seconds(1)) + frame.duration
                last = drawing
            }
            left -= 1
        } while left != 0
        // The last frame stays as long as the others.
        try await Task.sleep(until: next, clock: .continuous)
    }
}

/// Hides the cursor until this value is released or a person ends the program.
struct HiddenCursor {
    private static let signals = [SIGINT, SIGTERM, SIGHUP]
    private let descriptor: Int32

    init(_ descriptor: Int32) {
        self.descriptor = descriptor
        for signal in Self.signals {
            Glibc.signal(signal) { signal in
                // Ends what was being written, and restores colours and cursor.
                let text: StaticString = "\u{1B}\\\u{1B}[0m\u{1B}[?25h\n"
                _ = Glibc.write(STDOUT_FILENO, text.utf8Start, text.utf8CodeUnitCount)
                Glibc.signal(signal, SIG_DFL)
                raise(signal)
            }
        }
        write("\u{1B}[?25l")
    }

    func show() {
        write("\u{1B}[?25h")
        for signal in Self.signals { Glibc.signal(signal, SIG_DFL) }
    }

    private func write(_ text: String) {
        let bytes = Array(text.utf8)
        _ = Glibc.write(descriptor, bytes, bytes.count)
    }
}
