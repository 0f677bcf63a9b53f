import BenchmarkLoad
import Dunlin
import FoundationEssentials

/// Reads or writes one text of JSON so many times, and prints what that took of the processor, in microseconds each.
///
///     JSONCodec CASE WORK CODEC COUNT
@main
struct JSONCodec {
    enum Work: String { case decode, encode }
    enum Codec: String {
        case dunlin, foundation
        /// Gives every type what it asks for without looking at any text: what `Codable` itself takes.
        case nothing
    }

    let work: Work
    let codec: Codec
    let count: Int

    static func main() throws {
        let words = CommandLine.arguments
        guard words.count == 5, let work = Work(rawValue: words[2]), let codec = Codec(rawValue: words[3]),
            let count = Int(words[4])
        else { throw Unusable() }
        let run = JSONCodec(work: work, codec: codec, count: count)
        let microseconds =
            switch words[1] {
            case "records": try run.measure(try Samples.records(11))
            case "records-large": try run.measure(try Samples.records(5300))
            case "integers": try run.measure(Samples.integers)
            case "doubles": try run.measure(Samples.doubles)
            case "texts": try run.measure(Samples.texts)
            case "dates": try run.measure(Samples.dates)
            case "data": try run.measure(Samples.data)
            case "decimals": try run.measure(Samples.decimals)
            case "uuids": try run.measure(Samples.uuids)
            default: throw Unusable()
            }
        print(microseconds)
    }

    struct Unusable: Error {}

    private func measure<Value: Codable>(_ value: Value) throws -> Double {
        let json = HTTP.JSON.standard
        let bytes = try json.encode(value)
        let data = Data(bytes)
        switch (work, codec) {
        case (.decode, .dunlin): return try timed { _ = try json.decode(Value.self, from: bytes) }
        case (.decode, .foundation): return try timed { _ = try JSONDecoder().decode(Value.self, from: data) }
        case (.decode, .nothing): return try timed { _ = try Value(from: EmptyDecoder(elements: 11)) }
        case (.encode, .dunlin): return try timed { _ = try json.encode(value) }
        case (.encode, .foundation): return try timed { _ = try JSONEncoder().encode(value) }
        case (.encode, .nothing): throw Unusable()
        }
    }

    private func timed(_ work: () throws -> Void) throws -> Double {
        for _ in 0..<(count / 10 + 1) { try work() }
        let clock = DecoderClock()
        try clock.time { for _ in 0..<count { try work() } }
        return clock.microseconds / Double(count)
    }
}

enum Samples {
    static func records(_ count: Int) throws -> [Record] {
        let texts = (0..<count).map { record($0) }
        return try HTTP.JSON.standard.decode([Record].self, from: Bytes("[" + texts.joined(separator: ",") + "]"))
    }

    private static func record(_ at: Int) -> String {
        let name = #""id":\#(at),"name":"Ada Lovelace \#(at)","email":"ada\#(at)@example.com""#
        let more = #""score":\#(at).25,"isActive":\#(at % 2 == 0),"tags":["reader","Zürich","group-\#(at % 7)"]"#
        let address = #""address":{"street":"Rämistrasse \#(at)","city":"Zürich","zip":\#(8000 + at % 100)}"#
        return "{\(name),\(more),\(address)}"
    }

    static let integers = (0..<1000).map { $0 * 7919 }
    static let doubles = (0..<1000).map { Double($0) * 1.234567890123 }
    static let texts = (0..<1000).map { "This is text number \($0), with \"quotes\"." }
    static let dates = (0..<1000).map { Date(timeIntervalSince1970: Double($0) * 12_345.5) }
    static let data = (0..<1000).map { Data(repeating: UInt8($0 & 255), count: 48) }
    static let decimals = (0..<1000).map { Decimal($0) / 8 }
    static let uuids = (0..<1000).map { _ in UUID() }
}
