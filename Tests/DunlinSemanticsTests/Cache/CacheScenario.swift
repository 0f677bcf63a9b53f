import DunlinSemantics
import DunlinTypes
import Testing

/// One request, what the origin answers to it, and what the caller is to see. A value `@-30` is a date.
struct CacheStep: Sendable {
    var method: HTTP.Method = .get
    var target = "/a"
    var mode: CacheMode = .standard
    var request: Fields = [:]
    var status: HTTP.Status = .ok
    var response: Fields = [:]
    var body = "0123456789"
    /// Whether the origin answers 304 to a condition.
    var confirms = false
    var isDisconnected = false
    /// Whether the body breaks off after `body`.
    var isCut = false
    /// How long the answer takes, and how long nothing happens after it.
    var delay: Int64 = 0
    var pause: Int64 = 0

    var expects: CacheSight.Source?
    var expectsStatus: HTTP.Status?
    var expectsFields: [String: String?] = [:]
    var expectsBody: String?
    var expectsSent: [String: String?] = [:]
}

extension CacheStep {
    /// What is there to be stored, some seconds before the next step.
    static func first(
        _ response: Fields, request: Fields = [:], status: HTTP.Status = .ok, body: String = "0123456789",
        pause: Int64 = 3
    ) -> CacheStep {
        CacheStep(request: request, status: status, response: response, body: body, pause: pause, expects: .network)
    }

    static func then(
        _ source: CacheSight.Source, request: Fields = [:], fields: [String: String?] = [:],
        sent: [String: String?] = [:]
    ) -> CacheStep {
        CacheStep(
            request: request, confirms: source == .confirmed, expects: source, expectsFields: fields, expectsSent: sent)
    }
}

/// What the caller saw, and what the origin.
struct CacheSight {
    enum Source: Sendable, Hashable {
        case network
        case cache
        /// Stored, after a 304.
        case confirmed
        /// Stored, in place of a failure.
        case staleForError
        /// Stored, and the rest from the network.
        case joined
        case failure
        case unavailable
    }

    var source: Source
    var status: HTTP.Status = 0
    var fields: Fields = [:]
    var body = ""
    var isStale = false
    var sent: [Fields] = []
    var note: CacheStatus?
}

/// Steps that follow each other, and what they show.
struct CacheScenario: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let steps: [CacheStep]

    init(_ name: String, _ steps: CacheStep...) {
        testDescription = name
        self.steps = steps
    }

    @discardableResult
    func play(_ rules: CacheRules = PlayedCache.rules, at location: SourceLocation = #_sourceLocation) -> PlayedCache {
        var cache = PlayedCache(rules: rules)
        for (number, step) in steps.enumerated() {
            let sight = cache.play(step)
            let comment = "\(testDescription), step \(number + 1)"
            if let source = step.expects { #expect(sight.source == source, "\(comment)", sourceLocation: location) }
            if let status = step.expectsStatus {
                #expect(sight.status == status, "\(comment)", sourceLocation: location)
            }
            if let body = step.expectsBody { #expect(sight.body == body, "\(comment)", sourceLocation: location) }
            for (name, value) in step.expectsFields {
                let values = sight.fields.values(of: name)
                #expect(values == [value].compactMap { $0 }, "\(comment): \(name)", sourceLocation: location)
            }
            for (name, value) in step.expectsSent {
                #expect(sight.sent.last?[name] == value, "\(comment): sent \(name)", sourceLocation: location)
            }
        }
        return cache
    }
}
