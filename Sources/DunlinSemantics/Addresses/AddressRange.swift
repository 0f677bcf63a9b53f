internal import DunlinTypes

/// The addresses that begin with the same bits: `10.0.0.0/8`, `fd00::/8`, or one address alone.
///
/// IPv4 addresses in the form of IPv6 are IPv4 addresses here, on either side: they are the same to the kernel.
package struct AddressRange: Sendable, Hashable {
    package enum Problem: Error, Sendable, Hashable {
        /// There is no address before the slash.
        case notAnAddress
        /// There is no number after the slash, or one greater than the number of bits.
        case invalidLength
        /// Bits are set beyond the length: one of the two is a mistake. `meant` is the range that contains the address.
        case hostBits(meant: String)
    }

    /// The first address.
    package let first: IPAddress
    /// The number of bits that all of them share.
    package let length: Int

    /// Creates the range around an address; `length` is clamped to the family's, and bits beyond it are cleared.
    init(around address: IPAddress, length: Int) {
        let isMapped = length >= 96 && address.unmapped != address
        let address = isMapped ? address.unmapped : address
        self.length = min(max(isMapped ? length - 96 : length, 0), address.width)
        switch address {
        case .v4(let bits): first = .v4(bits & (UInt32.max << UInt32(32 - self.length)))
        case .v6(let bits): first = .v6(bits & (UInt128.max << UInt128(128 - self.length)))
        }
    }

    /// Reads a range. Throws for bits beyond the length.
    package init(_ text: some StringProtocol) throws(Problem) {
        let (address, length) = try Self.parts(of: text)
        self.init(around: address, length: length)
        guard first == address || first == address.unmapped else { throw .hostBits(meant: description) }
    }

    /// Reads a range, clearing bits beyond the length: `10.1.2.3/8` is `10.0.0.0/8`, as in variables that other
    /// programs read too.
    init(clearing text: some StringProtocol) throws(Problem) {
        let (address, length) = try Self.parts(of: text)
        self.init(around: address, length: length)
    }

    package func contains(_ address: IPAddress) -> Bool {
        Self(around: address, length: length).first == first && address.width == first.width
            || address.unmapped != address && contains(address.unmapped)
    }

    var isOneAddress: Bool { length == first.width }

    private static func parts(of text: some StringProtocol) throws(Problem) -> (IPAddress, Int) {
        let slash = text.firstIndex(of: "/") ?? text.endIndex
        guard let address = IPAddress(text[..<slash]) else { throw .notAnAddress }
        guard slash < text.endIndex else { return (address, address.width) }
        let digits = text[slash...].dropFirst().utf8
        // At most three digits: nobody writes a sign, a blank or a leading zero.
        guard (1...3).contains(digits.count), digits.allSatisfy({ (0x30...0x39).contains($0) }),
            digits.count == 1 || digits.first != UInt8(ascii: "0")
        else { throw .invalidLength }
        let length = digits.reduce(0) { $0 * 10 + Int($1 & 15) }
        guard length <= address.width else { throw .invalidLength }
        return (address, length)
    }
}

extension AddressRange: CustomStringConvertible {
    package var description: String { isOneAddress ? "\(first)" : "\(first)/\(length)" }
}

extension AddressRange.Problem: CustomStringConvertible {
    package var description: String {
        switch self {
        case .notAnAddress: "an address was expected, as in 10.0.0.0/8 or fd00::/8, without brackets"
        case .invalidLength: "the number of bits after the slash must be at most 32 for IPv4 and 128 for IPv6"
        case .hostBits(let meant): "bits are set beyond the length of the prefix; write \(meant)"
        }
    }
}
