/// Makes events from lines, by the rules of WHATWG HTML, "interpreting an event stream".
///
/// Rules:
/// 1. An empty line completes an event. One without data is left out, but its ID counts.
/// 2. An ID with a NUL is ignored, and so is a `retry` that is not a number of ASCII digits. An ID counts for the
///    events that follow too.
/// 3. What follows the last empty line is no event, and its ID does not count, since the server sends all of it again.
/// 4. A stream that is resumed continues with the ID that it was resumed after.
///
/// It knows neither streams nor how they are cut into lines.
package struct ServerSentEventMachine {
    private var name = ""
    private var data: String?
    private var id: String
    private var isFirst = true
    private let limit: Int
    /// The length of the longest field that means anything.
    private static let longestField = 5
    /// The ID that the last empty line made count; empty if there was none. A stream can be resumed after it.
    package private(set) var lastEventID: String
    /// How long to wait before reconnecting; nil if the stream has not said so.
    package private(set) var retry: Duration?

    package enum Refusal: Error, Equatable {
        case tooLong
        /// A name, an ID or data has so many in a row that comparing it takes long.
        case tooManyMarks
    }

    /// Creates a machine; `limit` is the greatest number of bytes of an event's data. `lastEventID` is the ID that the
    /// stream is resumed after.
    package init(limit: Int, after lastEventID: String = "") {
        self.limit = limit
        (id, self.lastEventID) = (lastEventID, lastEventID)
    }

    /// Takes a line. Returns the event that an empty line completes, if it has data. Invalid UTF-8 becomes U+FFFD.
    package mutating func take(_ line: Bytes) throws(Refusal) -> ServerSentEvent? {
        var line = line
        if isFirst, line.starts(with: [0xEF, 0xBB, 0xBF]) { line = line[3..<line.count] }
        isFirst = false
        if line.isEmpty { return event() }
        let colon = line.firstIndex(of: UInt8(ascii: ":")) ?? line.count
        var start = min(colon + 1, line.count)
        if start < line.count, line[start] == UInt8(ascii: " ") { start += 1 }
        try note(line[0..<colon], line[start..<line.count])
        return nil
    }

    private mutating func note(_ field: Bytes, _ value: Bytes) throws(Refusal) {
        if field.count > Self.longestField { return }
        if MarkRun.isTooLong(in: value) { throw .tooManyMarks }
        // A short text needs no memory of its own.
        switch String(field) {
        case "data": try add(String(value))
        case "event": name = String(value)
        case "id" where !value.contains(0): id = String(value)
        case "retry" where !value.isEmpty && value.allSatisfy { (0x30...0x39).contains($0) }:
            // More digits than fit mean the longest wait.
            retry = .milliseconds(Int64(String(value)) ?? .max)
        default: break
        }
    }

    private mutating func add(_ line: String) throws(Refusal) {
        // Taken out of the property so that it grows in place.
        var text = line
        if let before = data.take() {
            text = before
            text += "\n"
            text += line
        }
        guard text.utf8.count <= limit else { throw .tooLong }
        data = text
    }

    private mutating func event() -> ServerSentEvent? {
        defer { (name, data) = ("", nil) }
        lastEventID = id
        guard let data else { return nil }
        return ServerSentEvent(name: name.isEmpty ? "message" : name, data: data, id: id, retry: retry)
    }
}
