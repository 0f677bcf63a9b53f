import Dunlin
import DunlinTesting
import Folders
import Foundation

/// What is true when a job was done, whichever program did it.
struct JobCheck: Sendable {
    /// How often the line is run.
    var runs = 1
    /// Whether the first run is killed in the middle of the disk.
    var isKilled = false
    /// The exit code that `dunlin` ends with; that of the others is 0 as well, or another one.
    var code: Int32 = 0
    let holds: @Sendable (JobRun) -> Bool

    init(
        runs: Int = 1, isKilled: Bool = false, code: Int32 = 0,
        _ holds: @escaping @Sendable (JobRun) -> Bool
    ) {
        (self.runs, self.isKilled, self.code, self.holds) = (runs, isKilled, code, holds)
    }

    /// By the job's name.
    static let all = [get, send, save, login, rest].reduce([:]) { $0.merging($1) { first, _ in first } }

    private static let page = "<p>page</p>"

    private static let get: [String: JobCheck] = [
        "get a page": JobCheck { $0.request?.method == .get && $0.printed.contains(page) },
        "get JSON, indented": JobCheck { $0.printed.contains("\"Ada\"") && $0.request?.method == .get },
        "follow redirects": JobCheck { $0.requests.map(\.target) == ["/old", "/"] && $0.printed.contains(page) },
        "see the head only": JobCheck { run in
            run.requests.map(\.method) == [.head] && run.printed.contains("text/html") && !run.printed.contains(page)
        },
        "see head and body": JobCheck { run in
            run.printed.contains("200") && run.printed.contains("text/html") && run.printed.contains(page)
        },
        "see what is sent and received": JobCheck { run in
            let seen = run.printed + run.remarked
            return ["GET / HTTP/1.1", "200", "text/html", page].allSatisfy { seen.contains($0) }
        },
        "encode parameters of the query": JobCheck { run in
            ["/search?q=grey%20%26%20red", "/search?q=grey+%26+red"].contains(run.request?.target)
        },
    ]

    private static func sends(_ method: HTTP.Method, _ type: String, _ body: String) -> JobCheck {
        JobCheck { run in
            run.request?.method == method && run.request?.fields["content-type"]?.hasPrefix(type) == true
                && run.body.replacing(" ", with: "") == body
        }
    }

    private static let send: [String: JobCheck] = [
        "post JSON": sends(.post, "application/json", #"{"name":"Ada","age":36}"#),
        "post a form": sends(.post, "application/x-www-form-urlencoded", "name=Ada&age=36"),
        "post a form with a file": JobCheck { run in
            run.request?.method == .post
                && run.request?.fields["content-type"]?.hasPrefix("multipart/form-data") == true
                && ["name=\"title\"", "\r\n\r\nWader\r\n", "filename=\"a.jpg\"", "\r\n\r\na picture\r\n"]
                    .allSatisfy { run.body.contains($0) }
        },
        "put a file": JobCheck { $0.request?.method == .put && $0.body == "a picture" },
        "send what another program prints": sends(.post, "application/json", #"{"name":"Ada"}"#),
        "add a header field": JobCheck { $0.request?.fields["x-trace"] == "7" },
        "leave a header field out": JobCheck { $0.request?.fields.contains("accept") == false },
        "delete": JobCheck { $0.request?.method == .delete && $0.request?.target == "/users/42" },
    ]

    private static func saves(_ names: String...) -> @Sendable (JobRun) -> Bool {
        { run in
            names.allSatisfy { name in
                let entity = name == "disk.img" ? JobSite.disk : JobSite.small
                return FileManager.default.contents(atPath: "\(run.site.folder.path)/\(name)")
                    == Data(entity.bytes.array)
            }
        }
    }

    private static let save: [String: JobCheck] = [
        "save to a file": JobCheck { $0.site.folder.text(of: "page.html") == page && !$0.printed.contains(page) },
        "save under the remote name": JobCheck(saves("disk.img")),
        "continue a download": JobCheck(runs: 2, isKilled: true) { run in
            // What a program had not written yet is fetched again.
            run.requests.map { $0.fields["range"]?.hasPrefix("bytes=") == true } == [false, true]
                && saves("disk.img")(run)
        },
        "download many files": JobCheck(saves("a.img", "b.img")),
        "leave the network to others": JobCheck {
            // How exactly others keep to a rate is theirs.
            ($0.tool != .dunlin || $0.duration > .milliseconds(800)) && saves("disk.img")($0)
        },
    ]

    private static let isLoggedIn: @Sendable (JobRun) -> Bool = { run in
        run.request?.fields["authorization"] == "Basic YWRhOnNlY3JldA==" && run.printed.contains("hello Ada")
    }

    private static let login: [String: JobCheck] = [
        "log in by a password": JobCheck(isLoggedIn), "log in by ~/.netrc": JobCheck(isLoggedIn),
        "log in by a token in a file": JobCheck { $0.request?.fields["authorization"] == "Bearer hunter2" },
        "stay logged in between runs": JobCheck(runs: 2) { run in
            run.requests.map { $0.fields["cookie"] } == [nil, "sid=7"]
        },
        "send the cookies of a browser's file": JobCheck { $0.request?.fields["cookie"] == "sid=7" },
    ]

    private static let rest: [String: JobCheck] = [
        "go through a proxy": JobCheck { $0.site.proxy.visits.count == 1 && $0.printed.contains(page) },
        "trust an authority of your own": JobCheck { $0.request?.handshake != nil && $0.printed.contains(page) },
        "show a client certificate": JobCheck { $0.request?.handshake?.clientCertificate != nil },
        "give up after two seconds": JobCheck(code: 1) { $0.status != 0 && $0.duration < .seconds(30) },
        "fail quietly, with an exit code": JobCheck(code: 3) { run in
            run.status != 0 && run.printed.isEmpty && run.remarked.split(separator: "\n").count == 1
        },
        "try again when the server is busy": JobCheck { $0.requests.count == 2 && $0.printed.contains("at last") },
        "connect to another address": JobCheck { $0.request?.fields["host"]?.hasPrefix("new.test:") == true },
        "connect to a Unix socket": JobCheck { $0.request?.fields["host"] == "localhost" && $0.printed.contains(page) },
        "pin a server's key": JobCheck { $0.request?.handshake != nil && $0.printed.contains(page) },
        "see where the time went": JobCheck { ($0.printed + $0.remarked).contains { $0.isNumber } },
        "print a request without sending it": JobCheck { run in
            run.requests.isEmpty && run.printed.contains("/users") && run.printed.contains("Ada")
        },
        "write what was sent and received into an archive": JobCheck { run in
            run.requests.count == 1 && run.site.folder.text(of: "api.har").contains("Ada")
        },
    ]
}
