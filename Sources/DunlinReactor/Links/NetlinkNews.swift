internal import DunlinTypes

/// Looks for news in what a netlink socket has.
///
/// It takes what there is, up to a limit: a kernel that has more to say than can be read would otherwise keep the loop,
/// and the others on it. What is left may be news, and counts as news. Once there is news the rest is skipped unread,
/// because one hint is enough.
enum NetlinkNews {
    /// Reads of 32 KB at once: twice what such a socket holds by default.
    static let mostReads = 16

    /// Returns whether there was news; nil when the socket has ended. `read` replaces the contents of its argument, and
    /// returns whether there was anything.
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
        // The socket will not report the rest again, so nobody would come back for it.
        return true
    }
}
