import DunlinSecure
import Testing

@Suite struct `A checksum` {
    private static func checksum(_ pieces: [ArraySlice<UInt8>]) -> Checksum {
        var checksum = Checksum()
        for piece in pieces { piece.withUnsafeBytes { checksum.update($0) } }
        return checksum
    }

    @Test(
        arguments: [
            ("", 0x2D06_8005_38D3_94C2), ("a", 0xE6C6_32B6_1E96_4E1F), ("abc", 0x78AF_5F94_892F_3950),
            ("Nobody inspects the spammish repetition", 0x6CB0_0603_B5CC_47E9),
        ] as [(String, UInt64)])
    func `a checksum is that of XXH3`(text: String, value: UInt64) {
        #expect(Self.checksum([Array(text.utf8)[...]]).value == value)
    }

    /// Of bytes `i * 167 + i / 8`, by the reference implementation: every way to sum up what is short, and every place
    /// where stripes, groups and blocks of them end.
    @Test(
        arguments: [
            (0, 0x2D06_8005_38D3_94C2), (1, 0xC44B_DFF4_074E_ECDB), (2, 0x82E8_37CA_BACA_9897),
            (3, 0xF3EA_3240_84D6_587C), (4, 0x93BF_F903_6CFF_6C84), (5, 0xB9E6_D42E_4AEE_59A6),
            (7, 0x916C_593B_E6BE_ACCD), (8, 0xF9C0_4D81_3DA5_EAE2), (9, 0xC36E_6E9B_A5B4_9A0E),
            (12, 0xFD25_BFCF_DAFF_0B85), (15, 0xD37A_932C_D457_EC28), (16, 0xA7F3_0891_AB68_B6AD),
            (17, 0x0CF0_32A0_2E2A_93C7), (31, 0x9613_8DE4_BB01_626B), (32, 0x2A45_5301_B949_7EA7),
            (33, 0xA1C1_4D0E_512B_1802), (48, 0x2D23_8C08_2D69_D7E9), (63, 0x9CDA_6C74_5618_DAC9),
            (64, 0x1407_D246_F144_C3C6), (65, 0x0461_B540_0AD0_DCCE), (96, 0x019E_4E66_08A2_B29C),
            (97, 0xD8F1_3123_8647_5BE1), (127, 0xD45D_FCCF_BE3F_A179), (128, 0xD3F1_33B7_0127_2EA4),
            (129, 0x5FE9_8C80_D6E1_D185), (143, 0xEE1B_B2F8_51DF_D5C6), (144, 0x5AA1_3B7A_DA79_2D39),
            (160, 0xFE42_E86D_0B9F_5A5A), (192, 0x0096_C828_B413_1062), (239, 0xB456_153C_C6EC_F024),
            (240, 0x52D0_872E_15BD_42DB), (241, 0x625B_11DF_D3AC_29A2), (255, 0xEE95_B580_9421_A37F),
            (256, 0x8432_34C4_1343_9E31), (257, 0xD68E_B197_AF1E_92FE), (300, 0x5B4A_C664_C9D7_2DDB),
            (319, 0x3A48_55BC_8A06_876D), (320, 0x14C2_E63C_46E0_BBB7), (321, 0x0CA0_F891_5839_9886),
            (511, 0xAFD0_2F1A_B86F_C960), (512, 0xD7C7_9F29_7FC9_6104), (513, 0x2300_8965_84B4_17C6),
            (576, 0x8271_73ED_4288_EA03), (1000, 0xD854_7780_F378_0C98), (1023, 0x1370_9EE4_1BE0_3E89),
            (1024, 0x345F_9B31_6869_A882), (1025, 0xCF9B_6C85_DC3E_7261), (1088, 0xB257_B78D_57D2_8F10),
            (1089, 0x52DE_AEB0_B92C_8BCA), (1279, 0xE070_05F8_D854_06F1), (1280, 0xDA7F_B626_069C_06D2),
            (1281, 0xC91A_3562_7BD5_07C7), (2047, 0x89AA_8208_C434_024A), (2048, 0xE02E_95C2_1FA1_EF31),
            (2049, 0xE092_9586_BF1E_A3CF), (3000, 0xB290_97F5_5295_7D07), (65536, 0x6BB6_8D86_BFE2_24BF),
            (65537, 0x3609_DE8A_8C31_197E), (1048576, 0x1A5C_A33D_62B0_402F),
        ] as [(Int, UInt64)])
    func `a checksum is that of the reference implementation, however the content is cut`(count: Int, value: UInt64) {
        let content = Self.content(count)
        #expect(Self.checksum([content[...]]).value == value)
        // Pieces that end anywhere.
        var (checksum, start, length) = (Checksum(), 0, 1)
        while start < count {
            let end = min(count, start + length)
            content[start..<end].withUnsafeBytes { checksum.update($0) }
            (start, length) = (end, length * 5 % 1391 + 1)
        }
        #expect(checksum.value == value && checksum.count == count)
    }

    private static func content(_ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 167 &+ $0 >> 3) }
    }

    @Test func `a checksum does not depend on how the content is cut`() {
        let content = Self.content(1400)
        for count in [0, 1, 100, 240, 241, 255, 256, 257, 320, 512, 513, 1024, 1025, 1280, 1400] {
            let whole = Self.checksum([content[..<count]])
            #expect(whole.count == count)
            for cut in 0...count {
                let other = Self.checksum([content[..<cut], [], content[cut..<count]])
                #expect(other.value == whole.value, "\(cut) of \(count)")
            }
        }
    }

    @Test func `a checksum can be asked for before all content has come`() {
        let content = Self.content(1400)
        var checksum = Checksum()
        for (index, byte) in content.enumerated() {
            [byte].withUnsafeBytes { checksum.update($0) }
            #expect(checksum.value == Self.checksum([content[...index]]).value)
        }
    }

    @Test(arguments: [3, 8, 16, 77, 200, 1500]) func `a checksum changes with each bit of a piece`(count: Int) {
        for content in [[UInt8](repeating: 0, count: count), Self.content(count)] {
            let whole = Self.checksum([content[...]]).value
            var damaged = content
            for bit in 0..<8 * count {
                damaged[bit / 8] ^= 1 << (bit % 8)
                #expect(Self.checksum([damaged[...]]).value != whole)
                damaged[bit / 8] ^= 1 << (bit % 8)
            }
        }
    }

    /// What a crash leaves: blocks that were not written, and such as belong elsewhere.
    @Test(arguments: [512, 4096]) func `a checksum changes when blocks are missing or misplaced`(block: Int) {
        let content = Self.content(16 * 4096).enumerated().map { $1 ^ UInt8(truncatingIfNeeded: $0 / 512 &* 37) }
        let whole = Self.checksum([content[...]]).value
        let starts = Array(stride(from: 0, to: content.count, by: block))
        for (index, start) in starts.enumerated() {
            var missing = content
            for index in start..<start + block { missing[index] = 0 }
            #expect(Self.checksum([missing[...]]).value != whole)
            let other = starts[(index + 5) % starts.count]
            var swapped = content
            swapped.replaceSubrange(start..<start + block, with: content[other..<other + block])
            #expect(Self.checksum([swapped[...]]).value != whole)
            swapped.replaceSubrange(other..<other + block, with: content[start..<start + block])
            #expect(Self.checksum([swapped[...]]).value != whole)
        }
    }
}
