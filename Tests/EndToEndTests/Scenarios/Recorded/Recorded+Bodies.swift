import Dunlin
import DunlinTesting
import Folders

extension Recorded {
    /// Streams of server-sent events.
    static let eventStreams: [Recorded] = [
        events(
            "a stream is resumed after its last event",
            [
                "id: 1\ndata: a\n\nid: 2\ndata: cut", "data: b\n\nid: 3\ndata: c\n\n",
            ]),
        events("a stream without IDs is asked for again", ["data: a\n\n", "data: b\n\n"]),
        events("a stream names its events and its pause", ["event: news\nretry: 5\ndata: a\ndata: b\n\n"]),
        Recorded("a stream that is redirected elsewhere keeps its ID at home") { take, session in
            take.serve(
                .moved("http://other.test/e"), .stream(["id: 1\ndata: a\n\n"], fields: eventType),
                .respond(.noContent))
            await take.events(session)
        },
        Recorded("a stream of another type is refused") { take, session in
            take.serve(.respond(fields: ["Content-Type": "text/html"], body: "<p>"))
            await take.events(session)
        },
        Recorded("a stream is refused by a 404") { take, session in
            take.serve(.respond(404, body: "none"))
            await take.events(session)
        },
        Recorded("a stream survives a 503 and a reset") { take, session in
            take.serve(
                .stream(["id: 1\ndata: a\n\n"], fields: eventType), .respond(503), .fail(.connectionReset),
                .stream(["id: 2\ndata: b\n\n"], fields: eventType), .respond(.noContent))
            await take.events(session)
        },
        Recorded("a stream asks again with a password") { configuration, _ in
            password(&configuration)
        } play: { take, session in
            take.serve(
                .asking(), .stream(["id: 1\ndata: a\n\n"], fields: eventType), .respond(.noContent))
            await take.events(session)
        },
    ]

    static let eventType: Fields = ["Content-Type": "text/event-stream"]

    private static func events(_ name: String, _ bodies: [Bytes]) -> Recorded {
        Recorded(name) { take, session in
            take.serve(bodies.map { .stream([$0], fields: eventType) } + [.respond(.noContent)])
            await take.events(session)
        }
    }

    /// Bodies that are sent, and bodies that become files.
    static let bodiesAndFiles: [Recorded] = uploads + downloads

    private static let uploads: [Recorded] = [
        Recorded("a body in pieces is sent", .respond(201, body: "made")) { take, session in
            await take.send(.post, session, body: .stream(UploadPieces(total: 25_000), length: 25_000))
        },
        Recorded("a body that breaks fails its request", .respond(201, body: "made")) { take, session in
            await take.send(.post, session, body: .stream(UploadPieces(total: 25_000, failingAt: 10_000)))
        },
        Recorded("a file is sent, and again after a redirect", .moved("/b", 307), .respond(201)) { take, session in
            let path = try take.folder.write("content", as: "source")
            await take.send(.put, session, body: .file(path))
        },
        Recorded("a file that is missing is not sent", .respond(201)) { take, session in
            await take.send(.put, session, body: .file("\(take.folder.path)/missing"))
        },
        Recorded("parts of a form are sent", .respond(201)) { take, session in
            await take.note("post") {
                let body = try RequestBody.multipart(boundary: "B") { MultipartPart.field("name", "Ada") }
                return try await session.post("/a", body: body, as: .string)
            }
        },
    ]

    private static let downloads: [Recorded] = [
        Recorded("a download becomes a file", .stream(["one", "two"])) { take, session in
            await take.download("download", session)
        },
        Recorded("a download is refused", .respond(404, body: "none")) { take, session in
            await take.download("download", session)
        },
        Recorded("a download is cut and not resumed", part("0123456789", 4)) { take, session in
            await take.download("download", session)
        },
        Recorded("a download is resumed", part("0123456789", 4), rest("456789", "\"1\"")) { take, session in
            await take.download("download", session, resuming: .whileRunning)
        },
        Recorded("a download is resumed with another ETag", part("0123456789", 4), rest("456789", "\"2\""), whole) {
            take, session in
            await take.download("download", session, resuming: .whileRunning)
        },
        Recorded("a download begins anew when the file has changed", part("0123456789", 4), whole) { take, session in
            await take.download("download", session, resuming: .whileRunning)
        },
        Recorded("a download is resumed by a later one", part("0123456789", 4), .respond(404), rest("456789", "\"1\""))
        {
            take, session in
            await take.download("cut", session, resuming: .ifValidatorMatches)
            await take.download("later", session, resuming: .ifValidatorMatches)
        },
        Recorded("a later download by another user begins anew", part("0123456789", 4), .respond(404), whole) {
            take, session in
            await take.download(
                "A", session, as: "file", with("Authorization", "Bearer a"), resuming: .ifValidatorMatches)
            await take.download(
                "B", session, as: "file", with("Authorization", "Bearer b"), resuming: .ifValidatorMatches)
        },
    ]

    private static func part(_ body: String, _ count: Int) -> MockTransport.Outcome {
        .stream(
            [Bytes(String(body.prefix(count)))], fields: ["ETag": "\"1\"", "Accept-Ranges": "bytes"],
            length: body.utf8.count, failing: reset)
    }

    private static func rest(_ body: Bytes, _ tag: String) -> MockTransport.Outcome {
        .respond(206, fields: ["ETag": tag, "Content-Range": "bytes 4-9/10"], body: body)
    }

    private static let whole = MockTransport.Outcome.respond(
        fields: ["ETag": "\"2\"", "Accept-Ranges": "bytes"], body: "abcdefghij")
}

extension Take {
    fileprivate func events(_ session: HTTPSession) async {
        await note("events") {
            var lines = ""
            do {
                for try await event in session.events("/e") { lines += " | \(event.name) \(event.id) \(event.data)" }
            } catch {
                lines += " | failed, \(error)"
            }
            return lines
        }
    }
}
