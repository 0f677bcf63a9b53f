import DunlinCodecs
import FuzzDriver
import FuzzPictures

#if FUZZING
    @_cdecl("LLVMFuzzerTestOneInput")
    func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
        FuzzDriver.run(FuzzGIF.violation, on: start, count)
    }
#endif

/// GIF, frame by frame: decoded, or a typed error.
@main
enum FuzzGIF {
    static func main() {
        FuzzDriver.run(violation)
    }

    static func violation(of input: [UInt8]) -> String? {
        PictureCheck.violation(of: input, [.gif])
    }
}
