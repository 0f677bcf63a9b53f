import DunlinSemantics
import DunlinTypes
import LedgerRows
import Testing

@Suite struct `A date of HTTP` {
    static let dates: [(String, Int64, String?)] = [
        ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777, nil),
        ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"),
        ("Sun Nov  6 08:49:37 1994", 784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"),
        ("Wed Nov 16 08:49:37 1994", 784_975_777, "Wed, 16 Nov 1994 08:49:37 GMT"),
        ("Thu, 01 Jan 1970 00:00:00 GMT", 0, nil), ("Wed, 31 Dec 1969 23:59:59 GMT", -1, nil),
        ("Tue, 29 Feb 2000 12:00:00 GMT", 951_825_600, nil), ("Thu, 29 Feb 2024 00:00:00 GMT", 1_709_164_800, nil),
        ("Fri, 31 Dec 9999 23:59:59 GMT", 253_402_300_799, nil),
        ("Sat, 01 Jan 0000 00:00:00 GMT", -62_167_219_200, nil),
        ("Saturday, 31-Dec-50 00:00:00 GMT", 2_556_057_600, "Sat, 31 Dec 2050 00:00:00 GMT"),
        ("Sat, 31 Dec 2016 23:59:60 GMT", 1_483_228_799, "Sat, 31 Dec 2016 23:59:59 GMT"),
    ]

    @Test(.rules("9110-5.6.7-1", "9110-5.6.7-2", "9110-5.6.7-3"), arguments: dates)
    func `a date of HTTP is read in three forms and written in one`(text: String, seconds: Int64, written: String?)
        throws
    {
        let date = try #require(HTTPDate(Bytes(text)))
        #expect(date.seconds == seconds)
        #expect(date.description == written ?? text)
        #expect(HTTPDate(seconds: seconds) == date)
    }

    @Test(
        .rules("9110-5.6.7-4"),
        arguments: [
            "", "0", "now", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 UTC",
            "Mon, 06 Nov 1994 08:49:37 GMT",
            "Sun, 6 Nov 1994 08:49:37 GMT", "Sun, 06 nov 1994 08:49:37 GMT", "Sun, 06 Nov 94 08:49:37 GMT",
            "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 06 Nov 1994 08:60:37 GMT", "Sun, 06 Nov 1994 08:49:61 GMT",
            "Sun, 06 Nov 1994 8:49:37 GMT", "Sun, 06 Nov 1994  08:49:37 GMT", "Sun 06 Nov 1994 08:49:37 GMT",
            "Thu, 30 Feb 2023 00:00:00 GMT", "Thu, 29 Feb 1900 00:00:00 GMT", "Sun, 00 Nov 1994 08:49:37 GMT",
            "Sun, 32 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-1994 08:49:37 GMT", "Sun, 06-Nov-94 08:49:37 GMT",
            "Sun Nov 06 08:49:37 19940", "Sun Nov 6 08:49:37 1994", "Sun Nov  6 08:49:37 199",
            " Sun, 06 Nov 1994 08:49:37 GMT",
            "Sun, +6 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 GMT GMT", "Sun, 06 Nov -994 08:49:37 GMT",
        ])
    func `a text that is no date of HTTP is refused`(text: String) {
        #expect(HTTPDate(Bytes(text)) == nil)
    }

    @Test func `a date of HTTP comes out as it went in on days of eight centuries`() {
        for day in stride(from: Int64(-135_140), through: 146_097, by: 17) {
            let date = HTTPDate(seconds: day * 86_400 + (day & 0xFFFF))
            #expect(HTTPDate(Bytes(date.description)) == date)
        }
        #expect(HTTPDate(seconds: .max) > HTTPDate(seconds: .min))
    }
}
