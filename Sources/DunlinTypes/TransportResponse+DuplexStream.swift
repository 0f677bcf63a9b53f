extension TransportResponse {
    /// The body of a 101 (Switching Protocols) that was asked for: the connection itself, on which client and server
    /// now send bytes of another protocol, each independently of the other.
    ///
    /// `next` returns what the server sends, from the first byte after the head on, and nil once the server sends no
    /// more. Only one reader and one writer at a time may use it. Releasing the last reference closes it.
    public protocol DuplexStream: BodyStream {
        /// Sends bytes. Returns when all of them have been taken, so a peer that does not read delays the writer.
        func write(_ bytes: Bytes) async throws

        /// Says that nothing more will be sent. What the peer sends can still be read.
        func finishWriting() async throws

        /// Whether at least one direction is open.
        var isOpen: Bool { get }

        /// Closes the connection at once, for both directions. Reads and writes that wait fail, and so do later ones.
        func close()
    }
}

extension TransportResponse.BodyStream {
    /// The connection of a 101, however often it is wrapped; nil for any other body.
    package var duplexStream: (any TransportResponse.DuplexStream)? {
        var stream: any TransportResponse.BodyStream = self
        while let wrapped = stream as? any WrappedBody {
            guard let source = (wrapped as? any PassedBody)?.stream ?? wrapped.source else { return nil }
            stream = source
        }
        return stream as? any TransportResponse.DuplexStream
    }
}
