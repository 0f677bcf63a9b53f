import DunlinCommandLine
import DunlinImages

/// The table of the `dunlin-image` command, from which its parser, help, manual page and completions are made.
enum CommandTable {
    static let text = ProgramText(
        name: "dunlin-image", help: "pictures on a terminal",
        main: CommandText(
            "", arguments: "URL|FILE...", words: .files,
            help: "shows pictures; - is standard input", sections: Command.Options.sections),
        commands: [],
        notes: [
            ProgramText.Note(
                "Pictures",
                "The formats are PNG, JPEG, WebP, GIF, BMP and ICO. A picture that cannot be shown is described in "
                    + "words. A file that is called like a command needs a path, such as ./help.",
                "With NO_COLOR, and on terminals that can only write text, the picture is described in words. Within "
                    + "tmux and screen pictures are made of blocks.")
        ])
}

extension Command.Options {
    static let table =
        showing + TrustOptions.table.map { $0.lifted(\.trust) } + RouteOptions.table.map { $0.lifted(\.route) }

    static let sections = [
        OptionSection("show", title: "how pictures are shown and written", showing.map(\.text)),
        TrustOptions.section, RouteOptions.section,
    ]

    private static let methods = TerminalImage.Method.allCases.map(\.rawValue)

    private static let showing: [Option<Self>] = [
        Option(
            "as", value: .words(methods), help: "how it draws, even into a file or a pipe",
            details: "Without it, the method is what the terminal supports.", isCommon: true
        ) { (options, given) throws(UsageError) in
            guard let method = TerminalImage.Method(rawValue: try given.text) else {
                throw UsageError(description: "--as takes kitty, sixel or blocks, not \"\(given.value)\"")
            }
            options.method = method
        },
        Option("width", value: .text("N"), help: "as wide as N characters", isCommon: true) {
            (options, given) throws(UsageError) in options.bounds.columns = try given.number(1...10_000)
        },
        Option("height", value: .text("N"), help: "as high as N lines", isCommon: true) {
            (options, given) throws(UsageError) in options.bounds.rows = try given.number(1...10_000)
        },
        Option(
            "info", help: "prints what the header says; nothing is decoded",
            details: "It prints format, size, frames, orientation and colours.", isCommon: true, sets: \.isInfo),
        Option(
            "frames", help: "plays an animation, until its end or Control-C", isCommon: true, sets: \.playsFrames),
        Option(
            "output", letter: "o", value: .file("FILE"), help: "writes the picture to FILE and shows nothing",
            details: "The name ends in .png, .jpg or .jpeg.", isCommon: true
        ) { (options, given) throws(UsageError) in options.file = try given.text },
        Option(
            "resize", value: .text("WxH"), help: "scales it first; Wx or xH keeps its proportions", isCommon: true
        ) { (options, given) throws(UsageError) in options.size = try Command.Resizing(try given.text) },
        Option(
            "cache", help: "stores downloads, and takes them from there as HTTP allows", isCommon: true,
            sets: \.usesCache),
    ]
}
