internal import CNetlink
internal import DunlinTypes
internal import Glibc

/// Questions for the kernel about links and routes, as bytes.
enum NetlinkRequest {
    /// Asks for the route to an address, through `interface` if one is named (not 0). Nothing is sent there.
    ///
    /// With `needsRoute` there must be a real route: with an interface named, the kernel otherwise takes every address
    /// for a neighbour's.
    static func route(
        to address: HTTP.SocketAddress, through interface: Int32 = 0, needsRoute: Bool = false, sequence: UInt32
    ) -> [UInt8]? {
        var message = Builder(type: UInt16(RTM_GETROUTE), flags: UInt16(NLM_F_REQUEST), sequence)
        var interface = interface
        let flags: UInt32 = needsRoute ? UInt32(RTM_F_FIB_MATCH) : 0
        switch address {
        case .v4(let four, _):
            message.appendRouteHeader(UInt8(AF_INET), bits: 32, flags: flags)
            message.append(UInt16(RTA_DST.rawValue), four.bigEndian)
        case .v6(let high, let low, _, let scope):
            message.appendRouteHeader(UInt8(AF_INET6), bits: 128, flags: flags)
            message.append(UInt16(RTA_DST.rawValue), (high.bigEndian, low.bigEndian))
            if interface == 0 { interface = Int32(bitPattern: scope) }
        case .unix: return nil
        }
        if interface != 0 { message.append(UInt16(RTA_OIF.rawValue), interface) }
        return message.finished
    }

    /// Asks for one link by its number.
    static func link(_ index: Int32, sequence: UInt32) -> [UInt8] {
        var message = Builder(type: UInt16(RTM_GETLINK), flags: UInt16(NLM_F_REQUEST), sequence)
        message.appendLinkHeader(index)
        return message.finished
    }

    /// Asks for all links.
    static func links(sequence: UInt32) -> [UInt8] {
        var message = Builder(type: UInt16(RTM_GETLINK), flags: UInt16(NLM_F_REQUEST | NLM_F_DUMP), sequence)
        message.appendLinkHeader(0)
        return message.finished
    }
}

extension NetlinkRequest {
    private struct Builder {
        private var bytes: [UInt8] = []

        init(type: UInt16, flags: UInt16, _ sequence: UInt32) {
            // The length is written last.
            put(UInt32(0))
            put(type)
            put(flags)
            put(sequence)
            put(UInt32(0))
        }

        mutating func appendRouteHeader(_ family: UInt8, bits: UInt8, flags: UInt32) {
            bytes += [family, bits, 0, 0, 0, 0, 0, 0]
            put(flags)
        }

        mutating func appendLinkHeader(_ index: Int32) {
            put(UInt32(0))
            put(index)
            put(UInt32(0))
            put(UInt32(0))
        }

        /// Values are of four bytes or of sixteen, so that nothing has to be padded.
        mutating func append<Value: BitwiseCopyable>(_ type: UInt16, _ value: Value) {
            put(UInt16(4 + MemoryLayout<Value>.size))
            put(type)
            put(value)
        }

        private mutating func put<Value: BitwiseCopyable>(_ value: Value) {
            Swift.withUnsafeBytes(of: value) { bytes += $0 }
        }

        var finished: [UInt8] {
            var whole = bytes
            Swift.withUnsafeBytes(of: UInt32(bytes.count)) { whole.replaceSubrange(0..<4, with: $0) }
            return whole
        }
    }
}
