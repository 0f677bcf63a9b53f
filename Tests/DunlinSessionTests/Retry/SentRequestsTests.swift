import DunlinTypes
import Testing

@testable import DunlinSession

@Suite struct `What has been sent` {
    private static func request(
        _ method: HTTP.Method, _ fields: Fields = Fields(), body: RequestBody = .none
    ) -> TransportRequest {
        var head = RequestHead(method: method, origin: HTTP.Origin(scheme: .http, host: "a.test"), target: "/")
        head.fields = fields
        return TransportRequest(head: head, body: body)
    }

    @Test(
        arguments: [
            (.get, [:], 200, [.sent]), (.get, [:], 503, [.sent]), (.head, [:], 200, [.sent, .notGET]),
            (.put, [:], 302, [.sent, .notGET]), (.post, [:], 200, [.sent, .notGET, .notIdempotent, .notRepeatable]),
            (.post, ["Idempotency-Key": "7"], 500, [.sent, .notGET, .notIdempotent]),
            (.post, [:], 307, [.sent, .notGET, .notIdempotent, .notRepeatable]), (.post, [:], 401, [.sent, .notGET]),
            (.post, [:], 407, [.sent, .notGET]), (.post, [:], 417, [.sent, .notGET]),
            (.post, [:], 429, [.sent, .notGET]), (.post, [:], 408, [.sent, .notGET]),
            (.post, [:], 425, [.sent, .notGET]),
        ] as [(HTTP.Method, Fields, HTTP.Status, SentRequests.Traits)])
    func `the method, a key and the status say what an answered request may have done`(
        method: HTTP.Method, fields: Fields, status: HTTP.Status, traits: SentRequests.Traits
    ) {
        var sent = SentRequests()
        let request = Self.request(method, fields)
        sent.begin(request)
        sent.answered(request, status)
        #expect(sent.call == traits && sent.attempt == traits && sent.hop == traits)
    }

    @Test(arguments: [true, false]) func `a failed request may have done its work if it was sent`(isSent: Bool) {
        var sent = SentRequests()
        sent.failed(Self.request(.post), NetworkError(.connectionClosed, "", requestMayHaveBeenSent: isSent))
        #expect(sent.call.contains(.notRepeatable) == isSent && sent.call.contains(.sent) == isSent)
    }

    @Test func `an error of another kind tells nothing, so what failed with it counts as sent`() {
        var sent = SentRequests()
        sent.failed(Self.request(.post), CancellationError())
        #expect(sent.call.contains(.notRepeatable))
    }

    @Test func `a GET with a body is no plain one`() {
        var sent = SentRequests()
        sent.begin(Self.request(.get, body: .string("x")))
        #expect(sent.call == .notGET)
    }

    @Test func `an attempt and a hop forget what was sent before, and the call does not`() {
        var sent = SentRequests()
        sent.answered(Self.request(.post), 302)
        sent.beginHop()
        #expect(sent.hop == [] && sent.attempt.contains(.notRepeatable))
        sent.answered(Self.request(.get), 200)
        #expect(sent.hop == .sent)
        sent.beginAttempt()
        #expect(sent.hop == [] && sent.attempt == [] && sent.call.contains(.notRepeatable))
    }

    @Test func `an error says what is true of all that was sent`() {
        let error = NetworkError(.connectionFailed, "", isSafeToRetry: true)
        let nothing = SentRequests.Traits().explained(error)
        #expect(!nothing.requestMayHaveBeenSent && nothing.isSafeToRetry)
        let read = SentRequests.Traits.sent.explained(error)
        #expect(read.requestMayHaveBeenSent && read.isSafeToRetry)
        let done = SentRequests.Traits([.sent, .notRepeatable]).explained(error)
        #expect(done.requestMayHaveBeenSent && !done.isSafeToRetry)
    }
}
