import DunlinCommandLine

/// What is said at the end of a run: which transfers failed and why, and how to continue. The exit code is the worst.
struct TransferReport<Value: Sendable> {
    private let titles: [String]
    private let result: TransferRun<Value>.Result
    private let output: Output
    /// Whether each has a line of its own already.
    private let isShown: Bool

    /// The number of failures that are named.
    private static var limit: Int { 20 }

    init(_ run: TransferRun<Value>, _ result: TransferRun<Value>.Result, _ output: Output) {
        (titles, isShown) = (run.transfers.map(\.title), run.display != nil)
        (self.result, self.output) = (result, output)
    }

    func tell() -> ExitCode {
        let failures = zip(titles, result.outcomes).compactMap { title, outcome in
            if case .failed(let reason, let isRefusal) = outcome { (title, reason, isRefusal) } else { nil }
        }
        if failures.count == 1, titles.count == 1 {
            if !isShown { output.complain(failures[0].1) }
        } else if !failures.isEmpty {
            let lines = failures.prefix(Self.limit).map { "  \($0.0): \($0.1)" }
            let rest = failures.count > Self.limit ? ["  and \(failures.count - Self.limit) more"] : []
            output.complain(["\(failures.count) of \(titles.count) failed"] + lines + rest)
        }
        if let signal = result.signal { return signal.code }
        if failures.isEmpty { return .success }
        return failures.allSatisfy(\.2) ? .refused : .failure
    }
}
