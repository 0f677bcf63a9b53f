internal import DunlinTypes

/// Looks for news in what a netlink socket has.
///
/// Takes what there is, but not for ever: a kernel that has more to say than can be read would otherwise keep the loop,
/// and whoever else is on it. What is left may be news, and counts as such. Once there is news the rest is passed over
/// unread, for one hint says it all.
enum NetlinkNews {
    /// Reads of 32 KB at once: twice what such a socket holds by default.
    static let mostReads = 16

    /// Whether there was news; nil when the socket is over. `read` puts what there is in place of what was, and says
    /// whether there was anything.
    static func taken(reading read: (inout [UInt8]) throws(Errno) -> Bool) throws(Errno) -> Bool? {
        var isNews = false
        var bytes: [UInt8] = []
        for _ in 0..<mostReads {
            guard try read(&bytes) else { return isNews }
            if bytes.isEmpty { return nil }
            if isNews { continue }
            let (messages, isWhole) = NetlinkReader.messages(in: bytes.span.bytes)
            isNews = !isWhole || messages.contains(where: \.isNews)
        }
        // What is left was told of already: nobody would come back for it.
        return true
    }
}
