/// Checksums of at most `longestShort` bytes: each pair of words is multiplied with its own part of the secret. Words
/// overlap if the length is no multiple of theirs.
extension Checksum {
    static var longestShort: Int { 240 }
    // Computed, so that they are constants in the code and not loaded from initialised memory.
    static var prime1: UInt64 { 0x9E37_79B1_85EB_CA87 }
    static var prime2: UInt64 { 0xC2B2_AE3D_27D4_EB4F }

    static func short(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        secret.withUnsafeBytes { secret in
            switch bytes.count {
            case 0: return lastAvalanche(word(secret, 56) ^ word(secret, 64))
            case 1...3: return upTo3(bytes, secret)
            case 4...8: return upTo8(bytes, secret)
            case 9...16: return upTo16(bytes, secret)
            case 17...128: return upTo128(bytes, secret)
            default: return upTo240(bytes, secret)
            }
        }
    }

    private static func upTo3(_ bytes: UnsafeRawBufferPointer, _ secret: UnsafeRawBufferPointer) -> UInt64 {
        let (first, middle, last) = (UInt64(bytes[0]), UInt64(bytes[bytes.count / 2]), UInt64(bytes[bytes.count - 1]))
        let all = first << 16 | middle << 24 | last | UInt64(bytes.count) << 8
        return lastAvalanche(all ^ UInt64(halfWord(secret, 0) ^ halfWord(secret, 4)))
    }

    private static func upTo8(_ bytes: UnsafeRawBufferPointer, _ secret: UnsafeRawBufferPointer) -> UInt64 {
        let all = UInt64(halfWord(bytes, bytes.count - 4)) | UInt64(halfWord(bytes, 0)) << 32
        var sum = all ^ word(secret, 8) ^ word(secret, 16)
        sum ^= rotated(sum, 49) ^ rotated(sum, 24)
        sum &*= 0x9FB2_1C65_1E98_DF25
        sum ^= sum >> 35 &+ UInt64(bytes.count)
        sum &*= 0x9FB2_1C65_1E98_DF25
        return sum ^ sum >> 28
    }

    private static func upTo16(_ bytes: UnsafeRawBufferPointer, _ secret: UnsafeRawBufferPointer) -> UInt64 {
        let first = word(bytes, 0) ^ word(secret, 24) ^ word(secret, 32)
        let last = word(bytes, bytes.count - 8) ^ word(secret, 40) ^ word(secret, 48)
        return avalanche(UInt64(bytes.count) &+ first.byteSwapped &+ last &+ folded(first, last))
    }

    /// Sums pairs of words from both ends, until they meet.
    private static func upTo128(_ bytes: UnsafeRawBufferPointer, _ secret: UnsafeRawBufferPointer) -> UInt64 {
        var sum = UInt64(bytes.count) &* prime1
        for index in 0...(bytes.count - 1) / 32 {
            sum &+= pair(bytes, 16 * index, secret, 32 * index)
            sum &+= pair(bytes, bytes.count - 16 * (index + 1), secret, 32 * index + 16)
        }
        return avalanche(sum)
    }

    private static func upTo240(_ bytes: UnsafeRawBufferPointer, _ secret: UnsafeRawBufferPointer) -> UInt64 {
        var sum = UInt64(bytes.count) &* prime1
        for index in 0..<8 { sum &+= pair(bytes, 16 * index, secret, 16 * index) }
        sum = avalanche(sum)
        for index in 8..<bytes.count / 16 { sum &+= pair(bytes, 16 * index, secret, 16 * (index - 8) + 3) }
        return avalanche(sum &+ pair(bytes, bytes.count - 16, secret, 119))
    }

    private static func pair(
        _ bytes: UnsafeRawBufferPointer, _ offset: Int, _ secret: UnsafeRawBufferPointer, _ secretOffset: Int
    ) -> UInt64 {
        folded(
            word(bytes, offset) ^ word(secret, secretOffset), word(bytes, offset + 8) ^ word(secret, secretOffset + 8))
    }
}

// MARK: - Parts of both

extension Checksum {
    /// The default secret of XXH3, 192 random bytes.
    static let secret: [UInt64] = [
        0xBE4B_A423_396C_FEB8, 0x1CAD_21F7_2C81_017C, 0xDB97_9083_E96D_D4DE, 0x1F67_B3B7_A4A4_4072,
        0x78E5_C0CC_4EE6_79CB, 0x2172_FFCC_7DD0_5A82, 0x8E24_43F7_7446_08B8, 0x4C26_3A81_E690_35E0,
        0xCB00_C391_BB52_283C, 0xA32E_531B_8B65_D088, 0x4EF9_0DA2_9748_6471, 0xD8AC_DEA9_46EF_1938,
        0x3F34_9CE3_3F76_FAA8, 0x1D4F_0BC7_C7BB_DCF9, 0x3159_B4CD_4BE0_518A, 0x6473_78D9_C97E_9FC8,
        0xC3EB_D334_83AC_C5EA, 0xEB63_13FA_FFA0_81C5, 0x49DA_F0B7_51DD_0D17, 0x9E68_D429_2655_16D3,
        0xFCA1_477D_58BE_162B, 0xCE31_D07A_D1B8_F88F, 0x2804_1695_8F3A_CB45, 0x7E40_4BBB_CAFB_D7AF,
    ]

    static func avalanche(_ sum: UInt64) -> UInt64 {
        let sum = (sum ^ sum >> 37) &* 0x1656_6791_9E37_79F9
        return sum ^ sum >> 32
    }

    private static func lastAvalanche(_ sum: UInt64) -> UInt64 {
        var sum = (sum ^ sum >> 33) &* prime2
        sum = (sum ^ sum >> 29) &* 0x1656_67B1_9E37_79F9
        return sum ^ sum >> 32
    }

    /// Returns the product's halves, combined.
    static func folded(_ left: UInt64, _ right: UInt64) -> UInt64 {
        let product = left.multipliedFullWidth(by: right)
        return product.high ^ product.low
    }

    private static func rotated(_ word: UInt64, _ count: UInt64) -> UInt64 {
        word << count | word >> (64 - count)
    }

    static func word(_ bytes: UnsafeRawBufferPointer, _ offset: Int) -> UInt64 {
        bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
    }

    private static func halfWord(_ bytes: UnsafeRawBufferPointer, _ offset: Int) -> UInt32 {
        bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
    }
}
