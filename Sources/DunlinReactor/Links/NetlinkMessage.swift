internal import CNetlink
package import DunlinTypes
internal import Glibc

/// One message of the kernel about links and routes (RFC 3549), as far as it matters here.
package struct NetlinkMessage: Equatable, Sendable {
    package enum Content: Equatable, Sendable {
        case link(LinkReport)
        case route(RouteReport)
        /// A link, an address, a route or a rule was added, removed or changed.
        case change
        /// The answer to a request: why it failed, or zero if it was done.
        case answer(Errno)
        /// The end of several messages.
        case done
        /// A message of no interest, or one that is malformed.
        case other
    }

    package var sequence: UInt32
    package var content: Content
    /// Whether something about the network may have changed.
    package var isNews: Bool
}

/// What the kernel says of a link.
package struct LinkReport: Equatable, Sendable {
    package var index: Int32
    package var flags: UInt32
    /// The kind of hardware, as ARP counts it.
    package var hardware: UInt16
    package var name: String
    /// The state of RFC 2863.
    package var state: UInt8 = 0
    /// The kind of a virtual link, such as `veth` or `wireguard`.
    package var maker = ""
    /// The link in the same namespace that this one goes through, as of a VLAN.
    package var lower: Int32?
}

/// What the kernel says of the route to an address.
package struct RouteReport: Equatable, Sendable {
    package var family: UInt8
    /// Unicast, local, unreachable and so on.
    package var type: UInt8
    package var interface: Int32 = 0
    /// The address that packets would be sent from.
    package var source: HTTP.SocketAddress?
    /// The metric; the least is the best.
    package var metric: UInt32 = 0
}

/// Reads what a netlink socket gave.
///
/// Rules: nothing in it is used before it is known to lie within what came. A message whose length makes no sense ends
/// the reading, because it is not known where the next begins. An attribute whose length makes no sense ends its
/// message; the attributes before it stay. A message that is too short for its own type is ignored. The reader never
/// traps, whatever the bytes.
package struct NetlinkReader {
    private static let header = 16
    private static let attributeHeader = 4

    /// Every message in `bytes`, and whether they were all there was.
    package static func messages(in bytes: RawSpan) -> (messages: [NetlinkMessage], isWhole: Bool) {
        var messages: [NetlinkMessage] = []
        var offset = 0
        while bytes.byteCount - offset >= header {
            let length = Int(bytes.number(at: offset, as: UInt32.self))
            guard length >= header, length <= bytes.byteCount - offset else { return (messages, false) }
            let message = bytes.extracting(offset..<offset + length)
            messages.append(read(message))
            // Aligned to four bytes, but for the last one.
            offset += min((length + 3) & ~3, bytes.byteCount - offset)
        }
        return (messages, offset == bytes.byteCount)
    }

    private static func read(_ message: RawSpan) -> NetlinkMessage {
        let type = Int32(message.number(at: 4, as: UInt16.self))
        let sequence = message.number(at: 8, as: UInt32.self)
        let body = message.extracting(header..<message.byteCount)
        return NetlinkMessage(sequence: sequence, content: content(type, body), isNews: isNews(type))
    }

    private static func content(_ type: Int32, _ body: RawSpan) -> NetlinkMessage.Content {
        switch type {
        case NLMSG_ERROR: body.byteCount >= 4 ? .answer(Errno(negated: body.number(at: 0, as: Int32.self))) : .other
        case NLMSG_DONE: .done
        case Int32(RTM_NEWLINK): link(body).map { .link($0) } ?? .change
        case Int32(RTM_NEWROUTE): route(body).map { .route($0) } ?? .change
        default: isNews(type) ? .change : .other
        }
    }

    private static func isNews(_ type: Int32) -> Bool {
        switch type {
        case Int32(RTM_NEWLINK), Int32(RTM_DELLINK), Int32(RTM_NEWADDR), Int32(RTM_DELADDR), Int32(RTM_NEWROUTE),
            Int32(RTM_DELROUTE), Int32(RTM_NEWRULE), Int32(RTM_DELRULE), NLMSG_OVERRUN:
            true
        default: false
        }
    }
}

// MARK: - Links

