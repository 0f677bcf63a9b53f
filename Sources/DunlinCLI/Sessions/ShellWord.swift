import DunlinTypes

/// A word of a line that a person may paste into a shell.
enum ShellWord {
    static func quoted(_ text: String) -> String {
        let isPlain =
            !text.isEmpty
            && text.utf8.allSatisfy { byte in
                (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
                    || "/._-+@%,:".utf8.contains(byte)
            }
        return isPlain ? text : text.inSingleQuotes
    }
}
