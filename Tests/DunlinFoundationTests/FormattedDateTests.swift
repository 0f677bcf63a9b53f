import Dunlin
import DunlinFoundation
import Foundation
import Testing

@Suite struct `Formatted dates in JSON` {
    private static var formatter: DateFormatter {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(secondsFromGMT: 0)
        formatter.dateFormat = "yyyy/MM/dd HH:mm"
        return formatter
    }

    @Test func `dates are read and written as a formatter has them, as by Foundation`() throws {
        var json = HTTP.JSON()
        json.dates = .formatted(Self.formatter)
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .formatted(Self.formatter)
        let dates = [Date(timeIntervalSince1970: 0), Date(timeIntervalSince1970: 1_714_564_800)]
        let text = try json.encode(dates)
        #expect(Data(text) == (try encoder.encode(dates)))
        #expect(try json.decode([Date].self, from: text) == dates)
    }

    @Test(arguments: ["\"2024-05-01\"", "1", "null", "true"])
    func `what the formatter cannot read is refused`(text: String) {
        var json = HTTP.JSON()
        json.dates = .formatted(Self.formatter)
        #expect(throws: DecodingError.self) { try json.decode([Date].self, from: Bytes("[\(text)]")) }
    }
}
