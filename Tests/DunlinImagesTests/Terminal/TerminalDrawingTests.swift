import Dunlin
import DunlinCodecs
import DunlinDisplay
import Synchronization
import Testing

@testable import DunlinImages

/// What is written to a terminal.
private final class Sheet: DisplayOutput {
    private let state = Mutex<[String]>([])

    var terminal: TerminalSize? { TerminalSize(columns: 80, rows: 24) }
    var written: [String] { state.withLock { $0 } }

    func write(_ text: String) { state.withLock { $0.append(text) } }
}

@Suite(.timeLimit(.minutes(10))) struct TerminalDrawingTests {
    private let geometry = TerminalImage.Geometry(columns: 40, rows: 12, cell: ImageSize(width: 8, height: 16))

    @Test func `a large picture is made smaller, and shown as it is`() async throws {
        let drawing = try await TerminalImage.draw(TestPicture.gradient(320, 240), .init(.blocks), in: geometry)
        #expect(drawing.rows == 11)
        let screen = try #require(Screen(blocks: drawing.text, width: drawing.columns))
        let expected = TestPicture.gradient(drawing.columns, drawing.rows * 2)
        let distance = try #require(screen.distance(from: Screen(expected)))
        #expect(distance <= 12)
    }

    @Test(arguments: [TerminalImage.Method.sixel, .kitty])
    func `a drawing makes room first, and leaves the cursor below the picture`(
        method: TerminalImage.Method
    ) async throws {
        let drawing = try await TerminalImage.draw(TestPicture.gradient(33, 40), .init(method), in: geometry)
        #expect((drawing.columns, drawing.rows) == (5, 3))
        let beginning = "\n\n\n\u{1B}[3A\r\u{1B}7"
        let end = "\u{1B}8\u{1B}[3B"
        #expect(drawing.text.hasPrefix(beginning))
        #expect(drawing.text.hasSuffix(end))
        let scalars = drawing.text.unicodeScalars
        let sent = String(scalars.dropFirst(beginning.unicodeScalars.count).dropLast(end.unicodeScalars.count))
        if method == .sixel {
            #expect(Screen(sixels: sent)?.width == 33)
        } else {
            let kitty = try #require(KittyPicture(sent))
            // A file of PNG, which is shorter.
            #expect(kitty.control["f"] == "100")
            #expect(try await ImageDecoder().decode(Bytes(kitty.payload)).pixels == TestPicture.gradient(33, 40).pixels)
        }
    }

    @Test func `the room is said in characters where their size is not known`() async throws {
        let unknown = TerminalImage.Geometry(columns: 40, rows: 12)
        let drawing = try await TerminalImage.draw(TestPicture.gradient(33, 40), .init(.kitty), in: unknown)
        #expect(drawing.text.contains(",c=5,r=3"))
        let known = try await TerminalImage.draw(TestPicture.gradient(33, 40), .init(.kitty), in: geometry)
        #expect(!known.text.contains(",c="))
    }

    @Test func `a drawing is cancelled with its task`() async {
        let task = Task {
            try await withTaskCancellationHandler {
                while !Task.isCancelled { await Task.yield() }
                return try await TerminalImage.draw(TestPicture.gradient(64, 64), .init(.sixel), in: geometry)
            } onCancel: {
            }
        }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test func `a target shows the newest image in place of the one before`() async throws {
        let sheet = Sheet()
        let target = TerminalImage.Target(on: sheet, .init(.blocks), in: geometry)
        target.show(TestPicture.gradient(4, 4))
        target.show(TestPicture.gradient(8, 8), in: .background)
        await target.finish()
        target.show(nil)
        let drawing = try await TerminalImage.draw(TestPicture.gradient(4, 4), .init(.blocks), in: geometry)
        #expect(sheet.written == [drawing.text])
    }

    @Test(arguments: TerminalImage.Method.allCases)
    func `what takes the place of a drawing erases it first`(method: TerminalImage.Method) async throws {
        let drawing = try await TerminalImage.draw(TestPicture.gradient(8, 40), .init(method), in: geometry)
        #expect(drawing.erasure.hasPrefix("\u{1B}[\(drawing.rows)A\r"))
        #expect(drawing.erasure.hasSuffix("\u{1B}[J"))
        #expect(drawing.erasure.contains("\u{1B}_Ga=d") == (method == .kitty))
    }

    @Test func `a target goes through all images that are shown slowly enough`() async throws {
        let sheet = Sheet()
        let target = TerminalImage.Target(on: sheet, .init(.blocks), in: geometry)
        let picture = TestPicture.gradient(4, 4)
        let drawing = try await TerminalImage.draw(picture, .init(.blocks), in: geometry)
        target.show(picture)
        while sheet.written.isEmpty { await Task.yield() }
        target.show(nil)
        while sheet.written.count < 2 { await Task.yield() }
        target.show(picture)
        await target.finish()
        #expect(sheet.written == [drawing.text, drawing.erasure, drawing.text])
    }
}
