import DunlinCodecs
import DunlinTypes

/// Headers of pictures in all formats: a size that makes sense, or a typed error; and the same of a slice of something
/// larger.
enum FuzzImageHeaders {
    static func violation(of input: [UInt8]) -> String? {
        let whole = info(of: Bytes(input))
        let slice = info(of: Bytes([0] + input + [0xFF, 0xFF, 0xFF, 0xFF], in: 1..<input.count + 1))
        if whole != slice { return "other than as a slice" }
        guard let whole else { return nil }
        if whole.size.width < 1 || whole.size.height < 1 { return "a size of \(whole.size)" }
        if whole.frameCount ?? 1 < 1 || whole.loopCount ?? 0 < 0 { return "no frame" }
        return whole.metadataBytes < 0 ? "less than no metadata" : nil
    }

    private static func info(of bytes: Bytes) -> ImageInfo? {
        do throws(ImageError) {
            return try ImageInfo(of: bytes)
        } catch {
            return nil
        }
    }
}
