internal import DunlinTypes

extension LoopbackServer.Connection {
    /// Performs steps. Returns true if all were done and none ends the connection.
    mutating func perform(_ steps: [LoopbackServer.Step]) throws(LoopbackServer.Interruption) -> Bool {
        for step in steps {
            guard try perform(step) else { return false }
        }
        return true
    }

    private mutating func perform(_ step: LoopbackServer.Step) throws(LoopbackServer.Interruption) -> Bool {
        switch step {
        case .message(let message): try channel.send(message.bytes)
        case .send(let bytes): try channel.send(bytes)
        case .drip(let bytes, let size, let every): try drip(bytes, size, every)
        case .split(let bytes, let offsets): try split(bytes, at: offsets)
        case .generated(let range): try generate(range)
        case .pause(let duration): try channel.pause(duration)
        case .stall: try channel.stall()
        case .waitForSignal(let gate): try channel.wait(at: gate)
        case .signal(let gate): gate.open()
        case .awaitInput: if !reader.holdsInput { try channel.awaitInput() }
        case .drain: try channel.drain()
        case .expect(let bytes): try reader.expect(bytes, from: channel)
        case .echo: while let bytes = try reader.raw(from: channel) { try channel.send(Bytes(bytes)) }
        case .expectFrame(let frame): try expect(frame)
        case .echoMessages: try echoMessages()
        case .answerFrames(let steps): return try answerFrames(steps)
        case .halfClose: channel.halfClose()
        case .reset:
            try channel.prepareReset()
            return false
        case .outsideTLS(let bytes): try channel.sendRaw(bytes.array)
        case .renewKeys: try channel.renewKeys()
        case .cut:
            channel.tls?.leaveSilently()
            return false
        case .close: return false
        }
        return true
    }

    private func drip(_ bytes: Bytes, _ size: Int, _ every: Duration) throws(LoopbackServer.Interruption) {
        let size = max(size, 1)
        for start in stride(from: 0, to: bytes.count, by: size) {
            if start > 0 && every > .zero { try channel.pause(every) }
            try sendAlone(bytes[start..<min(start + size, bytes.count)])
        }
    }

    private func split(_ bytes: Bytes, at offsets: [Int]) throws(LoopbackServer.Interruption) {
        let cuts = Set(offsets).filter { 0 < $0 && $0 < bytes.count }.sorted() + [bytes.count]
        var start = 0
        for cut in cuts {
            try sendAlone(bytes[start..<cut])
            start = cut
        }
    }

    /// Sends bytes in a segment of their own, if they fit one. Waiting for that also notices a stop between many small
    /// sends.
    private func sendAlone(_ bytes: Bytes) throws(LoopbackServer.Interruption) {
        try channel.send(bytes)
        try channel.waitUntilSent()
    }

    private func generate(_ range: Range<Int>) throws(LoopbackServer.Interruption) {
        try LoopbackServer.GeneratedBody.forEachBlock(range) { block throws(LoopbackServer.Interruption) in
            try channel.pause(.zero)
            try channel.send(block)
        }
    }
}
