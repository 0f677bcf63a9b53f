import DunlinSecure
import DunlinTypes

/// What a server may send to a TLS client before it has proved anything: however it is cut, the same error, no content
/// and no connection. A server that does not know our random numbers can prove nothing.
///
/// The first byte of an input chooses the versions and the questions, the rest is the wire.
enum FuzzTLS {
    static func violation(of input: [UInt8]) -> String? {
        let choice = input.first ?? 0
        guard case .success(let context) = contexts[Int(choice) & 1] else { return "no context" }
        let outcomes = cuts(of: Array(input.dropFirst())).map { TLSOutcome(of: $0, context, choice) }
        for outcome in outcomes {
            if let violation = outcome.violation { return violation }
            if outcome.error != outcomes[0].error {
                return "\(outcomes[0].error as Any), or when cut otherwise \(outcome.error as Any)"
            }
        }
        return nil
    }

    private static let contexts = [TLSSettings.Version.tls13, .tls12].map { latest in
        Result { () throws(TLSError) in
            var settings = TLSSettings()
            settings.versions = .tls12...latest
            settings.asksForStaple = true
            return try TLSContext(settings)
        }
    }
}

/// Accepts everything, so that the bytes get as far as they can.
private struct Credulous: PeerTrust {
    let key = Certificate.Fingerprint(unchecked: Bytes([UInt8](repeating: 0, count: 32)))

    func decide(on presented: borrowing PresentedChain) -> HTTP.TrustDecision { .accepted(path: []) }

    func stillAccepts(_ path: [Certificate], at now: Int64) -> Bool { true }
}

struct TLSOutcome {
    var error: TLSError?
    var violation: String?

    init(of pieces: [[UInt8]], _ context: TLSContext, _ choice: UInt8) {
        var peer = TLSPeer(HTTP.Origin(scheme: .https, host: "api.test"), serverName: "api.test", trust: Credulous())
        peer.asksAboutTrust = choice & 2 != 0
        peer.asksForIdentity = choice & 4 != 0
        var plaintext: [UInt8] = []
        do throws(TLSError) {
            var engine = try TLSEngine(context, peer, now: 1_800_000_000)
            var wire: [UInt8] = []
            _ = try engine.start(into: &wire)
            for piece in Self.echoing(wire, in: pieces) {
                var status = try Bytes(piece).withUnsafeBytes { bytes throws(TLSError) in
                    try engine.receive(bytes, into: &plaintext, answering: &wire)
                }
                while case .suspended(let question) = status {
                    status =
                        switch question {
                        case .trust: try engine.answer(trust: .accepted(path: []), into: &plaintext, answering: &wire)
                        case .clientCertificate: try engine.answer(identity: nil, into: &plaintext, answering: &wire)
                        }
                }
                if status != .handshaking { violation = "\(status)" }
            }
            try engine.receiveEnd()
            violation = "no error"
        } catch {
            self.error = error
        }
        if !plaintext.isEmpty { violation = "content" }
    }

    /// A server repeats the session id of the ClientHello, which is random: put where the input has one, it is let
    /// further in.
    private static func echoing(_ hello: [UInt8], in pieces: [[UInt8]]) -> [[UInt8]] {
        var wire = Array(pieces.joined())
        let offset = 5 + 4 + 2 + 32
        guard wire.count > offset + 32, hello.count > offset + 32, wire[0] == 22, wire[5] == 2, wire[offset] == 32,
            hello[offset] == 32
        else { return pieces }
        wire.replaceSubrange((offset + 1)...(offset + 32), with: hello[(offset + 1)...(offset + 32)])
        var start = 0
        return pieces.map { piece in
            defer { start += piece.count }
            return Array(wire[start..<(start + piece.count)])
        }
    }
}
