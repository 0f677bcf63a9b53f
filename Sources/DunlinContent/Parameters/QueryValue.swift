public import FoundationEssentials

extension HTTP {
    /// A type of values for queries and forms: text, numbers, booleans, dates, arrays of these, and optionals, which
    /// are left out if nil.
    ///
    /// A type of your own conforms by providing its texts; a type with a raw value needs nothing more:
    ///
    /// ```swift
    /// enum Order: String, HTTP.QueryValue { case newest, best }
    /// let query: HTTP.Query = ["q": text, "order": Order.best, "page": page, "tag": ["new", "red"]]
    /// ```
    public protocol QueryValue {
        /// The texts of the value. The key is written once for each.
        var queryTexts: [String] { get }
    }
}

extension HTTP.QueryValue where Self: RawRepresentable, RawValue: HTTP.QueryValue {
    public var queryTexts: [String] { rawValue.queryTexts }
}

extension HTTP.QueryValue where Self: CustomStringConvertible {
    public var queryTexts: [String] { [description] }
}

extension String: HTTP.QueryValue {}
extension Substring: HTTP.QueryValue {}
extension Character: HTTP.QueryValue {}
/// Written as `true` or `false`.
extension Bool: HTTP.QueryValue {}
extension Int: HTTP.QueryValue {}
extension Int8: HTTP.QueryValue {}
extension Int16: HTTP.QueryValue {}
extension Int32: HTTP.QueryValue {}
extension Int64: HTTP.QueryValue {}
extension Int128: HTTP.QueryValue {}
extension UInt: HTTP.QueryValue {}
extension UInt8: HTTP.QueryValue {}
extension UInt16: HTTP.QueryValue {}
extension UInt32: HTTP.QueryValue {}
extension UInt64: HTTP.QueryValue {}
extension UInt128: HTTP.QueryValue {}
extension Decimal: HTTP.QueryValue {}
extension UUID: HTTP.QueryValue {}

/// A whole number is written without a decimal point.
extension Double: HTTP.QueryValue {
    public var queryTexts: [String] { [DynamicValue.Number(self).literal] }
}

extension Float: HTTP.QueryValue {
    public var queryTexts: [String] { [DynamicValue.Number(self).literal] }
}

extension URL: HTTP.QueryValue {
    public var queryTexts: [String] { [absoluteString] }
}

/// Written as `2026-01-31T23:59:59Z`, with milliseconds unless they are zero. A date beyond the calendar is written as
/// seconds since 1970.
extension Date: HTTP.QueryValue {
    public var queryTexts: [String] {
        do {
            return [try DynamicValue.Dates.iso8601.value(of: self).text]
        } catch {
            return timeIntervalSince1970.queryTexts
        }
    }
}

/// The key is repeated for each element.
extension Array: HTTP.QueryValue where Element: HTTP.QueryValue {
    public var queryTexts: [String] { flatMap(\.queryTexts) }
}

/// Without a value, the key is left out.
extension Optional: HTTP.QueryValue where Wrapped: HTTP.QueryValue {
    public var queryTexts: [String] { self?.queryTexts ?? [] }
}
