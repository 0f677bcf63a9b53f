import Dunlin
import DunlinDisplay
import DunlinTesting

/// A body that is made while it is sent, at a limited rate, with a bar.
struct UploadDemo: DemoPart {
    let title = "An upload"
    let code = #"client.put("film", body: film, progress: bar.show)"#

    private static let length = 8 << 20

    func run(on page: DemoPage) async throws {
        let server = try LoopbackServer()
        defer { server.stop() }
        server.route(.put, "/film", .response(.created))
        let body = try RequestBody.bytes(LoopbackServer.GeneratedBody.bytes(0..<Self.length))
            .throttled(.init(packetSize: 64 << 10, delay: .milliseconds(20)))
        try await withSession(.init(baseURL: server.baseURL)) { client in
            let bar = ProgressDisplay("   film", on: page.display)
            let response = try await page.finishingBars {
                try await client.put("film", body: body, progress: bar.show, as: .bytes)
            }
            guard let request = server.requests.last else { return }
            let isSame = request.bodyHash == LoopbackServer.GeneratedBody.hash(length: Self.length)
            page.say(
                "\(response.status); the server has read \(request.bodyCount) bytes, "
                    + (isSame ? "all of them right" : "some of them wrong"))
        }
    }
}
