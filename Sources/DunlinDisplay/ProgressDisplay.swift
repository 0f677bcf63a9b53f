public import Dunlin

/// A progress bar for a transfer, with its rate and the time left; without a known total, a spinner and a count.
///
/// ```swift
/// let bar = ProgressDisplay("disk.img")
/// bar.follow(task)
/// ```
///
/// It follows one transfer at a time, and shows its final state when it is over. It need not be retained: the terminal
/// keeps a line until its transfer is over. Neither retains the transfer's task.
public final class ProgressDisplay: Sendable {
    /// The body whose transfer is shown.
    public enum Direction: Sendable, Hashable {
        case upload
        case download
    }

    private let name: String
    private let display: TerminalDisplay
    private let id: UInt64

    /// Creates a display. The name is shown as plain text, since a server may have chosen it.
    public init(_ name: String, on display: TerminalDisplay = .standardError) {
        self.name = ShownText.of(name)
        self.display = display
        id = display.update { $0.newID() }
    }

    /// Shows this task's transfer from now on instead of another: its upload if it sends a file, a form or a stream,
    /// otherwise its download, unless `direction` says which. It does not begin the task. A task that is over is shown
    /// in its final state.
    public func follow<Output>(_ task: HTTPSession.RequestTask<Output>, _ direction: Direction? = nil) {
        let source = task.progressSource
        let look = look(at: task, direction)
        observe(task, direction, look) { [weak display, id] binding in
            let end = BarLine.End(await source.ending())
            display?.changeBar(id, of: binding) { $0.end(end, at: $1) }
            display?.release(id, binding)
        }
    }

    /// What is said at the end of a transfer by one who knows more of it than its error.
    package enum Ending: Sendable, Equatable {
        case well
        case stopped
        case failed(String)
        /// Nothing had to be transferred, and why.
        case unneeded(String)
    }

    /// Shows this task's transfer, too, but its line stays until `end` says what came of it, and its
    /// time does not count before something comes.
    package func followUntilEnded<Output>(
        _ task: HTTPSession.RequestTask<Output>, _ direction: Direction? = nil
    ) {
        observe(task, direction, nil, startsLate: true) { _ in }
    }

    /// Ends the line of this task with what came of it.
    package func end<Output>(
        _ ending: Ending, of task: HTTPSession.RequestTask<Output>, _ direction: Direction? = nil
    ) {
        let now = display.now
        let progress = Self.progress(of: task, direction)
        display.update { [id] machine in
            _ = machine.change(id) { line in
                line.changeBar {
                    $0.show(progress, at: now)
                    $0.end(BarLine.End(ending), at: now)
                }
            }
        }
        display.stop(id)
    }

    /// Shows the progress of anything, in the same way. The end of the stream also ends the line.
    public func follow(_ progress: AsyncStream<HTTPSession.TransferProgress>) {
        display.observe(id, .bar(BarLine(name: name, since: display.now)), nil) { binding in
            follower(of: progress, binding) { [weak display, id] in
                display?.changeBar(id, of: binding) { $0.end(.well, at: $1) }
                display?.release(id, binding)
            }
        }
    }

    /// Shows the progress of a transfer that reports it to a closure: `progress: bar.show`. The final value ends the
    /// line.
    public func show(_ progress: HTTPSession.TransferProgress) {
        let now = display.now
        let line = BarLine(name: name, since: now)
        display.update { [id] machine in
            if !machine.has(id) { _ = machine.bind(id, .bar(line)) }
            _ = machine.change(id) { $0.changeBar { $0.show(progress, at: now) } }
            if progress.isFinal { machine.end(id) }
        }
    }

    /// Stops following; what was shown last stays.
    public func stop() {
        display.stop(id)
    }

    /// Removes the line, of which nothing stays.
    package func remove() {
        display.remove(id)
    }

    /// Gives the line another name, such as the one that a server chose.
    package func rename(_ name: String) {
        let name = ShownText.of(name)
        display.update { [id] in _ = $0.change(id) { $0.changeBar { $0.name = name } } }
    }

    /// The end of the stream ends the follower, which retains nothing of the transfer; a released display needs
    /// nothing shown.
    private func follower(
        of progress: AsyncStream<HTTPSession.TransferProgress>, _ binding: UInt64,
        then end: @escaping @Sendable () async -> Void
    ) -> Task<Void, Never> {
        Task.detached { [id, weak display] in
            for await step in progress {
                display?.changeBar(id, of: binding) { $0.show(step, at: $1) }
            }
            if !Task.isCancelled { await end() }
        }
    }

    private func observe<Output>(
        _ task: HTTPSession.RequestTask<Output>, _ direction: Direction?, _ look: TerminalDisplay.Look?,
        startsLate: Bool = false, then end: @escaping @Sendable (_ binding: UInt64) async -> Void
    ) {
        let isUpload = Self.isUpload(task, direction)
        let progress = isUpload ? task.uploadProgress : task.downloadProgress
        display.observe(id, .bar(BarLine(name: name, since: display.now, startsLate: startsLate)), look) { binding in
            follower(of: progress, binding) { await end(binding) }
        }
    }

    private func look<Output>(
        at task: HTTPSession.RequestTask<Output>, _ direction: Direction?
    ) -> TerminalDisplay.Look {
        let (source, clock, isUpload) = (task.progressSource, display.clock, Self.isUpload(task, direction))
        return { line in
            let now = clock.now()
            let error = source.errorIfEnded
            line.changeBar { $0.show(isUpload ? source.uploaded : source.downloaded, at: now) }
            if let error { line.changeBar { $0.end(BarLine.End(error), at: now) } }
        }
    }

    private static func isUpload<Output>(_ task: HTTPSession.RequestTask<Output>, _ direction: Direction?) -> Bool {
        (direction ?? (task.snapshot.kind == .upload ? .upload : .download)) == .upload
    }

    private static func progress<Output>(
        of task: HTTPSession.RequestTask<Output>, _ direction: Direction?
    ) -> HTTPSession.TransferProgress {
        isUpload(task, direction) ? task.progressSource.uploaded : task.progressSource.downloaded
    }
}

extension TerminalDisplay {
    fileprivate func changeBar(_ id: UInt64, of binding: UInt64, _ change: (inout BarLine, Duration) -> Void) {
        let now = now
        update { _ = $0.change(id, of: binding) { $0.changeBar { change(&$0, now) } } }
    }
}

extension BarLine.End {
    fileprivate init(_ error: (any Error)?) {
        switch error {
        case nil: self = .well
        case is CancellationError: self = .cancelled
        case let error as NetworkError where error.code == .cancelled: self = .cancelled
        case let error as NetworkError:
            self = .failed(ShownText.of(error.reason + (error.fileFailure.map { ": \($0)" } ?? "")))
        case .some(let error): self = .failed(ShownText.of("\(error)"))
        }
    }
}

extension BarLine.End {
    fileprivate init(_ ending: ProgressDisplay.Ending) {
        switch ending {
        case .well: self = .well
        case .stopped: self = .cancelled
        case .failed(let reason): self = .failed(ShownText.of(reason))
        case .unneeded(let reason): self = .unneeded(ShownText.of(reason))
        }
    }
}
