internal import DunlinTypes

/// The bytes of a connection that is being opened, as far as it has come, and the turn of its channel that the caller
/// owns.
struct OpeningLine: Sendable {
    /// Plain, or under TLS with a proxy.
    let stream: ByteStream
    let turn: UInt64
    /// The address that the socket is connected to.
    let address: HTTP.SocketAddress
    /// What was read of the stream already, and is for whoever reads next.
    var ahead: [UInt8] = []

    init(_ dialed: DialedChannel) {
        self.init(.plain(dialed.channel), dialed.turn, dialed.address)
    }

    private init(_ stream: ByteStream, _ turn: UInt64, _ address: HTTP.SocketAddress) {
        self.stream = stream
        self.turn = turn
        self.address = address
    }

    /// The same connection under TLS.
    func secured(_ secure: TLSChannel) -> OpeningLine {
        OpeningLine(.tls(secure), turn, address)
    }
}
