import Dunlin
import DunlinInflate
import DunlinTesting

extension Scenario {
    /// One request and its answer, in each form that either can have.
    static let verbs: [Scenario] = [
        Scenario("get") { scene in
            scene.server.enqueue(.response(fields: ["Content-Type": "text/plain"], body: "hello"))
            await scene.note("get") { try await scene.session.get("a/b", query: ["q": "x y"], as: .string) }
        },
        Scenario("get-twice-over-one-connection") { scene in
            scene.server.enqueue(.response(body: "one"), .response(body: "two"))
            await scene.note("first") { try await scene.session.get("a", as: .bytes) }
            await scene.note("second") { try await scene.session.get("b", as: .bytes) }
        },
        Scenario("get-closing") { scene in
            scene.server.enqueue(LoopbackServer.Reply.response(body: "one").closingAfter, .response(body: "two"))
            await scene.note("first") { try await scene.session.get("a", as: .bytes) }
            await scene.note("second") { try await scene.session.get("b", as: .bytes) }
        },
        Scenario("get-stale-connection") { scene in
            scene.server.enqueue(
                LoopbackServer.Reply.response(body: "one").closingOnNextRequest, .response(body: "two"))
            await scene.note("first") { try await scene.session.get("a", as: .bytes) }
            await scene.note("second") { try await scene.session.get("b", as: .bytes) }
        },
        Scenario("get-options") { scene in
            scene.server.enqueue(.response(body: "hello"))
            var options = HTTPSession.Options(fields: ["X-Own": "1", "Accept": "text/html"], priority: .high)
            options.label = "labelled"
            options.tags = ["b", "a"]
            await scene.note("get") { [options] in try await scene.session.get("a", options: options, as: .bytes) }
        },
        Scenario("get-interim-chunked-trailers") { scene in
            scene.server.enqueue(
                LoopbackServer.Reply.chunked(["one", "two"], trailers: ["X-Sum": "6"])
                    .precededBy(interim: 103, ["Link": "</a>"]).inOnePiece)
            await scene.note("get") { try await scene.session.get("a", as: .string) }
        },
        Scenario("get-until-close") { scene in
            scene.server.enqueue(.untilClose("all there is"))
            await scene.note("get") { try await scene.session.get("a", as: .string) }
        },
        Scenario("get-gzip") { scene in
            guard let coded = try? `Content codings`.coded(Bytes(Array(repeating: 65, count: 5000)), [.gzip]) else {
                return
            }
            scene.server.enqueue(.response(fields: ["Content-Encoding": "gzip"], body: coded))
            await scene.note("get") { try await scene.session.get("a", as: .bytes) }
        },
        Scenario("get-no-content") { scene in
            scene.server.enqueue(.response(204), .response(body: "next"))
            await scene.note("get") { try await scene.session.get("a", as: .bytes) }
            await scene.note("next") { try await scene.session.get("b", as: .bytes) }
        },
        Scenario("get-not-found") { scene in
            scene.server.enqueue(.response(404, body: "no such thing"), .response(404, body: "no such thing"))
            await scene.note("validated") { try await scene.session.get("a", as: .bytes) }
            let options = HTTPSession.Options(validatesResponse: false)
            await scene.note("taken") { try await scene.session.get("a", options: options, as: .bytes) }
        },
        Scenario("get-body-too-long") { scene in
            scene.server.enqueue(.response(body: "0123456789"))
            let options = HTTPSession.Options(bodyLimit: 5)
            await scene.note("get") { try await scene.session.get("a", options: options, as: .bytes) }
        },
        Scenario("get-broken-head") { scene in
            scene.server.enqueue([.send("HTTP/1.1 200 OK\r\nBroken field: x\r\n\r\n"), .drain])
            await scene.note("get") { try await scene.session.get("a", as: .bytes) }
        },
        Scenario("get-broken-body") { scene in
            scene.server.enqueue([.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc"), .close])
            await scene.note("get") { try await scene.session.get("a", as: .bytes) }
        },
        Scenario("head") { scene in
            scene.server.enqueue(.response(body: "hello"))
            await scene.note("head") { try await scene.session.head("a").status }
        },
        Scenario("post") { scene in
            scene.server.enqueue(.response(201, body: "made"))
            await scene.note("post") { try await scene.session.post("a", body: .string("hello"), as: .string) }
        },
        Scenario("post-parameters") { scene in
            scene.server.enqueue(.response(body: "taken"))
            await scene.note("post") {
                try await scene.session.post("a", parameters: ["name": "a b", "list": [1, 2]], as: .string)
            }
        },
        Scenario("put-patch-delete") { scene in
            scene.server.enqueue(.response(body: "1"), .response(body: "2"), .response(body: "3"))
            await scene.note("put") { try await scene.session.put("a", body: .string("x"), as: .bytes) }
            await scene.note("patch") { try await scene.session.patch("a", body: .string("y"), as: .bytes) }
            await scene.note("delete") { try await scene.session.delete("a", as: .bytes) }
        },
        Scenario("invalid-target") { scene in
            await scene.note("get") { try await scene.session.get("http://[::1", as: .bytes) }
            await scene.note("field") {
                let options = HTTPSession.Options(fields: ["X": "a\nb"])
                return try await scene.session.get("a", options: options, as: .bytes)
            }
        },
    ]
}
