import Dunlin
import DunlinCommandLine
import DunlinImages

/// A parsed command line. All of it is parsed before anything is done.
enum Command: Equatable {
    case page(HelpPage)
    case show([String], Options)

    struct Options: Equatable, Sendable {
        var method: TerminalImage.Method?
        var bounds = TerminalImage.Bounds()
        /// Whether only the header's information is shown.
        var isInfo = false
        var playsFrames = false
        /// The file to write the picture to instead.
        var file: String?
        var size: Resizing?
        var usesCache = false
        var trust = TrustOptions()
        var route = RouteOptions()
    }

    /// A size, one side of which may be derived from the other.
    struct Resizing: Equatable, Sendable {
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
        switch try Invocation(arguments, of: CommandTable.text) {
        case .page(let page): self = .page(page)
        case .command(_, let parsed):
            var options = Options()
            try parsed.apply(Options.table, to: &options)
            try options.check(parsed.words)
            self = .show(parsed.words, options)
        }
    }
}

extension Command.Options {
    fileprivate func check(_ sources: [String]) throws(UsageError) {
        if sources.isEmpty { throw UsageError(description: "a URL or a file is needed; see dunlin-image help") }
        if isInfo, file != nil || playsFrames || size != nil {
            throw UsageError(description: "--info shows no picture; leave out --output, --frames and --resize")
        }
        let urls = sources.filter { PictureSource(name: $0).isURL }
        try trust.check(against: urls.first ?? "")
        let origins = Set(urls.map { TrustOptions.origin(of: $0)?.lowercased() })
        if !trust.pins.isEmpty, origins.count > 1 {
            throw UsageError(description: "--pin needs URLs of one server")
        }
        try route.check()
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
    init(_ text: String) throws(UsageError) {
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
