import DunlinCodecs
public import FuzzDriver
import FuzzPictures

/// Windows bitmaps and icons: decoded, or a typed error.
public enum FuzzBitmaps: Fuzzer {
    public static func violation(of input: [UInt8]) -> String? {
        PictureCheck.violation(of: input, [.bmp, .ico])
    }
}
