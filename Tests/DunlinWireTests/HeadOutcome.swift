import DunlinTypes
import DunlinWire

/// What came of feeding pieces to a parser, up to and with the first final head.
struct HeadOutcome: Equatable {
    struct Record: Equatable {
        var version: HTTP.Version
        var status: HTTP.Status
        var reason: String
        var fields: Fields
    }

    var heads: [Record] = []
    var error: WireError?
    /// What followed the final head.
    var rest = ""

    init(heads: [Record] = [], error: WireError? = nil, rest: String = "") {
        self.heads = heads
        self.error = error
        self.rest = rest
    }

    init(of pieces: [[UInt8]], limits: WireLimits = WireLimits()) {
        var parser = HeadParser(limits: limits)
        var unread = pieces[...]
        do throws(WireError) {
            while true {
                if let parsed = try parser.next() {
                    heads.append(Record(parsed.head))
                    if parsed.isInterim { continue }
                    rest = String(parser.takeRest()) + String(decoding: unread.joined(), as: UTF8.self)
                    return
                }
                guard let piece = unread.popFirst() else { try parser.endOfStream() }
                parser.feed(piece)
            }
        } catch {
            self.error = error
        }
    }
}

extension HeadOutcome.Record {
    init(_ head: ResponseHead) {
        self.init(version: head.version, status: head.status, reason: String(head.reason), fields: head.fields)
    }
}
