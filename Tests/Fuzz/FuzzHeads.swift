import DunlinTypes
import DunlinWire

/// Response heads: however the input is cut, the same heads, the same framing, the same error and the same end.
enum FuzzHeads {
    static func violation(of input: [UInt8]) -> String? {
        let cuts = cuts(of: input)
        for limits in [WireLimits(), tight] {
            let outcomes = cuts.map { HeadOutcome(of: $0, limits: limits) }
            if let violation = outcomes.lazy.compactMap(\.violation).first { return violation }
            for outcome in outcomes where outcome != outcomes[0] {
                return "whole gives \(outcomes[0]), in pieces \(outcome)"
            }
        }
        return nil
    }

    private static let tight = {
        var limits = WireLimits()
        limits.headBytes = 64
        limits.lineBytes = 24
        limits.fieldCount = 3
        limits.interimResponses = 1
        return limits
    }()
}

struct HeadOutcome: Equatable {
    struct Record: Equatable {
        var status: HTTP.Status
        var version: HTTP.Version
        var reason: Bytes
        var fields: Fields
        var framings: [MessageFraming?]
        var errors: [WireError?]
    }

    var heads: [Record] = []
    var error: WireError?
    var consumed = 0
    var violation: String?

    static func == (left: HeadOutcome, right: HeadOutcome) -> Bool {
        left.heads == right.heads && left.error == right.error && left.consumed == right.consumed
    }

    init(of pieces: [[UInt8]], limits: WireLimits) {
        var parser = HeadParser(limits: limits)
        var unread = pieces[...]
        var fed = 0
        do throws(WireError) {
            while true {
                if let parsed = try parser.next() {
                    add(parsed, limits)
                    if parsed.isInterim { continue }
                    consumed = fed - parser.takeRest().count
                    if !parser.isEmpty { violation = "not empty once the rest was taken" }
                    return
                }
                guard let piece = unread.popFirst() else { try parser.endOfStream() }
                fed += piece.count
                parser.feed(piece)
            }
        } catch {
            self.error = error
            checkRepeats(&parser)
        }
    }

    private mutating func checkRepeats(_ parser: inout HeadParser) {
        guard let error, !error.isTruncation else { return }
        do throws(WireError) {
            parser.feed(Array("x\r\n\r\n".utf8))
            _ = try parser.next()
            violation = "went on after \(error)"
        } catch {
            if error != self.error { violation = "\(error) after \(self.error, default: "none")" }
        }
    }

    private mutating func add(_ parsed: ParsedHead, _ limits: WireLimits) {
        var record = Record(
            status: parsed.head.status, version: parsed.head.version, reason: parsed.head.reason,
            fields: parsed.head.fields, framings: [], errors: [])
        for method in [HTTP.Method.get, .head, .connect] {
            do throws(WireError) {
                record.framings.append(try parsed.framing(for: method))
                record.errors.append(nil)
            } catch {
                record.framings.append(nil)
                record.errors.append(error)
            }
        }
        heads.append(record)
        violation = violation ?? record.violation(limits)
        if heads.count > limits.interimResponses + 1 { violation = "more heads than the limit" }
    }
}

extension HeadOutcome.Record {
    func violation(_ limits: WireLimits) -> String? {
        if fields.count > limits.fieldCount { return "more fields than the limit" }
        if !(100...999).contains(status.code) { return "status \(status)" }
        if reason.contains(where: isControl) { return "a control character in the reason" }
        for entry in fields.entries {
            guard entry.name.upperBound <= fields.bytes.count, entry.value.upperBound <= fields.bytes.count else {
                return "a field lies beyond the bytes"
            }
            let name = fields.bytes[entry.name]
            let value = fields.bytes[entry.value]
            if name.isEmpty || name.contains(where: { $0 <= 0x20 || $0 >= 0x7F || $0 == 0x3A }) { return "a bad name" }
            if value.contains(where: isControl) { return "a control character in a value" }
            if isBlank(value.first) || isBlank(value.last) { return "a value that was not trimmed" }
        }
        return framings.lazy.compactMap { $0 }.compactMap(violation).first
    }

    private func violation(of framing: MessageFraming) -> String? {
        switch framing.body {
        case .length(let count): count < 0 ? "a negative length" : nil
        case .untilClose, .upgrade: framing.canReuse ? "reuse without an end" : nil
        case .none, .chunked: nil
        }
    }

    private func isBlank(_ byte: UInt8?) -> Bool { byte == 0x20 || byte == 0x09 }
    private func isControl(_ byte: UInt8) -> Bool { byte < 0x20 && byte != 0x09 || byte == 0x7F }
}
