import Dunlin
import DunlinTesting

extension Recorded {
    /// Failed attempts, and whether there is another.
    static let retries = repeatable + policies

    private static let repeatable: [Recorded] = [HTTP.Method.get, .post, .put].flatMap { method in
        [
            ("a reset", MockTransport.Outcome.fail(.connectionReset)),
            ("a refused connection", .fail(.connectionRefused)), ("a slow first byte", .fail(.timedOut(.firstByte))),
            ("a 503", .respond(503, body: "busy")), ("a 429", .respond(429, fields: ["Retry-After": "2"])),
            ("a 500", .respond(500, body: "broken")), ("half a body", .stream(["abc"], length: 10, failing: reset)),
        ].map { what, failure in
            Recorded("\(what) of a \(method) meets a retry policy", failure, .respond(body: "fit")) {
                thrice(&$0)
            } ask: { take, session in
                await take.send(method, session, body: method == .get ? .none : .string("x"))
            }
        }
    }

    private static let policies: [Recorded] = [
        Recorded(
            "every attempt fails", .fail(.connectionReset), .respond(503, body: "busy"), .respond(502, body: "worse"),
            with: thrice),
        Recorded("a request may refuse to be retried", .respond(503, body: "busy"), .respond(body: "fit"), with: thrice)
        {
            take, session in
            await take.get("get", session, "/a", .init(retry: .never))
        },
        Recorded(
            "a POST with an idempotency key is retried", .fail(.connectionReset), .respond(body: "fit"), with: thrice
        ) { take, session in
            await take.send(.post, session, "/a", .init(fields: ["Idempotency-Key": "1"]))
        },
        Recorded("a POST is retried where the policy says so", .fail(.connectionReset), .respond(body: "fit")) {
            thrice(&$0)
            $0.retry.retriesNonIdempotent = true
        } ask: { take, session in
            await take.send(.post, session)
        },
        Recorded("a body that can be sent once is not retried", .respond(503), .respond(body: "fit"), with: thrice) {
            take, session in
            await take.send(.put, session, body: .once)
        },
        Recorded(
            "a Retry-After beyond the limit is delivered", .respond(503, fields: ["Retry-After": "61"]), with: thrice),
        Recorded("a budget that is used up ends the retries", .respond(503), .respond(503), .respond(503)) {
            $0.retry = .constant(attempts: 3, every: .seconds(1), budget: .ratio(0, floor: 1))
        },
        Recorded("a policy's attempts raise the ceiling of all sendings", .respond(503), .respond(503), .respond(503)) {
            $0.retry = .constant(attempts: 9, every: .seconds(1), budget: .unlimited)
            $0.limits.resends = 0
        } ask: { take, session in
            await take.get("get", session)
        },
        Recorded("a retry is cancelled while it waits", .respond(503), .respond(body: "fit"), with: thrice) {
            take, session in
            let task = try session.task("/a", as: .string)
            task.resume()
            try await take.clock.waitForRetries(1)
            task.cancel()
            await take.noteNow("get") { try await task.response }
        },
        Recorded("the total time is over while a retry waits", .respond(503), .respond(503), .respond(503)) {
            $0.retry = .constant(attempts: 9, every: .seconds(4))
            $0.timeouts.total = .seconds(6)
        },
        Recorded("a retry of a stream happens before its head", .respond(503), .stream(["one", "two"]), with: thrice) {
            take, session in
            await take.stream("stream", session)
        },
    ]

    static let thrice: @Sendable (inout HTTPSession.Configuration) -> Void = {
        $0.retry = .constant(attempts: 3, every: .seconds(1))
    }
}
