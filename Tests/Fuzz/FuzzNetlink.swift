import DunlinReactor

/// What the kernel says of links and routes: whatever the bytes, no more messages than there is room for, and what
/// comes first is read the same whatever follows.
enum FuzzNetlink {
    static func violation(of input: [UInt8]) -> String? {
        let whole = NetlinkReader.messages(in: input.span.bytes)
        if whole.messages.count * 16 > input.count { return "more messages than bytes for them" }
        for message in whole.messages {
            if case .link(let link) = message.content, link.name.isEmpty { return "a link without a name" }
            if case .answer(let errno) = message.content, errno.rawValue < 0 { return "errno \(errno.rawValue)" }
        }
        let half = NetlinkReader.messages(in: Array(input.prefix(input.count / 2)).span.bytes)
        guard half.messages.count <= whole.messages.count else { return "half of it has more messages" }
        for (one, other) in zip(half.messages, whole.messages) where one != other { return "\(one) became \(other)" }
        return nil
    }
}
