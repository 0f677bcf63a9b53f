internal import Synchronization

/// Lines at the end of a terminal that are drawn over as things go on: bars, spinners, and what the program says of
/// itself. Several displays of one terminal would draw over each other, so a program has one.
///
/// ```swift
/// let bar = ProgressDisplay("disk.img")
/// bar.follow(task)
/// TerminalDisplay.standardError.print("beside the bar")
/// _ = try await task.value
/// await TerminalDisplay.standardError.finish()
/// ```
///
/// Where lines cannot be drawn over, in a file, a pipe or a dumb terminal, each is written now and then and at its end.
/// Nothing here waits for the terminal but `finish()`.
public final class TerminalDisplay: Sendable {
    /// The one of standard error.
    public static let standardError = TerminalDisplay()

    typealias Waiter = CheckedContinuation<Void, Never>
    typealias Board = DisplayBoard<Waiter>

    private struct State {
        var board = Board()
        var painter = FramePainter()
        /// Those who follow something for a line, by its id.
        var followers: [UInt64: Follower] = [:]
    }

    /// Brings a line up to date, without waiting for who follows.
    typealias Look = @Sendable (inout DisplayLine) -> Void

    private struct Follower {
        let binding: UInt64
        let look: Look?
        /// Nil before it has begun.
        var task: Task<Void, Never>?
    }

    private let output: any DisplayOutput
    private let style: DisplayStyle
    private let isAnimated: Bool
    let clock: DisplayClock
    private let state = Mutex(State())

    /// Without `isAnimated` lines are written one below the other even on a terminal.
    public init(
        on output: any DisplayOutput = DescriptorOutput.standardError, style: DisplayStyle = .environment,
        isAnimated: Bool = true, clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.output = output
        self.style = style
        self.isAnimated = isAnimated
        self.clock = Self.opened(clock)
    }

    private static func opened(_ clock: some Clock<Duration>) -> DisplayClock { DisplayClock(clock) }

    /// Writes lines above those that are drawn over. Controls are left out.
    public func print(_ text: String = "") {
        let lines = ShownText.lines(of: text)
        update { $0.print(lines) }
    }

    /// Adds a line of the program's own.
    public func addLine(_ text: String = "") -> StatusLine {
        StatusLine(text, on: self)
    }

    /// Ends all lines, as what they show stands now, and waits until everything has been written. To be called before
    /// the program ends; the display may be used again.
    public func finish() async {
        for (id, follower) in state.withLock({ $0.followers }) { show(id, follower) }
        await withCheckedContinuation { (waiter: Waiter) in
            if state.withLock({ $0.board.finish(waiter) }) {
                // Ends at once: what is hurried waits for no frame.
                Task.detached { await self.draw(telling: waiter) }
            }
        }
    }

    var now: Duration { clock.now() }

    /// The task that `begin` makes follows something for this line, which looks like this, from now on. It takes the
    /// place of the former, which is stopped, and ends with `release`.
    func follow(
        _ id: UInt64, _ line: DisplayLine, _ look: Look?, _ begin: (_ binding: UInt64) -> Task<Void, Never>
    ) {
        let binding = update { $0.bind(id, line) }
        let former = state.withLock { state in
            // Of two who come at once the newer counts, as it does for the line.
            if let known = state.followers[id], known.binding > binding { return Follower?.none }
            return state.followers.updateValue(Follower(binding: binding, look: look), forKey: id)
        }
        former?.task?.cancel()
        let task = begin(binding)
        let stays = state.withLock { state in
            guard state.followers[id]?.binding == binding else { return false }
            state.followers[id]?.task = task
            return true
        }
        if !stays { task.cancel() }
    }

    /// Who followed for this line does so no longer; what was shown last stays.
    func stop(_ id: UInt64) {
        state.withLock { $0.followers.removeValue(forKey: id) }?.task?.cancel()
        update { $0.end(id) }
    }

    func release(_ id: UInt64, _ binding: UInt64) {
        state.withLock { if $0.followers[id]?.binding == binding { $0.followers[id] = nil } }
        update { $0.end(id, of: binding) }
    }

    private func show(_ id: UInt64, _ follower: Follower) {
        // Not under the lock: it asks others.
        guard let look = follower.look, var line = state.withLock({ $0.board.line(id, of: follower.binding) }) else {
            return
        }
        look(&line)
        let latest = line
        update { _ = $0.change(id, of: follower.binding) { $0 = latest } }
    }

    /// Changes something; what that comes to is shown soon.
    @discardableResult
    func update<Value: Sendable>(_ change: (inout Board) -> Value) -> Value {
        let (value, begins) = state.withLock { state in
            let value = change(&state.board)
            return (value, state.board.begin())
        }
        // Ends when there is nothing to draw any more.
        if begins { Task.detached { await self.draw() } }
        return value
    }

    private func draw(telling waiter: Waiter? = nil) async {
        defer { waiter?.resume() }
        while true {
            let now = clock.now()
            // Whoever comes to wait after this step waits for the next draw, not for this one.
            let (step, waiters) = state.withLock { state in
                let step = state.board.step(at: now)
                return (step, step == .rest ? state.board.takeWaiters() : [])
            }
            switch step {
            case .rest:
                for waiter in waiters { waiter.resume() }
                return
            case .wait(let time, let number):
                // Nobody cancels this task; a clock that refuses to sleep only has frames come sooner.
                do { try await clock.sleep(time - now) } catch { await Task.yield() }
                guard state.withLock({ $0.board.waited(number) }) else { return }
            case .draw:
                write(at: now)
            }
        }
    }

    private func write(at now: Duration) {
        let terminal = isAnimated ? output.terminal : nil
        let text = state.withLock { state in
            let frame = state.board.take(at: now)
            return state.painter.paint(frame, style, terminal, at: now)
        }
        if !text.isEmpty { output.write(text) }
    }
}
