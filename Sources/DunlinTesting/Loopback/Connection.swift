internal import DunlinTypes
internal import Glibc

extension LoopbackServer {
    /// A connection, on its own thread: reads a request, finds its reply, performs it, and repeats.
    struct Connection: ~Copyable {
        let index: Int
        let channel: Channel
        let script: Script
        let configuration: Configuration
        let handshake: Handshake?
        var reader: RequestReader
        /// What has been read of WebSocket frames.
        var frames = WebSocketFrameReader()
        var exchanges = 0

        init(
            _ index: Int, _ channel: consuming Channel, _ script: Script, _ configuration: Configuration,
            _ handshake: Handshake?
        ) {
            self.index = index
            self.handshake = handshake
            self.channel = channel
            self.script = script
            self.configuration = configuration
            reader = RequestReader(headLimit: configuration.headLimit)
        }

        /// Serves the connection to its end; the socket closes with the connection.
        mutating func converse() {
            do {
                while try exchange() {}
                channel.sendCloseNotify()
            } catch {
                end(with: error)
            }
        }

        /// Serves one request. Returns false if the connection must be closed.
        private mutating func exchange() throws(Interruption) -> Bool {
            guard let head = try reader.head(from: channel) else { return false }
            var request = RecordedRequest(head, connection: index, index: exchanges, handshake)
            exchanges += 1
            let choice = script.choose(for: head)
            guard case .reply(let reply) = choice, !reply.readsBodyFirst else {
                return try answer(head, &request, choice)
            }
            let position = channel.ledger.record(request)
            guard try perform(reply.steps(answering: head.method)) else { return false }
            defer { channel.ledger.update(position, request) }
            try receiveBody(of: head, into: &request)
            return !head.wantsClose
        }

        /// Serves in the usual order: the whole request, then the reply.
        private mutating func answer(
            _ head: RequestHead, _ request: inout RecordedRequest, _ choice: Script.Choice
        ) throws(Interruption) -> Bool {
            do {
                try sendContinue(to: head, &request)
                try receiveBody(of: head, into: &request)
            } catch {
                _ = channel.ledger.record(request)
                throw error
            }
            _ = channel.ledger.record(request)
            let reply =
                switch choice {
                case .reply(let reply): reply
                case .ask(let responder): responder(request)
                }
            return try perform(reply.steps(answering: head.method)) && !head.wantsClose
        }

        private func sendContinue(to head: RequestHead, _ request: inout RecordedRequest) throws(Interruption) {
            guard head.expectsContinue, configuration.answersExpectations, !reader.holdsInput else { return }
            try channel.send(Message(.continue).bytes)
            request.wasContinued = true
        }

        private mutating func receiveBody(
            of head: RequestHead, into request: inout RecordedRequest
        ) throws(Interruption) {
            var sink = BodySink(limit: configuration.keptBodyLimit)
            defer {
                request.body = Bytes(sink.kept)
                request.bodyCount = sink.count
                request.streamedHash = sink.hash?.value
                request.trailers = sink.trailers
            }
            try reader.body(head.framing, into: &sink, from: channel)
            request.isComplete = true
        }

        private func end(with interruption: Interruption) {
            switch interruption {
            case .stopped, .peerGone: return
            case .failed(let code): note(.system, "\(code)")
            case .truncated(let detail): note(.truncated, detail)
            case .insecure(let detail): note(.tls, detail)
            case .malformed(let detail):
                note(.malformed, detail)
                refuse()
            }
        }

        private func note(_ kind: Failure.Kind, _ detail: String) {
            channel.ledger.failed(Failure(connection: index, kind: kind, detail: detail))
        }

        /// The failure is recorded already, and the client may be gone, so errors are ignored.
        private func refuse() {
            let refusal = Message(.badRequest, fields: ["Content-Length": "0", "Connection": "close"])
            do throws(Interruption) {
                try channel.send(refusal.bytes)
                channel.halfClose()
                try channel.drain()
            } catch {
                return
            }
        }
    }
}
