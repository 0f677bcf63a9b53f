import Dunlin
import DunlinCommandLine
import DunlinImages
import DunlinTesting
import Folders
import Foundation
import Glibc
import Testing

@testable import DunlinImageCLI

/// A folder with pictures, and files for what the command writes.
private final class Studio {
    private let folder: Folder
    let output: Output

    init() throws {
        let folder = try Folder()
        func open(_ name: String) -> Int32 {
            Glibc.open("\(folder.path)/\(name)", O_CREAT | O_RDWR | O_CLOEXEC, 0o600)
        }
        self.folder = folder
        output = Output(of: "dunlin-image", results: open("results"), remarks: open("remarks"))
    }

    deinit {
        close(output.results)
        close(output.remarks)
    }

    func path(_ name: String) -> String { "\(folder.path)/\(name)" }
    func text(_ name: String) throws -> String { try String(contentsOfFile: path(name), encoding: .utf8) }
    func bytes(_ name: String) throws -> Bytes { try folder.contents(name) }

    /// A picture of one colour.
    func add(_ name: String, width: Int = 6, height: Int = 4) async throws {
        let pixel: [UInt8] = [200, 100, 50, 255]
        let pixels = [[UInt8]](repeating: pixel, count: width * height).flatMap(\.self)
        let picture = try #require(ImageBuffer(width: width, height: height, pixels: pixels))
        try folder.write(try await ImageEncoder().png(picture), as: name)
    }

    func run(_ arguments: String...) async throws -> ExitCode {
        let words = arguments.map { $0.hasPrefix("@") ? path(String($0.dropFirst())) : $0 }
        return await DunlinImageCommand.run(try Command(arguments: words), output)
    }
}

@Suite(.timeLimit(.minutes(10))) struct ShowTests {
    private let studio: Studio

    init() throws { studio = try Studio() }

    @Test(arguments: [[String](), ["--info"]])
    func `where there is no terminal a picture is said in words`(options: [String]) async throws {
        try await studio.add("a.png")
        #expect(try await studio.run("@a.png", options.first ?? "--cache") == .success)
        let words = try studio.text("results")
        #expect(words.hasPrefix("\(studio.path("a.png")): PNG, 6 x 4 pixels, RGB, 8 bits, "))
    }

    @Test(arguments: TerminalImage.Method.allCases)
    func `a picture is drawn into a file if that is asked for`(method: TerminalImage.Method) async throws {
        try await studio.add("a.png")
        #expect(try await studio.run("@a.png", "--as", method.rawValue) == .success)
        let drawn = try studio.text("results")
        switch method {
        // In as many colours as the environment says that the terminal has.
        case .blocks: #expect(drawn.split(separator: "\n").count == 2 && drawn.contains("\u{1B}[48;"))
        case .sixel: #expect(drawn.contains("\u{1B}P0;1q\"1;1;6;4"))
        case .kitty: #expect(drawn.contains("\u{1B}_Ga=T"))
        }
    }

    @Test func `a picture is as wide as it was asked to be`() async throws {
        try await studio.add("a.png")
        #expect(try await studio.run("@a.png", "--as", "blocks", "--width", "12") == .success)
        let lines = try studio.text("results").split(separator: "\n")
        #expect(lines.count == 4)
        #expect(lines[0].hasSuffix(String(repeating: " ", count: 12) + "\u{1B}[0m"))
    }

    @Test(arguments: [("b.png", ImageFormat.png), ("b.jpg", .jpeg)])
    func `a picture is written as another format and size`(name: String, format: ImageFormat) async throws {
        try await studio.add("a.png")
        #expect(try await studio.run("@a.png", "--resize", "3x", "-o", "@" + name) == .success)
        let bytes = try studio.bytes(name)
        #expect(ImageFormat(sniffing: bytes) == format)
        #expect(try await ImageDecoder().decode(bytes).size == ImageSize(width: 3, height: 2))
        #expect(try studio.text("results").isEmpty)
    }

    @Test func `a picture that fails is told of, and the others are shown`() async throws {
        try await studio.add("a.png")
        try Data("no picture".utf8).write(to: URL(filePath: studio.path("b.txt")))
        #expect(try await studio.run("@none.png", "@b.txt", "@a.png") == .failure)
        let remarks = try studio.text("remarks").split(separator: "\n")
        #expect(remarks.count == 2)
        #expect(remarks.first == "dunlin-image: \(studio.path("none.png")): No such file or directory")
        #expect(remarks.last?.contains("not a picture in a format that Dunlin knows") == true)
        #expect(try studio.text("results").contains("PNG"))
    }

    @Test func `a picture comes from a server, and its status is told`() async throws {
        try await studio.add("a.png")
        let png = try studio.bytes("a.png")
        let server = try LoopbackServer()
        defer { server.stop() }
        server.enqueue(.response(fields: ["Content-Type": "image/png"], body: png))
        server.enqueue(.response(404, body: ""))
        #expect(try await studio.run("\(server.baseURL)/a.png?token=secret") == .success)
        #expect(try await studio.run("\(server.baseURL)/b.png?token=secret") == .refused)
        #expect(try studio.text("results").hasPrefix("\(server.baseURL)/a.png: PNG"))
        let agent = try #require(server.requests.first?.fields["user-agent"])
        #expect(agent.hasPrefix("dunlin-image/\(DunlinImageCommand.version) (Linux "))
        #expect(try !studio.text("remarks").contains("secret"))
    }
}
