import DunlinCodecs
import FuzzDriver
import FuzzPictures

#if FUZZING
    @_cdecl("LLVMFuzzerTestOneInput")
    func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
        FuzzDriver.run(FuzzPNG.violation, on: start, count)
    }
#endif

/// PNG: as it is, and with its checksums put right, without which little of it would be looked at.
@main
enum FuzzPNG {
    static func main() {
        FuzzDriver.run(violation)
    }

    static func violation(of input: [UInt8]) -> String? {
        PictureCheck.violation(of: input, [.png]) ?? PictureCheck.violation(of: Checksums.mended(input), [.png])
    }
}
