import Dunlin
import DunlinImages
import DunlinTesting
import Synchronization
import Testing

/// Somebody who asks for a picture.
enum Person: String, CaseIterable, Sendable {
    case alice, bob, nobody
}

/// What a server says of how long its pictures may be kept, and how to ask whether they are still the same.
struct Says: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let fields: Fields

    static let nothing = Says(testDescription: "nothing", fields: [:])
    static let fresh = Says(testDescription: "fresh for a year", fields: ["Cache-Control": "max-age=31536000"])
    /// All pictures have one date.
    static let date = Says(
        testDescription: "no-cache, one date",
        fields: ["Cache-Control": "no-cache", "Last-Modified": "Sun, 01 Nov 2026 08:00:00 GMT"])
    /// All pictures have one strong tag, which no server should give them, and some do.
    static let tag = Says(testDescription: "no-cache, one tag", fields: ["Cache-Control": "no-cache", "ETag": "\"1\""])
    static let freshTag = Says(
        testDescription: "fresh, one tag", fields: ["Cache-Control": "max-age=31536000", "ETag": "\"1\""])

    static let all = [nothing, fresh, date, tag]
}

/// A server that paints for each who asks a picture that says for whom it is.
///
/// It does not look whose picture it is that a request asks about: it confirms it, and sends the rest of another one.
final class Painter: Sendable {
    struct Rules: Sendable {
        /// The fields of each picture, and of what confirms it.
        var fields: Fields = [:]
        /// The fields of the redirect from `/cat` to the picture of who asks; nil for no redirect.
        var redirect: Fields?
        /// Where the redirect leads; nil for the same server.
        var gallery: String?
        /// The challenge for who does not say a user.
        var challenge: String?
        /// Pictures are held until it opens.
        var gate: LoopbackServer.Gate?
        /// Whether the next whole picture breaks off in its middle.
        var breaksOff = false
        /// What pictures say instead of whom they are for.
        var version: String?
    }

    struct Asked: Sendable {
        let target: String
        let fields: Fields
    }

    struct Answer {
        var status: HTTP.Status
        var fields: Fields
        var body = Bytes.empty
        var gate: LoopbackServer.Gate?
        var breaksOff = false
    }

    private let rules: Mutex<Rules>
    private let state = Mutex<(asked: [Asked], held: Int)>(([], 0))

    init(_ rules: Rules) { self.rules = Mutex(rules) }

    var asked: [Asked] { state.withLock(\.asked) }
    /// The number of pictures that were held.
    var held: Int { state.withLock(\.held) }

    func change(_ change: (inout Rules) -> Void) { rules.withLock { change(&$0) } }

    /// `name` is what the request says by the way it came.
    func answer(_ target: String, _ fields: Fields, _ name: String = "") -> Answer {
        state.withLock { $0.asked.append(Asked(target: target, fields: fields)) }
        let rules = rules.withLock(\.self)
        if let challenge = rules.challenge, !fields.contains("authorization") {
            return Answer(status: 401, fields: ["WWW-Authenticate": challenge])
        }
        let who = Self.who([target, name] + fields.map(\.value))
        if let redirect = rules.redirect, !target.contains("/of/") {
            let location = "\(rules.gallery ?? "")/of/\(who == "nobody" ? "" : who.replacing(" ", with: "-"))"
            return Answer(status: 302, fields: redirect.overlaid(with: ["Location": location]))
        }
        var answer = picture(Self.bmp(rules.version ?? who), fields, rules)
        if let gate = rules.gate {
            answer.gate = gate
            state.withLock { $0.held += 1 }
        }
        return answer
    }

