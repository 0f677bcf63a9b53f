import Dunlin
import DunlinDisplay

/// One file of a run: its task, its line on the display, and its outcome.
struct Transfer<Value: Sendable>: Sendable {
    /// How it ended.
    enum Outcome: Sendable, Equatable {
        case well
        /// The file was there already.
        case kept(String)
        case failed(String, isRefusal: Bool)
        /// It was stopped before its end.
        case stopped

        /// Nil if it was stopped.
        var isFailure: Bool? {
            switch self {
            case .well, .kept: false
            case .failed: true
            case .stopped: nil
            }
        }

        var ending: ProgressDisplay.Ending {
            switch self {
            case .well: .well
            case .kept(let reason): .unneeded(reason)
            case .failed(let reason, _): .failed(reason)
            case .stopped: .stopped
            }
        }
    }

    /// The URL as messages show it.
    let title: String
    let task: HTTPSession.RequestTask<Value>
    /// The line; nil if nothing is shown.
    let bar: ProgressDisplay?
    let direction: ProgressDisplay.Direction

    var progress: HTTPSession.TransferProgress {
        direction == .upload ? task.progressSource.uploaded : task.progressSource.downloaded
    }

    /// Ends the line. Nothing stays of a transfer that was stopped while it waited.
    func show(_ outcome: Outcome) {
        if outcome == .stopped, progress.wireBytes == 0 {
            bar?.remove()
        } else {
            bar?.end(outcome.ending, of: task, direction)
        }
    }
}
