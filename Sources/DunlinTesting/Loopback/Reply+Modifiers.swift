public import DunlinTypes

extension LoopbackServer.Reply {
    public func then(_ more: LoopbackServer.Step...) -> Self {
        changed { $0 + more }
    }

    public func after(_ first: LoopbackServer.Step...) -> Self {
        changed { first + $0 }
    }

    /// The first `count` bytes of what it would send, then a reset.
    public func resetAfter(_ count: Int) -> Self {
        changed { Self.cut($0, at: count) + [.reset] }
    }

    /// The first `count` bytes of what it would send, then a close.
    public func truncatedAfter(_ count: Int) -> Self {
        changed { Self.cut($0, at: count) + [.close] }
    }

    /// The first `count` bytes of what it would send, then a close that over TLS is not announced by close_notify.
    public func cutAfter(_ count: Int) -> Self {
        changed { Self.cut($0, at: count) + [.cut] }
    }

    /// The first `count` bytes of what it would send, then nothing.
    public func stallingAfter(_ count: Int) -> Self {
        changed { Self.cut($0, at: count) + [.stall] }
    }

    /// What it sends, in pieces of `size` bytes, across the borders of sends.
    public func dripping(_ size: Int, every: Duration = .zero) -> Self {
        changed { Self.merged($0) { .drip($0, size: size, every: every) } }
    }

    /// What it sends, cut at these offsets and nowhere else. Meant for replies that send without a break: where
    /// something stands between the bytes, offsets count anew.
    public func split(at offsets: Int...) -> Self {
        changed { Self.merged($0) { .split($0, at: offsets) } }
    }

    /// What it sends, in one send.
    public var inOnePiece: Self {
        changed { Self.merged($0) { .send($0) } }
    }

    /// Announced: the final response says `Connection: close`, and so it is.
    public var closingAfter: Self {
        changed { steps in
            steps.map { step in
                guard case .message(var message) = step, !message.status.isInformational else { return step }
                message.fields["Connection"] = "close"
                return .message(message)
            } + [.close]
        }
    }

    /// Closes after the response without a word: the client may be about to send its next request.
    public var closingSilently: Self { then(.close) }

    /// Keeps the connection until the first byte of the next request arrives, and closes it then. As that byte is
    /// unread, a TCP client sees a reset.
    public var closingOnNextRequest: Self { then(.awaitInput, .close) }

    public func delayed(_ duration: Duration) -> Self { after(.pause(duration)) }

    public func waiting(for gate: LoopbackServer.Gate) -> Self { after(.waitForSignal(gate)) }

    public func precededBy(interim status: HTTP.Status, _ fields: Fields = Fields()) -> Self {
        after(.interim(status, fields))
    }

    /// Starts when the request's head is there; no 100 is sent, and the body is read afterwards.
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

    /// Each run of sending steps as one step.
    private static func merged(
        _ steps: [LoopbackServer.Step], as wrap: (Bytes) -> LoopbackServer.Step
    ) -> [LoopbackServer.Step] {
        var result: [LoopbackServer.Step] = []
        var run: [UInt8] = []
        // In one copy each: tests are built for debugging, where a loop over bytes takes seconds.
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

    /// The steps for this request: a HEAD gets the head of a message and none of the bytes after it.
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
