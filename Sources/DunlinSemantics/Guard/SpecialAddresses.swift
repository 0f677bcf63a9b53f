/// The registries of IANA for addresses with special purposes, as of 2025, and the metadata addresses of clouds.
///
/// The first row that has an address counts, so the narrow ones stand before those around them.
enum SpecialAddresses {
    struct Row: Sendable {
        let range: AddressRange
        let kind: AddressKind
        /// The RFC that defines the purpose; for a metadata address, its owner.
        let source: String
    }

    /// Returns the row for an address; nil if it has no special purpose. For embedded addresses there is
    /// `AddressPurpose`.
    static func row(of address: IPAddress) -> Row? {
        switch address {
        case .v4: v4.first { $0.range.contains(address) }
        case .v6(let bits): v6.first { $0.range.contains(address) } ?? (isGlobalUnicast(bits) ? nil : unassigned)
        }
    }

    /// Whether an address is in 2000::/3, the only range in use (RFC 4291 §2.4, and IANA's registry of the IPv6 address
    /// space).
    private static func isGlobalUnicast(_ bits: UInt128) -> Bool { bits >> 125 == 1 }

    private static let unassigned = six(0, length: 0, .reserved, "RFC 4291")

    private static let v4: [Row] = [
        four((169, 254, 169, 254), length: 32, .cloudMetadata, "AWS, Azure, Google Cloud and others"),
        four((169, 254, 170, 2), length: 32, .cloudMetadata, "AWS ECS"),
        four((169, 254, 170, 23), length: 32, .cloudMetadata, "AWS EKS"),
        four((169, 254, 42, 42), length: 32, .cloudMetadata, "Scaleway"),
        four((169, 254, 0, 23), length: 32, .cloudMetadata, "Tencent Cloud"),
        four((100, 100, 100, 200), length: 32, .cloudMetadata, "Alibaba Cloud"),
        four((192, 0, 0, 192), length: 32, .cloudMetadata, "Oracle Cloud"),
        // It is in a public range, but each virtual machine of Azure reaches its own host there.
        four((168, 63, 129, 16), length: 32, .cloudMetadata, "Azure"),
        four((0, 0, 0, 0), length: 8, .unspecified, "RFC 791"),
        four((10, 0, 0, 0), length: 8, .private, "RFC 1918"),
        four((100, 64, 0, 0), length: 10, .shared, "RFC 6598"),
        four((127, 0, 0, 0), length: 8, .loopback, "RFC 1122"),
        four((169, 254, 0, 0), length: 16, .linkLocal, "RFC 3927"),
        four((172, 16, 0, 0), length: 12, .private, "RFC 1918"),
        // Includes the anycast addresses .9 and .10, which are reachable from everywhere but lead into the local
        // network.
        four((192, 0, 0, 0), length: 24, .protocolAssignment, "RFC 6890"),
        four((192, 0, 2, 0), length: 24, .documentation, "RFC 5737"),
        four((192, 88, 99, 0), length: 24, .reserved, "RFC 7526"),
        four((192, 168, 0, 0), length: 16, .private, "RFC 1918"),
        four((198, 18, 0, 0), length: 15, .benchmarking, "RFC 2544"),
        four((198, 51, 100, 0), length: 24, .documentation, "RFC 5737"),
        four((203, 0, 113, 0), length: 24, .documentation, "RFC 5737"),
        four((224, 0, 0, 0), length: 4, .multicast, "RFC 5771"),
        four((255, 255, 255, 255), length: 32, .broadcast, "RFC 919"),
        four((240, 0, 0, 0), length: 4, .reserved, "RFC 1112"),
    ]

    private static let v6: [Row] = [
        six(0xFD00_0EC2_0000_0000, 0x254, length: 128, .cloudMetadata, "AWS"),
        six(0xFD00_0EC2_0000_0000, 0x23, length: 128, .cloudMetadata, "AWS EKS"),
        six(0xFD20_00CE_0000_0000, 0x254, length: 128, .cloudMetadata, "Google Cloud"),
        six(0xFD00_0042_0000_0000, 0x42, length: 128, .cloudMetadata, "Scaleway"),
        six(0, length: 128, .unspecified, "RFC 4291"),
        six(0, 0x1, length: 128, .loopback, "RFC 4291"),
        six(0x0064_FF9B_0001_0000, length: 48, .localTranslation, "RFC 8215"),
        six(0x0100_0000_0000_0000, length: 64, .discard, "RFC 6666"),
        six(0x0100_0000_0000_0001, length: 64, .reserved, "RFC 9780"),
        six(0x2001_0000_0000_0000, length: 32, .teredo, "RFC 4380"),
        six(0x2001_0002_0000_0000, length: 48, .benchmarking, "RFC 5180"),
        // AMT and AS112 are ordinary servers.
        six(0x2001_0003_0000_0000, length: 32, .public, "RFC 7450"),
        six(0x2001_0004_0112_0000, length: 48, .public, "RFC 7535"),
        six(0x2001_0DB8_0000_0000, length: 32, .documentation, "RFC 3849"),
        // Includes ORCHIDs and DRIP's tags, which are called "globally reachable" but identify a party, not a place.
        six(0x2001_0000_0000_0000, length: 23, .protocolAssignment, "RFC 2928"),
        six(0x3FFF_0000_0000_0000, length: 20, .documentation, "RFC 9637"),
        six(0x5F00_0000_0000_0000, length: 16, .protocolAssignment, "RFC 9602"),
        six(0xFC00_0000_0000_0000, length: 7, .uniqueLocal, "RFC 4193"),
        six(0xFE80_0000_0000_0000, length: 10, .linkLocal, "RFC 4291"),
        six(0xFEC0_0000_0000_0000, length: 10, .siteLocal, "RFC 3879"),
        six(0xFF00_0000_0000_0000, length: 8, .multicast, "RFC 4291"),
    ]

    private static func four(
        _ bytes: (UInt32, UInt32, UInt32, UInt32), length: Int, _ kind: AddressKind, _ source: String
    ) -> Row {
        let bits = bytes.0 << 24 | bytes.1 << 16 | bytes.2 << 8 | bytes.3
        return Row(range: AddressRange(around: .v4(bits), length: length), kind: kind, source: source)
    }

    private static func six(
        _ high: UInt64, _ low: UInt64 = 0, length: Int, _ kind: AddressKind, _ source: String
    ) -> Row {
        let bits = UInt128(high) << 64 | UInt128(low)
        return Row(range: AddressRange(around: .v6(bits), length: length), kind: kind, source: source)
    }
}
