import Dunlin
import DunlinCommandLine
import DunlinDisplay

/// `dunlin demo`: one part after another, each with requests to a server inside the command. Every line says what has
/// happened; nothing is written in advance but the titles.
struct Demo {
    private let page: DemoPage

    static let parts: [any DemoPart] = [
        SecureJSONDemo(), PinDemo(), UploadDemo(), DownloadDemo(), EventsDemo(), CacheDemo(), RetryDemo(),
    ]

    init(_ output: Output) {
        page = DemoPage(output)
    }

    func run() async throws {
        let start = ContinuousClock.now
        page.say("Seven parts, each against a server inside this command; no network is needed.", indent: 0)
        for (index, part) in Self.parts.enumerated() {
            page.title(index + 1, part.title, part.code)
            try await part.run(on: page)
            try await page.rest()
        }
        page.say(
            "All of that took \((ContinuousClock.now - start).readable). Now one of your own: dunlin -v https://…",
            indent: 0)
    }
}

/// One part of the demo.
protocol DemoPart: Sendable {
    var title: String { get }
    /// What a program would write for it.
    var code: String { get }

    /// Makes its servers and sessions, and ends them.
    func run(on page: DemoPage) async throws
}
