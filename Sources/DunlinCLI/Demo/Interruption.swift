import DunlinCommandLine
import Glibc
import Synchronization

/// A person's ^C, as a cancellation: what runs can take back what it has made, such as files, before the program ends.
/// A second ^C ends it at once.
enum Interruption {
    private static let signals = [SIGINT, SIGTERM, SIGHUP]
    /// The signal that came; 0 for none.
    private static let signal = Atomic<Int32>(0)

    /// Runs the operation, and cancels it if the program is interrupted. Then the program ends by that signal.
    static func ends(_ operation: @escaping @Sendable () async throws -> Void) async throws {
        // A handler must not be the first to ask for it.
        signal.store(0, ordering: .relaxed)
        for number in signals {
            Glibc.signal(number) { number in
                Interruption.signal.store(number, ordering: .relaxed)
                Glibc.signal(number, SIG_DFL)
            }
        }
        defer { for number in signals { Glibc.signal(number, SIG_DFL) } }
        do {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await operation() }
                group.addTask { try await waitForSignal() }
                try await group.next()
                group.cancelAll()
            }
        } catch {
            let number = signal.load(ordering: .relaxed)
            if number == 0 { throw error }
            Glibc.signal(number, SIG_DFL)
            // The threads of tasks block signals, so it is sent to the process.
            kill(getpid(), number)
            exit(128 + number)
        }
    }

    private static func waitForSignal() async throws {
        while signal.load(ordering: .relaxed) == 0 { try await Task.sleep(for: .milliseconds(50)) }
        throw CancellationError()
    }
}
