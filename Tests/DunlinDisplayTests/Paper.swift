import DunlinDisplay
import DunlinTesting
import Screens
import Synchronization

/// What a display writes, on a small terminal or on none.
final class Paper: DisplayOutput {
    private struct State {
        var screen: Screen?
        var writes: [String] = []
    }

    private let state: Mutex<State>

    /// Nil for no terminal.
    init(columns: Int?) {
        state = Mutex(State(screen: columns.map { Screen(columns: $0) }))
    }

    var terminal: TerminalSize? { state.withLock { $0.screen?.size } }

    func write(_ text: String) {
        state.withLock { state in
            state.screen?.take(text)
            state.writes.append(text)
        }
    }

    var writes: [String] { state.withLock { $0.writes } }
    var screen: Screen? { state.withLock { $0.screen } }
    var shown: [String] { screen?.shown ?? writes.joined().split(separator: "\n").map(String.init) }

    /// Returns once this is shown, which something that runs already brings about.
    func wait(until isSo: ([String]) -> Bool) async throws {
        try await eventually("what should be shown") { isSo(shown) }
    }
}
