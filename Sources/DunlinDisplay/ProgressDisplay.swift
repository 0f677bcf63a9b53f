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
        let direction = direction ?? (task.snapshot.kind == .upload ? .upload : .download)
        let source = task.progressSource
        let clock = display.clock
        let progress = direction == .upload ? task.uploadProgress : task.downloadProgress
        follow(progress, source.ending) { line in
            let now = clock.now()
            let error = source.errorIfEnded
            line.changeBar { $0.show(direction == .upload ? source.uploaded : source.downloaded, at: now) }
            if let error { line.changeBar { $0.end(BarLine.End(error), at: now) } }
        }
    }

    /// Shows the progress of anything, in the same way. The end of the stream also ends the line.
    public func follow(_ progress: AsyncStream<HTTPSession.TransferProgress>) {
        follow(progress, { nil }, nil)
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

    private func follow(
        _ progress: AsyncStream<HTTPSession.TransferProgress>, _ ending: @escaping @Sendable () async -> (any Error)?,
        _ look: TerminalDisplay.Look?
    ) {
        display.observe(id, .bar(BarLine(name: name, since: display.now)), look) { binding in
            // The task ends with the transfer and retains nothing of it; a released display needs nothing shown.
            Task.detached { [id, weak display] in
                for await step in progress {
                    display?.changeBar(id, of: binding) { $0.show(step, at: $1) }
                }
                if Task.isCancelled { return }
                let end = BarLine.End(await ending())
                display?.changeBar(id, of: binding) { $0.end(end, at: $1) }
                display?.release(id, binding)
            }
        }
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
        case let error as NetworkError: self = .failed(ShownText.of(error.reason))
        case .some(let error): self = .failed(ShownText.of("\(error)"))
        }
    }
}
