internal import DunlinReactor
internal import DunlinTypes

/// A connect that is underway or done, and the turn of its channel that the caller owns.
struct DialedChannel: Sendable {
    let channel: Channel
    let turn: UInt64
    let address: HTTP.SocketAddress
}
