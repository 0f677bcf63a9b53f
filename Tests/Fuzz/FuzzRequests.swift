import DunlinTypes
import DunlinWire

/// Requests: what is written is one head with the fields it was given and nothing else; what is refused leaves nothing.
///
/// The input is method, target and then names and values, parted by 0x1E.
enum FuzzRequests {
    static func violation(of input: [UInt8]) -> String? {
        let parts = input.split(separator: 0x1E, omittingEmptySubsequences: false)
        guard parts.count >= 2 else { return nil }
        let fields = fields(parts.dropFirst(2), in: input)
        let head = RequestHead(
            method: HTTP.Method(String(decoding: parts[0], as: UTF8.self)),
            origin: HTTP.Origin(scheme: .http, host: "h"),
            target: String(decoding: parts[1], as: UTF8.self), fields: fields)
        for framing in [RequestFraming.none, .length(5), .chunked] {
            if let violation = violation(of: head, framing) { return "\(framing): \(violation)" }
        }
        return nil
    }

    private static func fields(_ parts: ArraySlice<ArraySlice<UInt8>>, in input: [UInt8]) -> Fields {
        var entries: [Fields.Entry] = []
        var rest = parts
        while let name = rest.popFirst(), let value = rest.popFirst(), name.count <= Fields.longestName {
            entries.append(Fields.Entry(name: name.indices, value: value.indices))
        }
        return Fields(bytes: input, entries: entries)
    }

    private static func violation(of head: RequestHead, _ framing: RequestFraming) -> String? {
        let before = Array("before".utf8)
        var buffer = before
        do throws(WireError) {
            try RequestEncoder.encode(head, framing: framing, into: &buffer)
        } catch {
            if !error.isRequest { return "\(error) for a request" }
            return buffer == before ? nil : "a refused request left something behind"
        }
        return violation(in: Array(buffer.dropFirst(before.count)), head)
    }

    /// Read back as a response, the fields must be those that were given, but for the encoder's own.
    private static func violation(in written: [UInt8], _ head: RequestHead) -> String? {
        guard let end = written.firstIndex(of: 0x0D) else { return "no line end" }
        let line = "\(head.method.rawValue) \(head.target) HTTP/1.1"
        guard Array(line.utf8) == Array(written[..<end]), line.utf8.count(where: { $0 <= 0x20 }) == 2 else {
            return "another request line"
        }
        var limits = WireLimits()
        (limits.headBytes, limits.lineBytes, limits.fieldCount) = (1 << 24, 1 << 24, 1 << 24)
        var parser = HeadParser(limits: limits)
        parser.feed(Array("HTTP/1.1 200 ".utf8) + written[end...])
        do throws(WireError) {
            guard let parsed = try parser.next() else { return "an incomplete head" }
            guard parser.isEmpty else { return "something after the head" }
            return violation(in: parsed.head.fields, head.fields)
        } catch {
            return "\(error) in what was written"
        }
    }

    private static func violation(in written: Fields, _ given: Fields) -> String? {
        var iterator = written.entries.makeIterator()
        guard let host = iterator.next(), lowered(written, host.name) == Array("host".utf8) else { return "no Host" }
        for entry in given.entries where !own.contains(lowered(given, entry.name)) {
            guard let copy = iterator.next(), written.bytes[copy.name] == given.bytes[entry.name],
                written.bytes[copy.value].elementsEqual(trimmed(given.bytes[entry.value]))
            else { return "a field was lost" }
        }
        var last = iterator.next()
        let hasTE = given.entries.contains { lowered(given, $0.name) == Array("te".utf8) }
        if hasTE, let entry = last, lowered(written, entry.name) == Array("connection".utf8) {
            guard written.bytes[entry.value].elementsEqual("TE".utf8) else { return "another option" }
            last = iterator.next()
        }
        if let last, !own.dropFirst().contains(lowered(written, last.name)) {
            return "a field too many"
        }
        return iterator.next() == nil ? nil : "fields too many"
    }

    private static let own = ["host", "content-length", "transfer-encoding"].map { Array($0.utf8) }

    private static func lowered(_ fields: Fields, _ range: Range<Int>) -> [UInt8] {
        fields.bytes[range].map { $0 &- 0x41 < 26 ? $0 | 0x20 : $0 }
    }

    private static func trimmed(_ value: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let isBlank: (UInt8) -> Bool = { $0 == 0x20 || $0 == 0x09 }
        var value = value.drop(while: isBlank)
        while let last = value.last, isBlank(last) { value.removeLast() }
        return value
    }
}
