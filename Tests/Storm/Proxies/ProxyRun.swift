import Dunlin
import Synchronization

/// One request through a proxy, run and judged.
struct ProxyRun: Sendable {
    /// The hops of the request, known when it has ended.
    private final class Hops: Sendable {
        let all = Mutex<[HTTP.Hop]>([])
    }

    private let call: ProxyCall
    private let session: HTTPSession
    private let tally: Tally
    private let hops = Hops()

    init(_ call: ProxyCall, _ session: HTTPSession, _ tally: Tally) {
        self.call = call
        self.session = session
        self.tally = tally
    }

    /// Returns when the request has ended, however it did.
    func go(_ faulty: FaultyProxy) async {
        let (target, proxy) = (faulty.target(of: call), faulty.proxy(for: call))
        switch call.cancel {
        case .never: judge(await outcome(target, proxy))
        case .task(let delay):
            let task = Task { await outcome(target, proxy) }
            await pause(delay)
            task.cancel()
            judge(await task.value)
        case .handle(let delay):
            async let outcome = outcome(target, proxy)
            await pause(delay)
            let running = await session.tasks.all.first { $0.label == call.label }
            if let running { await session.tasks.cancel(running.id) }
            judge(await outcome)
        }
    }

    private func pause(_ duration: Duration) async {
        // Cut short by nobody: the storm's own tasks are never cancelled.
        do { try await Task.sleep(for: duration) } catch { return }
    }

    private func outcome(_ target: HTTP.Target, _ proxy: String) async -> Result<String, any Error> {
        do {
            return .success(try await request(target, proxy))
        } catch {
            return .failure(error)
        }
    }

    /// How it succeeded, in a word; "wrong …" if it did not really.
    private func request(_ target: HTTP.Target, _ proxy: String) async throws -> String {
        var options = HTTPSession.Options(label: call.label, proxy: .url(proxy))
        options.validatesResponse = false
        options.hooks.metrics = { [hops] _, metrics in hops.all.withLock { $0 = metrics.hops } }
        if call.number % 4 == 3 {
            options.retry = .exponential(
                attempts: 4, base: .milliseconds(1), cap: .milliseconds(20), budget: .unlimited)
        }
        let method: HTTP.Method = call.uploadCount > 0 ? .put : .get
        guard call.isStreamed else {
            let response = try await session.request(target, method: method, body: body, options: options, as: .bytes)
            return verdict(response.status, response.fields, response.body)
        }
        return try await session.withResponse(from: target, method: method, body: body, options: options) { response in
            var whole: [UInt8] = []
            for try await piece in response.body { whole += piece }
            return verdict(response.status, response.fields, Bytes(whole))
        }
    }

    private func verdict(_ status: HTTP.Status, _ fields: Fields, _ body: Bytes) -> String {
        // These are the origin's, for a request that did not come as it was sent.
        if [.badRequest, .notFound, .conflict].contains(status) { return "wrong request, \(status)" }
        if fields["Errand"] == nil, status != .ok {
            // What the proxy said in the origin's place.
            let mayBe = call.isForwarded && status.code != 298
            return mayBe ? "the proxy's \(status)" : "wrong answer of the proxy's, \(status)"
        }
        guard status == .ok else { return "wrong status \(status)" }
        guard fields["Errand"] == call.label else { return "wrong response, for \(fields["Errand"] ?? "nobody")" }
        guard PlannedCall.isEqual(body, call.body) else { return "wrong body of \(body.count), not \(call.length)" }
        return call.login == .right ? "200" : "wrong login got in"
    }

    private var body: RequestBody {
        let whole = call.uploaded
        guard call.uploadCount > 0 else { return .none }
        guard call.isChunked else { return .bytes(whole) }
        return .stream(
            AsyncThrowingStream { stream in
                for start in stride(from: 0, to: whole.count, by: 1000) {
                    stream.yield(whole[start..<min(start + 1000, whole.count)])
                }
                stream.finish()
            }, length: nil)
    }
}

extension ProxyRun {
    /// Success with the right body, a `NetworkError` that fits, or the cancel that was asked for: nothing else.
    private func judge(_ outcome: Result<String, any Error>) {
        switch outcome {
        case .success(let word):
            if word.hasPrefix("wrong") { complain(word) }
            tally.count(word)
        case .failure(let error as NetworkError):
            tally.count("\(error.code) (\(error.phase?.rawValue ?? "no phase"))")
            if let complaint = complaint(about: error) { complain("\(complaint): \(error)") }
            if "\(error)".contains(FaultyProxy.password) { complain("a password is shown: \(error)") }
        case .failure(is CancellationError):
            tally.count("CancellationError")
            guard case .task = call.cancel else { return complain("nobody cancelled its task") }
        case .failure(let error):
            tally.count("\(type(of: error))")
            complain("\(error)")
        }
    }

    private func complain(_ text: String) { tally.violation("request \(call.number), \(call.scheme): \(text)") }

    private func complaint(about error: NetworkError) -> String? {
        switch error.code {
        case .cancelled:
            if case .handle = call.cancel { return nil }
            return "cancelled, though not by its handle"
        case .timedOut: return error.limit == nil || error.exceeded == nil ? "no limit is named" : nil
        case .proxyFailed:
            if call.isForwarded { return "there is no tunnel" }
            if error.phase != .tunnel { return "the proxy has nothing else to do" }
            // A kept tunnel may have taken the request, and died of it, before this one was asked for.
            let wasSent = hops.all.withLock { $0.dropLast().contains { $0.bytesSent > 0 } }
            guard error.requestMayHaveBeenSent != wasSent else { return nil }
            return wasSent ? "an earlier tunnel took it" : "nothing can have been sent"
        case .proxyAuthenticationFailed: return error.phase == nil ? "no phase is named" : nil
        case .connectionClosed, .connectionFailed, .secureConnectionFailed, .invalidResponse:
            return error.phase == nil ? "no phase is named" : nil
        default: return "unexpected"
        }
    }
}
