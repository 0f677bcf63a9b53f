public import Dunlin
public import Foundation

extension HTTP.JSON.DateCoding {
    /// Dates as text that a formatter writes and reads. Text that it cannot read is an error.
    ///
    /// ```swift
    /// var json = HTTP.JSON()
    /// json.dates = .formatted(formatter)
    /// ```
    public static func formatted(_ formatter: DateFormatter) -> HTTP.JSON.DateCoding {
        .custom(
            decode: { decoder in
                let container = try decoder.singleValueContainer()
                let text = try container.decode(String.self)
                guard let date = formatter.date(from: text) else {
                    throw DecodingError.dataCorruptedError(
                        in: container, debugDescription: "the text does not match the date formatter")
                }
                return date
            },
            encode: { date, encoder in
                var container = encoder.singleValueContainer()
                try container.encode(formatter.string(from: date))
            })
    }
}
