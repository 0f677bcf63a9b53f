import DunlinCodecs
import FuzzDriver
import FuzzPictures

#if FUZZING
    @_cdecl("LLVMFuzzerTestOneInput")
    func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
        FuzzDriver.run(FuzzJPEG.violation, on: start, count)
    }
#endif

/// JPEG: decoded, or a typed error.
@main
enum FuzzJPEG {
    static func main() {
        FuzzDriver.run(violation)
    }

    static func violation(of input: [UInt8]) -> String? {
        PictureCheck.violation(of: input, [.jpeg])
    }
}
