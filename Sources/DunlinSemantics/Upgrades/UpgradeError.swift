/// Why protocols cannot be offered, or why a 101 is no answer to the offer.
package enum UpgradeError: Error, Sendable, Hashable {
    case nothingOffered
    case invalidProtocol(String)
    case offeredTwice(String)
    /// The caller gave a field that belongs to the offer.
    case ownField(String)
    /// The request offered no other protocol.
    case notAsked
    case ofHTTP10
    /// The field that announces a body.
    case announcesBody(String)
    /// The field Connection has no option `upgrade`.
    case connectionSaysNothing
    /// There is no field Upgrade, or an empty one.
    case namesNothing
    /// The field Upgrade is no list of protocols.
    case unreadable
    case notOffered(String)
    case namedTwice(String)
}

extension UpgradeError: CustomStringConvertible {
    /// Half a sentence, for a larger one.
    package var description: String {
        switch self {
        case .nothingOffered: "no protocol is offered"
        case .invalidProtocol(let text): "\"\(text)\" is not the name of a protocol, or a name and a version"
        case .offeredTwice(let text): "the protocol \(text) is offered twice"
        case .ownField(let name): "leave out the field \(name), which Dunlin writes"
        case .notAsked: "the server switched protocols without being asked"
        case .ofHTTP10: "the server switched protocols in HTTP/1.0, which cannot"
        case .announcesBody(let name): "the server switched protocols and announced a body by \(name)"
        case .connectionSaysNothing: "the server switched protocols without `Connection: upgrade`"
        case .namesNothing: "the server switched protocols and did not name the new one"
        case .unreadable: "the server switched protocols, and its field Upgrade cannot be read"
        case .notOffered(let text): "the server switched to \(text), which was not offered"
        case .namedTwice(let text): "the server named \(text) twice as the new protocol"
        }
    }
}
