import Dunlin
import DunlinResilience

/// One call, run and judged.
struct Run: Sendable {
    private let call: PlannedCall
    private let session: HTTPSession
    private let tally: Tally
    /// Somebody may shut the session down meanwhile.
    private let mayEndEarly: Bool

    init(_ call: PlannedCall, _ session: HTTPSession, _ tally: Tally, mayEndEarly: Bool = false) {
        self.call = call
        self.session = session
        self.tally = tally
        self.mayEndEarly = mayEndEarly
    }

    /// Returns when the request has ended, however it did.
    func go(_ faulty: FaultyServer) async {
        let target = HTTP.Target(faulty.baseURL(of: call.host) + call.target)
        switch call.cancel {
        case .never: judge(await outcome(target), faulty)
        case .task(let delay):
            let task = Task { await outcome(target) }
            await pause(delay)
            task.cancel()
            judge(await task.value, faulty)
        case .handle(let delay):
            async let outcome = outcome(target)
            await pause(delay)
            let running = await session.tasks.all.first { $0.label == label }
            if let running { await session.tasks.cancel(running.id) }
            judge(await outcome, faulty)
        }
    }

    private var label: String { "\(call.number)" }

    private func pause(_ duration: Duration) async {
        // Cut short by nobody: the storm's own tasks are never cancelled.
        do { try await Task.sleep(for: duration) } catch { return }
    }

    private func outcome(_ target: HTTP.Target) async -> Result<String, any Error> {
        do {
            return .success(try await request(target))
        } catch {
            return .failure(error)
        }
    }

    /// How it succeeded, in a word; "wrong …" if it did not really.
    private func request(_ target: HTTP.Target) async throws -> String {
        var options = HTTPSession.Options(label: label)
        options.validatesResponse = false
        if call.isRetried {
            options.retry = .exponential(
                attempts: 4, base: .milliseconds(1), cap: .milliseconds(20), budget: .unlimited)
        }
        if call.isSlowReader { return try await streamed(target, options) }
        if call.isHead {
            let response = try await session.head(target, options: options)
            return verdict(response.status, response.fields, response.body, expecting: .empty)
        }
        let method: HTTP.Method = call.uploadCount > 0 ? .put : .get
        let response = try await session.request(target, method: method, body: body, options: options, as: .bytes)
        return verdict(response.status, response.fields, response.body, expecting: call.body)
    }

    private func streamed(_ target: HTTP.Target, _ options: HTTPSession.Options) async throws -> String {
        let method: HTTP.Method = call.uploadCount > 0 ? .put : .get
        return try await session.withResponse(from: target, method: method, body: body, options: options) { response in
            var whole: [UInt8] = []
            for try await piece in response.body {
                whole += piece
                try await Task.sleep(for: .microseconds(100))
                // Leaves in the middle of the body.
                if call.number % 7 == 0 { return "200, left early" }
            }
            return verdict(response.status, response.fields, Bytes(whole), expecting: call.body)
        }
    }

    private func verdict(_ status: HTTP.Status, _ fields: Fields, _ body: Bytes, expecting expected: Bytes) -> String {
        if status == .serviceUnavailable { return "503" }
        guard status == .ok else { return "wrong status \(status)" }
        guard fields["Errand"] == label else { return "wrong response, for \(fields["Errand"] ?? "nobody")" }
        guard PlannedCall.isEqual(body, expected) else {
            return "wrong body of \(body.count) instead of \(expected.count)"
        }
        return "200"
    }

    private var body: RequestBody {
        let whole = call.uploaded
        switch call.upload {
        case .none: return .none
        case .bytes: return .bytes(whole)
        case .stream(let count, let isKnown):
            return .stream(
                AsyncThrowingStream { stream in
                    for start in stride(from: 0, to: count, by: 1000) {
                        stream.yield(whole[start..<min(start + 1000, count)])
                    }
                    stream.finish()
                }, length: isKnown ? count : nil)
        }
    }
}

extension Run {
    /// Success with the right body, a `NetworkError` that fits, or the cancel that was asked for: nothing else.
    private func judge(_ outcome: Result<String, any Error>, _ faulty: FaultyServer) {
        switch outcome {
        case .success(let word):
            if !call.host.isBelieved { tally.violation("request \(call.number): \(call.host) was believed") }
            if word.hasPrefix("wrong") { tally.violation("request \(call.number): \(word)") }
            tally.count(word)
        case .failure(let error as NetworkError):
            tally.count("\(error.code) (\(error.phase?.rawValue ?? "no phase"))")
            if let complaint = complaint(about: error, faulty) {
                tally.violation("request \(call.number): \(complaint): \(error)")
            }
        case .failure(let error as CancellationError):
            tally.count("CancellationError")
            guard case .task = call.cancel else {
                return tally.violation("request \(call.number): \(error) though nobody cancelled its task")
            }
        case .failure(let error):
            tally.count("\(type(of: error))")
            tally.violation("request \(call.number): \(error)")
        }
    }

    private func complaint(about error: NetworkError, _ faulty: FaultyServer) -> String? {
        switch error.code {
        case .cancelled:
            if case .handle = call.cancel { return nil }
            return mayEndEarly ? nil : "cancelled, though not by its handle"
        case .timedOut: return error.limit == nil || error.exceeded == nil ? "no limit is named" : nil
        case .serverTrustFailed: return call.host.isBelieved ? "a good server was refused" : nil
        case .connectionClosed, .connectionFailed, .secureConnectionFailed:
            return error.phase == nil ? "no phase is named" : nil
        case .rateLimited, .circuitOpen:
            if session.configuration.resilience == nil { return "the session has no limits" }
            if !error.requestMayHaveBeenSent, faulty.hasSeen(call.number) { return "it was sent" }
            return Resilient.complaint(about: error)
        case .sessionShutDown: return mayEndEarly ? nil : "nobody shut the session down"
        default: return "unexpected"
        }
    }
}
