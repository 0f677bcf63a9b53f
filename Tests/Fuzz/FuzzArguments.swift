import DunlinCLI
import DunlinCommandLine
import DunlinSemantics

/// What people type: options, URLs, items and parts of forms. Whatever comes, it is a command or a complaint in
/// reasonable time; what is a request has a URL that can be read; and no complaint shows a secret that an option, a
/// field or an item was given.
///
/// The input is arguments, parted by NUL. As a whole it is also a URL, an item, a part, and the start of a secret.
enum FuzzArguments {
    private static let secret = "hunter2"

    static func violation(of input: [UInt8]) -> String? {
        let arguments = input.split(separator: 0, omittingEmptySubsequences: false).map(Array.init)
        let text = String(decoding: input.filter { $0 != 0 }, as: UTF8.self)
        do throws(UsageError) {
            if let problem = problem(of: try Arguments.texts(of: arguments)) { return problem }
        } catch {
            if arguments.allSatisfy({ String(validating: $0, as: UTF8.self) != nil }) { return "UTF-8 was refused" }
        }
        for words in [
            [text], ["a.test", text], ["a.test", "-F", text], ["a.test", "-H", text], ["-X", text, "a.test"],
        ] {
            if let problem = problem(of: words) { return problem }
        }
        return problem(ofSecretAfter: text)
    }

    private static func problem(of arguments: [String]) -> String? {
        do throws(UsageError) {
            guard let url = try CommandEntry.requestedURL(arguments) else { return nil }
            do throws(AddressError) {
                _ = try WebAddress(url)
                return nil
            } catch {
                return "a request of \(url): \(error)"
            }
        } catch {
            return error.description.isEmpty ? "a refusal without a reason" : nil
        }
    }

    private static func problem(ofSecretAfter start: String) -> String? {
        let text = start + secret
        var all = [
            ["-H", text], ["-b", text], ["-u", text], ["--bearer", text], ["--bearer \(text)"], ["-F", text],
            ["-F", "a=\(text);type="], ["--form-string", text], ["-d", text], ["--json", text], ["n:=\(text)"],
            ["n=\(text)"], ["n==\(text)"], ["N: \(text)"], ["--digest=\(text)"], ["-z\(text)"],
            ["-b", "a=1", "-b", text],
        ]
        // Any of these may end the authority, also with an accent upon it, so what follows them is no password.
        if !text.utf8.contains(where: "/?#\\".utf8.contains) {
            all.append(["-L", "http://ada:\(text)@b.test/ "])
            all.append(["-L", "http://ada:\(text)@b.test:x/"])
        }
        for words in all {
            // Without a URL, an item may look like one.
            for arguments in words[0].hasPrefix("-") ? [["a.test"] + words, words] : [["a.test"] + words] {
                do throws(UsageError) {
                    _ = try CommandEntry.requestedURL(arguments)
                } catch {
                    if error.description.contains(secret) { return "\(arguments) is shown: \(error.description)" }
                }
            }
        }
        return nil
    }
}
