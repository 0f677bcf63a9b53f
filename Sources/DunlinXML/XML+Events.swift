public import Dunlin

extension XML {
    /// The events of a document, read on demand. Each pass begins anew.
    ///
    /// ```swift
    /// var reader = try events.reader()
    /// while let event = try reader.next() { … }
    /// ```
    public struct Events: Sendable {
        private let bytes: Bytes
        private let charset: String?
        private let limits: Limits

        public init(_ bytes: Bytes, charset: String? = nil, limits: Limits = Limits()) {
            self.bytes = bytes
            self.charset = charset
            self.limits = limits
        }

        /// Returns a reader. Throws if the document does not match its encoding.
        public func reader() throws(XML.Error) -> Reader {
            try Reader(bytes, charset: charset, limits: limits)
        }

        /// Calls `body` with each event; it ends the reading by throwing.
        public func forEach(_ body: (Event) throws -> Void) throws {
            var reader = try reader()
            while let event = try reader.next() { try body(event) }
        }
    }
}
