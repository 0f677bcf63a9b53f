import Dunlin
import DunlinCommandLine

/// The files that the command reads its cookies and logins from: the same bytes as both. What was read as cookies is
/// written and read again as the same, and an error about logins names no content.
enum FuzzCookieFiles {
    static func violation(of input: [UInt8]) -> String? {
        violation(ofCookies: input) ?? violation(ofLogins: input)
    }

    private static func violation(ofCookies input: [UInt8]) -> String? {
        let file = CookieFile(input)
        let lines = input.count { $0 == 0x0A } + 1
        if file.cookies.count + file.wrongLines > lines { return "more lines than there are" }
        let (text, leftOut) = CookieFile.written(file.cookies)
        let again = CookieFile(Array(text.utf8))
        if again.wrongLines > 0 { return "a line was written that is none" }
        if again.cookies.count + leftOut != file.cookies.count { return "a cookie is lost" }
        if leftOut == 0, again.cookies != file.cookies { return "a cookie was changed" }
        return nil
    }

    private static func violation(ofLogins input: [UInt8]) -> String? {
        do throws(UsageError) {
            let file = try NetrcFile(input)
            _ = file.login(for: "a.test")
            return file.login(for: "no such host") == nil || input.contains(UInt8(ascii: "\"")) ? nil : "a blank host"
        } catch {
            // All that an error has beside the number of the line.
            let words = Set(error.description.split(separator: " ").filter { Int($0) == nil })
            return words.isSubset(of: known) ? nil : "an error with content: \(error.description)"
        }
    }

    private static let known = Set(
        ("it is not UTF-8 text line has a machine login user password account macdef without value before any "
            + "word that netrc files do not have there quote does end more behind closing").split(separator: " "))
}
