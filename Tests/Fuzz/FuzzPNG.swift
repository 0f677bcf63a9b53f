import DunlinCodecs

/// PNG: as it is, and with its checksums put right, without which little of it would be looked at.
enum FuzzPNG {
    static func violation(of input: [UInt8]) -> String? {
        PictureCheck.violation(of: input, [.png]) ?? PictureCheck.violation(of: Checksums.mended(input), [.png])
    }
}
