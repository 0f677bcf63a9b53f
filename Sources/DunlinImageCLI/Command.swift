import Dunlin
import DunlinCommandLine
import DunlinImages

/// A parsed command line. All of it is parsed before anything is done.
enum Command: Equatable {
    case help
    case version
    case show([String], Options)

    struct Options: Equatable {
        var method: TerminalImage.Method?
        var bounds = TerminalImage.Bounds()
        /// Whether only the header's information is shown.
        var isInfo = false
        var playsFrames = false
        /// The file to write the picture to instead.
        var file: String?
        var size: Resizing?
        var usesCache = false
    }

    /// A size, one side of which may be derived from the other.
    struct Resizing: Equatable {
        var width: Int?
        var height: Int?

        func size(of picture: ImageSize) -> ImageSize {
            func scaled(_ side: Int, _ by: Int, _ from: Int) -> Int { max(1, (side * by + from / 2) / from) }
            let (width, height) = (picture.width, picture.height)
            return ImageSize(
                width: self.width ?? scaled(width, self.height ?? height, height),
                height: self.height ?? scaled(height, self.width ?? width, width))
        }
    }

    init(arguments: [String]) throws(UsageError) {
        var options = Options()
        var sources: [String] = []
        var rest = arguments[...]
        if rest.isEmpty || rest == ["help"] {
            self = .help
            return
        }
        while let argument = rest.popFirst() {
            switch argument {
            case "-h", "--help":
                self = .help
                return
            case "--version":
                self = .version
                return
            case "--":
                sources += rest
                rest = []
            case let option where option.hasPrefix("-") && option != "-":
                guard try options.take(option, &rest) else {
                    throw UsageError(description: "there is no option \"\(option)\"; see dunlin-image help")
                }
            default: sources.append(argument)
            }
        }
        try options.check(sources)
        self = .show(sources, options)
    }
}

extension Command.Options {
    /// Takes an option and its value from the arguments. Returns false for an unknown option.
    fileprivate mutating func take(_ option: String, _ rest: inout ArraySlice<String>) throws(UsageError) -> Bool {
        switch option {
        case "--as":
            let name = try rest.takeText(of: option)
            guard let method = TerminalImage.Method(rawValue: name) else {
                throw UsageError(description: "--as takes kitty, sixel or blocks, not \"\(name)\"")
            }
            self.method = method
        case "--width": bounds.columns = try rest.takeNumber(of: option)
        case "--height": bounds.rows = try rest.takeNumber(of: option)
        case "--info": isInfo = true
        case "--frames": playsFrames = true
        case "-o", "--output": file = try rest.takeText(of: option)
        case "--resize": size = try Command.Resizing(try rest.takeText(of: option))
        case "--cache": usesCache = true
        default: return false
        }
        return true
    }

    fileprivate func check(_ sources: [String]) throws(UsageError) {
        if sources.isEmpty { throw UsageError(description: "a URL or a file is needed; see dunlin-image help") }
        if isInfo, file != nil || playsFrames || size != nil {
            throw UsageError(description: "--info shows no picture; leave out --output, --frames and --resize")
        }
        guard let file else { return }
        if playsFrames { throw UsageError(description: "--frames plays on the terminal only; leave out --output") }
        if sources.count > 1 {
            throw UsageError(description: "--output takes one picture, but \(sources.count) are given")
        }
        guard OutputFormat(of: file) != nil else {
            throw UsageError(description: "--output needs a name that ends in .png, .jpg or .jpeg, not \"\(file)\"")
        }
    }
}

/// The formats in which pictures can be written.
enum OutputFormat: Equatable {
    case png
    case jpeg

    init?(of file: String) {
        let name = file.lowercased()
        if name.hasSuffix(".png") {
            self = .png
        } else if name.hasSuffix(".jpg") || name.hasSuffix(".jpeg") {
            self = .jpeg
        } else {
            return nil
        }
    }
}

extension Command.Resizing {
    private static let longest = 65_500

    /// Parses `640x480`, `640x` or `x480`.
    fileprivate init(_ text: String) throws(UsageError) {
        let parts = text.split(separator: "x", omittingEmptySubsequences: false)
        let sides = parts.map { Int($0) }
        let isValid = zip(parts, sides).allSatisfy { part, side in
            part.isEmpty || side.map { (1...Self.longest).contains($0) } == true
        }
        guard parts.count == 2, isValid, sides.contains(where: { $0 != nil }) else {
            let limit = "up to \(Self.longest) on a side"
            throw UsageError(
                description: "--resize needs a size \(limit), such as 640x480, 640x or x480, not \"\(text)\"")
        }
        (width, height) = (sides[0], sides[1])
    }
}

extension ArraySlice<String> {
    fileprivate mutating func takeNumber(of option: String) throws(UsageError) -> Int {
        let text = try takeText(of: option)
        guard let number = Int(text), (1...10_000).contains(number) else {
            throw UsageError(description: "\(option) needs a number from 1 to 10000, not \"\(text)\"")
        }
        return number
    }
}
