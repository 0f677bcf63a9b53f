import Dunlin
import DunlinTesting
import Folders

extension Scenario {
    /// What a jar takes from responses, and what goes along with requests.
    static let cookies: [Scenario] = [
        Scenario("cookies-across-a-redirect", configure: withJar) { scene in
            scene.server.enqueue(
                .response(303, fields: ["Location": "/home", "Set-Cookie": "id=1; HttpOnly"], body: "moved"),
                .response(fields: ["Set-Cookie": "seen=1; Path=/", "set-cookie": "id=2"], body: "home"),
                .response(body: "next"))
            await scene.note("post") { try await scene.session.post("login", body: .string("user"), as: .string) }
            await scene.note("get") { try await scene.session.get("next", as: .string) }
            scene.noteCookies()
        },
        Scenario("cookies-stay-with-their-host", configure: withJar) { scene in
            let elsewhere = "http://localhost:\(scene.server.port)/b"
            scene.server.enqueue(
                .response(302, fields: ["Location": elsewhere, "Set-Cookie": "here=1"]),
                .response(302, fields: ["Location": scene.server.baseURL + "/c", "Set-Cookie": "there=1"]),
                .response(body: "back"))
            await scene.note("get") { try await scene.session.get("a", as: .string) }
            scene.noteCookies()
        },
        Scenario("cookies-refused", configure: withJar) { scene in
            scene.server.enqueue(
                .response(fields: [
                    "Set-Cookie": "domain=1; Domain=elsewhere.test", "set-cookie": "secure=1; Secure",
                    "SET-COOKIE": "__Host-a=1", "Set-cookie": "=", "set-Cookie": "path=1; Path=/other",
                    "sEt-Cookie": "kept=1",
                ]),
                .response(fields: ["Set-Cookie": "kept=; Max-Age=0"]), .response())
            for target in ["a", "b", "c"] {
                await scene.note(target) { try await scene.session.get(.init(target), as: .bytes).status }
                scene.noteCookies()
            }
        },
        Scenario("cookies-not-handled", configure: withJar) { scene in
            try scene.session.configuration.cookies?.receive(["Set-Cookie": "jar=1"], from: scene.server.baseURL)
            scene.server.respond { _ in .response(fields: ["Set-Cookie": "new=1"]) }
            var options = HTTPSession.Options(fields: ["Cookie": "own=1"])
            options.handlesCookies = false
            await scene.note("without") { [options] in
                try await scene.session.get("a", options: options, as: .bytes).status
            }
            scene.noteCookies()
            options.handlesCookies = true
            await scene.note("with") { [options] in
                try await scene.session.get("a", options: options, as: .bytes).status
            }
            scene.noteCookies()
        },
        Scenario("cookies-in-every-kind", configure: withJar) { scene in
            scene.server.enqueue(
                .response(fields: ["Set-Cookie": "a=1"], body: "stream"),
                .response(fields: ["Set-Cookie": "b=1"], body: "file"),
                .response(404, fields: ["Set-Cookie": "c=1"]), .response())
            await scene.note("stream") { try await scene.read("a") }
            await scene.note("download") {
                try await scene.session.download("b", to: .file("\(scene.folder.path)/file"))
            }
            await scene.note("failing") { try await scene.session.get("c", as: .bytes) }
            await scene.note("handle") { try await scene.session.task("d", as: .bytes).response }
            scene.noteCookies()
        },
        Scenario("cookies-in-a-retry", hasManualClock: true, chancy: Set(HTTP.Phase.allCases)) {
            withJar(&$0)
            $0.retry = .constant(attempts: 2, every: .seconds(1))
        } _: { scene in
            scene.server.enqueue(.response(503, fields: ["Set-Cookie": "a=1"]), .response())
            await scene.note("get") {
                try await scene.skippingWaits { try await scene.session.get("a", as: .bytes) }
            }
        },
    ]

    private static let withJar: @Sendable (inout HTTPSession.Configuration) -> Void = { $0.cookies = CookieJar() }
}

extension Scene {
    /// Notes what the jar holds.
    func noteCookies() {
        let cookies = session.configuration.cookies?.cookies ?? []
        let texts = cookies.map { "\($0.name)=\($0.value) of \($0.domain)\($0.path)" }
        transcript.note("jar: \(texts.sorted().joined(separator: ", "))")
    }
}
