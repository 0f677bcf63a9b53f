import DunlinSecure
import Testing

@Suite struct `A checksum` {
    private static func checksum(_ pieces: [ArraySlice<UInt8>]) -> Checksum {
        var checksum = Checksum()
        for piece in pieces { piece.withUnsafeBytes { checksum.update($0) } }
        return checksum
    }

    /// Published for XXH64 with seed 0.
    @Test(
        arguments: [
            ("", 0xEF46_DB37_51D8_E999), ("a", 0xD24E_C4F1_A98C_6E5B), ("abc", 0x44BC_2CF5_AD77_0999),
            ("Nobody inspects the spammish repetition", 0xFBCE_A83C_8A37_8BF1),
        ] as [(String, UInt64)])
    func `is that of XXH64`(text: String, value: UInt64) {
        #expect(Self.checksum([Array(text.utf8)[...]]).value == value)
    }

    /// Of bytes `i * 167 + i / 8`, by the reference implementation: every way to end a stripe.
    @Test(
        arguments: [
            (1, 0xE934_A84A_DB05_2768), (3, 0x94BD_87ED_2BC9_CE3C), (4, 0xA835_D766_4F88_C4EC),
            (5, 0x76BD_ED9A_2622_7D51), (7, 0x33EB_E044_D838_8940), (8, 0x97A1_D2B4_E8A2_4B8D),
            (9, 0xD0FA_AEAB_1042_778C), (12, 0x3EAA_16A6_31DA_A1AD), (15, 0x4B30_A232_65FD_4F00),
            (16, 0x02D2_44CA_F218_344C), (31, 0xA066_6DF2_E9B9_01C2), (32, 0x4408_37AE_1C64_A2B7),
            (33, 0x491E_2361_6B48_6176), (36, 0xC07D_A35B_6280_E422), (39, 0xA358_05B3_7F46_2118),
            (40, 0x36C7_F9FD_82C4_643A), (63, 0x4D0E_3EA6_ADCD_5DD9), (64, 0xB076_255E_6886_9F26),
            (65, 0x8E07_AFAB_2228_09D6), (100, 0xA8FE_A04B_1D1D_94BB), (255, 0x73EF_7F73_280C_DCB6),
            (1000, 0x6A6B_B4C6_B936_C86E), (65536, 0x2647_91C1_F9C2_C024),
        ] as [(Int, UInt64)])
    func `is that of the reference implementation`(count: Int, value: UInt64) {
        #expect(Self.checksum([Self.content(count)[...]]).value == value)
    }

    private static func content(_ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 167 &+ $0 >> 3) }
    }

    @Test func `does not depend on how the content was cut`() {
        let content = Self.content(200)
        for count in content.indices {
            let whole = Self.checksum([content[..<count]])
            #expect(whole.count == count)
            for cut in 0...count {
                let other = Self.checksum([content[..<cut], [], content[cut..<count]])
                #expect(other.value == whole.value)
            }
            #expect(Self.checksum(content[..<count].map { [$0] }).value == whole.value)
        }
    }

    @Test func `may be asked for on the way`() {
        let content = [UInt8](0..<100)
        var checksum = Checksum()
        for (index, byte) in content.enumerated() {
            [byte].withUnsafeBytes { checksum.update($0) }
            #expect(checksum.value == Self.checksum([content[...index]]).value)
        }
    }

    @Test func `notices each bit of a piece`() {
        let content = [UInt8](repeating: 0, count: 77)
        let whole = Self.checksum([content[...]]).value
        for bit in 0..<8 * content.count {
            var damaged = content
            damaged[bit / 8] ^= 1 << (bit % 8)
            #expect(Self.checksum([damaged[...]]).value != whole)
        }
    }
}
