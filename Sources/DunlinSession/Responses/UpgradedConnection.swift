internal import DunlinReactor
internal import DunlinSemantics
internal import DunlinTransport

extension HTTPSession {
    /// A connection that speaks another protocol since the server's 101: bytes in both directions, each independent of
    /// the other.
    ///
    /// One task may read while another writes; a second reader, or a second writer, is refused. Nothing is read before
    /// it is asked for, and a write waits while the peer does not read, so neither side fills memory. A task that is
    /// cancelled while it reads or writes closes the connection.
    ///
    /// The connection counts as a running request, under the same limits of connections, until it is closed: by
    /// `close`, once the peer has ended its direction and `finishWriting` this side's, by an error of either direction,
    /// when its request is cancelled, and when the last reference is released. When the peer takes nothing more, only
    /// writing has failed: what it sent before can be read. `shutdown(grace:)` waits for the connection until the grace
    /// is over, and then closes it. It is never used for another request.
    public final class UpgradedConnection: Sendable {
        /// The protocols that the server named, the lowest layer first, each as it was offered. Usually there is one.
        public let protocols: [String]
        private let response: StreamedResponse
        /// Its request, as the registry knows it, and the request's loop.
        let request: HTTPSession.TaskID
        let loop: Reactor
        /// What is read: the connection, and whoever observes it.
        private let input: any TransportResponse.BodyStream
        private let connection: any TransportResponse.DuplexStream
        /// What a custom transport does not do itself; nil for Dunlin's own sockets.
        private let custom: CustomConnection?
        private let end: @Sendable ((any Error)?) -> Void

        /// Takes over the connection of a 101 that answers an offer; `end` is called once it is closed.
        init(
            _ response: StreamedResponse, to offered: [String], over custom: CustomConnection?, of request: TaskID,
            on loop: Reactor,
            _ end: @escaping @Sendable ((any Error)?) -> Void
        ) throws {
            guard case .stream(let input) = response.body.source.body, let connection = input.duplexStream else {
                let error = NetworkError(
                    .interceptorFailed,
                    "an interceptor returned a 101 without its connection; return the response of `next`",
                    phase: .receive, requestMayHaveBeenSent: true, response: response.head)
                end(error)
                throw response.body.named(error)
            }
            (self.response, self.input, self.connection, self.end) = (response, input, connection, end)
            (self.request, self.loop) = (request, loop)
            self.custom = custom
            protocols = UpgradeOffer.named(in: response.head.fields, as: offered)
        }

        deinit { end(nil) }

        /// The protocol that is spoken: the uppermost layer.
        public var `protocol`: String { protocols.last ?? "" }
        /// How many bytes an error about what came carries.
        var keptBody: Int { response.keptBody }
        /// The head of the 101.
        public var head: ResponseHead { response.head }
        public var fields: Fields { response.head.fields }
        /// The URL that was asked, without user info.
        public var url: String { response.url }
        /// How long each phase has taken so far, and how many bytes have gone both ways, head included.
        public var metrics: HTTPSession.Metrics { response.metrics }
        /// Whether at least one direction is open.
        public var isOpen: Bool { connection.isOpen }

        /// Returns the bytes that have come, at least one, and waits for them if necessary; nil once the peer has said
        /// that it sends no more.
        public func read() async throws -> Bytes? {
            try await using {
                guard let custom else { return try await input.next() }
                return try await custom.read { try await input.next() }
            }
        }

        /// Sends bytes. Returns when the kernel has taken all of them, so a peer that does not read delays the writer.
        public func write(_ bytes: Bytes) async throws {
            try await using {
                guard let custom else { return try await connection.write(bytes) }
                try await custom.write(bytes.count, to: connection) { try await $0.write(bytes) }
            }
        }

        /// Says that nothing more will be sent: the peer reads the end after everything that was written. Reading goes
        /// on.
        public func finishWriting() async throws {
            try await using {
                guard let custom else { return try await connection.finishWriting() }
                try await custom.write(0, to: connection) { try await $0.finishWriting() }
            }
        }

        /// Closes the connection at once. Reads and writes that wait fail with code `connectionClosed`, and so do later
        /// ones.
        public func close() {
            connection.close()
            end(nil)
        }

        /// The error with the name of the request.
        func named(_ error: any Error) -> any Error { response.body.naming?(error) ?? error }

        private func using<Value>(_ work: () async throws -> Value) async throws -> Value {
            do {
                let value = try await work()
                if !connection.isOpen { end(nil) }
                return value
            } catch {
                if !connection.isOpen { end(error) }
                throw named(error)
            }
        }
    }
}
