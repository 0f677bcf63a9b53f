internal import CNetlink
internal import DunlinTypes
internal import Glibc

extension Socket {
    /// Bytes that the kernel writes at once at most, and more than any one message needs.
    static let netlinkCapacity = 32 * 1024

    /// A netlink socket that receives every change of links, addresses, routes and rules.
    static func ofNetworkChanges() throws(Errno) -> Socket {
        let groups =
            UInt32(RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV4_ROUTE | RTMGRP_IPV4_RULE | RTMGRP_IPV6_IFADDR)
            | UInt32(RTMGRP_IPV6_ROUTE) | UInt32(1) << (RTNLGRP_IPV6_RULE.rawValue - 1)
        let socket = try netlink(Int32(SOCK_NONBLOCK.rawValue))
        try socket.bind(toGroups: groups)
        return socket
    }

    /// A netlink socket for questions. It waits for answers, with a limit: the kernel has them ready when a question is
    /// sent.
    static func forNetworkQuestions() throws(Errno) -> Socket {
        let socket = try netlink(0)
        var limit = timeval(tv_sec: 2, tv_usec: 0)
        let size = socklen_t(MemoryLayout<timeval>.size)
        guard setsockopt(socket.descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, size) == 0 else { throw Errno.last }
        return socket
    }

    private static func netlink(_ flags: Int32) throws(Errno) -> Socket {
        let kind = Int32(SOCK_RAW.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | flags
        return Socket(adopting: try Descriptor.raised(Glibc.socket(AF_NETLINK, kind, NETLINK_ROUTE)))
    }

    private func bind(toGroups groups: UInt32) throws(Errno) {
        var address = sockaddr_nl()
        address.nl_family = sa_family_t(AF_NETLINK)
        address.nl_groups = groups
        let code = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_nl>.size))
            }
        }
        guard code == 0 else { throw Errno.last }
    }

    /// How many reads one answer may take. One holds twenty links, so there is room for 80,000.
    static let mostReceipts = 4_096

    /// Sends a question and returns what the kernel answers: one message, or all up to the last if `isDump`. Throws the
    /// kernel's own refusal, and gives up if it sends much and never answers.
    func answers(
        to question: [UInt8], sequence: UInt32, isDump: Bool = false, receipts: Int = mostReceipts
    ) throws(Errno) -> [NetlinkMessage.Content] {
        guard send(descriptor, question, question.count, 0) == question.count else { throw Errno.last }
        var contents: [NetlinkMessage.Content] = []
        for _ in 0..<receipts {
            let (messages, isWhole) = try receiveFromKernel()
            for message in messages where message.sequence == sequence {
                switch message.content {
                case .answer(let errno) where errno.rawValue != 0: throw errno
                case .answer, .done: return contents
                case .link, .route, .change, .other: contents.append(message.content)
                }
                if !isDump { return contents }
            }
            guard isWhole else { throw Errno(rawValue: EPROTO) }
        }
        throw Errno(rawValue: EPROTO)
    }

    /// Receives from the kernel; messages of other senders are ignored.
    private func receiveFromKernel() throws(Errno) -> (messages: [NetlinkMessage], isWhole: Bool) {
        var failure: Int32 = 0
        var isKernels = false
        var length = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: Self.netlinkCapacity) { buffer, count in
            var sender = sockaddr_nl()
            var size = socklen_t(MemoryLayout<sockaddr_nl>.size)
            repeat {
                length = withUnsafeMutablePointer(to: &sender) { pointer in
                    pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                        recvfrom(descriptor, buffer.baseAddress, buffer.count, Int32(MSG_TRUNC), $0, &size)
                    }
                }
                failure = length < 0 ? errno : 0
            } while failure == EINTR
            count = min(max(length, 0), buffer.count)
            isKernels = sender.nl_pid == 0
        }
        if failure == EAGAIN { throw Errno(rawValue: ETIMEDOUT) }
        if failure != 0 { throw Errno(rawValue: failure) }
        guard isKernels else { return ([], true) }
        let (messages, isWhole) = NetlinkReader.messages(in: bytes.span.bytes)
        return (messages, isWhole && length == bytes.count)
    }
}
