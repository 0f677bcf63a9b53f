import DunlinCodecs
public import FuzzDriver
import FuzzPictures

/// GIF, frame by frame: decoded, or a typed error.
public enum FuzzGIF: Fuzzer {
    public static func violation(of input: [UInt8]) -> String? {
        PictureCheck.violation(of: input, [.gif])
    }
}
