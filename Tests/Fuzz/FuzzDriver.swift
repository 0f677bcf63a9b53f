import Glibc
import Synchronization

/// What must hold for every input of one subject: what an input violates, or nil.
typealias Fuzzer = @Sendable (_ input: [UInt8]) -> String?

/// Runs the fuzzer that the command line names first; the rest of the line is the fuzzer's.
///
/// Built with `-D FUZZING -sanitize=fuzzer` it hands control to libFuzzer. Built otherwise it replays the files of the
/// folders named on the command line, and exits with 1 if one of them violates the rules, with 2 if it read none.
enum FuzzDriver {
    static func run(_ fuzzers: [String: Fuzzer]) -> Never {
        guard let name = CommandLine.arguments.dropFirst().first, let fuzzer = fuzzers[name] else {
            print(fuzzers.keys.sorted().joined(separator: "\n"))
            exit(CommandLine.arguments.count == 1 ? 0 : 2)
        }
        #if FUZZING
            chosen.withLock { $0 = fuzzer }
            var count = CommandLine.argc - 1
            var arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?> = CommandLine.unsafeArgv + 1
            exit(fuzzerRunDriver(&count, &arguments, testOneInput))
        #else
            exit(replay(CommandLine.arguments.dropFirst(2), fuzzer))
        #endif
    }

    #if !FUZZING
        private static func replay(_ folders: ArraySlice<String>, _ check: Fuzzer) -> CInt {
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

    private let chosen = Mutex<Fuzzer?>(nil)

    /// One input from libFuzzer. A violation ends the process, which is how libFuzzer learns of it. Its name is what
    /// libFuzzer's own `main` wants, should the linker prefer that one.
    @_cdecl("LLVMFuzzerTestOneInput")
    func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
        let fuzzer = chosen.withLock { $0 }
        if let violation = fuzzer?(Array(UnsafeBufferPointer(start: start, count: count))) {
            print("violation: \(violation)")
            fflush(nil)
            abort()
        }
        return 0
    }
#endif
