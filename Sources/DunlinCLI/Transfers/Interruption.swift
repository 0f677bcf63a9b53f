import Dunlin
import DunlinCommandLine
import Glibc

/// A person's ^C, or the system's wish that the command end, while something runs that can be ended in order.
///
/// The first signal is told to whoever runs; after it, both signals have their usual effect again, so that the second
/// ends the command at once. So does the first, if the command has not ended in time: nobody may be reading what it has
/// left to say. Where a signal is ignored, as under nohup, it stays ignored.
enum Interruption {
    /// Whether signals are caught: only in the command itself, and not where its code is tested.
    @TaskLocal static var isCaught = false

    enum Signal: Int32, CaseIterable, Sendable {
        case interrupt = 2
        case terminate = 15

        var code: ExitCode { self == .interrupt ? .interrupted : .terminated }
    }

    /// Runs `body`, which must end soon after `stop` was called. Returns its value, and the signal that came.
    static func during<Value: Sendable>(
        _ body: () async -> Value, stop: @escaping @Sendable () -> Void
    ) async -> (value: Value, signal: Signal?) {
        guard isCaught else { return (await body(), nil) }
        let caught = begin()
        defer { for signal in caught { Glibc.signal(signal.rawValue, SIG_DFL) } }
        return await withTaskGroup(of: Signal?.self) { group in
            group.addTask {
                let signal = await signals.first { _ in true }
                if signal != nil { stop() }
                return signal
            }
            let value = await body()
            group.cancelAll()
            return (value, await group.next() ?? nil)
        }
    }
}

// MARK: - From the kernel to a task

extension Interruption {
    /// What the handler writes to, and the thread reads from.
    private static let channel: (reader: Int32, writer: Int32) = {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return (-1, -1) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return (ends[0], ends[1])
    }()

    /// How long the command has to end in order, in milliseconds.
    private static let grace: Int32 = 5000

    private static let (signals, continuation) = AsyncStream<Signal>.makeStream()

    /// Returns the signals that are caught from now on.
    private static func begin() -> [Signal] {
        var thread = pthread_t()
        let run: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = { _ in
            Interruption.read()
            return nil
        }
        guard channel.reader >= 0, pthread_create(&thread, nil, run, nil) == 0 else { return [] }
        pthread_detach(thread)
        return Signal.allCases.filter { signal in
            var present = sigaction()
            guard sigaction(signal.rawValue, nil, &present) == 0, present.__sigaction_handler.sa_handler == nil else {
                return false
            }
            Glibc.signal(signal.rawValue) { signal in
                var byte = UInt8(truncatingIfNeeded: signal)
                Glibc.signal(SIGINT, SIG_DFL)
                Glibc.signal(SIGTERM, SIG_DFL)
                _ = write(Interruption.channel.writer, &byte, 1)
            }
            return true
        }
    }

    /// Waits on a thread of its own, which ends with the process.
    private static func read() {
        var byte: UInt8 = 0
        while true {
            let count = Glibc.read(channel.reader, &byte, 1)
            if count == 1, let signal = Signal(rawValue: Int32(byte)) {
                continuation.yield(signal)
                // This thread has nothing else to do.
                poll(nil, 0, grace)
                kill(getpid(), signal.rawValue)
            } else if count == 0 || errno != EINTR {
                return
            }
        }
    }
}
