internal import Synchronization

/// Lines at the end of a terminal that are redrawn as things progress: bars, spinners, and the program's own lines.
/// Several displays on one terminal would overwrite each other, so a program should have one.
///
/// ```swift
/// let bar = ProgressDisplay("disk.img")
/// bar.follow(task)
/// TerminalDisplay.standardError.print("beside the bar")
/// _ = try await task.value
/// await TerminalDisplay.standardError.finish()
/// ```
///
/// Where lines cannot be redrawn, in a file, a pipe or a dumb terminal, each is written now and then and at its end.
/// Only `finish()` waits for the terminal.
public final class TerminalDisplay: Sendable {
    /// The display on standard error.
    public static let standardError = TerminalDisplay()

    typealias Waiter = CheckedContinuation<Void, Never>
    typealias Machine = DisplayMachine<Waiter>

    private struct State {
        var machine = Machine()
        var painter = FramePainter()
        /// The followers of the lines, by line ID.
        var observers: [UInt64: Observer] = [:]
    }

    /// Brings a line up to date without waiting for its follower.
    typealias Look = @Sendable (inout DisplayLine) -> Void

    private struct Observer {
        let binding: UInt64
        let look: Look?
        /// The task; nil before it has begun.
        var task: Task<Void, Never>?
    }

    private let output: any DisplayOutput
    private let style: DisplayStyle
    private let isAnimated: Bool
    let clock: DisplayClock
    private let state = Mutex(State())

    /// Creates a display. Without `isAnimated`, lines are written one below the other even on a terminal.
    public init(
        on output: any DisplayOutput = DescriptorOutput.standardError, style: DisplayStyle = .environment,
        isAnimated: Bool = true, clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.output = output
        self.style = style
        self.isAnimated = isAnimated
        self.clock = DisplayClock(clock)
    }

    /// Creates a display that writes only the ends of lines where lines cannot be redrawn.
    package static func ofEnds(on output: any DisplayOutput) -> TerminalDisplay {
        let display = TerminalDisplay(on: output)
        display.state.withLock { $0.painter.tellsEndsOnly = true }
        return display
    }

    /// Writes lines above those that are redrawn. Control characters are left out.
    public func print(_ text: String = "") {
        let lines = ShownText.lines(of: text)
        update { $0.print(lines) }
    }

    /// Adds a line of the program's own.
    public func addLine(_ text: String = "") -> StatusLine {
        StatusLine(text, on: self)
    }

    /// Ends all lines in their current state, and waits until everything has been written. Call it before the program
    /// ends; the display may be used again.
    public func finish() async {
        for (id, observer) in state.withLock({ $0.observers }) { show(id, observer) }
        await withCheckedContinuation { (waiter: Waiter) in
            if state.withLock({ $0.machine.finish(waiter) }) {
                // The task ends at once: what is urgent waits for no frame.
                Task.detached { await self.draw(waking: waiter) }
            }
        }
    }

    var now: Duration { clock.now() }

    /// Shows a line and follows something for it by the task that `begin` creates. It replaces an earlier follower,
    /// which is stopped, and ends with `release`.
    func observe(
        _ id: UInt64, _ line: DisplayLine, _ look: Look?, _ begin: (_ binding: UInt64) -> Task<Void, Never>
    ) {
        let binding = update { $0.bind(id, line) }
        let former = state.withLock { state in
            // If two come at once, the newer counts, as for the line.
            if let known = state.observers[id], known.binding > binding { return Observer?.none }
            return state.observers.updateValue(Observer(binding: binding, look: look), forKey: id)
        }
        former?.task?.cancel()
        let task = begin(binding)
        let stays = state.withLock { state in
            guard state.observers[id]?.binding == binding else { return false }
            state.observers[id]?.task = task
            return true
        }
        if !stays { task.cancel() }
    }

    /// Stops following for this line; what was shown last stays.
    func stop(_ id: UInt64) {
        state.withLock { $0.observers.removeValue(forKey: id) }?.task?.cancel()
        update { $0.end(id) }
    }

    /// Stops following for this line, and removes it.
    func remove(_ id: UInt64) {
        state.withLock { $0.observers.removeValue(forKey: id) }?.task?.cancel()
        update { $0.remove(id) }
    }

    func release(_ id: UInt64, _ binding: UInt64) {
        state.withLock { if $0.observers[id]?.binding == binding { $0.observers[id] = nil } }
        update { $0.end(id, of: binding) }
    }

    private func show(_ id: UInt64, _ observer: Observer) {
        // Not under the lock, because it calls others.
        guard let look = observer.look, var line = state.withLock({ $0.machine.line(id, of: observer.binding) }) else {
            return
        }
        look(&line)
        let latest = line
        update { _ = $0.change(id, of: observer.binding) { $0 = latest } }
    }

    /// Changes something, which is shown soon.
    @discardableResult
    func update<Value: Sendable>(_ change: (inout Machine) -> Value) -> Value {
        let (value, begins) = state.withLock { state in
            let value = change(&state.machine)
            return (value, state.machine.begin())
        }
        // The task ends when there is nothing left to draw.
        if begins { Task.detached { await self.draw() } }
        return value
    }

    private func draw(waking waiter: Waiter? = nil) async {
        defer { waiter?.resume() }
        while true {
            let now = clock.now()
            // Whoever begins to wait after this step waits for the next draw.
            let (step, waiters) = state.withLock { state in
                let step = state.machine.step(at: now)
                return (step, step == .rest ? state.machine.takeWaiters() : [])
            }
            switch step {
            case .rest:
                for waiter in waiters { waiter.resume() }
                return
            case .wait(let time, let number):
                // Nobody cancels this task; if a clock refuses to sleep, frames only come sooner.
                do { try await clock.sleep(time - now) } catch { await Task.yield() }
                guard state.withLock({ $0.machine.waited(number) }) else { return }
            case .draw:
                write(at: now)
            }
        }
    }

    private func write(at now: Duration) {
        let terminal = isAnimated ? output.terminal : nil
        let text = state.withLock { state in
            let frame = state.machine.take(at: now)
            return state.painter.paint(frame, style, terminal, at: now)
        }
        if !text.isEmpty { output.write(text) }
    }
}
