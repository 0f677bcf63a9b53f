import Dunlin
import DunlinCommandLine
import DunlinImages

/// Fetches pictures one after another, and shows, describes or writes each.
struct Show {
    let sources: [PictureSource]
    let options: Command.Options
    let output: Output

    /// Processes all pictures. A failure does not stop the others; the exit code is the worst of all.
    func run() async throws -> ExitCode {
        let session = sources.contains(where: \.isURL) ? try session() : nil
        let terminal = asksTerminal ? TerminalImage.Terminal.ask(output.results, for: options.method) : nil
        if terminal?.isInterrupted == true { return .failure }
        var worst = ExitCode.success
        for source in sources {
            do {
                try await show(source, session, terminal)
            } catch let error as OutputFailure {
                throw error
            } catch {
                let code = Self.code(of: error)
                worst = worst == .success || code == .failure ? code : worst
                output.complain(ErrorText.line(of: error, source))
            }
        }
        await session?.shutdown()
        return worst
    }

    private var asksTerminal: Bool { !options.isInfo && options.file == nil }

    private func session() throws -> HTTPSession {
        try options.trust.checkFiles()
        try options.route.checkFiles()
        var configuration =
            options.usesCache ? ImageDownloader.sessionConfiguration() : HTTPSession.Configuration()
        options.trust.apply(to: &configuration, for: sources.first(where: \.isURL)?.name ?? "")
        options.route.apply(to: &configuration)
        configuration.fields["User-Agent"] = HTTPSession.Configuration.userAgent(
            program: DunlinImageCommand.name, version: DunlinImageCommand.version)
        configuration.securityWarningHandler = { [output] warning in output.warn("\(warning)") }
        return try HTTPSession(configuration)
    }

    private func show(
        _ source: PictureSource, _ session: HTTPSession?, _ terminal: TerminalImage.Terminal?
    ) async throws {
        let bytes = try await bytes(of: source, session)
        let style = terminal?.style(options.method)
        if options.isInfo || options.file == nil && style == nil {
            describe(source, try ImageInfo(of: bytes), bytes.count, terminal?.refusal)
        } else if let file = options.file {
            try await write(try await picture(bytes), to: file)
        } else if let style, let terminal {
            let player = Player(style: style, bounds: options.bounds, geometry: terminal.geometry, output: output)
            if options.playsFrames, try ImageInfo(of: bytes).isAnimated {
                try await player.play(bytes, options.size)
            } else {
                try await player.show(try await picture(bytes))
            }
        }
    }

    private func bytes(of source: PictureSource, _ session: HTTPSession?) async throws -> Bytes {
        guard source.isURL, let session else { return try source.read() }
        return try await session.get(.url(source.name), fields: ["Accept": "image/*"], as: .bytes).value
    }

    private func picture(_ bytes: Bytes) async throws -> ImageBuffer {
        let picture = try await ImageDecoder().decode(bytes)
        return try await options.size.resize(picture)
    }

    private func describe(_ source: PictureSource, _ info: ImageInfo, _ count: Int, _ refusal: TerminalImage.Refusal?) {
        let reason = PictureWords.reason(refusal).map { " (\($0))" } ?? ""
        output.print("\(source.shownName): \(PictureWords.of(info, bytes: count))\(reason)")
    }

    private func write(_ picture: ImageBuffer, to file: String) async throws {
        let encoder = ImageEncoder()
        let bytes = OutputFormat(of: file) == .png ? try await encoder.png(picture) : try await encoder.jpeg(picture)
        try PictureSource.write(bytes, to: file)
    }

    private static func code(of error: any Error) -> ExitCode {
        (error as? NetworkError)?.code == .unacceptableStatus ? .refused : .failure
    }
}

extension Command.Resizing? {
    func resize(_ picture: ImageBuffer) async throws -> ImageBuffer {
        guard let self else { return picture }
        return try await picture.resized(to: self.size(of: picture.size))
    }
}

/// What went wrong with which picture, on one line.
enum ErrorText {
    static func line(of error: any Error, _ source: PictureSource) -> String {
        switch error {
        case let error as NetworkError: "\(source.shownName): \(error.summary)"
        case let error as FileError: error.description
        default: "\(source.shownName): \(error)"
        }
    }
}

extension PictureSource {
    /// The URL without possible secrets: query and user info.
    var shownName: String {
        if name == "-" { return "standard input" }
        return isURL ? ShownURL.of(name) : name
    }
}