extension NetlinkReader {
    private static let linkHeader = 16

    private static func link(_ body: RawSpan) -> LinkReport? {
        guard body.byteCount >= linkHeader else { return nil }
        var link = LinkReport(
            index: body.number(at: 4, as: Int32.self), flags: body.number(at: 8, as: UInt32.self),
            hardware: body.number(at: 2, as: UInt16.self), name: "")
        var isElsewhere = false
        forEachAttribute(in: body, from: linkHeader) { type, value in
            switch type {
            case UInt16(IFLA_IFNAME): link.name = value.text
            case UInt16(IFLA_OPERSTATE): link.state = value.byteCount > 0 ? value.number(at: 0, as: UInt8.self) : 0
            case UInt16(IFLA_LINK): link.lower = value.word.map { Int32(bitPattern: $0) }
            case UInt16(IFLA_LINK_NETNSID): isElsewhere = true
            case UInt16(IFLA_LINKINFO):
                forEachAttribute(in: value, from: 0) { type, value in
                    if type == UInt16(IFLA_INFO_KIND) { link.maker = value.text }
                }
            default: break
            }
        }
        // Some links name themselves; and the number of a link in another namespace means another link in this one.
        if isElsewhere || link.lower == link.index || link.lower == 0 { link.lower = nil }
        return link.name.isEmpty ? nil : link
    }
}

// MARK: - Routes

extension NetlinkReader {
    private static let routeHeader = 12

    private static func route(_ body: RawSpan) -> RouteReport? {
        guard body.byteCount >= routeHeader else { return nil }
        let family = body.number(at: 0, as: UInt8.self)
        var route = RouteReport(family: family, type: body.number(at: 7, as: UInt8.self))
        forEachAttribute(in: body, from: routeHeader) { type, value in
            switch type {
            case UInt16(RTA_OIF.rawValue): route.interface = value.word.map { Int32(bitPattern: $0) } ?? 0
            case UInt16(RTA_PREFSRC.rawValue): route.source = value.address(of: family)
            case UInt16(RTA_PRIORITY.rawValue): route.metric = value.word ?? 0
            default: break
            }
        }
        return route
    }
}

// MARK: - Attributes

extension NetlinkReader {
    /// Every attribute that lies whole within `span`, without the flags of its type.
    private static func forEachAttribute(in span: RawSpan, from start: Int, _ body: (UInt16, RawSpan) -> Void) {
        var offset = start
        while span.byteCount - offset >= attributeHeader {
            let length = Int(span.number(at: offset, as: UInt16.self))
            guard length >= attributeHeader, length <= span.byteCount - offset else { return }
            let type = span.number(at: offset + 2, as: UInt16.self) & 0x3FFF
            body(type, span.extracting(offset + attributeHeader..<offset + length))
            offset += min((length + 3) & ~3, span.byteCount - offset)
        }
    }
}

extension RawSpan {
    /// A number in the machine's own byte order. The caller has checked that it lies within.
    fileprivate func number<Number: FixedWidthInteger & BitwiseCopyable>(at offset: Int, as type: Number.Type) -> Number
    {
        unsafeLoadUnaligned(fromByteOffset: offset, as: type)
    }

    /// Nil if it is shorter.
    fileprivate var word: UInt32? { byteCount >= 4 ? number(at: 0, as: UInt32.self) : nil }

    /// The text up to its NUL.
    fileprivate var text: String {
        withUnsafeBytes { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }

    fileprivate func address(of family: UInt8) -> HTTP.SocketAddress? {
        switch Int32(family) {
        case AF_INET where byteCount == 4: .v4(UInt32(bigEndian: number(at: 0, as: UInt32.self)), port: 0)
        case AF_INET6 where byteCount == 16:
            .v6(
                UInt64(bigEndian: number(at: 0, as: UInt64.self)), UInt64(bigEndian: number(at: 8, as: UInt64.self)),
                port: 0)
        default: nil
        }
    }
}

extension Errno {
    /// The error of an answer, which has it negated. A number that is no error is an unknown one.
    fileprivate init(negated value: Int32) {
        self.init(rawValue: value > 0 || value == .min ? EPROTO : -value)
    }
}
