extension BodySequence {
    /// The lines of a body, as they come. Invalid UTF-8 becomes U+FFFD. Like the body, it can be read only once. It
    /// never changes, and is passed by reference because events and values hold it twice.
    package final class Lines: AsyncSequence, Sendable {
        package typealias Element = String
        package typealias Failure = any Error

        let body: BodySequence
        let limit: Int
        let returnsEndLines: Bool
        /// Why there are no lines, if the response was refused.
        let refusal: NetworkError?
        private let keptBody: Int

        package init(
            body: BodySequence, limit: Int, returnsEndLines: Bool = false, refusal: NetworkError? = nil,
            keeping keptBody: Int = 0
        ) {
            self.keptBody = keptBody
            self.body = body
            self.limit = limit
            self.returnsEndLines = returnsEndLines
            self.refusal = refusal
        }

        package func makeAsyncIterator() -> Iterator {
            let machine = LineMachine(limit: limit, returnsEndLines: returnsEndLines)
            return Iterator(self, machine, body.makeAsyncIterator(), keeping: keptBody)
        }

        package struct Iterator: AsyncIteratorProtocol {
            private var pieces: BodySequence.Iterator
            private var machine: LineMachine
            private let lines: Lines
            private let keptBody: Int
            private var isOver = false
            private var sincePause = 0
            /// A reader on a loop would otherwise keep it from others as long as short lines come fast.
            private static let mostWithoutPause = 32

            init(_ lines: Lines, _ machine: LineMachine, _ pieces: BodySequence.Iterator, keeping keptBody: Int) {
                self.lines = lines
                self.pieces = pieces
                self.machine = machine
                self.keptBody = keptBody
            }

            /// The refusal with the beginning of the body. A body without a declared length may be endless, so only its
            /// first piece is awaited.
            private mutating func refused(_ refusal: NetworkError) async -> NetworkError {
                var body: [UInt8] = []
                let wanted = Swift.min(keptBody, lines.body.expectedLength ?? 1)
                do {
                    while body.count < wanted, let piece = try await pieces.next() { body.append(contentsOf: piece) }
                } catch {
                    // The refusal matters more than that the body broke off.
                }
                var refusal = refusal
                refusal.body = Bytes(body).beginning(upTo: keptBody)
                return lines.body.named(refusal)
            }

            package mutating func next() async throws -> String? {
                try await nextBytes().map { String($0) }
            }

            /// The next line as it came.
            mutating func nextBytes() async throws -> Bytes? {
                if let refusal = lines.refusal, !isOver {
                    isOver = true
                    throw await refused(refusal)
                }
                do {
                    while !isOver {
                        if let line = try machine.next() {
                            sincePause += 1
                            if sincePause == Self.mostWithoutPause {
                                sincePause = 0
                                await Task.yield()
                            }
                            return line
                        }
                        guard let piece = try await pieces.next() else {
                            isOver = true
                            return try machine.finish()
                        }
                        machine.take(piece)
                    }
                    return nil
                } catch is LineMachine.TooLong {
                    isOver = true
                    throw lines.body.named(
                        NetworkError(
                            .limitExceeded,
                            "a line has more than \(lines.limit) bytes; give the call a larger `limit:`",
                            phase: .receive, requestMayHaveBeenSent: true))
                }
            }
        }
    }
}

extension BodySequence {
    /// The server-sent events of a body, as they come. Like the body, it can be read only once.
    package struct Events: AsyncSequence, Sendable {
        package typealias Element = ServerSentEvent
        package typealias Failure = any Error

        let lines: BodySequence.Lines
        private let settings: ContentSettings?
        private let lastEventID: String

        /// `lastEventID` is the ID that the stream is resumed after.
        package init(lines: BodySequence.Lines, _ settings: ContentSettings? = nil, after lastEventID: String = "") {
            self.lines = lines
            self.settings = settings
            self.lastEventID = lastEventID
        }

        package func makeAsyncIterator() -> Iterator {
            Iterator(lines, settings, after: lastEventID)
        }

        package struct Iterator: AsyncIteratorProtocol {
            private let body: BodySequence
            private var lines: BodySequence.Lines.Iterator
            private var machine: ServerSentEventMachine
            private let limit: Int
            private let settings: ContentSettings?

            /// The ID that the stream can be resumed after; empty if there is none.
            package var lastEventID: String { machine.lastEventID }
            /// How long to wait before reconnecting; nil if the stream has not said so.
            package var retry: Duration? { machine.retry }

            init(_ lines: BodySequence.Lines, _ settings: ContentSettings?, after lastEventID: String) {
                body = lines.body
                self.lines = lines.makeAsyncIterator()
                limit = lines.limit
                self.settings = settings
                machine = ServerSentEventMachine(limit: limit, after: lastEventID)
            }

            private func reason(of refusal: ServerSentEventMachine.Refusal) -> String {
                switch refusal {
                case .tooLong: "an event has more than \(limit) bytes; give `events` a larger `limit:`"
                case .tooManyMarks: "an event has more than \(MarkRun.longest) combining marks in a row, a fixed limit"
                }
            }

            package mutating func next() async throws -> ServerSentEvent? {
                while let line = try await lines.nextBytes() {
                    do throws(ServerSentEventMachine.Refusal) {
                        if var event = try machine.take(line) {
                            event.settings = settings
                            return event
                        }
                    } catch {
                        throw body.named(
                            NetworkError(
                                .limitExceeded, reason(of: error), phase: .receive, requestMayHaveBeenSent: true))
                    }
                }
                return nil
            }
        }
    }
}

extension BodySequence {
    /// The JSON values of a body, one on each line, as they come. Empty lines are skipped. Like the body, it can be
    /// read only once.
    package struct Values<Value: Decodable>: AsyncSequence, Sendable {
        package typealias Element = Value
        package typealias Failure = any Error

        let lines: BodySequence.Lines
        let json: HTTP.JSON

        package init(lines: BodySequence.Lines, json: HTTP.JSON) {
            self.lines = lines
            self.json = json
        }

        package func makeAsyncIterator() -> Iterator {
            Iterator(body: lines.body, lines: lines.makeAsyncIterator(), json: json)
        }

        package struct Iterator: AsyncIteratorProtocol {
            let body: BodySequence
            var lines: BodySequence.Lines.Iterator
            let json: HTTP.JSON

            package mutating func next() async throws -> Value? {
                while let line = try await lines.next() {
                    if line.utf8.allSatisfy({ $0 == 0x20 || $0 == 0x09 }) { continue }
                    do {
                        return try json.decode(Value.self, from: Bytes(line))
                    } catch let error as DecodingError {
                        throw body.named(NetworkError(decoding: error))
                    }
                }
                return nil
            }
        }
    }
}
