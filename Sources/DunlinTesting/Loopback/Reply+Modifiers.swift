public import DunlinTypes

extension LoopbackServer.Reply {
    public func then(_ more: LoopbackServer.Step...) -> Self {
        changed { $0 + more }
    }

    public func after(_ first: LoopbackServer.Step...) -> Self {
        changed { first + $0 }
    }

    /// Returns a reply that sends its first `count` bytes, then resets.
    public func resetAfter(_ count: Int) -> Self {
        changed { Self.cut($0, at: count) + [.reset] }
    }

    /// Returns a reply that sends its first `count` bytes, then closes.
    public func truncatedAfter(_ count: Int) -> Self {
        changed { Self.cut($0, at: count) + [.close] }
    }

    /// Returns a reply that sends its first `count` bytes, then closes, over TLS without a close_notify.
    public func cutAfter(_ count: Int) -> Self {
        changed { Self.cut($0, at: count) + [.cut] }
    }

    /// Returns a reply that sends its first `count` bytes, then nothing.
    public func stallingAfter(_ count: Int) -> Self {
        changed { Self.cut($0, at: count) + [.stall] }
    }

    /// Returns a reply that is sent in pieces of `size` bytes, regardless of its own sends.
    public func dripping(_ size: Int, every: Duration = .zero) -> Self {
        changed { Self.merged($0) { .drip($0, size: size, every: every) } }
    }

    /// Returns a reply that is cut at these offsets and nowhere else. For replies that send without interruption: after
    /// any other step between the bytes, offsets are counted anew.
    public func split(at offsets: Int...) -> Self {
        changed { Self.merged($0) { .split($0, at: offsets) } }
    }

    /// A reply that is sent in one piece.
    public var inOnePiece: Self {
        changed { Self.merged($0) { .send($0) } }
    }

    /// A reply whose final response announces `Connection: close`, and which closes.
    public var closingAfter: Self {
        changed { steps in
            steps.map { step in
                guard case .message(var message) = step, !message.status.isInformational else { return step }
                message.fields["Connection"] = "close"
                return .message(message)
            } + [.close]
        }
    }

    /// A reply that closes after the response without announcing it: the client may be about to send its next request.
    public var closingSilently: Self { then(.close) }

    /// A reply that keeps the connection until the first byte of the next request arrives, then closes. Since that byte
    /// is unread, a TCP client sees a reset.
    public var closingOnNextRequest: Self { then(.awaitInput, .close) }

    public func delayed(_ duration: Duration) -> Self { after(.pause(duration)) }

    public func waiting(for gate: LoopbackServer.Gate) -> Self { after(.waitForSignal(gate)) }

    public func precededBy(interim status: HTTP.Status, _ fields: Fields = Fields()) -> Self {
        after(.interim(status, fields))
    }

    /// A reply that starts when the request's head is there; no 100 is sent, and the body is read afterwards.
    public var beforeBody: Self {
        var reply = self
        reply.readsBodyFirst = false
        return reply
    }
}

extension LoopbackServer.Reply {
    private func changed(_ change: ([LoopbackServer.Step]) -> [LoopbackServer.Step]) -> Self {
        var reply = self
        reply.steps = change(steps)
        return reply
    }

    private static func cut(_ steps: [LoopbackServer.Step], at count: Int) -> [LoopbackServer.Step] {
        var left = max(count, 0)
        var kept: [LoopbackServer.Step] = []
        for step in steps {
            let size = step.byteCount
            if size > 0, left == 0 { break }
            kept.append(step.prefix(left))
            left -= min(size, left)
            if size > 0, left == 0 { break }
        }
        return kept.filter { !$0.endsConnection }
    }

    /// The steps with each run of sending steps merged.
    private static func merged(
        _ steps: [LoopbackServer.Step], as wrap: (Bytes) -> LoopbackServer.Step
    ) -> [LoopbackServer.Step] {
        var result: [LoopbackServer.Step] = []
        var run: [UInt8] = []
        // In one copy each, because tests are debug builds, where a loop over bytes takes seconds.
        func append(_ bytes: Bytes) { bytes.withUnsafeBytes { run.append(contentsOf: $0) } }
        for step in steps {
            if case .generated(let range) = step {
                append(LoopbackServer.GeneratedBody.bytes(range))
            } else if let bytes = step.bytes {
                append(bytes)
            } else {
                if !run.isEmpty { result.append(wrap(Bytes(run))) }
                run = []
                result.append(step)
            }
        }
        if !run.isEmpty { result.append(wrap(Bytes(run))) }
        return result
    }

    /// The steps for this request: for HEAD, the head of a message without the bytes after it.
    func steps(answering method: HTTP.Method) -> [LoopbackServer.Step] {
        guard method == .head, let final = steps.firstIndex(where: \.isFinalMessage) else { return steps }
        return steps.enumerated().compactMap { index, step in
            if index < final { return step }
            if index > final { return step.byteCount == 0 ? step : nil }
            guard case .message(var message) = step else { return step }
            message.body = .empty
            return .message(message)
        }
    }
}

extension LoopbackServer.Step {
    fileprivate var isFinalMessage: Bool {
        guard case .message(let message) = self else { return false }
        return !message.status.isInformational
    }
}
