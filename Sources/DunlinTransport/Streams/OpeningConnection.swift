internal import DunlinTypes

/// The bytes of a connection that is being opened, and the turn of its channel, which the caller owns.
struct OpeningConnection: Sendable {
    /// The stream, plain or under TLS with a proxy.
    let stream: ByteStream
    let turn: UInt64
    /// The address that the socket is connected to.
    let address: HTTP.SocketAddress
    /// What was read of the stream already, for the next reader.
    var ahead: [UInt8] = []
    /// The generation of the TLS policy with the proxy; nil for none.
    private(set) var proxyTLSGeneration: UInt64?

    init(_ dialed: DialedChannel) {
        self.init(.plain(dialed.channel), dialed.turn, dialed.address)
    }

    private init(_ stream: ByteStream, _ turn: UInt64, _ address: HTTP.SocketAddress) {
        self.stream = stream
        self.turn = turn
        self.address = address
    }

    /// The same connection under TLS with a proxy.
    func secured(_ secure: TLSChannel, _ tlsGeneration: UInt64) -> OpeningConnection {
        var connection = OpeningConnection(.tls(secure), turn, address)
        connection.proxyTLSGeneration = tlsGeneration
        return connection
    }
}
