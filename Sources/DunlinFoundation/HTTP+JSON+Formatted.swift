public import Dunlin
public import Foundation

extension HTTP.JSON.DateCoding {
    /// Texts as a formatter writes and reads them. What it cannot read is refused.
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
