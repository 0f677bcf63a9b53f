package import FoundationEssentials

extension DynamicValue {
    /// How a date is written in a format that has no dates.
    public enum Dates: String, Sendable, Hashable, Codable {
        /// `2026-01-31T23:59:59Z`, with milliseconds unless they are zero.
        case iso8601
        /// Seconds since 1970, with a fraction unless it is zero.
        case secondsSince1970
        /// Whole milliseconds since 1970.
        case millisecondsSince1970
    }
}

extension DynamicValue.Dates {
    package enum Written {
        case string(String)
        case number(DynamicValue.Number)

        package var text: String {
            switch self {
            case .string(let text): text
            case .number(let number): number.literal
            }
        }
    }

    /// The written form of a date. Throws unless the date is in the years 1 to 9999.
    package func value(of date: Date) throws -> Written {
        let seconds = date.timeIntervalSince1970
        guard seconds >= -62_135_596_800, seconds < 253_402_300_800 else {
            throw NetworkError(.invalidParameters, "a date must lie in the years 1 to 9999")
        }
        let milliseconds = Int64((seconds * 1000).rounded(.down))
        return switch self {
        case .iso8601: .string(CalendarText.iso8601(milliseconds: milliseconds))
        case .secondsSince1970: .number(DynamicValue.Number(seconds))
        case .millisecondsSince1970: .number(DynamicValue.Number(milliseconds))
        }
    }
}
