import DunlinTypes
import DunlinWire

/// What proxies answer, to SOCKS and to CONNECT, and what is written to them.
///
/// The first byte says which: even for SOCKS (with a password from 2 on), odd for CONNECT. Whatever comes, an answer
/// means the same however it is cut, no byte of the tunnel is lost or made up, and a host that is anything writes one
/// request or none.
enum FuzzTunnels {
    static func violation(of input: [UInt8]) -> String? {
        guard let first = input.first else { return nil }
        let bytes = Array(input.dropFirst())
        if let problem = violation(ofRequestTo: String(decoding: bytes, as: UTF8.self)) { return problem }
        return first % 2 == 0 ? socks(bytes, hasPassword: first & 2 != 0) : connect(bytes)
    }

    // MARK: - SOCKS

    /// What comes of bytes that are read as the machine asks for them, no more than `size` at once.
    private static func play(_ bytes: [UInt8], hasPassword: Bool, size: Int) throws(SOCKSError) -> (String, Int) {
        var machine = try SOCKSMachine(
            to: .name("a", port: 1), user: hasPassword ? "u" : nil, password: hasPassword ? "p" : nil)
        var position = 0
        var action = machine.begin()
        while true {
            switch action {
            case .write: action = machine.receive([])
            case .read(let count):
                guard count > 0, position < bytes.count else {
                    return ("end: \(machine.end().map { "\($0)" } ?? "open")", count > 0 ? position : -1)
                }
                let end = min(position + min(count, size), bytes.count)
                action = machine.receive(bytes[position..<end])
                position = end
            case .ready(let following): return ("ready", following == 0 ? position : -1)
            case .fail(let error): return ("\(error)", position)
            }
        }
    }

    private static func socks(_ bytes: [UInt8], hasPassword: Bool) -> String? {
        do throws(SOCKSError) {
            let whole = try play(bytes, hasPassword: hasPassword, size: .max)
            if whole.1 < 0 { return "a read of nothing, or of the tunnel's: \(whole.0)" }
            // A refusal, and what is no SOCKS, is one as soon as it can be known.
            for size in [1, 2, 3, 7] {
                let cut = try play(bytes, hasPassword: hasPassword, size: size)
                if cut.0 != whole.0, !cut.0.hasPrefix("end: ") { return "\(whole.0), and by \(size) \(cut.0)" }
                if whole.0 == "ready", cut != whole { return "ready at \(whole.1), and by \(size) at \(cut.1)" }
            }
            return try whole.0 == "ready" ? tunnel(bytes, hasPassword: hasPassword, from: whole.1) : nil
        } catch {
            return "\(error)"
        }
    }

    /// The last answer comes in one piece with what follows it: that is counted, not lost.
    private static func tunnel(_ bytes: [UInt8], hasPassword: Bool, from end: Int) throws(SOCKSError) -> String? {
        var machine = try SOCKSMachine(
            to: .name("a", port: 1), user: hasPassword ? "u" : nil, password: hasPassword ? "p" : nil)
        var action = machine.begin()
        var position = 0
        // The answers before the last one have two bytes each.
        while position < 2 || (position == 2 && bytes[1] == 2) {
            action = machine.receive(bytes[position..<position + 2])
            guard case .write = action else { return "\(action) after \(position + 2) bytes" }
            position += 2
        }
        action = machine.receive(bytes[position...])
        return action == .ready(following: bytes.count - end) ? nil : "\(action), and \(bytes.count - end) are left"
    }

    // MARK: - CONNECT

    private static func play(_ pieces: [[UInt8]], isTLSInside: Bool) -> (action: String, rest: [UInt8]) {
        var machine = ConnectMachine(isTLSInside: isTLSInside)
        var parser = HeadParser()
        var unread = pieces[...]
        do throws(WireError) {
            while true {
                guard let parsed = try parser.next() else {
                    guard let piece = unread.popFirst() else { return ("end", []) }
                    parser.feed(piece)
                    continue
                }
                let following = parsed.isInterim ? [] : parser.takeRest().array
                let action = machine.receive(parsed, following: following.count)
                guard action == .readOn else { return ("\(action)", following + unread.joined()) }
            }
        } catch {
            return ("\(error)", [])
        }
    }

    private static func connect(_ bytes: [UInt8]) -> String? {
        let whole = play([bytes], isTLSInside: true)
        for pieces in cuts(of: bytes) {
            let cut = play(pieces, isTLSInside: true)
            if cut.action != whole.action || cut.rest != whole.rest { return "\(whole.action), and cut \(cut.action)" }
        }
        guard whole.action == "tunnel" else { return nil }
        let head = bytes.dropLast(whole.rest.count)
        if head.suffix(4) != [13, 10, 13, 10] || !bytes.reversed().starts(with: whole.rest.reversed()) {
            return "the tunnel does not begin behind the head"
        }
        let clear = play([bytes], isTLSInside: false)
        return (clear.action == "tunnel") == whole.rest.isEmpty ? nil : "bytes that nobody asked for passed"
    }

    // MARK: - Requests

    private static func violation(ofRequestTo text: String) -> String? {
        let origin = HTTP.Origin(scheme: .http, host: text, port: 8080)
        let connect = ProxiedRequest.connect(to: origin, authorization: "x")
        if let problem = violation(of: connect, lines: 5) { return "\(problem) of CONNECT" }
        let head = RequestHead(
            method: .get, origin: HTTP.Origin(scheme: .http, host: "a.test"), target: text,
            fields: ["Proxy-Authorization": "y"])
        do throws(ProxiedRequest.Problem) {
            let absolute = try ProxiedRequest.absolute(head, authorization: "x")
            // By bytes: a mark behind the slash makes another character of it.
            if !absolute.target.utf8.starts(with: "http://a.test/".utf8) { return "another host: \(absolute.target)" }
            return violation(of: absolute, lines: 5)
        } catch {
            return nil
        }
    }

    /// A request line, Host, Proxy-Authorization, and the empty line; what is behind it is empty.
    private static func violation(of head: RequestHead, lines: Int) -> String? {
        var buffer: [UInt8] = []
        do throws(WireError) {
            try RequestEncoder.encode(head, framing: .none, into: &buffer)
        } catch {
            return buffer.isEmpty ? nil : "a refused request left something behind"
        }
        let found = buffer.split(separator: 10, omittingEmptySubsequences: false)
        guard found.count == lines, found.dropLast().allSatisfy({ $0.last == 13 }) else {
            return "\(found.count) lines"
        }
        return found[0].count(where: { $0 == 0x20 }) == 2 ? nil : "a request line of more than three words"
    }
}
