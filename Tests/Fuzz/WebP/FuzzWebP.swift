import DunlinCodecs
public import FuzzDriver
import FuzzPictures

/// WebP, still and animated: decoded, or a typed error.
public enum FuzzWebP: Fuzzer {
    public static func violation(of input: [UInt8]) -> String? {
        PictureCheck.violation(of: input, [.webp])
    }
}
