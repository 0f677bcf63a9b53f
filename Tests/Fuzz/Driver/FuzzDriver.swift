import Glibc

/// The entry point of every fuzzer.
///
/// Built with `-D FUZZING -sanitize=fuzzer` it hands control to libFuzzer. Built otherwise it replays the files of the
/// folders named on the command line, and exits with 1 if one of them violates the rules, with 2 if it read none.
public enum FuzzDriver {
    /// What an input violates, or nil.
    public typealias Check = ([UInt8]) -> String?

    public static func run(_ check: Check) -> Never {
        #if FUZZING
            var count = CommandLine.argc
            var arguments = CommandLine.unsafeArgv
            exit(fuzzerRunDriver(&count, &arguments, testOneInput))
        #else
            exit(replay(CommandLine.arguments.dropFirst(), check))
        #endif
    }

    /// One input from libFuzzer. A violation ends the process, which is how libFuzzer learns of it.
    public static func run(_ check: Check, on start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
        if let violation = check(Array(UnsafeBufferPointer(start: start, count: count))) {
            print("violation: \(violation)")
            fflush(nil)
            abort()
        }
        return 0
    }

    #if !FUZZING
        private static func replay(_ folders: ArraySlice<String>, _ check: Check) -> CInt {
            var replayed = 0
            var violations = 0
            for path in folders.flatMap(files(in:)) {
                guard let bytes = contents(of: path) else { continue }
                replayed += 1
                if let violation = check(bytes) {
                    violations += 1
                    print("\(path): \(violation)")
                }
            }
            print("\(replayed) inputs replayed, \(violations) violations")
            return violations > 0 ? 1 : replayed == 0 ? 2 : 0
        }

        private static func files(in folder: String) -> [String] {
            guard let directory = opendir(folder) else { return [folder] }
            defer { closedir(directory) }
            var names: [String] = []
            while let entry = readdir(directory) {
                let name = withUnsafePointer(to: &entry.pointee.d_name) {
                    $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
                }
                if !name.hasPrefix(".") { names.append("\(folder)/\(name)") }
            }
            return names.sorted()
        }

        private static func contents(of path: String) -> [UInt8]? {
            guard let file = fopen(path, "rb") else {
                print("\(path): cannot be read")
                return nil
            }
            defer { fclose(file) }
            var bytes: [UInt8] = []
            var block = [UInt8](repeating: 0, count: 65_536)
            while case let count = fread(&block, 1, block.count, file), count > 0 { bytes += block[..<count] }
            return bytes
        }
    #endif
}

#if FUZZING
    @_extern(c, "LLVMFuzzerRunDriver")
    private func fuzzerRunDriver(
        _ count: UnsafeMutablePointer<CInt>,
        _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>,
        _ callback: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
    ) -> CInt

    // Each fuzzer defines it: libFuzzer's own `main` wants it too, should the linker prefer that one.
    @_extern(c, "LLVMFuzzerTestOneInput")
    private func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt
#endif
