internal import DunlinReactor
internal import DunlinTypes

/// A running or finished connect, and the turn of its channel, which the caller owns.
struct DialedChannel: Sendable {
    let channel: Channel
    let turn: UInt64
    let address: HTTP.SocketAddress
}
