import DunlinCodecs
public import FuzzDriver
import FuzzPictures

/// JPEG: decoded, or a typed error.
public enum FuzzJPEG: Fuzzer {
    public static func violation(of input: [UInt8]) -> String? {
        PictureCheck.violation(of: input, [.jpeg])
    }
}