    private func picture(_ body: Bytes, _ asked: Fields, _ rules: Rules) -> Answer {
        let (tag, date) = (rules.fields["etag"], rules.fields["last-modified"])
        if (tag != nil && asked["if-none-match"] == tag) || (date != nil && asked["if-modified-since"] == date) {
            return Answer(status: 304, fields: rules.fields)
        }
        var fields = rules.fields.overlaid(with: ["Content-Type": "image/bmp"])
        if tag != nil, asked["if-range"] == tag, let start = asked["range"]?.dropFirst(6).dropLast(),
            let start = Int(start)
        {
            fields["Content-Range"] = "bytes \(start)-\(body.count - 1)/\(body.count)"
            return Answer(status: 206, fields: fields, body: body[start..<body.count])
        }
        let breaksOff = self.rules.withLock { rules in
            defer { rules.breaksOff = false }
            return rules.breaksOff
        }
        return Answer(status: .ok, fields: fields, body: body, breaksOff: breaksOff)
    }

    /// Whom a request names, by any of its parts.
    private static func who(_ said: [String]) -> String {
        let basic = ["Basic YWxpY2U6cHc=": "alice", "Basic Ym9iOnB3": "bob"]
        let names = [Person.alice, .bob].map(\.rawValue).filter { name in
            said.contains { (basic[$0] ?? $0).contains(name) }
        }
        return names.isEmpty ? Person.nobody.rawValue : names.joined(separator: " and ")
    }
}

// MARK: - Where it hangs its pictures

extension Painter {
    /// What comes this way says the name, too.
    func paint(for transport: MockTransport, named name: String = "") {
        transport.otherwise { [self] request in
            let answer = answer(request.target, request.fields, name)
            if let gate = answer.gate { try await gate.opened() }
            if answer.breaksOff {
                let gone = NetworkError(.connectionClosed, "gone")
                return .stream(
                    [answer.body[0..<Self.half]], fields: answer.fields, length: answer.body.count, failing: gone)
            }
            return .respond(answer.status, fields: answer.fields, body: answer.body)
        }
    }

    func paint(for server: LoopbackServer, named name: String) {
        server.respond { [self] request in
            let answer = answer(request.target, request.fields, Certificates.name(request) ?? name)
            let reply = LoopbackServer.Reply.response(answer.status, fields: answer.fields, body: answer.body)
            if let gate = answer.gate { return reply.waiting(for: gate) }
            guard answer.breaksOff else { return reply }
            let whole: Fields = ["Content-Length": "\(answer.body.count)"]
            return [
                .message(.init(.ok, fields: answer.fields.overlaid(with: whole), body: answer.body[0..<Self.half])),
                .close,
            ]
        }
    }
}

// MARK: - What a picture says

extension Painter {
    private static let (side, head) = (8, 54)
    /// Where a picture breaks off: between two rows.
    static let half = head + side / 2 * side * 3

    /// A picture of which each row says the text, three bytes in a pixel.
    static func bmp(_ text: String) -> Bytes {
        let letters =
            Array(text.utf8.prefix(side * 3)) + Array(repeating: 32, count: max(0, side * 3 - text.utf8.count))
        func little(_ value: Int, _ count: Int) -> [UInt8] { (0..<count).map { UInt8(value >> ($0 * 8) & 0xFF) } }
        var file: [UInt8] = [0x42, 0x4D] + little(head + side * side * 3, 4) + little(0, 4) + little(head, 4)
        file += little(40, 4) + little(side, 4) + little(side, 4) + little(1, 2) + little(24, 2) + little(0, 24)
        for _ in 0..<side {
            for start in stride(from: 0, to: side * 3, by: 3) {
                file += [letters[start + 2], letters[start + 1], letters[start]]
            }
        }
        return Bytes(file)
    }

    /// What a picture says; both texts if it is made of two.
    static func text(of image: ImageBuffer) -> String {
        var texts: [String] = []
        for row in 0..<image.height {
            let letters = (0..<image.width).flatMap { column in
                let pixel = image[column, row]
                return [pixel.red, pixel.green, pixel.blue]
            }
            let text = String(decoding: letters.reversed().drop { $0 == 32 }.reversed(), as: UTF8.self)
            if texts.last != text { texts.append(text) }
        }
        return texts.joined(separator: " over ")
    }
}
