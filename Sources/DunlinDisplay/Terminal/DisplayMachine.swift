/// Decides what a display shows, who draws it, and when.
///
/// Rules:
/// 1. Only one draws at a time. Whoever changes something begins to draw if nobody does, and continues until nothing is
///    left to draw. A display without changes has no timer.
/// 2. Frames are a tenth of a second apart. All changes between two frames are drawn together.
/// 3. A line that is over is shown a last time, above those that continue, and stays there.
/// 4. Of several followers for one line, the latest counts.
/// 5. Whoever needs everything shown now takes over the drawing from one who waits for the next frame.
///
/// Must not know: clocks, terminals, and what lines look like.
struct DisplayMachine<Waiter> {
    enum Step: Equatable {
        case draw
        /// Wait until then, and come back with the number.
        case wait(until: Duration, number: UInt64)
        case rest
    }

    typealias Entry = DisplayFrame.Entry

    static var interval: Duration { .milliseconds(100) }

    private enum Turn: Equatable {
        case nobody
        case drawing
        case waiting(UInt64)
    }

    private var frame = DisplayFrame()
    private var turn = Turn.nobody
    private var last: Duration?
    private var isChanged = false
    private var isHurried = false
    private var lastNumber: UInt64 = 0
    private var waiters: [Waiter] = []

    private mutating func number() -> UInt64 {
        lastNumber += 1
        return lastNumber
    }
}

// MARK: - What is shown

extension DisplayMachine {
    /// The ID for a line that comes later.
    mutating func newID() -> UInt64 { number() }

    func has(_ id: UInt64) -> Bool { index(of: id) != nil }

    /// The line; nil if it is over, or another's to change.
    func line(_ id: UInt64, of binding: UInt64) -> DisplayLine? {
        frame.live.first { $0.id == id && $0.binding == binding }?.line
    }

    mutating func add(_ line: DisplayLine) -> UInt64 {
        let id = number()
        frame.live.append(Entry(id: id, line: line, binding: 0))
        isChanged = true
        return id
    }

    /// Binds the line to a new follower. A line that was over comes back.
    mutating func bind(_ id: UInt64, _ line: DisplayLine) -> UInt64 {
        let binding = number()
        isChanged = true
        if let index = index(of: id) {
            frame.live[index].line = line
            frame.live[index].binding = binding
        } else {
            frame.live.append(Entry(id: id, line: line, binding: binding))
        }
        return binding
    }

    /// Changes a line. Returns false if it is over, or another's to change.
    mutating func change(_ id: UInt64, of binding: UInt64? = nil, _ change: (inout DisplayLine) -> Void) -> Bool {
        guard let index = index(of: id), binding ?? frame.live[index].binding == frame.live[index].binding else {
            return false
        }
        let before = frame.live[index].line
        change(&frame.live[index].line)
        isChanged = isChanged || frame.live[index].line != before
        return true
    }

    /// Ends a line, and shows what stays of it.
    mutating func end(_ id: UInt64, of binding: UInt64? = nil) {
        guard let index = index(of: id), binding ?? frame.live[index].binding == frame.live[index].binding else {
            return
        }
        var entry = frame.live.remove(at: index)
        isChanged = true
        guard let line = entry.line.ended else { return }
        entry.line = line
        frame.ended.append(entry)
    }

    mutating func remove(_ id: UInt64) {
        guard let index = index(of: id) else { return }
        frame.live.remove(at: index)
        isChanged = true
    }

    mutating func print(_ lines: [String]) {
        frame.printed += lines.map { .status($0) }
        isChanged = true
    }

    private func index(of id: UInt64) -> Int? { frame.live.firstIndex { $0.id == id } }
}

// MARK: - Who draws, and when

extension DisplayMachine {
    /// Begins to draw. Returns whether the caller must draw.
    mutating func begin() -> Bool {
        guard turn == .nobody, isChanged else { return false }
        turn = .drawing
        return true
    }

    /// Ends all lines. Returns whether the caller must draw what stays of them; if not, the waiter is told when that
    /// has been done.
    mutating func finish(_ waiter: Waiter) -> Bool {
        for entry in frame.live { end(entry.id) }
        isHurried = true
        if turn == .drawing {
            waiters.append(waiter)
            return false
        }
        turn = .drawing
        return true
    }

    /// The next step for the one who draws.
    mutating func step(at now: Duration) -> Step {
        let isAnimated = frame.live.contains { $0.line.isAnimated }
        guard isChanged || (isAnimated && !isHurried) else {
            turn = .nobody
            isHurried = false
            return .rest
        }
        guard let last, now < last + Self.interval, !isHurried else { return .draw }
        let number = number()
        turn = .waiting(number)
        return .wait(until: last + Self.interval, number: number)
    }

    /// Whether the one who waited with that number must still draw.
    mutating func waited(_ number: UInt64) -> Bool {
        guard turn == .waiting(number) else { return false }
        turn = .drawing
        return true
    }

    /// Takes the frame to draw now.
    mutating func take(at now: Duration) -> DisplayFrame {
        defer { (frame.printed, frame.ended) = ([], []) }
        last = now
        isChanged = false
        return frame
    }

    /// Takes those who waited until everything was drawn, once it is.
    mutating func takeWaiters() -> [Waiter] {
        defer { waiters = [] }
        return waiters
    }
}
