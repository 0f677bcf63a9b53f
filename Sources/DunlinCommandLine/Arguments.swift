/// The arguments of the process, as text.
///
/// `CommandLine.arguments` replaces what is not UTF-8, so that another file would be read, or another text be sent,
/// than was given. The names of files are text everywhere in the library, so such an argument is refused: what it
/// stands for can be given on standard input.
package enum Arguments {
    /// All but the program's name.
    static func texts() throws(UsageError) -> [String] {
        var pointers: [UnsafeMutablePointer<CChar>] = []
        for index in 1..<max(1, Int(CommandLine.argc)) {
            if let pointer = CommandLine.unsafeArgv[index] { pointers.append(pointer) }
        }
        return try texts(of: pointers.map { Array(UnsafeRawBufferPointer(start: $0, count: length(of: $0))) })
    }

    private static func length(of text: UnsafeMutablePointer<CChar>) -> Int {
        var length = 0
        while text[length] != 0 { length += 1 }
        return length
    }

    /// Throws with the number of the argument, and without its text, which may be a secret.
    package static func texts(of arguments: [[UInt8]]) throws(UsageError) -> [String] {
        var texts: [String] = []
        for bytes in arguments {
            guard let text = String(validating: bytes, as: UTF8.self) else {
                throw UsageError(
                    description: "argument \(texts.count + 1) is not UTF-8; give such a text, or what such a file has, "
                        + "on standard input")
            }
            texts.append(text)
        }
        return texts
    }
}
